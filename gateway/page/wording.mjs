// Short phrases about a run, from its plain values. Pure but for the words.

import { usage } from './run_view.mjs';

/** What the run does now, in words; empty when there is nothing to say. */
export function activity({ say }, view) {
	switch (view.state) {
		case 'QUEUED':
			return say('state-queued');
		case 'RUNNING':
			return say('stage', { stage: view.stage ?? 'none' });
		case 'AWAITING_INPUT':
		case 'PAUSED':
		case 'CANCELLED':
		case 'EXPIRED':
		case 'DELETED':
			return say('state-standing', { state: view.state });
		default:
			return '';
	}
}

/** One line that sums the search up: calls and words, with their limits while they may still grow. */
export function summary({ say }, view) {
	let { calls, callLimit, words, wordLimit } = usage(view);
	if (!view.answer && callLimit && wordLimit) {
		return say('work-so-far', { calls, callLimit, words, wordLimit });
	}
	let parts = [say('work-done', { calls, words })];
	if (view.rerank) {
		parts.push(say('work-kept', { kept: view.rerank.kept, considered: view.rerank.considered }));
	}
	return parts.join(' · ');
}

/** The latest step as one line: what is looked for or read. */
export function stepLine({ say }, step) {
	return [say('tool', { tool: step.tool }), stepObject({ say }, step)].filter(Boolean).join(' ');
}

/** What a step is about. */
export function stepObject({ say }, { tool, arguments: given, result }) {
	if (tool === 'search_corpus' && typeof given.query === 'string') {
		return say('quoted', { text: given.query });
	}
	if (tool === 'conclude_search' || tool === 'request_search_extension') {
		return '';
	}
	if (tool === 'read_document' || tool === 'get_document_toc') {
		// The arguments are ids; what came back says which work they stand for.
		return result?.passages[0]?.title ?? '';
	}
	return Object.values(given).filter(value => typeof value !== 'object').join(', ');
}

/** Where a citation stands. */
export function place({ say }, { page_label: label }) {
	return label ? say('page', { label }) : say('no-pages');
}

/** Who wrote it and when. */
export function byline({ creators, year }) {
	return [creators.join(', '), year].filter(Boolean).join(', ');
}

/** How an answer came about: its writer, its checks, its time and its price. */
export function colophon({ say, number }, { model, usage: used, citations, support }) {
	let parts = [];
	if (model) {
		parts.push(say('written-by', { model }));
	}
	if (citations.length && support) {
		parts.push(say('verified-count', { verified: support.verified, citations: citations.length }));
	}
	if (used) {
		parts.push(say('seconds', { seconds: number(used.seconds, { maximumFractionDigits: 1 }) }));
		let tokens = used.input_tokens + used.output_tokens;
		if (tokens) {
			parts.push(say('tokens', { tokens }));
		}
		if (used.cost) {
			parts.push(number(used.cost, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }));
		}
	}
	return parts.join(' · ');
}
