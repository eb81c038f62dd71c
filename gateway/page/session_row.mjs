// One session in the list: its title to open it by, or what is being done to it.

import { h } from './elements.mjs';

const LONGEST_TITLE = 200;

/** Draws a session of the rows; deleting asks first, since nothing brings a session back. */
export function createRow({ l10n: { say, day } }, { onOpen, onBegin, onTyped, onLeave, onRename, onDelete }) {
	function shown(session, isSelected) {
		return [
			h('button', {
				type: 'button',
				class: 'session',
				'aria-current': isSelected ? 'true' : null,
				onclick: () => onOpen(session.id),
			}, h('span', { class: 'session-title' }, session.title), h('time', { datetime: session.updated_at }, day(session.updated_at))),
			h('span', { class: 'session-tools' }, tool('✎', 'rename', session), tool('✕', 'delete', session)),
		];
	}

	function tool(sign, doing, { id, title }) {
		return h('button', {
			type: 'button',
			class: 'quiet',
			'title': say(doing),
			'aria-label': say(`${doing}-session`, { title }),
			'data-doing': doing,
			onclick: () => onBegin(id, doing),
		}, sign);
	}

	function renaming({ title, isBusy, refusal }) {
		let field = h('input', {
			value: title,
			maxlength: LONGEST_TITLE,
			required: true,
			'aria-label': say('title'),
			'data-first': true,
			disabled: isBusy,
			oninput: () => onTyped(field.value),
		});
		let save = (event) => {
			event.preventDefault();
			onRename();
		};
		return h('form', { class: 'session-doing', onsubmit: save, onkeydown: leaveByKey }, field, h(
			'span',
			{},
			h('button', { class: 'quiet', disabled: isBusy }, say('save')),
			h('button', { type: 'button', class: 'quiet', disabled: isBusy, onclick: onLeave }, say('keep')),
		), told(refusal));
	}

	function deleting({ title, isBusy, refusal }) {
		return h(
			'div',
			{ class: 'session-doing', role: 'group', 'aria-label': say('delete-ask', { title }), onkeydown: leaveByKey },
			h('span', {}, say('delete-warning', { title })),
			h(
				'span',
				{},
				h('button', { type: 'button', class: 'quiet danger', disabled: isBusy, onclick: onDelete }, say('delete')),
				// The harmless answer has the focus.
				h('button', { type: 'button', class: 'quiet', disabled: isBusy, 'data-first': true, onclick: onLeave }, say('keep')),
			),
			told(refusal),
		);
	}

	function leaveByKey(event) {
		if (event.key === 'Escape') {
			event.preventDefault();
			onLeave();
		}
	}

	return (session, { selected, row }) => {
		let isMeant = row?.id === session.id;
		let doing = isMeant && (row.doing === 'rename' ? renaming(row) : deleting(row));
		return h('li', { class: 'session-row', 'data-session': session.id }, doing || shown(session, session.id === selected));
	};
}

function told(refusal) {
	return refusal && h('p', { class: 'status failed', role: 'alert' }, refusal);
}
