// The plugin: what it adds to Zotero for as long as it runs.

import { createAddress } from './address.mjs';
import { watchChanges } from './changes.mjs';
import { createDoor } from './door.mjs';
import { createPane } from './pane.mjs';
import { createPreferences } from './preferences.mjs';
import { watchSelection } from './scope.mjs';
import { createSettings } from './settings.mjs';
import { createUndo } from './undo.mjs';

/** Start the plugin over the globals of its scope; `stop` removes all that was added. */
export function startPlugin(env) {
	let { Zotero, base } = env;
	let undo = createUndo(error => Zotero.logError(error));
	let settings = createSettings(env);
	let address = createAddress(env, settings);
	let request = createDoor({ fetch: env.fetch, address: () => address.current() });
	let panes = new Map();
	let selection = watchSelection(env, {
		label: () => new env.Localization(['zocrates-plugin.ftl'], true).formatValueSync('zocrates-ask-selection'),
		onAsk: () => panes.get(Zotero.getMainWindow())?.open(),
	});
	undo.add(() => selection.stop());
	undo.add(watchChanges(env, request));
	undo.add(watchTabs());
	let preferences = createPreferences(env, {
		settings, address, request,
		onChanged: () => panes.forEach(pane => pane.hostChanged()),
	});
	undo.add(() => preferences.stop());

	function watchTabs() {
		let observer = Zotero.Notifier.registerObserver({
			notify(event) {
				if (event === 'select' || event === 'load') {
					panes.forEach(pane => pane.tabSelected());
				}
			},
		}, ['tab'], 'zocrates');
		return () => Zotero.Notifier.unregisterObserver(observer);
	}

	return {
		addWindow(window) {
			if (!panes.has(window) && window.ZoteroPane) {
				panes.set(window, createPane(env, window, { base, settings, address, selection }));
			}
		},

		removeWindow(window) {
			panes.get(window)?.stop();
			panes.delete(window);
		},

		stop() {
			// The panes first: their streams end with them.
			for (let window of [...panes.keys()]) {
				this.removeWindow(window);
			}
			undo.run();
		},
	};
}
