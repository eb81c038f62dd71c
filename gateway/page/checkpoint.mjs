// A checkpoint inside its turn: what was found, what is missing, and the two things that can be decided.

import { count, fill, h, plural, show } from './elements.mjs';

const MOST_GUIDANCE = 2000;

/** "Deep Research: Extension 1 of 2". */
export function badge({ extension_number: number, max_extensions: most }) {
	return `Deep Research: Extension ${number} of ${most}`;
}

/** What an extension adds: "+5 calls, +3,750 words, +5 passages". */
export function added({ limits, next_limits: next }) {
	if (!limits || !next) {
		return '';
	}
	return ['call', 'word', 'passage']
		.map(noun => [next[`${noun}s`] - limits[`${noun}s`], noun])
		.filter(([more]) => more > 0)
		.map(([more, noun]) => `+${more.toLocaleString('en')} ${noun}${more === 1 ? '' : 's'}`)
		.join(', ');
}

/** The bars: how much is used of each limit, and where the limit would be after an extension. */
export function bars({ used, limits, next_limits: next }) {
	if (!used || !limits || !next) {
		return [];
	}
	let kept = Math.min(used.passages_found, limits.passages);
	return [
		{ name: 'Calls', used: used.calls, limit: limits.calls, next: next.calls },
		{ name: 'Words read', used: used.words, limit: limits.words, next: next.words },
		{ name: 'Passages kept', used: kept, limit: limits.passages, next: next.passages },
	];
}

/** What was decided, as a sentence. */
export function decisionText({ payload, answered }) {
	let what = answered.action === 'extend_budget' ? 'granted' : 'not granted: answered with the existing evidence';
	let name = payload ? `Extension ${payload.extension_number} of ${payload.max_extensions}` : 'Extension';
	let who = answered.answered_by === 'expiry' ? ', as the time to decide was over' : ` by ${answered.answered_by}`;
	return `${name} ${what}${who}${answered.isElsewhere ? ', elsewhere' : ''}`;
}

/** The card of the pending checkpoint; `onDecide(checkpoint, response)` is called once for each decision. */
export function createCheckpointCard({ onDecide }) {
	let node = h('div');
	let parts = null;
	let shown = null;

	function build(checkpoint) {
		let guidance = h('textarea', { rows: 2, maxlength: MOST_GUIDANCE, placeholder: 'Which aspect, table, author or method to look for' });
		let status = h('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
		let decide = action => () => {
			let text = guidance.value.trim();
			onDecide(checkpoint, action === 'extend_budget' && text ? { action, guidance: text } : { action });
		};
		let more = checkpoint.payload ? added(checkpoint.payload) : '';
		let extend = h(
			'button',
			{ type: 'button', class: 'extend', onclick: decide('extend_budget') },
			'Grant Deep Research Extension',
			more && h('span', { class: 'more' }, more),
		);
		let synthesize = h('button', { type: 'button', class: 'synthesize', onclick: decide('synthesize') }, 'Synthesize Response with Existing Evidence');
		let title = checkpoint.payload ? badge(checkpoint.payload) : 'A decision is needed';
		fill(node, h(
			'section',
			{ class: 'checkpoint', 'aria-label': title },
			h('p', { class: 'badge' }, title),
			h('p', {}, checkpoint.message),
			checkpoint.payload && findings(checkpoint.payload),
			h('label', { class: 'guidance' }, h('span', {}, 'Guidance for the search (optional)'), guidance),
			h('div', { class: 'choices' }, extend, synthesize),
			status,
		));
		parts = { controls: [guidance, extend, synthesize], status };
	}

	return {
		node,
		/** Show a checkpoint (or none), whether its decision is on the way, and why one failed. */
		update(checkpoint, isSending, failure) {
			show(node, checkpoint !== null);
			if (checkpoint === null) {
				fill(node);
				shown = null;
				return;
			}
			let id = `${checkpoint.interrupt_id} ${checkpoint.version}`;
			// What was typed must survive every update that is not another question.
			if (shown !== id) {
				build(checkpoint);
				shown = id;
			}
			for (let control of parts.controls) {
				control.disabled = isSending;
			}
			parts.status.className = isSending ? 'status busy' : 'status failed';
			fill(parts.status, isSending ? 'Sending your decision…' : failure);
			show(parts.status, isSending || Boolean(failure));
		},
	};
}

/** The decisions taken so far. */
export function decisionList(checkpoints) {
	let taken = checkpoints.filter(checkpoint => checkpoint.answered);
	if (!taken.length) {
		return null;
	}
	return h('ul', { class: 'decisions', 'aria-label': 'Decisions' }, taken.map(checkpoint => h(
		'li',
		{},
		decisionText(checkpoint),
		checkpoint.answered.guidance && h('q', {}, checkpoint.answered.guidance),
	)));
}

function findings(payload) {
	return [
		payload.covered_summary && [h('h3', {}, 'Covered so far'), h('p', {}, payload.covered_summary)],
		payload.gaps.length > 0 && [h('h3', {}, 'Not covered yet'), h('ul', {}, payload.gaps.map(gap => h('li', {}, gap)))],
		payload.justification && [h('h3', {}, 'Why more search would help'), h('p', {}, payload.justification)],
		h('div', { class: 'extents' }, bars(payload).map(extent)),
		payload.used && h('p', { class: 'notice' }, `Found ${plural(payload.used.passages_found, 'passage')} in ${plural(payload.used.documents, 'document')}.`),
	];
}

function extent({ name, used, limit, next }) {
	return h(
		'div',
		{ class: 'extent' },
		h('span', { class: 'extent-name' }, name),
		h(
			'span',
			{ class: 'bars' },
			h('progress', { class: 'limit', max: next, value: limit, 'aria-hidden': 'true' }),
			h('progress', { class: 'used', max: next, value: Math.min(used, next), 'aria-label': `${name}: ${count(used)} of ${count(limit)} used, ${count(next)} with an extension` }),
		),
		h('span', { class: 'numbers' }, `${count(used)} of ${count(limit)} → ${count(next)}`),
	);
}
