// The page: sessions at the side, a conversation in the middle, a question at the bottom.

import { createConversation } from './conversation.mjs';
import { fill, h, show } from './elements.mjs';
import { redeemLink, read, Refusal } from './gateway.mjs';
import { createLibrary } from './library.mjs';
import { createPassageDialog } from './passage.mjs';
import { createSessionList } from './session_list.mjs';

let at = id => document.getElementById(id);
let passages = createPassageDialog();
let library = createLibrary();
let sessions = createSessionList({
	onOpen: open,
	onDeleted: (id) => {
		if (conversation.isOf(id)) {
			startNew();
		}
	},
	onFailure: tellTrouble,
});
let conversation = createConversation({
	onCitation: (citation, invocationId) => passages.open(citation, invocationId),
	onSession: (id) => {
		history.replaceState(null, '', `#session=${id}`);
		sessions.select(id);
	},
	onIdle: () => sessions.refresh().catch(tellTrouble),
	onRewound: (prompt) => {
		// Taken back to be asked better: the words are there to change.
		if (!at('prompt').value) {
			at('prompt').value = prompt;
			fitPrompt();
		}
		at('prompt').focus({ preventScroll: true });
	},
	onMode: (mode) => {
		show(at('stop'), mode === 'running');
		show(at('send'), mode !== 'running');
		at('send').disabled = mode === 'waiting';
		at('prompt').placeholder = mode === 'waiting' ? 'Decide above first' : 'Ask your library';
	},
});
let hasEntered = false;

function start() {
	at('conversation').append(conversation.node);
	at('sessions').append(sessions.node);
	at('library').append(library.line);
	document.body.append(passages.node, library.node);
	at('composer').addEventListener('submit', submit);
	at('prompt').addEventListener('keydown', sendByKey);
	at('prompt').addEventListener('input', fitPrompt);
	at('stop').addEventListener('click', () => conversation.leave());
	at('new').addEventListener('click', startNew);
	at('menu').addEventListener('click', toggleSessions);
	enter();
}

async function enter() {
	try {
		await redeemLink();
		await Promise.all([sessions.refresh(), library.refresh()]);
		show(at('gate'), false);
		show(at('app'), true);
		if (hasEntered) {
			return;
		}
		hasEntered = true;
		let wanted = /^#session=([0-9a-f]{32})$/.exec(location.hash)?.[1];
		await (wanted ? open(wanted) : conversation.clear());
		at('prompt').focus({ preventScroll: true });
	}
	catch (error) {
		tellTrouble(error);
	}
}

/** Say what is wrong: no key, an old link, or a gateway that is away (which is tried again). */
function tellTrouble(error) {
	if (!(error instanceof Refusal)) {
		throw error;
	}
	if (error.code === 'UNAUTHENTICATED' || error.code === 'LINK_EXPIRED') {
		fill(
			at('gate'),
			h('h2', {}, error.code === 'LINK_EXPIRED' ? 'This link was used already' : 'This page needs its key'),
			h('p', {}, 'The page gets its key through an address that works once. In a terminal, type'),
			h('pre', {}, h('code', {}, 'zocrates link')),
			h('p', {}, 'and open the address that it prints. ', h('code', {}, 'zocrates up'), ' prints one too when it starts.'),
		);
	}
	else {
		fill(
			at('gate'),
			h('h2', {}, error.isPassing ? 'The service is away' : 'Something is wrong'),
			h('p', {}, error.message),
			h('button', { type: 'button', onclick: enter }, 'Try again'),
		);
	}
	show(at('gate'), true);
	show(at('app'), hasEntered);
}

async function open(id) {
	toggleSessions(false);
	try {
		await conversation.open(await read(`/sessions/${id}`));
		history.replaceState(null, '', `#session=${id}`);
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
	history.replaceState(null, '', location.pathname);
	conversation.clear();
	sessions.select(null);
	toggleSessions(false);
	at('prompt').focus({ preventScroll: true });
}

function submit(event) {
	event.preventDefault();
	let prompt = at('prompt').value.trim();
	if (!prompt || conversation.isBusy()) {
		return;
	}
	at('prompt').value = '';
	fitPrompt();
	conversation.ask(prompt);
}

function sendByKey(event) {
	// Enter alone makes a new line on touch keyboards and while an input method composes.
	if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && !matchMedia('(pointer: coarse)').matches) {
		event.preventDefault();
		at('composer').requestSubmit();
	}
}

function fitPrompt() {
	let prompt = at('prompt');
	prompt.rows = Math.min(8, Math.max(1, prompt.value.split('\n').length));
}

function toggleSessions(wanted) {
	let isOpen = at('app').classList.toggle('with-sessions', typeof wanted === 'boolean' ? wanted : undefined);
	at('menu').setAttribute('aria-expanded', String(isOpen));
}

start();
