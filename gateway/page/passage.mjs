// The passage behind a citation, with the quote marked and what stands around it.

import { fill, h } from './elements.mjs';
import { read } from './gateway.mjs';
import { findQuote } from './quote.mjs';
import { place, supportMark, zoteroLink } from './sources.mjs';

/** A dialog that shows the passage of a citation. */
export function createPassageDialog() {
	let title = h('h2', { id: 'passage-title' });
	let by = h('p', { class: 'by' });
	let text = h('div', { class: 'passage-text', tabindex: '0', role: 'region', 'aria-label': 'Text of the passage' });
	let links = h('div', { class: 'actions' });
	let close = h('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => node.close() }, '×');
	let node = h(
		'dialog',
		{ class: 'sheet', 'aria-labelledby': 'passage-title', onclick: event => event.target === node && node.close() },
		h('header', {}, title, close),
		by, text, links,
	);
	let wanted = null;

	return {
		node,
		async open(citation, invocationId) {
			wanted = citation;
			fill(title, citation.title);
			fill(by, [citation.creators.join(', '), citation.year, place(citation)].filter(Boolean).join(' · '), ' ', supportMark(citation));
			fill(text, h('p', { class: 'notice' }, 'Loading…'));
			fill(links, zoteroLink(citation.open_uri), selectLink(citation));
			node.showModal();
			let shown;
			try {
				shown = passageText(await read(`/passages/${citation.passage_id}?invocation_id=${invocationId}`), citation);
			}
			catch (error) {
				shown = [h('p', { class: 'status failed' }, error.message), h('blockquote', {}, citation.quote)];
			}
			// Another one may have been opened meanwhile.
			if (wanted === citation) {
				fill(text, shown);
				text.querySelector('mark')?.scrollIntoView({ block: 'center' });
			}
		},
	};
}

function selectLink({ select_uri: uri }) {
	return /^zotero:\/\//i.test(uri) ? h('a', { href: uri, class: 'quiet' }, 'Select in Zotero') : null;
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
