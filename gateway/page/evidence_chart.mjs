// A picture of the evidence: for each paper how much of it was found and cited, and from which sections.

import { fill, h } from './elements.mjs';
import { citedBySection, evidenceByPaper } from './evidence_counts.mjs';
import { reasonOf } from './refusal.mjs';

const SVG = 'http://www.w3.org/2000/svg';
const MOST_PAPERS = 25;
const AT_ONCE = 4;

/** The chart of a finished turn, drawn when it is opened; or null when nothing was found. */
export function createEvidenceChart({ l10n, gateway }, view) {
	let { say } = l10n;
	let papers = evidenceByPaper(view.steps, view.answer.citations);
	if (!papers.length) {
		return null;
	}
	let body = h('div', { class: 'chart' });
	let node = h('details', { class: 'evidence', ontoggle: draw }, h('summary', {}, say('evidence', { papers: papers.length })), body);
	let isDrawn = false;

	function draw() {
		if (!node.open || isDrawn) {
			return;
		}
		isDrawn = true;
		let shown = papers.slice(0, MOST_PAPERS);
		let most = Math.max(...shown.map(paper => paper.found));
		let lines = shown.map(paper => ({ paper, sections: h('p', { class: 'chart-sections' }) }));
		fill(
			body,
			h('p', { class: 'legend' }, key('cited'), ` ${say('chart-cited')} `, key('found'), ` ${say('chart-found')}`),
			h('ol', {}, lines.map(({ paper, sections }) => row(l10n, paper, most, sections))),
			papers.length > MOST_PAPERS && h('p', { class: 'notice' }, say('chart-more', { papers: papers.length - MOST_PAPERS })),
		);
		showSections(lines);
	}

	/** Where the cited passages stand is told by the passages themselves. */
	async function showSections(lines) {
		let sections = new Map();
		let wanted = lines.flatMap(({ paper }) => paper.passages);
		let readers = Array.from({ length: AT_ONCE }, async () => {
			while (wanted.length) {
				let id = wanted.shift();
				let passage = await gateway.read(`/passages/${id}?invocation_id=${view.invocationId}`);
				sections.set(id, passage.section_path[passage.section_path.length - 1] ?? '');
			}
		});
		try {
			await Promise.all(readers);
		}
		catch (error) {
			body.append(h('p', { class: 'status failed' }, reasonOf(l10n, error)));
			return;
		}
		for (let { paper, sections: place } of lines) {
			let parts = citedBySection(paper, sections);
			fill(place, parts.map(part => say('chart-section', { section: part.name || say('chart-no-section'), cited: part.cited })).join(' · '));
		}
	}

	return node;
}

function row({ say }, { title, found, cited }, most, sections) {
	let label = say('chart-row', { cited, found });
	return h(
		'li',
		{},
		h('span', { class: 'chart-title' }, title),
		bar(found / most, cited / most),
		h('span', { class: 'numbers' }, label),
		sections,
	);
}

/** Shares of the whole width, drawn one over the other; the numbers beside it say the same. */
function bar(found, cited) {
	return svg('svg', { 'class': 'chart-bar', 'viewBox': '0 0 100 6', 'preserveAspectRatio': 'none', 'aria-hidden': 'true' }, [
		svg('rect', { class: 'found', width: 100 * found, height: 6, rx: 1 }),
		svg('rect', { class: 'cited', width: 100 * cited, height: 6, rx: 1 }),
	]);
}

function key(kind) {
	return svg('svg', { 'class': 'chart-key', 'viewBox': '0 0 6 6', 'aria-hidden': 'true' }, [svg('rect', { class: kind, width: 6, height: 6, rx: 1 })]);
}

function svg(name, attributes, children = []) {
	let element = document.createElementNS(SVG, name);
	for (let [attribute, value] of Object.entries(attributes)) {
		element.setAttribute(attribute, String(value));
	}
	element.append(...children);
	return element;
}
