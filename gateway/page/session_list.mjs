// Earlier sessions, the latest first: found by title, opened, renamed, deleted.

import { fill, h, show } from './elements.mjs';
import { beginning, changing, deleted, emptiness, left, newRows, renamed, withPage } from './session_rows.mjs';
import { reasonOf } from './refusal.mjs';
import { createRow } from './session_row.mjs';

const PAGE = 30;
const TYPING_MS = 200;

/** The list; `refresh` reads it anew, `select` marks the open session, `onDeleted` tells of one that is gone. */
export function createSessionList(context, { onOpen, onDeleted, onFailure }) {
	let { l10n, gateway, life } = context;
	let { say } = l10n;
	let items = h('ul', { class: 'session-items' });
	let more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => readMore().catch(onFailure) }, say('older'));
	let empty = h('p', { class: 'notice', role: 'status' });
	let search = h('input', { type: 'search', class: 'session-search', placeholder: say('find-session'), 'aria-label': say('find-session-label'), maxlength: 200, oninput: searchSoon });
	let node = h('div', {}, search, empty, items, more);
	let rows = newRows();
	let readings = 0;
	let typing = null;

	let row = createRow(context, {
		onOpen: id => Promise.resolve(onOpen(id)).catch(onFailure),
		onBegin: (id, doing) => set(beginning(rows, id, doing), { isFocused: true }),
		onTyped: (title) => {
			// Not drawn anew: the field holds it already.
			rows = changing(rows, { title });
		},
		onLeave() {
			let { id, doing } = rows.row;
			set(left(rows));
			focusOn(id, doing);
		},
		onRename: () => change(async ({ id, title }) => {
			let session = await gateway.rename(id, title);
			set(renamed(rows, session));
			focusOn(id, 'rename');
		}),
		onDelete: () => change(async ({ id }) => {
			await gateway.remove(id);
			set(deleted(rows, id));
			search.focus();
			onDeleted(id);
		}),
	});

	function set(next, { isFocused = false } = {}) {
		let isHere = isFocused || items.contains(document.activeElement);
		rows = next;
		fill(items, rows.sessions.map(session => row(session, rows)));
		let id = emptiness(rows);
		fill(empty, id && say(id));
		show(empty, id !== null);
		show(search, rows.sessions.length > 0 || rows.query !== '');
		show(more, rows.cursor !== null);
		if (isHere && rows.row) {
			items.querySelector('[data-first]')?.focus();
		}
	}

	function focusOn(id, doing) {
		items.querySelector(`[data-session="${id}"] [data-doing="${doing}"]`)?.focus();
	}

	async function change(doIt) {
		set(changing(rows, { isBusy: true, refusal: null }));
		try {
			await doIt(rows.row);
		}
		catch (error) {
			set(changing(rows, { isBusy: false, refusal: reasonOf(l10n, error) }), { isFocused: true });
		}
	}

	function searchSoon() {
		clearTimeout(typing);
		typing = setTimeout(() => {
			rows = { ...rows, query: search.value.trim() };
			refresh().catch(onFailure);
		}, TYPING_MS);
	}

	async function readPage(cursor) {
		readings += 1;
		let reading = readings;
		let wanted = new URLSearchParams({ limit: PAGE, query: rows.query, ...cursor && { cursor } });
		let page = await gateway.read(`/sessions?${wanted}`);
		// An answer that was overtaken by a later one is about other words.
		if (reading === readings) {
			set(withPage(rows, page, { isMore: Boolean(cursor) }));
		}
	}

	function refresh() {
		return readPage(null);
	}

	function readMore() {
		return readPage(rows.cursor);
	}

	life.addEventListener('abort', () => clearTimeout(typing));
	return {
		node,
		refresh,
		select(id) {
			set({ ...rows, selected: id });
		},
	};
}
