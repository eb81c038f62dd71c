// What a pass of the search found out, and what it did not.

import { h } from './elements.mjs';

/** The report of the latest pass, or null. */
export function report({ say }, view) {
	if (!view.report) {
		return null;
	}
	let { covered_summary: covered, gaps, automatic, reason } = view.report;
	return h(
		'section',
		{ class: 'report', 'aria-label': say('report') },
		covered ? h('p', {}, covered) : null,
		automatic && reason ? h('p', { class: 'notice' }, reason) : null,
		gapList({ say }, gaps),
	);
}

/** What the library did not answer, or null. */
export function gapList({ say }, gaps) {
	if (!gaps.length) {
		return null;
	}
	return h(
		'section',
		{ class: 'gaps' },
		h('h3', {}, say('gaps')),
		h('ul', {}, gaps.map(gap => h('li', {}, gap))),
	);
}
