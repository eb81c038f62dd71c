// The sources of an answer: chips in its text and the list below it.

import { h, quiet } from './elements.mjs';
import { safeLink } from './links.mjs';
import { byline, place } from './wording.mjs';

const MARKS = { verified: '✓', weak: '≈', unsupported: '✕', unchecked: '?' };
// What was read in full needs no remark.
const REMARKED = new Set(['abstract_only', 'partial']);

function supportOf(citation) {
	return citation.support in MARKS ? citation.support : 'unchecked';
}

/** The chip of a citation in the text; a number without a citation stays plain text. */
export function chipFor({ l10n, hover }, citations, onOpen) {
	let byNumber = new Map(citations.map(citation => [citation.number, citation]));
	return function chip(number) {
		let citation = byNumber.get(number);
		if (!citation) {
			return `[${number}]`;
		}
		let support = supportOf(citation);
		let label = l10n.say('chip', { number, title: citation.title, place: place(l10n, citation), support: l10n.say('support', { support }) });
		let node = h('button', { type: 'button', 'class': `chip ${support}`, 'aria-label': label, 'onclick': () => onOpen(citation) }, String(number));
		hover.attach(node, () => preview({ l10n }, citation));
		return node;
	};
}

/** What the card over a chip shows. */
function preview({ l10n }, citation) {
	return [
		h('p', { class: 'preview-title' }, citation.title),
		h('p', { class: 'by' }, [byline(citation), place(l10n, citation)].filter(Boolean).join(' · ')),
		h('blockquote', {}, citation.quote),
		h('p', { class: 'preview-support' }, supportMark({ l10n }, citation), readingRemark({ l10n }, citation)),
	];
}

/** The list of sources, each with its page, quote, and how well it supports its sentence; or null. */
export function sourceList(context, answer, onOpen) {
	if (!answer.citations.length) {
		return null;
	}
	return h(
		'section',
		{ class: 'sources' },
		h('h3', {}, context.l10n.say('sources')),
		h('ol', {}, answer.citations.map(citation => sourceItem(context, citation, onOpen))),
	);
}

function sourceItem(context, citation, onOpen) {
	let { say } = context.l10n;
	return h(
		'li',
		{ value: citation.number },
		h(
			'p',
			{ class: 'source' },
			h('cite', {}, citation.title),
			h('span', { class: 'by' }, byline(citation)),
			h('span', { class: 'page' }, place(context.l10n, citation)),
			supportMark(context, citation),
		),
		h('blockquote', {}, citation.quote),
		readingRemark(context, citation),
		h(
			'p',
			{ class: 'actions' },
			quiet(say(context.host.openCitation ? 'open-page' : 'show-passage'), () => onOpen(citation)),
			zoteroLinks(context, citation),
		),
	);
}

function readingRemark({ l10n: { say } }, { reading_state: state }) {
	return REMARKED.has(state) ? h('span', { class: 'notice' }, say('reading', { state })) : null;
}

/** How to get from a citation to its item in Zotero: asked of the host where it can, else by Zotero's own links. */
export function zoteroLinks({ l10n: { say }, host }, citation) {
	if (host.selectItem) {
		return quiet(say('select-item'), () => host.selectItem(citation.library, citation.item_key));
	}
	let link = (id, uri) => safeLink(uri) && h('a', { href: uri, class: 'quiet' }, say(id));
	return [link('open-in-zotero', citation.open_uri), link('select-item', citation.select_uri)];
}

/** The mark of a citation's support, with its meaning. */
export function supportMark({ l10n: { say } }, citation) {
	let support = supportOf(citation);
	let judge = citation.judged_by ? ` ${say('judged-by', { judge: citation.judged_by })}` : '';
	return h(
		'span',
		{ class: `support ${support}`, title: say('support-meaning', { support }) + judge },
		h('span', { 'aria-hidden': 'true' }, MARKS[support]),
		` ${say('support', { support })}`,
	);
}
