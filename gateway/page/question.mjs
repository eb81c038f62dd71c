// The question of a turn: a bubble that can be edited and asked again.

import { fill, h, quiet } from './elements.mjs';

const MOST_PROMPT = 20_000;

/** The bubble; `onAskAgain(prompt)` takes this question and all later ones back and asks another instead. */
export function createQuestion({ l10n: { say } }, { onAskAgain }) {
	// A heading, so that a screen reader can go from question to question.
	let text = h('h2', { class: 'question' });
	let edit = quiet('✎', begin, { class: 'quiet edit', title: say('edit'), 'aria-label': say('edit') });
	let node = h('div', { class: 'asked' });
	let current = null;

	function rest() {
		fill(node, edit, text);
	}

	function begin() {
		let field = h('textarea', { 'aria-label': say('edit'), rows: 3, maxlength: MOST_PROMPT, onkeydown: byKey });
		field.value = current.prompt;
		fill(node, h(
			'form',
			{ class: 'editor', onsubmit: send },
			field,
			current.isLast ? null : h('p', { class: 'notice' }, say('edit-takes-later')),
			h('p', { class: 'actions' }, h('button', {}, say('ask-again')), quiet(say('keep'), leave)),
		));
		field.focus();

		function send(event) {
			event.preventDefault();
			let prompt = field.value.trim();
			if (prompt) {
				leave();
				onAskAgain(prompt);
			}
		}
	}

	function leave() {
		rest();
		edit.focus();
	}

	function byKey(event) {
		if (event.key === 'Escape') {
			event.preventDefault();
			leave();
		}
		if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			event.target.form.requestSubmit();
		}
	}

	rest();
	return {
		node,
		update(view) {
			if (view.prompt !== current?.prompt) {
				fill(text, view.prompt);
			}
			current = view;
			// Before the run is known there is nothing to take back.
			edit.disabled = view.invocationId === null || view.isChanging || view.state === 'DELETED';
		},
	};
}
