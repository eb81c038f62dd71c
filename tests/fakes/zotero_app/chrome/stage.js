/* Loads a plugin as Zotero does, and does what the test on the other end of a socket says. */
/* global Components, L10nFileSource, L10nRegistry, Localization, IOUtils, PathUtils, Services, TCPSocket, Zotero, window, document */

const GLOBALS = [
	'atob', 'btoa', 'Blob', 'crypto', 'CSS', 'ChromeUtils', 'DOMParser', 'fetch', 'File', 'FileReader',
	'Headers', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'XMLHttpRequest',
];
const ABSENT = ['AbortController', 'ReadableStream', 'EventSource', 'WebSocket', 'structuredClone', 'console', 'indexedDB', 'window', 'document'];
const REASONS = { APP_STARTUP: 1, APP_SHUTDOWN: 2, ADDON_ENABLE: 3, ADDON_DISABLE: 4 };
// What the engine asks by itself, in every application that is built on it.
const ENGINES_OWN = 'firefox.settings.services.mozilla.com';

/** One plugin: its scope, and the sources of its strings. */
var Stage = {
	requests: [],
	errors: [],
	plugin: null,

	watch() {
		Services.obs.addObserver((subject) => {
			let { URI: uri } = subject.QueryInterface(Components.interfaces.nsIHttpChannel);
			if (uri.host !== ENGINES_OWN) {
				this.requests.push(uri.spec);
			}
		}, 'http-on-modify-request');
		Services.console.registerListener({ observe: (message) => {
			// Asking for the interface is what makes the fields readable.
			let isOurs = message instanceof Components.interfaces.nsIScriptError && /zocrates-/.test(message.sourceName);
			// A frame that is closed while it loads leaves its modules or its own text behind; one that misses either shows nothing.
			if (isOurs && !/^(Loading failed for the module|XML Parsing Error: no root element found)/.test(message.errorMessage)) {
				this.errors.push(`${message.errorMessage} (${message.sourceName}:${message.lineNumber})`);
			}
		} });
	},

	/** Load the plugin at a path; tells how long its startup took. */
	async load(path, reason = 'APP_STARTUP') {
		if (this.plugin) {
			throw new Error('A plugin is loaded already.');
		}
		let rootURI = `jar:${Services.io.newFileURI(await IOUtils.getFile(path)).spec}!/`;
		let text = file => fetch(rootURI + file).then(answer => answer.text());
		let manifest = JSON.parse(await text('manifest.json'));
		let { id } = manifest.applications.zotero;
		let scope = new Components.utils.Sandbox(Services.scriptSecurityManager.getSystemPrincipal(), { sandboxName: id, wantGlobalProperties: GLOBALS });
		Object.assign(scope, REASONS, {
			Zotero, ChromeWorker: window.ChromeWorker, Localization, IOUtils, PathUtils, Services, Worker: window.Worker, XMLSerializer: window.XMLSerializer,
		});
		for (let name of ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'requestIdleCallback', 'cancelIdleCallback']) {
			scope[name] = window[name].bind(window);
		}
		for (let name of ABSENT) {
			if (Components.utils.evalInSandbox(`typeof ${name}`, scope) !== 'undefined') {
				throw new Error(`${name} is in the scope, but not in Zotero's`);
			}
		}
		let locales = new L10nFileSource(id, 'app', Services.locale.availableLocales, `${rootURI}locale/{locale}/`);
		L10nRegistry.getInstance().registerSources([locales]);
		let branch = Services.prefs.getDefaultBranch('');
		let defaults = new Components.utils.Sandbox(Services.scriptSecurityManager.getSystemPrincipal());
		defaults.pref = (name, value) => (typeof value === 'boolean' ? branch.setBoolPref(name, value) : branch.setStringPref(name, value));
		Components.utils.evalInSandbox(await text('prefs.js'), defaults);
		Components.utils.evalInSandbox(await text('bootstrap.js'), scope, 'latest', `${rootURI}bootstrap.js`, 1);
		this.plugin = { scope, id, params: { id, version: manifest.version, rootURI } };
		let before = performance.now();
		await Components.utils.evalInSandbox('startup', scope).call(scope, this.plugin.params, REASONS[reason]);
		return performance.now() - before;
	},

	/** As after a first start: no plugin, nothing set, the library shown. */
	reset() {
		if (this.plugin) {
			this.unload();
		}
		this.closePreferences();
		for (let name of Services.prefs.getChildList('extensions.zotero.')) {
			Services.prefs.clearUserPref(name);
		}
		Services.locale.requestedLocales = ['en-US'];
		Zotero.Items.all = [];
		ZoteroPane.selected = [];
		ZoteroPane.tagSelector.selection.clear();
		Zotero_Tabs.select('zotero-pane');
		ZoteroPane.show();
		return [...Zotero.logged.splice(0), ...this.errors.splice(0)];
	},

	unload(reason = 'ADDON_DISABLE') {
		let { scope, id, params } = this.plugin;
		let before = performance.now();
		Components.utils.evalInSandbox('shutdown', scope).call(scope, params, REASONS[reason]);
		L10nRegistry.getInstance().removeSources([id]);
		this.plugin = null;
		return performance.now() - before;
	},

	/** The document of the plugin's frame, or null. */
	get frame() {
		return document.querySelector('.zocrates-pane > iframe')?.contentDocument ?? null;
	},

	button(place = 'library') {
		return document.querySelector(`#${place === 'library' ? 'zotero-view-item-sidenav' : 'zotero-context-pane-sidenav'} .zocrates-button > .btn`);
	},

	/** Click the pane's button whose text or label begins so; tells whether there is one that can be clicked. */
	clicked(label) {
		let isWanted = button => [button.textContent.trim(), button.getAttribute('aria-label') ?? ''].some(text => text.startsWith(label));
		let button = [...this.frame?.querySelectorAll('button') ?? []].find(node => node.checkVisibility() && !node.disabled && isWanted(node));
		button?.click();
		return Boolean(button);
	},

	/** Show the plugin's settings as Zotero's own window does: scripts first, then the fragment. */
	async openPreferences() {
		let [pane] = Zotero.PreferencePanes.panes.values();
		for (let script of pane.scripts) {
			Services.scriptloader.loadSubScript(script, window);
		}
		for (let style of pane.stylesheets) {
			document.insertBefore(document.createProcessingInstruction('xml-stylesheet', `href="${style}"`), document.firstChild);
		}
		let markup = await fetch(pane.src).then(answer => answer.text());
		let box = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
		box.id = 'stage-preferences';
		box.append(document.importNode(window.MozXULElement.parseXULToFragment(markup), true));
		document.documentElement.append(box);
		for (let field of box.querySelectorAll('[preference]')) {
			let name = field.getAttribute('preference').replace('extensions.zotero.', '');
			field.value = Zotero.Prefs.get(name);
			field.addEventListener('change', () => Zotero.Prefs.set(name, field.value));
		}
		await document.l10n.translateFragment(box);
	},

	closePreferences() {
		document.getElementById('stage-preferences')?.remove();
	},

	/** Write into a field of the pane as a person does. */
	write(selector, text) {
		let field = this.frame.querySelector(selector);
		field.value = text;
		field.dispatchEvent(new this.frame.defaultView.Event('input', { bubbles: true }));
	},

	/** Keep a picture of the window. */
	async picture(path) {
		let image = await window.browsingContext.currentWindowGlobal.drawSnapshot(null, 1, 'white');
		let canvas = document.createElementNS('http://www.w3.org/1999/xhtml', 'canvas');
		canvas.width = image.width;
		canvas.height = image.height;
		canvas.getContext('2d').drawImage(image, 0, 0);
		let blob = await new Promise(done => canvas.toBlob(done));
		await IOUtils.write(path, new Uint8Array(await blob.arrayBuffer()));
	},

	/** What a test can see of what a plugin left behind. */
	traces() {
		let names = document.querySelectorAll('[class*=zocrates], [data-l10n-id^=zocrates], [href*=zocrates]');
		return {
			nodes: [...names].map(node => `${node.localName} ${node.className} ${node.dataset.l10nId ?? ''}`),
			marks: document.querySelectorAll('[zocrates-open]').length,
			observers: Zotero.Notifier.count(),
			panes: Zotero.PreferencePanes.panes.size,
			readerListeners: Zotero.Reader.listeners.length,
			names: Object.keys(Zotero).filter(name => /zocrates/i.test(name)),
		};
	},

	/** Whether a window that was closed is still kept by something. */
	isKept(reference) {
		let window = reference.get();
		return window !== null && !Components.utils.isDeadWrapper(window);
	},

	/** Let go of everything that nothing can reach any more. */
	async collectGarbage() {
		for (let i = 0; i < 3; i++) {
			Components.utils.forceGC();
			Components.utils.forceCC();
			await new Promise(resolve => setTimeout(resolve));
		}
	},
};

/** Each line is {id, code}: an async function's body, run in this window. */
function serve() {
	let socket = new TCPSocket('127.0.0.1', Number(Services.env.get('STAGE_PORT')));
	let pending = '';
	// Windows of this kind refuse code made of text; a sandbox over them does not.
	let scope = new Components.utils.Sandbox(window, { sandboxPrototype: window });
	socket.ondata = async ({ data }) => {
		pending += decodeURIComponent(escape(data));
		let lines = pending.split('\n');
		pending = lines.pop();
		for (let line of lines) {
			let { id, code } = JSON.parse(line);
			let reply;
			try {
				reply = { id, value: await Components.utils.evalInSandbox(`(async () => {${code}\n})()`, scope) ?? null };
			}
			catch (error) {
				reply = { id, error: `${error}\n${error?.stack ?? ''}` };
			}
			socket.send(`${unescape(encodeURIComponent(JSON.stringify(reply)))}\n`);
		}
	};
	// The test is over, however it ended.
	socket.onclose = () => Services.startup.quit(Services.startup.eForceQuit);
}

window.addEventListener('load', () => {
	Stage.watch();
	serve();
}, { once: true });
