// The turns of one session; at most one of them is live.

import { fill, h } from './elements.mjs';
import { ask, resume } from './gateway.mjs';
import { isOver, newView, reduce, viewOfMessage } from './run_view.mjs';
import { createTurn } from './turn.mjs';

const NEAR_END_PX = 80;

/** The conversation; callbacks tell of a clicked citation, the session's id, and busy or idle. */
export function createConversation({ onCitation, onSession, onIdle, onBusy }) {
	let turns = h('div', { class: 'turns' });
	let welcome = h(
		'div',
		{ class: 'welcome' },
		h('h2', {}, 'Ask your library'),
		h('p', {}, 'Zocrates searches your own papers, shows each step, and cites the page of every claim.'),
	);
	let node = h('div', {}, welcome, turns);
	let session = null;
	let live = null;

	function clear() {
		leave();
		session = null;
		fill(turns);
		welcome.hidden = false;
	}

	/** Stop watching the live run; it goes on without us. */
	function leave() {
		live?.abort();
		live = null;
		onBusy(false);
	}

	function addTurn(view) {
		welcome.hidden = true;
		let current = view;
		let turn = createTurn({
			onCitation: citation => onCitation(citation, current.invocationId),
			onRetry: () => live === null && askQuestion(current.prompt),
		});
		let isQueued = false;
		let hasAnswer = view.answer !== null;
		turns.append(turn.node);
		turn.update(view);
		return {
			get view() {
				return current;
			},
			set view(next) {
				current = next;
				// Pieces of text come faster than anybody can see.
				if (!isQueued) {
					isQueued = true;
					requestAnimationFrame(() => {
						isQueued = false;
						let isNews = current.answer !== null && !hasAnswer;
						hasAnswer = current.answer !== null;
						let wasAtEnd = isAtEnd();
						turn.update(current);
						if (wasAtEnd) {
							// Who followed the writing reads the finished answer from its beginning.
							isNews ? turn.node.scrollIntoView({ block: 'start' }) : scrollToEnd();
						}
					});
				}
			},
		};
	}

	async function watch(turn, openFrames) {
		let controller = new AbortController();
		live = controller;
		onBusy(true);
		try {
			let onAway = () => {
				turn.view = { ...turn.view, link: 'away' };
			};
			for await (let frame of openFrames({ signal: controller.signal, onAway })) {
				// A frame may still arrive for a run that was just left.
				if (live !== controller) {
					return;
				}
				turn.view = reduce(turn.view, frame);
				if (session !== turn.view.sessionId) {
					session = turn.view.sessionId;
					onSession(session);
				}
			}
		}
		catch (error) {
			turn.view = { ...turn.view, state: 'FAILED', error: { code: error.code, message: error.message, retryable: Boolean(error.isPassing) } };
		}
		if (live === controller) {
			live = null;
			onBusy(false);
			onIdle();
		}
	}

	function askQuestion(prompt) {
		let turn = addTurn(newView(prompt));
		turns.lastChild.scrollIntoView({ block: 'start' });
		let question = session ? { prompt, session_id: session } : { prompt };
		return watch(turn, options => ask(question, options));
	}

	return {
		node,
		clear,
		leave,
		ask: askQuestion,
		isBusy: () => live !== null,
		open({ id, messages }) {
			clear();
			session = id;
			let views = messages.map(message => viewOfMessage(id, message));
			let added = views.map(addTurn);
			let last = added.at(-1);
			if (last && !isOver(last.view)) {
				// Not awaited: the session is open, its run goes on.
				watch(last, options => resume(last.view, options));
			}
			turns.lastChild?.scrollIntoView({ block: 'start' });
		},
	};
}

function isAtEnd() {
	let page = document.scrollingElement;
	return page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END_PX;
}

function scrollToEnd() {
	let page = document.scrollingElement;
	page.scrollTop = page.scrollHeight;
}
