// What the sidebar's pages may ask of Zotero. One object for each frame; the frame adds the fetch of its own window.

import { openCitation, openLink, selectItem } from './jump.mjs';
import { exportItems, saveNote } from './note.mjs';
import { shownScope } from './scope.mjs';

const LOCAL_API = 'httpServer.localAPI.enabled';

/** The host of a frame in a main window. */
export function createHost(env, window, { address, settings, selection, base, onReady }) {
	let { Zotero, Services } = env;
	return {
		kind: 'zotero',
		locales: [...Services.locale.appLocalesAsBCP47],
		localeBase: `${base}page/locale/`,
		/** In pixels, as it is set for Zotero's window. */
		fontSize: parseFloat(window.getComputedStyle(window.document.documentElement).fontSize),
		address: () => address.current(),
		renew: () => address.renew(),
		remember: name => settings.remember(name),
		setRemembered: (name, text) => settings.setRemembered(name, text),
		isFirstRun: () => !settings.get('isIntroduced'),
		firstRunDone: () => settings.set('isIntroduced', true),
		currentScope: async () => shownScope(env, window, selection),
		openCitation: citation => openCitation(env, window, citation),
		selectItem: (library, key) => selectItem(env, window, library, key),
		openLink: async uri => openLink(env, window, uri),
		saveNote: answer => saveNote(env, window, answer),
		exportItems: (refs, format) => exportItems(env, refs, format),
		copyText: async text => Zotero.Utilities.Internal.copyTextToClipboard(text),
		isLocalApiAllowed: async () => Zotero.Prefs.get(LOCAL_API) === true,
		allowLocalApi: async () => Zotero.Prefs.set(LOCAL_API, true),
		describeZotero: async () => ({
			version: Zotero.version,
			dataDir: Zotero.DataDirectory.dir,
			localApi: Zotero.Prefs.get(LOCAL_API) === true,
		}),
		openPreferences: async () => Zotero.Utilities.Internal.openPreferences(settings.paneID),
		// Not for the pages: the frame hands its sidebar over by this.
		ready: onReady,
	};
}
