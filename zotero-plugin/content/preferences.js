/* Runs in Zotero's settings window, before the pane is put into it. */
/* global MutationObserver, Zotero, document, window */

{
	let at = id => document.getElementById(id);

	let start = () => {
		let { preferences } = Zotero.Zocrates;
		let { settings } = preferences;
		showStatus();
		for (let id of ['zocrates-address', 'zocrates-key']) {
			at(id).addEventListener('change', () => {
				// Zotero writes the setting in a listener of its own.
				window.setTimeout(() => {
					preferences.changed();
					showStatus();
				});
			});
		}
		at('zocrates-test').addEventListener('click', showStatus);

		let shortcut = at('zocrates-shortcut');
		shortcut.value = preferences.shownShortcut();
		shortcut.addEventListener('keydown', (event) => {
			let text = preferences.shortcutOf(event);
			if (text) {
				event.preventDefault();
				event.stopPropagation();
				settings.set('shortcut', text);
				shortcut.value = preferences.shownShortcut();
			}
		});

		let scope = at('zocrates-default-scope');
		scope.value = settings.get('defaultScope');
		scope.addEventListener('change', () => settings.set('defaultScope', scope.value));

		let allow = at('zocrates-local-api');
		let showAllowed = () => {
			allow.disabled = preferences.isLocalApiAllowed();
			document.l10n.setAttributes(allow, allow.disabled ? 'zocrates-preferences-allowed' : 'zocrates-preferences-allow');
		};
		allow.addEventListener('click', () => {
			preferences.allowLocalApi();
			showAllowed();
		});
		showAllowed();
		at('zocrates-delete').addEventListener('click', deleteAll);
	};

	let showStatus = async () => {
		let { id, args } = await Zotero.Zocrates.preferences.test();
		at('zocrates-status').dataset.state = id === 'zocrates-status-good' ? 'good' : 'bad';
		document.l10n.setAttributes(at('zocrates-status'), id, args);
	};

	let deleteAll = async () => {
		let { preferences } = Zotero.Zocrates;
		let [title, text] = await document.l10n.formatValues(['zocrates-delete-title', 'zocrates-delete-text']);
		if (!preferences.confirm(window, title, text)) {
			return;
		}
		at('zocrates-delete').disabled = true;
		try {
			let count = await preferences.deleteAll();
			document.l10n.setAttributes(at('zocrates-deleted'), 'zocrates-deleted', { count });
		}
		catch (error) {
			document.l10n.setAttributes(at('zocrates-deleted'), 'zocrates-status-failed', { reason: error.message });
		}
		at('zocrates-delete').disabled = false;
	};

	if (at('zocrates-preferences')) {
		start();
	}
	else {
		let observer = new MutationObserver(() => {
			if (at('zocrates-preferences')) {
				observer.disconnect();
				start();
			}
		});
		observer.observe(document.documentElement, { childList: true, subtree: true });
	}
}
