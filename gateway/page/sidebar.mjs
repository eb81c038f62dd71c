// The sidebar: sessions at the side, a conversation in the middle, a question at the bottom. The page that the
// gateway serves and the pane in Zotero are both this, each with its own host.

import { createClearAll } from './clear_all.mjs';
import { createComposer } from './composer.mjs';
import { createConversation } from './conversation.mjs';
import { fill, h, quiet } from './elements.mjs';
import { createWelcome } from './first_run.mjs';
import { createGate } from './gate.mjs';
import { createGateway } from './gateway.mjs';
import { createHoverCard } from './hover_card.mjs';
import { loadL10n } from './l10n.mjs';
import { safeLink } from './links.mjs';
import { createLibrary } from './library.mjs';
import { createPassageSheet } from './passage.mjs';
import { Refusal } from './refusal.mjs';
import { createSessionList } from './session_list.mjs';

/**
 * Start in an empty element. Gives what the host may do with it: `close` (stops every stream, timer and listener at once
 * and empties the element), `focusComposer`, `newSession`, `openSession(id)`, `scopeChanged` (the host shows something
 * else), `hostChanged` (another address or key).
 */
export function startSidebar(root, host) {
	let life = new AbortController();
	let sidebar = null;
	let whenReady = loadL10n(host).then((l10n) => {
		if (!life.signal.aborted) {
			sidebar = buildSidebar(root, { l10n, host, life: life.signal, gateway: createGateway(host, life.signal), hover: createHoverCard() });
			return sidebar.enter();
		}
	});
	let whenThere = act => whenReady.then(() => sidebar && act());
	return {
		close() {
			life.abort();
			sidebar?.close();
			sidebar = null;
			root.replaceChildren();
		},
		focusComposer: () => whenThere(() => sidebar.composer.focus()),
		newSession: () => whenThere(() => sidebar.startNew()),
		openSession: id => whenThere(() => sidebar.open(id)),
		scopeChanged: () => whenThere(() => sidebar.composer.scopeChanged()),
		hostChanged: () => whenThere(() => sidebar.enter()),
		/** Settles when the sidebar was built and the gateway answered or refused. */
		ready: whenReady,
	};
}

function buildSidebar(root, context) {
	let { l10n: { say, language }, host, gateway, hover, life } = context;
	let gate = createGate(context, { onRetry: enter });
	let welcome = createWelcome(context);
	let passages = createPassageSheet(context);
	let library = createLibrary(context);
	let sessions = createSessionList(context, {
		onOpen: open,
		onDeleted: id => conversation.isOf(id) && startNew(),
		onFailure: tellTrouble,
	});
	let composer = createComposer(context, {
		onAsk: prompt => conversation.ask(prompt),
		onStop: () => conversation.stop(),
	});
	let conversation = createConversation(context, {
		welcome: welcome.node,
		request: composer.request,
		onCitation: openCitation,
		onSession: (id) => {
			host.setRemembered('session', id ?? '');
			sessions.select(id);
		},
		onIdle: () => sessions.refresh().catch(tellTrouble),
		onRewound: (prompt) => {
			// Taken back to be asked better: the words are there to change.
			composer.propose(prompt);
			composer.focus();
		},
		onMode: composer.setMode,
	});
	let menu = quiet('☰', () => toggleSessions(), { 'id': 'menu', 'class': 'quiet', 'aria-controls': 'side', 'aria-expanded': 'false', 'aria-label': say('sessions') });
	let app = h(
		'div',
		{ class: 'app' },
		h('nav', { 'id': 'side', 'class': 'side', 'aria-label': say('sessions'), 'onkeydown': leaveSessions }, h('button', { type: 'button', id: 'new', onclick: startNew }, say('new-question')), sessions.node, createClearAll(context, { onCleared: startAfresh })),
		h('main', { class: 'middle' }, conversation.node, composer.node),
	);
	let hasEntered = false;

	function show() {
		root.setAttribute('lang', language);
		fill(
			root,
			h('header', { class: 'bar' }, menu, h('h1', {}, 'Zocrates'), quiet('+', startNew, { 'class': 'quiet new', 'aria-label': say('new-question'), 'title': say('new-question') }), library.line),
			gate.node, app, passages.node, library.node, composer.sheet, hover.node,
		);
		root.addEventListener('click', followLink, { signal: life });
		document.addEventListener('scroll', hover.close, { signal: life, passive: true });
		window.addEventListener('resize', hover.close, { signal: life });
	}

	/** Get in: with the token of a one-time address, if there is one, and then with what the gateway tells. */
	async function enter() {
		try {
			let token = host.takeLink?.();
			if (token) {
				host.keepKey(await gateway.redeem(token));
			}
			// Not awaited: a library that is busy keeps nobody from what was asked before.
			library.refresh();
			await sessions.refresh();
			gate.open();
			welcome.setService(true);
			composer.scopeChanged();
			if (!hasEntered) {
				hasEntered = true;
				let wanted = host.remember('session');
				// Somebody may have asked already, while the gateway took its time.
				if (wanted && !conversation.isBusy()) {
					await open(wanted);
				}
				composer.focus();
			}
		}
		catch (error) {
			tellTrouble(error);
		}
	}

	function tellTrouble(error) {
		if (life.aborted) {
			return;
		}
		if (!(error instanceof Refusal)) {
			throw error;
		}
		welcome.setService(!error.isPassing);
		gate.close(error);
	}

	async function open(id) {
		toggleSessions(false);
		try {
			await conversation.open(gateway.read(`/sessions/${id}`));
			host.setRemembered('session', id);
			sessions.select(id);
		}
		catch (error) {
			if (error.status !== 404) {
				throw error;
			}
			startNew();
		}
	}

	function startNew() {
		host.setRemembered('session', '');
		conversation.clear();
		sessions.select(null);
		toggleSessions(false);
		composer.focus();
	}

	function startAfresh() {
		startNew();
		sessions.refresh().catch(tellTrouble);
	}

	/** At its page in Zotero where the host can, else the passage itself. */
	async function openCitation(citation, invocationId) {
		let result = await host.openCitation?.(citation);
		if (!result?.opened) {
			await passages.open(citation, invocationId);
		}
	}

	function followLink(event) {
		let address = event.target.closest('a[href]')?.getAttribute('href');
		if (address && host.openLink) {
			event.preventDefault();
			safeLink(address) && host.openLink(address);
		}
	}

	/** Escape leaves the list where it lies over the conversation; what was being done to a session takes it first. */
	function leaveSessions(event) {
		if (event.key === 'Escape' && !event.defaultPrevented && app.classList.contains('with-sessions')) {
			event.preventDefault();
			toggleSessions(false);
			menu.focus();
		}
	}

	function toggleSessions(wanted) {
		let isOpen = app.classList.toggle('with-sessions', typeof wanted === 'boolean' ? wanted : undefined);
		menu.setAttribute('aria-expanded', String(isOpen));
	}

	show();
	return { composer, enter, open, startNew, close: () => {
		hover.close();
		conversation.clear();
	} };
}
