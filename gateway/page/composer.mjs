// Where a question is written: what is searched, the text, the menu, the buttons.

import { keepDraft } from './draft.mjs';
import { h, show } from './elements.mjs';
import { createMenu } from './menu.mjs';
import { optionsOf } from './choices.mjs';
import { createScopeBar } from './scope_bar.mjs';
import { activeItemsOf, promptWith, scopeOf } from './scope_choice.mjs';

const MOST_PROMPT = 20_000;
const MOST_LINES = 8;

/** The composer; `onAsk(prompt)` and `onStop()` are its buttons. */
export function createComposer(context, { onAsk, onStop }) {
	let { say } = context.l10n;
	let scope = createScopeBar(context);
	let menu = createMenu(context);
	let prompt = h('textarea', { id: 'prompt', rows: 1, maxlength: MOST_PROMPT, required: true, onkeydown: sendByKey, oninput: fit });
	let send = h('button', { type: 'submit', id: 'send', title: say('ask-key') }, say('ask'));
	let stop = h('button', { type: 'button', id: 'stop', hidden: true, title: say('stop-hint'), onclick: onStop }, say('stop'));
	let node = h(
		'form',
		{ id: 'composer', class: 'composer', onsubmit: submit },
		h('div', { class: 'writing-row' }, h('label', { 'class': 'unseen', 'for': 'prompt' }, say('your-question')), prompt, send, stop),
		h('div', { class: 'composer-foot' }, scope.node, menu.node),
	);
	let keep = keepDraft(context, prompt, 'draft', 'question');
	let mode = 'idle';

	function submit(event) {
		event.preventDefault();
		let text = prompt.value.trim();
		if (text && mode === 'idle') {
			prompt.value = '';
			fit();
			keep();
			onAsk(text);
			scope.afterQuestion();
		}
	}

	function sendByKey(event) {
		// Enter alone makes a new line on touch keyboards and while an input method composes.
		let isPlain = !event.shiftKey && !matchMedia('(pointer: coarse)').matches;
		if (event.key === 'Enter' && !event.isComposing && (isPlain || event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			node.requestSubmit();
		}
	}

	function fit() {
		prompt.rows = Math.min(MOST_LINES, Math.max(1, prompt.value.split('\n').length));
	}

	function setMode(next) {
		mode = next;
		show(stop, mode === 'running');
		show(send, mode !== 'running');
		let isWaiting = mode === 'waiting';
		send.disabled = isWaiting;
		prompt.placeholder = say(isWaiting ? 'decide-first' : 'ask-library');
	}

	fit();
	setMode('idle');
	return {
		node,
		sheet: scope.sheet,
		setMode,
		/** The body of a question with what is chosen now. */
		request(text) {
			let chips = scope.chips();
			let active = activeItemsOf(chips);
			let body = { prompt: promptWith(chips, text).slice(-MOST_PROMPT), scope: scopeOf(chips), options: optionsOf(menu.choices()) };
			return active.length ? { ...body, active_items: active } : body;
		},
		/** Put words there to change, unless others are there. */
		propose(text) {
			if (!prompt.value) {
				prompt.value = text;
				fit();
				keep();
			}
		},
		focus: () => prompt.focus({ preventScroll: true }),
		scopeChanged: scope.offer,
	};
}
