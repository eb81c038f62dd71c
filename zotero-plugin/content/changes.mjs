// Tells the gateway that the library changed: that it did, not what, so that ten thousand new items cost as much as one.

import { libraryName } from './libraries.mjs';

const KINDS = ['item', 'item-tag', 'collection', 'collection-item', 'search', 'file', 'group', 'trash'];
const SAYS_NOTHING = new Set(['refresh', 'redraw', 'select', 'index', 'unreadCountUpdated']);
const QUIET_MS = 2000;
const LONGEST_WAIT_MS = 15_000;
const DEADLINE_MS = 10_000;

/** Watch Zotero's events; gives a function that stops it. */
export function watchChanges(env, request) {
	let { Zotero, setTimeout, clearTimeout } = env;
	let seen = new Map();
	let timer = null;
	let since = 0;
	let sending = null;

	function notify(event, kind, ids) {
		if (SAYS_NOTHING.has(event)) {
			return;
		}
		// The first of many tells the library; the service compares the rest itself.
		let library = libraryOf(env, kind, ids[0]);
		if (library === null) {
			return;
		}
		seen.set(`${kind} ${library}`, { kind, library, keys: [] });
		since ||= Date.now();
		clearTimeout(timer);
		timer = setTimeout(send, Math.min(QUIET_MS, Math.max(0, since + LONGEST_WAIT_MS - Date.now())));
	}

	async function send() {
		let events = [...seen.values()];
		seen.clear();
		since = 0;
		sending = abortable(env);
		try {
			await request('/library/changes', {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ events }),
				signal: sending?.controller.signal,
			});
		}
		catch (error) {
			// The service looks at the library by itself too, once it runs.
			Zotero.debug(`Zocrates: the service was not told of changes: ${error.message}`);
		}
		finally {
			sending?.end();
			sending = null;
		}
	}

	let observer = Zotero.Notifier.registerObserver({ notify }, KINDS, 'zocrates');
	return () => {
		Zotero.Notifier.unregisterObserver(observer);
		clearTimeout(timer);
		sending?.controller.abort();
	};
}

/** A deadline for a request; the scope of plugins has no AbortController, windows have. */
function abortable({ Zotero, setTimeout, clearTimeout }) {
	let window = Zotero.getMainWindow();
	if (!window) {
		return null;
	}
	let controller = new window.AbortController();
	let timer = setTimeout(() => controller.abort(), DEADLINE_MS);
	return { controller, end: () => clearTimeout(timer) };
}

function libraryOf(env, kind, id) {
	let { Zotero } = env;
	if (kind === 'group') {
		return 'user';
	}
	let objects = { collection: Zotero.Collections, search: Zotero.Searches }[kind] ?? Zotero.Items;
	// Ids of relations are two ids joined: item-tag, collection-item.
	let whole = kind === 'collection-item' ? String(id).split('-')[1] : String(id).split('-')[0];
	let known = objects.getLibraryAndKeyFromID(Number(whole));
	// A deleted object may be known no more; then some library changed.
	return known ? libraryName(env, known.libraryID) : 'user';
}
