// The sources of an answer: chips in its text and the list below it.

import { h } from './elements.mjs';

const SUPPORT = {
	verified: ['✓', 'Verified', 'The quote stands on this page, word for word, and carries the sentence.'],
	weak: ['≈', 'Weak', 'The quote stands on this page; whether it carries the sentence is not certain.'],
	unsupported: ['✕', 'Not supported', 'The quote does not carry the sentence.'],
	unchecked: ['?', 'Unchecked', 'This citation could not be checked.'],
};

const READING = {
	abstract_only: 'only the abstract was read',
	partial: 'read in part',
};

/** Links to follow: only Zotero's own and the web's. */
export function safeLink(uri) {
	return /^(zotero|https?):\/\//i.test(uri ?? '') ? uri : null;
}

/** Where a citation stands, in words. */
export function place(citation) {
	return citation.page_label ? `p. ${citation.page_label}` : 'no pages';
}

/** The chip of a citation in the text; a number without a citation stays plain text. */
export function chipFor(citations, onOpen) {
	return function chip(number) {
		let citation = citations.find(one => one.number === number);
		if (!citation) {
			return `[${number}]`;
		}
		let label = `Source ${number}: ${citation.title}, ${place(citation)}, ${supportName(citation)}`;
		return h('button', {
			type: 'button',
			class: `chip ${citation.support}`,
			title: label,
			'aria-label': label,
			onclick: () => onOpen(citation),
		}, String(number));
	};
}

/** The list of sources, each with its page, quote, and how well it supports its sentence. */
export function sourceList(answer, onOpen) {
	if (!answer.citations.length) {
		return null;
	}
	return h(
		'section',
		{ class: 'sources' },
		h('h3', {}, 'Sources'),
		h('ol', {}, answer.citations.map(citation => sourceItem(citation, onOpen))),
	);
}

function sourceItem(citation, onOpen) {
	return h(
		'li',
		{ value: citation.number },
		h(
			'p',
			{ class: 'source' },
			h('cite', {}, citation.title),
			h('span', { class: 'by' }, [citation.creators.join(', '), citation.year].filter(Boolean).join(', ')),
			h('span', { class: 'page' }, place(citation)),
			supportMark(citation),
		),
		h('blockquote', {}, citation.quote),
		READING[citation.reading_state] ? h('p', { class: 'notice' }, `Of this source ${READING[citation.reading_state]}.`) : null,
		h(
			'p',
			{ class: 'actions' },
			h('button', { type: 'button', class: 'quiet', onclick: () => onOpen(citation) }, 'Show the passage'),
			zoteroLink(citation.open_uri),
		),
	);
}

/** The link that opens a page in Zotero. */
export function zoteroLink(uri) {
	let href = safeLink(uri);
	return href ? h('a', { href, class: 'quiet' }, 'Open in Zotero') : null;
}

/** The mark of a citation's support, with its meaning. */
export function supportMark(citation) {
	let [mark, name, meaning] = SUPPORT[citation.support] ?? SUPPORT.unchecked;
	let judge = citation.judged_by ? ` Judged by ${citation.judged_by}.` : '';
	return h(
		'span',
		{ class: `support ${citation.support}`, title: meaning + judge },
		h('span', { 'aria-hidden': 'true' }, mark),
		` ${name}`,
	);
}

function supportName(citation) {
	return (SUPPORT[citation.support] ?? SUPPORT.unchecked)[1].toLowerCase();
}
