// The pane of one main window: beside the library's list and beside a reader's page, in one place at a time.

import { createHost } from './host.mjs';
import { isShortcut } from './shortcut.mjs';
import { createUndo } from './undo.mjs';

const XHTML = 'http://www.w3.org/1999/xhtml';
const STRINGS = 'zocrates-plugin.ftl';
const SIDENAVS = { library: 'zotero-view-item-sidenav', reader: 'zotero-context-pane-sidenav' };
const MARK = 'zocrates-open';

/** The pane; nothing of it is made before it is opened but its two buttons. */
export function createPane(env, window, { base, settings, address, selection }) {
	let { document } = window;
	let undo = createUndo(error => env.Zotero.logError(error));
	let buttons = [];
	// What is shown: {place, box, frame, sidebar, undo}, or null.
	let shown = null;

	function start() {
		addStrings();
		addStyle();
		for (let id of Object.values(SIDENAVS)) {
			let sidenav = document.getElementById(id);
			if (sidenav) {
				addButton(sidenav);
			}
		}
		addMenuItem();
		listen(undo, window, 'keydown', onKeydown, true);
	}

	function addMenuItem() {
		let item = document.createXULElement('menuitem');
		item.setAttribute('data-l10n-id', 'zocrates-menu');
		item.addEventListener('command', toggle);
		document.getElementById('menu_ToolsPopup')?.append(item);
		undo.add(() => item.remove());
	}

	function addStrings() {
		window.MozXULElement.insertFTLIfNeeded(STRINGS);
		undo.add(() => document.querySelector(`link[rel="localization"][href="${STRINGS}"]`)?.remove());
	}

	function addStyle() {
		let style = document.createElementNS(XHTML, 'link');
		style.setAttribute('rel', 'stylesheet');
		style.setAttribute('href', `${base}pane.css`);
		document.documentElement.append(style);
		undo.add(() => style.remove());
	}

	function addButton(sidenav) {
		let wrapper = document.createElementNS(XHTML, 'div');
		wrapper.className = 'pin-wrapper zocrates-button';
		let button = document.createElementNS(XHTML, 'div');
		button.className = 'btn';
		for (let [name, value] of Object.entries({ 'role': 'button', 'tabindex': '0', 'aria-pressed': 'false', 'data-l10n-id': 'zocrates-sidenav' })) {
			button.setAttribute(name, value);
		}
		button.addEventListener('click', event => event.button === 0 && toggle());
		button.addEventListener('keydown', (event) => {
			if (event.key === 'Enter' || event.key === ' ') {
				event.preventDefault();
				event.stopPropagation();
				toggle();
			}
		});
		wrapper.append(button);
		sidenav.append(wrapper);
		buttons.push(button);
		undo.add(() => wrapper.remove());
		// Zotero's own buttons show what is behind the pane.
		listen(undo, sidenav, 'click', event => event.target.closest('[data-pane]') && close(), true);
	}

	function onKeydown(event) {
		if (isShortcut(event, settings.get('shortcut'), env.Zotero)) {
			event.preventDefault();
			event.stopPropagation();
			toggle();
		}
	}

	/** Show the pane, or close it where it can be seen. */
	function toggle() {
		if (shown && !isFolded(shown.place)) {
			close();
		}
		else {
			open();
		}
	}

	function open({ isFocused = true } = {}) {
		let sidenav = document.getElementById(SIDENAVS[placeNow()]);
		if (!sidenav) {
			return;
		}
		if (shown?.place !== sidenav.parentNode) {
			close();
			show(sidenav);
		}
		unfold(shown.place);
		if (isFocused) {
			focus();
		}
	}

	function show(sidenav) {
		let place = sidenav.parentNode;
		let box = document.createElementNS(XHTML, 'div');
		box.className = 'zocrates-pane';
		let frame = document.createElementNS(XHTML, 'iframe');
		frame.setAttribute('data-l10n-id', 'zocrates-pane');
		let own = createUndo(error => env.Zotero.logError(error));
		let view = { place, box, frame, sidebar: null, isFocusWanted: false, undo: own };
		frame.zocratesHost = createHost(env, window, {
			address, settings, selection, base,
			onReady: (sidebar) => {
				view.sidebar = sidebar;
				own.add(() => sidebar.close());
				// The keys of a frame do not reach the window around it.
				listen(own, frame.contentWindow, 'keydown', onKeydown, true);
				if (view.isFocusWanted) {
					focus();
				}
			},
		});
		frame.setAttribute('src', `${base}sidebar.xhtml`);
		box.append(frame);
		// What is typed here must not delete an item in the list behind.
		for (let type of ['keydown', 'keypress', 'keyup']) {
			box.addEventListener(type, event => event.stopPropagation());
		}
		place.insertBefore(box, sidenav);
		place.setAttribute(MARK, '');
		own.add(() => {
			delete frame.zocratesHost;
			box.remove();
			place.removeAttribute(MARK);
		});
		watchLists(own);
		shown = view;
		press(true);
	}

	/** What is selected in Zotero's lists decides what the composer offers. */
	function watchLists(own) {
		for (let list of [window.ZoteroPane?.itemsView, window.ZoteroPane?.collectionsView]) {
			if (list?.onSelect) {
				let tell = () => tellScope();
				list.onSelect.addListener(tell);
				own.add(() => list.onSelect.removeListener(tell));
			}
		}
	}

	function close() {
		if (!shown) {
			return;
		}
		let { frame, undo: own } = shown;
		let hadFocus = document.activeElement === frame;
		shown = null;
		own.run();
		press(false);
		if (hadFocus) {
			buttons.find(button => button.getClientRects().length)?.focus();
		}
	}

	function press(isPressed) {
		for (let button of buttons) {
			button.setAttribute('aria-pressed', String(isPressed));
		}
	}

	function focus() {
		if (shown.sidebar) {
			shown.frame.focus();
			shown.sidebar.focusComposer();
		}
		else {
			shown.isFocusWanted = true;
		}
	}

	function tellScope() {
		shown?.sidebar?.scopeChanged();
	}

	function placeNow() {
		return window.Zotero_Tabs.selectedType === 'library' ? 'library' : 'reader';
	}

	/** Follow to where the selected tab has its pane. */
	function tabSelected() {
		let sidenav = shown && document.getElementById(SIDENAVS[placeNow()]);
		if (sidenav && sidenav.parentNode !== shown.place) {
			let wasFolded = isFolded(shown.place);
			close();
			show(sidenav);
			if (!wasFolded) {
				unfold(shown.place);
			}
		}
		else {
			tellScope();
		}
	}

	start();
	return {
		open,
		tabSelected,
		hostChanged: () => shown?.sidebar?.hostChanged(),
		stop() {
			close();
			undo.run();
		},
	};

	/** By the splitter: Zotero collapses the reader's part in the library's tab, whatever the reader chose. */
	function isFolded(place) {
		return foldable(place)?.previousElementSibling.getAttribute('state') === 'collapsed';
	}

	/** Open the part of the window that the pane is in, as dragging its splitter would. */
	function unfold(place) {
		let part = foldable(place);
		if (part && (isFolded(place) || part.hasAttribute('collapsed'))) {
			part.removeAttribute('collapsed');
			part.previousElementSibling.setAttribute('state', 'open');
			window.dispatchEvent(new window.Event('resize'));
			window.ZoteroContextPane?.update?.();
		}
	}
}

function foldable(place) {
	return place.closest('splitter + *');
}

function listen(undo, target, type, handler, capture) {
	target.addEventListener(type, handler, capture);
	undo.add(() => target.removeEventListener(type, handler, capture));
}
