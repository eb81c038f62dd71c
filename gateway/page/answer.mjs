// The answer of a turn: text as it is written, then the checked answer with its sources.

import { createAfterwards } from './afterwards.mjs';
import { fill, h } from './elements.mjs';
import { createEvidenceChart } from './evidence_chart.mjs';
import { createGrowingProse, prose } from './prose.mjs';
import { gapList } from './report.mjs';
import { chipFor, sourceList } from './sources.mjs';
import { colophon } from './wording.mjs';

/** The answer's place; `onCitation(citation)` is told of a clicked one. */
export function createAnswer(context, { onCitation }) {
	let growing = createGrowingProse(number => `[${number}]`);
	let text = h('div', { class: 'answer' });
	let extras = h('div');
	let node = h('div', {}, text, extras);

	function showWriting(written) {
		if (!growing.node.isConnected) {
			fill(text, growing.node);
			fill(extras);
		}
		growing.update(written);
		text.className = written === '' ? 'answer' : 'answer writing';
	}

	function showAnswer(view) {
		let { answer } = view;
		growing.clear();
		text.className = answer.answered ? 'answer' : 'answer unanswered';
		fill(text, prose(answer.markdown, chipFor(context, answer.citations, onCitation)));
		// An answer that names a gap itself needs no list that names it again.
		let untold = answer.gaps.filter(gap => !answer.markdown.includes(gap));
		fill(
			extras,
			gapList(context.l10n, untold),
			sourceList(context, answer, onCitation),
			createEvidenceChart(context, view),
			createAfterwards(context, view),
			h('p', { class: 'colophon' }, colophon(context.l10n, answer)),
		);
	}

	return {
		node,
		update(view) {
			view.answer ? showAnswer(view) : showWriting(view.text);
		},
	};
}
