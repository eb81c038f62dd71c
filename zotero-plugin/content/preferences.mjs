// The pane in Zotero's settings: registration, and what its buttons do.

import { checked } from './address.mjs';
import { shortcutOf, shownShortcut } from './shortcut.mjs';

const PAGE = 100;
const PANE_ID = 'zocrates-preferences';
const LOCAL_API = 'httpServer.localAPI.enabled';

/** Register the settings pane; `stop` takes it away again. */
export function createPreferences(env, { settings, address, request, onChanged }) {
	let { Zotero, Services, base, id } = env;
	let isStopped = false;
	settings.paneID = PANE_ID;

	/** Everything the script of the settings pane needs; it runs in that window, which outlives the plugin's scope. */
	let actions = {
		settings,
		shortcutOf: event => shortcutOf(event, Zotero),
		shownShortcut: () => shownShortcut(settings.get('shortcut'), Zotero),
		changed() {
			address.forget();
			onChanged();
		},
		/** What answers at the address that is set, or why nothing does: a message id and its arguments. */
		async test() {
			try {
				if (settings.get('address')) {
					checked(settings.get('address').trim(), { isLocal: false });
				}
				await address.renew();
				let found = await address.current();
				if (!found) {
					return { id: 'zocrates-status-away' };
				}
				let answer = await request('/sessions?limit=1');
				if (answer.status === 401) {
					return { id: 'zocrates-status-key', args: { address: found.base } };
				}
				return answer.ok
					? { id: 'zocrates-status-good', args: { address: found.base } }
					: { id: 'zocrates-status-refused', args: { address: found.base, status: answer.status } };
			}
			catch (error) {
				return { id: 'zocrates-status-failed', args: { reason: error.message } };
			}
		},
		isLocalApiAllowed: () => Zotero.Prefs.get(LOCAL_API) === true,
		allowLocalApi: () => Zotero.Prefs.set(LOCAL_API, true),
		/** Delete every session of this key at the service, and all that the plugin remembers. */
		async deleteAll() {
			let count = await deleteSessions(request);
			settings.clear();
			address.forget();
			onChanged();
			return count;
		},
		confirm: (window, title, text) => Services.prompt.confirm(window, title, text),
	};
	Zotero.Zocrates = { preferences: actions };
	let registered = Zotero.PreferencePanes.register({
		pluginID: id,
		id: PANE_ID,
		src: `${base}preferences.xhtml`,
		label: 'Zocrates',
		image: `${base}icon.svg`,
		scripts: [`${base}preferences.js`],
		stylesheets: [`${base}preferences.css`],
	});
	registered.catch(error => isStopped || Zotero.logError(error));

	return {
		stop() {
			isStopped = true;
			delete Zotero.Zocrates;
			// Registering may not have come to its end yet.
			registered.then(paneID => Zotero.PreferencePanes.unregister(paneID), () => {});
		},
	};
}

async function deleteSessions(request) {
	let count = 0;
	while (true) {
		let sessions = (await json(await request(`/sessions?limit=${PAGE}`))).sessions;
		if (!sessions.length) {
			return count;
		}
		for (let session of sessions) {
			let answer = await request(`/sessions/${session.id}`, { method: 'DELETE' });
			if (!answer.ok && answer.status !== 404) {
				await json(answer);
			}
			count++;
		}
	}
}

async function json(answer) {
	let content = await answer.json();
	if (!answer.ok) {
		throw new Error(content.error ?? `The service answered with status ${answer.status}.`);
	}
	return content;
}
