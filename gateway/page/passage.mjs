// The passage behind a citation, with the quote marked and what stands around it.

import { fill, h } from './elements.mjs';
import { findQuote } from './quote.mjs';
import { reasonOf } from './refusal.mjs';
import { createSheet } from './sheet.mjs';
import { supportMark, zoteroLinks } from './sources.mjs';
import { byline, place } from './wording.mjs';

/** A dialog that shows the passage of a citation. */
export function createPassageSheet(context) {
	let { l10n, gateway } = context;
	let by = h('p', { class: 'by' });
	let text = h('div', { class: 'passage-text', tabindex: '0', role: 'region', 'aria-label': l10n.say('passage-text') });
	let links = h('div', { class: 'actions' });
	let { node, heading } = createSheet(context, 'passage', '', by, text, links);
	let wanted = null;

	return {
		node,
		async open(citation, invocationId) {
			wanted = citation;
			fill(heading, citation.title);
			fill(by, [byline(citation), place(l10n, citation)].filter(Boolean).join(' · '), ' ', supportMark(context, citation));
			fill(text, h('p', { class: 'notice' }, l10n.say('loading')));
			fill(links, zoteroLinks(context, citation));
			node.showModal();
			let shown;
			try {
				shown = passageText(await gateway.read(`/passages/${citation.passage_id}?invocation_id=${invocationId}`), citation);
			}
			catch (error) {
				shown = [h('p', { class: 'status failed' }, reasonOf(l10n, error)), h('blockquote', {}, citation.quote)];
			}
			// Another one may have been opened meanwhile.
			if (wanted === citation) {
				fill(text, shown);
				text.querySelector('mark')?.scrollIntoView({ block: 'center' });
			}
		},
	};
}

function passageText(passage, citation) {
	return [
		passage.section_path.length ? h('p', { class: 'section-path' }, passage.section_path.join(' › ')) : null,
		passage.before.map(beside => h('p', { class: 'beside' }, beside.text)),
		h('p', { class: 'passage' }, withQuote(passage.text, citation.quote)),
		passage.after.map(beside => h('p', { class: 'beside' }, beside.text)),
	];
}

function withQuote(text, quote) {
	let range = findQuote(text, quote);
	if (!range) {
		return text;
	}
	return [text.slice(0, range[0]), h('mark', {}, text.slice(...range)), text.slice(range[1])];
}
