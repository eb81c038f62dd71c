// What the search did, folded to one line: its steps, and how much of the limits it used.

import { fill, h, show } from './elements.mjs';
import { isOver, usage } from './run_view.mjs';
import { stepLine, stepObject, summary } from './wording.mjs';

const TITLES_SHOWN = 3;

/** The work of a turn; `update` shows a newer view. Closed by default: one line tells how far it is. */
export function createWork({ l10n }) {
	let now = h('span', { class: 'work-now' });
	let sum = h('span', { class: 'numbers' });
	let bars = h('div', { class: 'meters' });
	let steps = createStepList(l10n);
	let node = h('details', { class: 'work' }, h('summary', { class: 'work-line' }, now, sum), bars, steps.node);

	return {
		node,
		update(view) {
			show(node, view.steps.length > 0);
			steps.update(view.steps);
			fill(bars, meters(l10n, view));
			fill(sum, summary(l10n, view));
			let last = view.steps[view.steps.length - 1];
			fill(now, last && !isOver(view) ? stepLine(l10n, last) : l10n.say('work'));
		},
	};
}

function meters(l10n, view) {
	let { calls, callLimit, words, wordLimit } = usage(view);
	return [meter(l10n, 'meter-calls', calls, callLimit), meter(l10n, 'meter-words', words, wordLimit)];
}

function meter({ say }, id, value, limit) {
	if (!limit) {
		return null;
	}
	return h(
		'label',
		{ class: 'meter' },
		h('span', {}, say(id)),
		h('progress', { max: limit, value: Math.min(value, limit) }),
		h('span', { class: 'numbers' }, say('of', { value, limit })),
	);
}

/** A list that shows steps as they come and leaves those that did not change alone. */
function createStepList(l10n) {
	let shown = new Map();
	let node = h('ol', { class: 'steps' });

	return {
		node,
		update(steps) {
			for (let step of steps) {
				let known = shown.get(step.step_id);
				if (known?.step === step) {
					continue;
				}
				let item = known?.item ?? h('li');
				fill(item, line(l10n, step), found(l10n, step.result));
				item.className = stepState(step.result);
				if (!known) {
					node.append(item);
				}
				shown.set(step.step_id, { step, item });
			}
		},
	};
}

function stepState(result) {
	if (!result) {
		return 'busy';
	}
	return result.ok ? 'ok' : 'failed';
}

function line({ say }, step) {
	let words = step.result?.words ? ` · ${say('words', { words: step.result.words })}` : '';
	return h(
		'p',
		{ class: 'step' },
		h('span', { class: 'tool' }, say('tool', { tool: step.tool })),
		' ',
		h('span', { class: 'arguments' }, stepObject({ say }, step)),
		h('span', { class: 'numbers' }, outcome({ say }, step), words),
	);
}

function outcome({ say }, { call_number: number, result }) {
	if (!result) {
		return say('step-running');
	}
	if (!result.ok) {
		return say('step-failed');
	}
	// A call that is not counted looks nothing up.
	return number ? say('passages', { passages: result.passages.length }) : '';
}

function found(l10n, result) {
	if (!result) {
		return null;
	}
	let notice = result.notice ? h('p', { class: 'notice' }, result.notice) : null;
	if (!result.passages.length) {
		return notice;
	}
	let titles = [...new Set(result.passages.map(passage => passage.title))];
	return [
		notice,
		h(
			'details',
			{},
			h('summary', {}, titles.slice(0, TITLES_SHOWN).join(' · '), titles.length > TITLES_SHOWN ? ' …' : ''),
			h('ul', { class: 'found' }, result.passages.map(passage => foundPassage(l10n, passage))),
		),
	];
}

function foundPassage({ say }, passage) {
	return h(
		'li',
		{},
		h('cite', {}, passage.title),
		passage.page_label ? h('span', { class: 'page' }, ` ${say('page', { label: passage.page_label })}`) : null,
		h('p', { class: 'snippet' }, passage.snippet),
	);
}
