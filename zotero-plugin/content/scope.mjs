// What Zotero shows, as parts of the library to ask about.

import { libraryName, topItem } from './libraries.mjs';

const MOST_ITEMS = 500;

/** The parts on offer in a window now, the narrowest first; a count of null is told by the index. */
export function shownScope(env, window, selection) {
	return window.Zotero_Tabs.selectedType === 'library'
		? shownInLibrary(env, window)
		: shownInReader(env, window, selection);
}

function shownInReader(env, window, selection) {
	let reader = env.Zotero.Reader.getByTabID(window.Zotero_Tabs.selectedID);
	let shown = reader && env.Zotero.Items.get(reader.itemID);
	let library = shown && libraryName(env, shown.libraryID);
	if (!library) {
		return [];
	}
	let paper = topItem(shown);
	let parts = [];
	let text = selection.textIn(reader);
	if (text) {
		parts.push({ kind: 'text', library, keys: [paper.key], text, title: paper.getDisplayTitle(), count: 1 });
	}
	parts.push({ kind: 'paper', library, keys: [paper.key], title: paper.getDisplayTitle(), count: 1 });
	return parts;
}

function shownInLibrary(env, window) {
	let pane = window.ZoteroPane;
	let row = pane.getCollectionTreeRow();
	let library = row && libraryName(env, row.ref.libraryID);
	if (!library) {
		return [];
	}
	return [
		...selectedItems(library, pane),
		...selectedTags(library, pane),
		...selectedRow(library, row),
		{ kind: 'library', library, title: env.Zotero.Libraries.getName(row.ref.libraryID), count: null },
	];
}

function selectedItems(library, pane) {
	let papers = new Map();
	for (let item of pane.getSelectedItems()) {
		// In the trash, collections and searches are among them, and nothing there is searched.
		if (item.isRegularItem && !item.deleted) {
			papers.set(topItem(item).key, topItem(item));
		}
	}
	if (!papers.size || papers.size > MOST_ITEMS) {
		return [];
	}
	let [first] = papers.values();
	return [{ kind: 'items', library, keys: [...papers.keys()], title: first.getDisplayTitle(), count: papers.size }];
}

function selectedTags(library, pane) {
	let tags = pane.tagSelector?.getTagSelection?.() ?? [];
	return [...tags].map(tag => ({ kind: 'tag', library, tag, title: tag, count: null }));
}

function selectedRow(library, row) {
	let kind = row.isCollection() ? 'collection' : row.isSearch() ? 'search' : null;
	return kind ? [{ kind, library, key: row.ref.key, title: row.getName(), count: null }] : [];
}

/** The text selected in readers: told by Zotero when its popup comes, gone when the reader says so. */
export function watchSelection({ Zotero, id }, { label, onAsk }) {
	let latest = null;

	function onPopup({ reader, doc, params, append }) {
		let text = params.annotation?.text?.trim();
		if (!text) {
			return;
		}
		latest = { reader, text };
		let button = doc.createElement('button');
		button.className = 'toolbar-button wide-button';
		button.textContent = label();
		button.addEventListener('click', onAsk);
		append(button);
	}

	Zotero.Reader.registerEventListener('renderTextSelectionPopup', onPopup, id);
	return {
		textIn(reader) {
			if (latest?.reader !== reader) {
				return null;
			}
			// The reader keeps the popup of each of its two views in its state; null says that it is gone.
			let state = reader._internalReader?._state;
			let isGone = state && state.primaryViewSelectionPopup === null && !state.secondaryViewSelectionPopup;
			if (isGone) {
				latest = null;
			}
			return latest?.text ?? null;
		},

		stop() {
			Zotero.Reader.unregisterEventListener('renderTextSelectionPopup', onPopup);
			latest = null;
		},
	};
}
