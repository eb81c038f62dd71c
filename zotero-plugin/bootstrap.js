/* What Zotero calls; everything else is in content/. */
/* global ChromeUtils, Components, IOUtils, Localization, PathUtils, Services, Zotero, clearTimeout, fetch, setTimeout */
/* exported install, startup, shutdown, uninstall, onMainWindowLoad, onMainWindowUnload */

var running = null;

function install() {}

async function startup({ id, rootURI }) {
	await Zotero.initializationPromise;
	// Modules are kept by their address for as long as Zotero runs: only under a new name does an
	// update get its own. And only chrome: addresses may be loaded on every version.
	let name = `zocrates-${Date.now()}`;
	let registration = Components.classes['@mozilla.org/addons/addon-manager-startup;1']
		.getService(Components.interfaces.amIAddonManagerStartup)
		.registerChrome(Services.io.newURI(`${rootURI}manifest.json`), [['content', name, 'content/']]);
	let base = `chrome://${name}/content/`;
	try {
		let { startPlugin } = ChromeUtils.importESModule(`${base}plugin.mjs`);
		let plugin = startPlugin({
			id, base, rootURI, Components, IOUtils, Localization, PathUtils, Services, Zotero, clearTimeout, fetch, setTimeout,
		});
		running = { plugin, registration };
	}
	catch (error) {
		registration.destruct();
		throw error;
	}
	// Zotero tells of windows that come; of those that are there it does not.
	for (let window of Zotero.getMainWindows()) {
		running.plugin.addWindow(window);
	}
}

function onMainWindowLoad({ window }) {
	running?.plugin.addWindow(window);
}

function onMainWindowUnload({ window }) {
	running?.plugin.removeWindow(window);
}

// Nothing is awaited: whoever closes Zotero must not wait for us.
function shutdown() {
	running?.plugin.stop();
	running?.registration.destruct();
	running = null;
}

function uninstall() {}
