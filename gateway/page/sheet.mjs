// A dialog over the conversation: a title, a way to close it, and what it is about.

import { h } from './elements.mjs';

/** A sheet with a title, and a name of its own; closed by its button, Escape, or a click beside it. */
export function createSheet({ l10n: { say } }, name, title, ...content) {
	let heading = h('h2', { id: `${name}-title` }, title);
	let close = h('button', { type: 'button', class: 'close', 'aria-label': say('close'), onclick: () => node.close() }, '×');
	let node = h(
		'dialog',
		{ class: 'sheet', 'aria-labelledby': heading.id, onclick: event => event.target === node && node.close() },
		h('header', {}, heading, close),
		...content,
	);
	return { node, heading };
}
