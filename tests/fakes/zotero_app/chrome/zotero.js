/* As much of Zotero as the plugin uses, with the shapes it has in Zotero 7 to 11. */
/* global Components, Services, document, window */

var Zotero_Tabs = {
	selectedType: 'library',
	selectedID: 'zotero-pane',

	select(id) {
		let isLibrary = id === 'zotero-pane';
		this.selectedID = id;
		this.selectedType = isLibrary ? 'library' : 'reader';
		document.getElementById('tabs-deck').setAttribute('selectedIndex', isLibrary ? '0' : '1');
		let pane = document.getElementById('zotero-context-pane');
		let splitter = document.getElementById('zotero-context-splitter');
		pane.toggleAttribute('hidden', isLibrary);
		if (isLibrary) {
			splitter.setAttribute('hidden', 'true');
			pane.setAttribute('collapsed', 'true');
		}
		else {
			splitter.removeAttribute('hidden');
			pane.toggleAttribute('collapsed', splitter.getAttribute('state') === 'collapsed');
			if (splitter.getAttribute('state') === 'collapsed') {
				pane.setAttribute('collapsed', 'true');
			}
		}
		Zotero.Notifier.trigger('select', 'tab', [id], { [id]: { type: this.selectedType } });
	},
};

class Listeners {
	all = new Set();

	addListener(listener) {
		this.all.add(listener);
	}

	removeListener(listener) {
		this.all.delete(listener);
	}

	tell() {
		for (let listener of this.all) {
			listener();
		}
	}
}

var ZoteroPane = {
	selected: [],
	row: null,
	loaded: [],
	itemsView: { onSelect: new Listeners() },
	collectionsView: { onSelect: new Listeners() },
	tagSelector: { selection: new Set(), getTagSelection: () => ZoteroPane.tagSelector.selection },
	getSelectedItems: () => ZoteroPane.selected,
	getCollectionTreeRow: () => ZoteroPane.row,
	loadURI: uri => ZoteroPane.loaded.push(uri),

	async selectItem(id) {
		this.select(Zotero.Items.get(id));
		return true;
	},

	select(...items) {
		this.selected = items;
		this.itemsView.onSelect.tell();
	},

	/** Show a library, or a collection or search in it. */
	show(kind = 'library', ref = { libraryID: 1 }, name = 'My Library') {
		this.row = {
			ref,
			isCollection: () => kind === 'collection',
			isSearch: () => kind === 'search',
			isLibrary: () => kind === 'library',
			getName: () => name,
		};
		this.collectionsView.onSelect.tell();
	},
};

class FakeItem {
	tags = [];
	collections = [];
	html = '';

	constructor(type, fields = {}) {
		Object.assign(this, { type, libraryID: 1, ...fields });
	}

	get topLevelItem() {
		return this.parentID ? Zotero.Items.get(this.parentID).topLevelItem : this;
	}

	isAttachment = () => this.type === 'attachment';

	isRegularItem = () => !['attachment', 'note', 'annotation'].includes(this.type);

	isNote = () => this.type === 'note';

	getDisplayTitle = () => this.title ?? '';

	setNote(html) {
		this.html = html;
	}

	addTag(tag) {
		this.tags.push(tag);
	}

	addToCollection(id) {
		this.collections.push(id);
	}

	async saveTx() {
		this.key ??= `NOTE${String(Zotero.Items.all.length).padStart(4, '0')}`;
		Zotero.Items.add(this);
		Zotero.Notifier.trigger('add', 'item', [this.id], {});
	}
}

