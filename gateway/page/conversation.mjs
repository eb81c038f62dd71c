// The turns of one session; at most one of them is live.

import { fill, h } from './elements.mjs';
import { ask, cancel, decide, resume, retry, rewind } from './gateway.mjs';
import { isOver, newView, pendingCheckpoint, reduce, viewOfMessage } from './run_view.mjs';
import { createTurn } from './turn.mjs';

const NEAR_END_PX = 80;

/**
 * The conversation; callbacks tell of a clicked citation, the session's id, a question taken back, that nothing
 * is live any more, and whether the live run is `idle` (there is none), `running` or `waiting` for a decision.
 */
export function createConversation({ onCitation, onSession, onRewound, onIdle, onMode }) {
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
	let added = [];

	function clear() {
		leave();
		session = null;
		added = [];
		fill(turns);
		welcome.hidden = false;
	}

	/** Stop watching the live run; it goes on without us. */
	function leave() {
		live?.controller.abort();
		live = null;
		onMode('idle');
	}

	function tellMode() {
		onMode(live === null ? 'idle' : pendingCheckpoint(live.turn.view) ? 'waiting' : 'running');
	}

	function addTurn(view) {
		welcome.hidden = true;
		let turn = createLiveTurn(view, {
			onCitation: citation => onCitation(citation, turn.view.invocationId),
			onCancel: () => change(turn, () => cancel(turn.view)),
			onRetry: () => live === null && letGoOn(turn),
			onAskAgain: () => live === null && askQuestion(turn.view.prompt),
			onRewind: () => change(turn, () => takeBack(turn)),
			onDecide: (checkpoint, response) => answer(turn, checkpoint, response),
		});
		if (added.length) {
			added.at(-1).view = { ...added.at(-1).view, isLast: false };
		}
		added.push(turn);
		turns.append(turn.node);
		return turn;
	}

	/** Watch a run until it is over, through its checkpoints; `onRefused` may take a refusal up. */
	async function watch(turn, openFrames, onRefused = () => false) {
		live?.controller.abort();
		let controller = new AbortController();
		live = { controller, turn };
		tellMode();
		try {
			let onLink = (link) => {
				if (live?.controller === controller) {
					turn.view = { ...turn.view, link };
				}
			};
			for await (let frame of openFrames({ signal: controller.signal, onLink })) {
				// A frame may still arrive for a run that was just left.
				if (live?.controller !== controller) {
					return;
				}
				turn.view = reduce(turn.view, frame);
				tellMode();
				if (session !== turn.view.sessionId) {
					session = turn.view.sessionId;
					onSession(session);
				}
			}
		}
		catch (error) {
			if (live?.controller === controller && !onRefused(error)) {
				turn.view = { ...turn.view, state: 'FAILED', error: { code: error.code, message: error.message, retryable: Boolean(error.isPassing), isOurs: true } };
			}
		}
		if (live?.controller !== controller) {
			return;
		}
		if (!isOver(turn.view)) {
			// It waits; the answer may also come from elsewhere.
			await watch(turn, options => resume(turn.view, options));
			return;
		}
		live = null;
		if (turn.view.state === 'DELETED') {
			// What is asked next begins a session of its own.
			session = null;
		}
		onMode('idle');
		onIdle();
	}

	function askQuestion(prompt) {
		let turn = addTurn(newView(prompt));
		turns.lastChild.scrollIntoView({ block: 'start' });
		let question = session ? { prompt, session_id: session } : { prompt };
		return watch(turn, options => ask(question, options));
	}

	function answer(turn, checkpoint, response) {
		// One decision at a time: a second click finds the first one on its way.
		if (turn.view.sent !== null) {
			return;
		}
		turn.view = { ...turn.view, sent: checkpoint.interrupt_id, refusal: null };
		watch(turn, options => decide(turn.view, checkpoint, response, options), (error) => {
			turn.view = { ...turn.view, sent: null, refusal: error.message };
			return true;
		});
	}

	function letGoOn(turn) {
		let before = turn.view;
		turn.view = { ...before, isChanging: true, refusal: null };
		watch(turn, options => retry(before, options), (error) => {
			turn.view = { ...before, refusal: error.message };
			return true;
		});
	}

	async function change(turn, doIt) {
		turn.view = { ...turn.view, isChanging: true, refusal: null };
		try {
			await doIt();
			turn.view = { ...turn.view, isChanging: false };
		}
		catch (error) {
			turn.view = { ...turn.view, isChanging: false, refusal: error.message };
		}
	}

	async function takeBack(turn) {
		let left = await rewind(turn.view);
		open(left);
		onIdle();
		onRewound(turn.view.prompt);
	}

	function open({ id, messages }) {
		clear();
		session = id;
		for (let message of messages) {
			addTurn(viewOfMessage(id, message));
		}
		let last = added.at(-1);
		if (last && !isOver(last.view)) {
			// Not awaited: the session is open, its run goes on.
			watch(last, options => resume(last.view, options));
		}
		turns.lastChild?.scrollIntoView({ block: 'start' });
	}

	return { node, clear, leave, open, ask: askQuestion, isBusy: () => live !== null, isOf: id => session === id };
}

/** A turn whose view can be set as often as one likes; it is drawn once a frame. */
function createLiveTurn(view, callbacks) {
	let current = view;
	let turn = createTurn(callbacks);
	let isQueued = false;
	let hasAnswer = view.answer !== null;
	turn.update(view);

	function draw() {
		isQueued = false;
		let isNews = current.answer !== null && !hasAnswer;
		hasAnswer = current.answer !== null;
		let wasAtEnd = isAtEnd();
		turn.update(current);
		if (wasAtEnd) {
			// Who followed the writing reads the finished answer from its beginning.
			isNews ? turn.node.scrollIntoView({ block: 'start' }) : scrollToEnd();
		}
	}

	return {
		node: turn.node,
		get view() {
			return current;
		},
		set view(next) {
			current = next;
			// Pieces of text come faster than anybody can see.
			if (!isQueued) {
				isQueued = true;
				requestAnimationFrame(draw);
			}
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
