// Deleting everything that was ever asked: at the end of the list of sessions, after a second yes.

import { fill, h, quiet } from './elements.mjs';
import { reasonOf } from './refusal.mjs';

const PAGE = 100;

/** The button and its question; `onCleared` is told when nothing is left. */
export function createClearAll({ l10n, gateway }, { onCleared }) {
	let { say } = l10n;
	let node = h('div', { class: 'clear-all' });

	function rest(told = null) {
		fill(node, quiet(say('clear-all'), ask, { class: 'quiet danger' }), told);
	}

	function ask() {
		let keep = quiet(say('keep'), () => rest());
		fill(node, h('p', {}, say('clear-all-warning')), h('p', { class: 'actions' }, quiet(say('clear-all-yes'), clear, { class: 'quiet danger' }), keep));
		// The harmless answer has the focus.
		keep.focus();
	}

	async function clear() {
		fill(node, h('p', { class: 'status busy', role: 'status' }, say('clearing')));
		try {
			await removeAll(gateway);
			rest();
			onCleared();
		}
		catch (error) {
			rest(h('p', { class: 'status failed', role: 'alert' }, reasonOf(l10n, error)));
		}
	}

	rest();
	return node;
}

/** Delete every session of the caller. */
export async function removeAll(gateway) {
	for (;;) {
		let { sessions } = await gateway.read(`/sessions?limit=${PAGE}`);
		if (!sessions.length) {
			return;
		}
		for (let { id } of sessions) {
			await gateway.remove(id);
		}
	}
}