var Zotero = {
	Item: FakeItem,
	version: '10.0.1',
	isMac: false,
	initializationPromise: Promise.resolve(),
	launched: [],
	logged: [],
	debug() {},
	logError: error => Zotero.logged.push(`${error}\n${error?.stack ?? ''}`),
	launchURL: url => Zotero.launched.push(url),
	getMainWindow: () => window,
	getMainWindows: () => [window],
	DataDirectory: { dir: '/nowhere/Zotero' },

	Prefs: {
		get(name) {
			let { prefs } = Services;
			let full = `extensions.zotero.${name}`;
			switch (prefs.getPrefType(full)) {
				case prefs.PREF_BOOL:
					return prefs.getBoolPref(full);
				case prefs.PREF_STRING:
					return prefs.getStringPref(full);
				case prefs.PREF_INT:
					return prefs.getIntPref(full);
				default:
					return undefined;
			}
		},
		set(name, value) {
			let set = { boolean: 'setBoolPref', string: 'setStringPref', number: 'setIntPref' }[typeof value];
			Services.prefs[set](`extensions.zotero.${name}`, value);
		},
		clear: name => Services.prefs.clearUserPref(`extensions.zotero.${name}`),
	},

	Notifier: {
		observers: new Map(),
		registerObserver(observer, kinds, label) {
			let id = `${label}_${Math.random().toString(36).slice(2)}`;
			this.observers.set(id, { observer, kinds });
			return id;
		},
		unregisterObserver(id) {
			this.observers.delete(id);
		},
		trigger(event, kind, ids, extra = {}) {
			for (let { observer, kinds } of [...this.observers.values()]) {
				if (kinds.includes(kind)) {
					observer.notify(event, kind, ids, extra);
				}
			}
		},
		count() {
			return this.observers.size;
		},
	},

	PreferencePanes: {
		panes: new Map(),
		async register(options) {
			this.panes.set(options.id, options);
			return options.id;
		},
		unregister(id) {
			this.panes.delete(id);
		},
	},

	Libraries: {
		userLibraryID: 1,
		all: new Map([
			[1, { libraryType: 'user', editable: true, name: 'My Library' }],
			[2, { libraryType: 'group', editable: false, name: 'Sleepers' }],
			[3, { libraryType: 'feed', editable: false, name: 'News' }],
		]),
		get: id => Zotero.Libraries.all.get(id),
		getName: id => Zotero.Libraries.all.get(id).name,
	},

	Groups: {
		getGroupIDFromLibraryID: id => ({ 2: 77 })[id],
		getLibraryIDFromGroupID: id => ({ 77: 2 })[id] ?? false,
	},

	Collections: { getLibraryAndKeyFromID: () => ({ libraryID: 1, key: 'COLL0001' }) },
	Searches: { getLibraryAndKeyFromID: () => ({ libraryID: 1, key: 'SRCH0001' }) },

	Items: {
		all: [],
		add(item) {
			item.id ??= this.all.length + 1;
			this.all.push(item);
			return item;
		},
		make(type, fields) {
			return this.add(new FakeItem(type, fields));
		},
		get: id => Zotero.Items.all.find(item => item.id === id),
		getLibraryAndKeyFromID(id) {
			let item = this.get(id);
			return item ? { libraryID: item.libraryID, key: item.key } : false;
		},
		async getByLibraryAndKeyAsync(libraryID, key) {
			return this.all.find(item => item.libraryID === libraryID && item.key === key) ?? false;
		},
	},

	FileHandlers: {
		opened: [],
		async open(item, { location } = {}) {
			this.opened.push({ key: item.key, location });
			if (item.isMissing) {
				return false;
			}
			Zotero.Reader.show(item);
			return true;
		},
	},

	Reader: {
		listeners: [],
		readers: new Map(),
		registerEventListener(type, handler, pluginID) {
			this.listeners.push({ type, handler, pluginID });
		},
		unregisterEventListener(type, handler) {
			this.listeners = this.listeners.filter(listener => listener.type !== type || listener.handler !== handler);
		},
		getByTabID: id => Zotero.Reader.readers.get(id),

		/** Open a reader's tab; its search finds what stands in the item's text. */
		show(item) {
			let id = `tab-${item.id}`;
			let state = {
				primaryViewSelectionPopup: null,
				secondaryViewSelectionPopup: null,
				primaryViewFindState: { popupOpen: false, active: false, query: '', highlightAll: true, caseSensitive: false, entireWord: false, index: null, result: null },
			};
			let view = {
				_state: state,
				_updateState(change) {
					Object.assign(state, change);
					let find = state.primaryViewFindState;
					if (find.active) {
						find.result = { total: (item.text ?? '').includes(find.query) ? 1 : 0 };
					}
				},
			};
			this.readers.set(id, { itemID: item.id, tabID: id, _initPromise: Promise.resolve(), _internalReader: view, _iframeWindow: window });
			Zotero_Tabs.select(id);
			return id;
		},

		/** Select text in the reader that is shown; gives the nodes that plugins put into its popup. */
		select(text) {
			let reader = this.readers.get(Zotero_Tabs.selectedID);
			let annotation = { text };
			reader._internalReader._state.primaryViewSelectionPopup = text ? { annotation } : null;
			let added = [];
			if (text) {
				for (let { handler } of this.listeners) {
					handler({ reader, doc: document, params: { annotation }, append: node => added.push(node) });
				}
			}
			return added;
		},
	},

	URI: { getItemURI: item => `http://zotero.org/users/local/AbCdEf/items/${item.key}` },

	Utilities: {
		Item: { itemToCSLJSON: item => ({ id: item.key, type: 'article-journal', title: item.title }) },
		Internal: {
			copied: [],
			opened: [],
			copyTextToClipboard: text => Zotero.Utilities.Internal.copied.push(text),
			openPreferences: id => Zotero.Utilities.Internal.opened.push(id),
		},
	},

	Translate: {
		Export: class {
			setItems(items) {
				this.items = items;
			}

			setTranslator(id) {
				this.translator = id;
			}

			setHandler(_type, handler) {
				this.handler = handler;
			}

			translate() {
				this.string = this.items.map(item => `@article{${item.key}}`).join('\n');
				this.handler(this, true);
			}
		},
	},
};

ZoteroPane.show();
window.MozXULElement ??= {};
