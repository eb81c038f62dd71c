// From the pane to Zotero's own views: a page of a file, an item, an address.

import { findItem } from './libraries.mjs';

const FIND_MS = 4000;
const LOOK_AGAIN_MS = 100;
const LONGEST_QUERY = 120;
const SCHEMES = new Set(['http:', 'https:', 'zotero:', 'doi:']);

/** Open a citation's file at its page and mark the quote there; what has no file is selected in the library. */
export async function openCitation(env, window, citation) {
	let attachment = await findItem(env, citation.library, citation.attachment_key);
	if (!attachment?.isAttachment()) {
		return { opened: false, highlighted: false, selected: await selectItem(env, window, citation.library, citation.item_key) };
	}
	let location = Number.isInteger(citation.page_index) ? { pageIndex: citation.page_index } : undefined;
	let opened = await env.Zotero.FileHandlers.open(attachment, { location });
	if (!opened) {
		// The file is not on this machine.
		return { opened: false, highlighted: false, selected: await selectItem(env, window, citation.library, citation.item_key) };
	}
	let reader = env.Zotero.Reader.getByTabID(window.Zotero_Tabs.selectedID);
	let isHere = reader?.itemID === attachment.id;
	return { opened: true, highlighted: isHere && await markQuote(env, reader, citation.quote) };
}

/** Select an item in the library's list; tells whether it is there. */
export async function selectItem(env, window, library, key) {
	let item = await findItem(env, library, key);
	if (!item) {
		return false;
	}
	window.Zotero_Tabs.select('zotero-pane');
	await window.ZoteroPane.selectItem(item.id);
	return true;
}

/** Open an address: Zotero's own in its views, others in the browser; schemes that can do more are refused. */
export function openLink({ Zotero }, window, address) {
	let url = new URL(address);
	if (!SCHEMES.has(url.protocol)) {
		throw new Error(`Links to ${url.protocol} are not opened.`);
	}
	if (url.protocol === 'zotero:') {
		window.ZoteroPane.loadURI(url.href);
	}
	else if (url.protocol === 'doi:') {
		Zotero.launchURL(`https://doi.org/${encodeURI(decodeURI(url.pathname.replace(/^\/+/, '')))}`);
	}
	else {
		Zotero.launchURL(url.href);
	}
}

/**
 * Let the reader find the beginning of a quote. Its state is its own affair and may be another in a later
 * version: then the page is open all the same, and nothing is marked.
 */
async function markQuote(env, reader, quote) {
	let query = beginning(quote ?? '');
	await reader._initPromise;
	let view = reader._internalReader;
	let before = view?._state?.primaryViewFindState;
	if (!query || !before || typeof view._updateState !== 'function') {
		return false;
	}
	let find = state => view._updateState(env.Components.utils.cloneInto(
		{ primaryViewFindState: { ...plain(before), ...state } }, reader._iframeWindow));
	find({ popupOpen: true, active: true, query, highlightAll: true, caseSensitive: false, entireWord: false, index: null, result: null });
	let found = await whenFound(env, view);
	if (!found) {
		find({ popupOpen: false, active: false, query: '', result: null });
	}
	return found;
}

async function whenFound({ setTimeout }, view) {
	for (let waited = 0; waited < FIND_MS; waited += LOOK_AGAIN_MS) {
		let result = view._state.primaryViewFindState?.result;
		if (result) {
			return result.total > 0;
		}
		// The reader tells nobody outside itself when it has looked.
		await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN_MS));
	}
	return false;
}

function plain({ popupOpen, active, query, highlightAll, caseSensitive, entireWord, index }) {
	return { popupOpen, active, query, highlightAll, caseSensitive, entireWord, index, result: null };
}

/** As many whole words as surely stand on a page as they are: the text layer divides words at the ends of lines. */
export function beginning(quote) {
	let text = quote.replace(/\s+/g, ' ').trim();
	if (text.length <= LONGEST_QUERY) {
		return text;
	}
	let cut = text.lastIndexOf(' ', LONGEST_QUERY);
	return text.slice(0, cut > 0 ? cut : LONGEST_QUERY);
}
