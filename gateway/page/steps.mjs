// What the search did: its steps, how much of the limits it used, and what it reported.

import { count, fill, h, plural } from './elements.mjs';
import { usage } from './run_view.mjs';

const STAGES = {
	converse: 'Understanding the question',
	plan: 'Planning',
	search: 'Searching the library',
	rerank: 'Choosing the best passages',
	synthesize: 'Writing the answer',
	verify: 'Checking the citations',
};

/** What the run does now, in words. */
export function activity(view) {
	switch (view.state) {
		case 'QUEUED':
			return 'Starting';
		case 'RUNNING':
			return STAGES[view.stage] ?? 'Working';
		case 'AWAITING_INPUT':
			return 'Waiting for your decision';
		case 'PAUSED':
			return 'Paused';
		case 'CANCELLED':
			return 'Cancelled';
		case 'EXPIRED':
			return 'Expired';
		case 'DELETED':
			return 'This session was deleted';
		default:
			return '';
	}
}

/** One line that sums the search up. */
export function summary(view) {
	let { calls, words } = usage(view);
	let parts = [plural(calls, 'call'), `${plural(words, 'word')} read`];
	if (view.rerank) {
		parts.push(`${count(view.rerank.kept)} of ${plural(view.rerank.considered, 'passage')} kept`);
	}
	return parts.join(' · ');
}

/** The bars of calls and words. */
export function meters(view) {
	let { calls, callLimit, words, wordLimit } = usage(view);
	return [meter('Calls', calls, callLimit), meter('Words read', words, wordLimit)];
}

function meter(name, value, limit) {
	if (!limit) {
		return null;
	}
	return h(
		'label',
		{ class: 'meter' },
		h('span', {}, name),
		h('progress', { max: limit, value: Math.min(value, limit) }),
		h('span', { class: 'numbers' }, `${count(value)} of ${count(limit)}`),
	);
}

/** A list that shows steps as they come and leaves those that did not change alone. */
export function createStepList() {
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
				fill(item, stepLine(step), found(step.result));
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

function stepLine(step) {
	let wordsRead = step.result?.words ? ` · ${plural(step.result.words, 'word')}` : '';
	return h(
		'p',
		{ class: 'step' },
		h('span', { class: 'tool' }, toolName(step.tool)),
		' ',
		h('span', { class: 'arguments' }, argumentText(step)),
		h('span', { class: 'numbers' }, outcome(step), wordsRead),
	);
}

function outcome({ call_number: number, result }) {
	if (!result) {
		return 'running…';
	}
	if (!result.ok) {
		return 'no result';
	}
	// A call that is not counted looks nothing up.
	return number ? plural(result.passages.length, 'passage') : '';
}

function toolName(tool) {
	let names = {
		search_corpus: 'Search',
		get_document_toc: 'Contents of',
		read_document: 'Read',
		conclude_search: 'Concluded',
		request_search_extension: 'Asked for more',
	};
	return names[tool] ?? tool;
}

function argumentText({ tool, arguments: given, result }) {
	if (tool === 'search_corpus' && typeof given.query === 'string') {
		return `“${given.query}”`;
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

function found(result) {
	if (!result) {
		return null;
	}
	let notice = result.notice ? h('p', { class: 'notice' }, result.notice) : null;
	if (!result.passages.length) {
		return notice;
	}
	let titles = new Set(result.passages.map(passage => passage.title));
	return [
		notice,
		h(
			'details',
			{},
			h('summary', {}, [...titles].slice(0, 3).join(' · '), titles.size > 3 ? ' …' : ''),
			h('ul', { class: 'found' }, result.passages.map(foundPassage)),
		),
	];
}

function foundPassage(passage) {
	return h(
		'li',
		{},
		h('cite', {}, passage.title),
		passage.page_label ? h('span', { class: 'page' }, ` p. ${passage.page_label}`) : null,
		h('p', { class: 'snippet' }, passage.snippet),
	);
}

/** What the pass found out, and what it did not. */
export function report(view) {
	if (!view.report) {
		return null;
	}
	let { covered_summary: covered, gaps, automatic, reason } = view.report;
	return h(
		'section',
		{ class: 'report', 'aria-label': 'Report of the search' },
		covered ? h('p', {}, covered) : null,
		automatic && reason ? h('p', { class: 'notice' }, reason) : null,
		gapList(gaps),
	);
}

/** What the library did not answer. */
export function gapList(gaps) {
	if (!gaps.length) {
		return null;
	}
	return h(
		'section',
		{ class: 'gaps' },
		h('h3', {}, 'Not found in the library'),
		h('ul', {}, gaps.map(gap => h('li', {}, gap))),
	);
}
