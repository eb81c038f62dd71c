// An answer as a Zotero note: its own citations, which word processors understand, and links to the page.

import { findItem, libraryID, topItem } from './libraries.mjs';
import { parse } from './page/markdown.mjs';

const SCHEMA_VERSION = 9;
const TAG = 'Zocrates';

/** Save an answer under the selected item, in the shown collection, or in the library; tells where. */
export async function saveNote(env, window, answer) {
	let place = placeOf(env, window);
	let cited = await citedItems(env, answer.citations);
	let note = new env.Zotero.Item('note');
	note.libraryID = place.libraryID;
	if (place.parent) {
		note.parentID = place.parent.id;
	}
	note.setNote(noteHtml({ ...answer, cited }));
	note.addTag(TAG);
	if (place.collection) {
		note.addToCollection(place.collection.id);
	}
	await note.saveTx();
	return { where: place.title };
}

function placeOf({ Zotero }, window) {
	let reader = window.Zotero_Tabs.selectedType !== 'library' && Zotero.Reader.getByTabID(window.Zotero_Tabs.selectedID);
	let selected = reader ? [Zotero.Items.get(reader.itemID)] : window.ZoteroPane.getSelectedItems();
	let items = new Set(selected.map(topItem));
	let [parent] = items;
	if (items.size === 1 && parent.isRegularItem() && Zotero.Libraries.get(parent.libraryID).editable) {
		return { libraryID: parent.libraryID, parent, title: parent.getDisplayTitle() };
	}
	let row = window.ZoteroPane.getCollectionTreeRow();
	let shown = row?.ref.libraryID;
	if (shown && row.isCollection() && Zotero.Libraries.get(shown).editable) {
		return { libraryID: shown, collection: row.ref, title: row.getName() };
	}
	// What the reader may not change gets no note; their own library always does.
	let own = Zotero.Libraries.userLibraryID;
	let target = shown && Zotero.Libraries.get(shown).editable && ['user', 'group'].includes(Zotero.Libraries.get(shown).libraryType) ? shown : own;
	return { libraryID: target, title: Zotero.Libraries.getName(target) };
}

async function citedItems(env, citations) {
	let cited = new Map();
	for (let citation of citations) {
		let item = await findItem(env, citation.library, citation.item_key);
		if (item) {
			cited.set(citation.number, {
				uri: env.Zotero.URI.getItemURI(item),
				itemData: env.Zotero.Utilities.Item.itemToCSLJSON(item),
			});
		}
	}
	return cited;
}

/** The note's HTML, made of escaped text and the elements named here alone. */
export function noteHtml({ title, markdown, citations, cited }) {
	let byNumber = new Map(citations.map(citation => [citation.number, citation]));
	let cite = numbers => numbers.map(number => citationHtml(byNumber.get(number), cited.get(number), number)).join(' ');
	let metadata = [...new Map([...cited.values()].map(({ uri, itemData }) => [uri, { uris: [uri], itemData }])).values()];
	let body = `<h1>${escape(title)}</h1>${blocksHtml(parse(markdown), cite)}`;
	return `<div data-citation-items="${encoded(metadata)}" data-schema-version="${SCHEMA_VERSION}">${body}</div>`;
}

function citationHtml(citation, item, number) {
	if (!citation) {
		return `[${number}]`;
	}
	let label = pageLabel(citation);
	let page = citation.open_uri && label ? ` <a href="${escape(citation.open_uri)}">p. ${escape(label)}</a>` : '';
	let shown = escape([shortCreators(citation.creators), citation.year, label && `p. ${label}`].filter(Boolean).join(', ') || citation.title);
	if (!item) {
		return `(${shown})${page}`;
	}
	let data = { citationItems: [{ uris: [item.uri], ...label && { label: 'page', locator: label } }], properties: {} };
	return `<span class="citation" data-citation="${encoded(data)}">(<span class="citation-item">${shown}</span>)</span>${page}`;
}

function pageLabel({ page_label: label, page_index: index }) {
	return label || (Number.isInteger(index) ? String(index + 1) : '');
}

function shortCreators(creators) {
	let names = (Array.isArray(creators) ? creators : [creators]).filter(Boolean)
		.map(name => String(name.lastName ?? name.family ?? name.name ?? name).split(',')[0]);
	return names.length > 2 ? `${names[0]} et al.` : names.join(' and ');
}

function blocksHtml(blocks, cite) {
	return blocks.map(block => blockHtml(block, cite)).join('');
}

function blockHtml(block, cite) {
	switch (block.type) {
		case 'heading': {
			// The first level is the note's title.
			let level = Math.min(block.level + 1, 6);
			return `<h${level}>${inlineHtml(block.children, cite)}</h${level}>`;
		}
		case 'rule':
			return '<hr>';
		case 'fence':
			return `<pre>${escape(block.text)}</pre>`;
		case 'quote':
			return `<blockquote>${blocksHtml(block.children, cite)}</blockquote>`;
		case 'list': {
			let items = block.items.map(item => `<li>${blocksHtml(item, cite)}</li>`).join('');
			return block.ordered ? `<ol start="${Number(block.start)}">${items}</ol>` : `<ul>${items}</ul>`;
		}
		default:
			return `<p>${inlineHtml(block.children, cite)}</p>`;
	}
}

function inlineHtml(parts, cite) {
	return parts.map((part) => {
		switch (part.type) {
			case 'strong':
			case 'em':
				return `<${part.type}>${inlineHtml(part.children, cite)}</${part.type}>`;
			case 'code':
				return `<code>${escape(part.text)}</code>`;
			case 'cite':
				return cite(part.numbers);
			case 'link':
				return `<a href="${escape(part.href)}">${inlineHtml(part.children, cite)}</a>`;
			case 'break':
				return '<br>';
			default:
				return escape(part.text);
		}
	}).join('');
}

function encoded(value) {
	// An apostrophe is the only sign that encodeURIComponent leaves and an attribute might not bear.
	return encodeURIComponent(JSON.stringify(value)).replaceAll('\'', '%27');
}

function escape(text) {
	return String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
}

/** The cited items in a format of Zotero's own translators. */
export async function exportItems(env, refs, format) {
	let translator = { bibtex: '9cb70025-a888-4a29-a210-93ec52da40d4', 'csl-json': 'bc03b4fe-436d-4a1f-ba59-de4d2d7a63f7' }[format];
	if (!translator) {
		throw new Error(`There is no export to ${JSON.stringify(format)}.`);
	}
	let found = await Promise.all(refs.map(({ library, key }) => libraryID(env, library) && findItem(env, library, key)));
	let items = [...new Set(found.filter(Boolean))];
	return new Promise((resolve, reject) => {
		let translation = new env.Zotero.Translate.Export();
		translation.setItems(items);
		translation.setTranslator(translator);
		translation.setHandler('done', (done, isGood) => (isGood ? resolve(done.string) : reject(new Error('Zotero could not export the items.'))));
		translation.translate();
	});
}
