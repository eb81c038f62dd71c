// The menu of the composer: review the plan first, strategy, ask before extending. It remembers.

import { countChosen, readChoices, STRATEGIES } from './choices.mjs';
import { h } from './elements.mjs';

/** The menu; `choices()` are those in force. */
export function createMenu({ l10n: { say }, host, life }) {
	let choices = readChoices(host.remember('choices'));
	let label = h('span');
	let strategy = h(
		'select',
		{ onchange: () => choose({ strategy: strategy.value }) },
		STRATEGIES.map(name => h('option', { value: name, selected: name === choices.strategy }, say('strategy-name', { name }))),
	);
	let reviews = check('reviewsPlan', say('review-plan'), say('review-plan-hint'));
	let asks = check('asksBeforeExtending', say('ask-before'), say('ask-before-hint'));
	let node = h(
		'details',
		{ class: 'menu', onkeydown: closeByKey, onfocusout: closeOutside },
		h('summary', { class: 'quiet', title: say('options') }, label),
		h('div', { class: 'menu-panel', role: 'group', 'aria-label': say('options') }, reviews, h('label', { class: 'choice' }, h('span', {}, say('strategy')), strategy), asks),
	);

	function check(name, title, hint) {
		let box = h('input', { type: 'checkbox', checked: choices[name], onchange: () => choose({ [name]: box.checked }) });
		return h('label', { class: 'choice' }, box, h('span', {}, title, h('small', {}, hint)));
	}

	function choose(change) {
		choices = { ...choices, ...change };
		host.setRemembered('choices', JSON.stringify(choices));
		tell();
	}

	function tell() {
		label.textContent = say('options-button', { chosen: countChosen(choices) });
	}

	function close() {
		node.removeAttribute('open');
	}

	function closeByKey(event) {
		if (event.key === 'Escape' && node.open) {
			event.preventDefault();
			close();
			node.querySelector('summary').focus();
		}
	}

	function closeOutside(event) {
		if (event.relatedTarget && !node.contains(event.relatedTarget)) {
			close();
		}
	}

	document.addEventListener('pointerdown', event => !node.contains(event.target) && close(), { signal: life });
	tell();
	return { node, choices: () => choices };
}
