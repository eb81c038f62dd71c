// Earlier sessions, the latest first.

import { fill, h, show } from './elements.mjs';
import { read } from './gateway.mjs';

const PAGE = 30;

/** The list; `refresh` reads it anew, `select` marks the open session. */
export function createSessionList({ onOpen, onFailure }) {
	let items = h('ul', { class: 'session-items' });
	let more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => readMore().catch(onFailure) }, 'Older');
	let empty = h('p', { class: 'notice' }, 'No questions yet.');
	let node = h('div', {}, empty, items, more);
	let sessions = [];
	let cursor = null;
	let selected = null;

	function draw() {
		fill(items, sessions.map(session => h(
			'li',
			{},
			h('button', {
				type: 'button',
				class: 'session',
				'aria-current': session.id === selected ? 'true' : null,
				onclick: () => Promise.resolve(onOpen(session.id)).catch(onFailure),
			}, h('span', { class: 'session-title' }, session.title), h('time', { datetime: session.updated_at }, day(session.updated_at))),
		)));
		show(empty, sessions.length === 0);
		show(more, cursor !== null);
	}

	async function refresh() {
		let page = await read(`/sessions?limit=${PAGE}`);
		({ sessions, next_cursor: cursor } = page);
		draw();
	}

	async function readMore() {
		let page = await read(`/sessions?limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`);
		sessions = [...sessions, ...page.sessions];
		cursor = page.next_cursor;
		draw();
	}

	return {
		node,
		refresh,
		select(id) {
			selected = id;
			draw();
		},
	};
}

function day(time) {
	let date = new Date(time);
	let isToday = date.toDateString() === new Date().toDateString();
	return isToday
		? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
		: date.toLocaleDateString([], { day: 'numeric', month: 'short' });
}
