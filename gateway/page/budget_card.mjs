// The card of a budget checkpoint: what was found, what is missing, what it would cost to go on.

import { aboutCheckpoint, keepDraft } from './draft.mjs';
import { fill, h } from './elements.mjs';
import { createSending } from './sending.mjs';

const MOST_GUIDANCE = 2000;

/** What an extension adds, in words: "+5 calls, +3,750 words, +5 passages"; empty when it does not say. */
export function added({ say }, { limits, next_limits: next }) {
	if (!limits || !next) {
		return '';
	}
	return ['calls', 'words', 'passages', 'tokens']
		.map(noun => [noun, (next[noun] ?? 0) - (limits[noun] ?? 0)])
		.filter(([, more]) => more > 0)
		.map(([noun, more]) => say(`adds-${noun}`, { more }))
		.join(', ');
}

/** The bars: how much is used of each limit, and where the limit would be after an extension. */
export function bars({ used, limits, next_limits: next }) {
	if (!used || !limits || !next) {
		return [];
	}
	let kept = Math.min(used.passages_found, limits.passages);
	// Only a run with a ceiling of tokens has one to show.
	let tokens = limits.tokens ? [{ name: 'tokens', used: used.tokens, limit: limits.tokens, next: next.tokens }] : [];
	return [
		{ name: 'calls', used: used.calls, limit: limits.calls, next: next.calls },
		{ name: 'words', used: used.words, limit: limits.words, next: next.words },
		{ name: 'passages', used: kept, limit: limits.passages, next: next.passages },
		...tokens,
	];
}

/** The card; `onDecide(checkpoint, response)` is called with each decision. */
export function createBudgetCard(context, { onDecide }) {
	let { l10n } = context;
	let { say } = l10n;
	let node = h('section', { class: 'checkpoint' });
	let guidance = h('textarea', { rows: 2, maxlength: MOST_GUIDANCE, placeholder: say('guidance-hint') });
	let extend = h('button', { type: 'button', class: 'extend', onclick: () => decide('extend_budget') });
	let synthesize = h('button', { type: 'button', class: 'synthesize', onclick: () => decide('synthesize') }, say('synthesize'));
	let sending = createSending(say('sending'));
	let current = null;

	function decide(action) {
		let text = guidance.value.trim();
		onDecide(current, action === 'extend_budget' && text ? { action, guidance: text } : { action });
	}

	function draw({ payload, message, expires_at: until }) {
		let title = payload ? say('extension', { number: payload.extension_number, most: payload.max_extensions }) : say('decision-needed');
		let more = payload && added(l10n, payload);
		node.setAttribute('aria-label', title);
		fill(extend, say('extend'), more && h('span', { class: 'more' }, more));
		fill(
			node,
			h('p', { class: 'badge' }, title),
			h('p', {}, message),
			payload && findings(l10n, payload),
			until && h('p', { class: 'notice' }, say('expires', { time: l10n.moment(until) })),
			h('label', { class: 'guidance' }, h('span', {}, say('guidance')), guidance),
			h('div', { class: 'choices' }, extend, synthesize),
			sending.node,
		);
	}

	return {
		node,
		update(checkpoint, { run, isSending, failure }) {
			if (current === null) {
				keepDraft(context, guidance, 'guidance', aboutCheckpoint(run, checkpoint));
			}
			if (checkpoint.version !== current?.version) {
				draw(checkpoint);
			}
			current = checkpoint;
			for (let control of [guidance, extend, synthesize]) {
				control.disabled = isSending;
			}
			sending.update(isSending, failure);
		},
	};
}

function findings(l10n, payload) {
	let { say } = l10n;
	return [
		payload.covered_summary && [h('h3', {}, say('covered')), h('p', {}, payload.covered_summary)],
		payload.gaps.length > 0 && [h('h3', {}, say('not-covered')), h('ul', {}, payload.gaps.map(gap => h('li', {}, gap)))],
		payload.justification && [h('h3', {}, say('why-more')), h('p', {}, payload.justification)],
		h('div', { class: 'extents' }, bars(payload).map(bar => extent(l10n, bar))),
		payload.used && h('p', { class: 'notice' }, say('found-so-far', { passages: payload.used.passages_found, documents: payload.used.documents })),
	];
}

function extent({ say }, { name, used, limit, next }) {
	let title = say(`meter-${name}`);
	return h(
		'div',
		{ class: 'extent' },
		h('span', { class: 'extent-name' }, title),
		h(
			'span',
			{ class: 'bars' },
			h('progress', { class: 'limit', max: next, value: limit, 'aria-hidden': 'true' }),
			h('progress', { class: 'used', max: next, value: Math.min(used, next), 'aria-label': say('extent-label', { title, used, limit, next }) }),
		),
		h('span', { class: 'numbers' }, say('extent', { used, limit, next })),
	);
}
