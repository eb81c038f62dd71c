// The turns of one session; at most one of them is live.

import { fill, h } from './elements.mjs';
import { createLiveTurn } from './live_turn.mjs';
import { reasonOf } from './refusal.mjs';
import { isOver, newView, pendingCheckpoint, viewOfMessage, reduce } from './run_view.mjs';

/**
 * The conversation; callbacks tell of a clicked citation, the session's id, a question taken back, that nothing
 * is live any more, and whether the live run is `idle` (there is none), `running` or `waiting` for a decision.
 * `request(prompt)` makes the body of a question; `welcome` stands where there is none yet.
 */
export function createConversation(context, { welcome, request, onCitation, onSession, onRewound, onIdle, onMode }) {
	let { l10n, gateway } = context;
	let turns = h('div', { class: 'turns' });
	let node = h('div', { class: 'conversation' }, welcome, turns);
	let session = null;
	let live = null;
	let added = [];
	// Which opening of a session is the latest: what was overtaken must not appear.
	let openings = 0;

	function clear() {
		leave();
		openings += 1;
		session = null;
		for (let turn of added) {
			turn.close();
		}
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
		let turn = createLiveTurn(context, view, {
			onCitation: citation => onCitation(citation, turn.view.invocationId),
			onCancel: () => cancel(turn),
			onRetry: () => live === null && letGoOn(turn),
			onAskAgain: prompt => live === null && askQuestion(prompt),
			onEdited: prompt => askInstead(turn, prompt),
			onRewind: () => change(turn, () => takeBack(turn)),
			onDecide: (checkpoint, response) => answer(turn, checkpoint, response),
		});
		if (added.length) {
			let before = added[added.length - 1];
			before.view = { ...before.view, isLast: false };
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
		let isOurs = () => live?.controller === controller;
		tellMode();
		try {
			let onLink = (link) => {
				if (isOurs()) {
					turn.view = { ...turn.view, link };
				}
			};
			for await (let frame of openFrames({ signal: controller.signal, onLink })) {
				// A frame may still arrive for a run that was just left.
				if (!isOurs()) {
					return;
				}
				take(turn, frame);
			}
		}
		catch (error) {
			if (isOurs() && !onRefused(error)) {
				turn.view = { ...turn.view, state: 'FAILED', error: { code: error.code, message: error.message, retryable: Boolean(error.isPassing), isOurs: true } };
			}
		}
		if (!isOurs()) {
			return;
		}
		if (!isOver(turn.view)) {
			// It waits; the answer may also come from elsewhere.
			await watch(turn, options => gateway.resume(turn.view, options));
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

	function take(turn, frame) {
		let wasKnown = turn.view.invocationId !== null;
		turn.view = reduce(turn.view, frame);
		tellMode();
		if (session !== turn.view.sessionId) {
			session = turn.view.sessionId;
			onSession(session);
		}
		if (!wasKnown && live.isUnwanted) {
			cancel(turn);
		}
	}

	function askQuestion(prompt) {
		let turn = addTurn(newView(prompt));
		turn.node.scrollIntoView({ block: 'start' });
		let question = session ? { ...request(prompt), session_id: session } : request(prompt);
		return watch(turn, options => gateway.ask(question, options));
	}

	function answer(turn, checkpoint, response) {
		// One decision at a time: a second click finds the first one on its way.
		if (turn.view.sent !== null) {
			return;
		}
		turn.view = { ...turn.view, sent: checkpoint.interrupt_id, refusal: null };
		watch(turn, options => gateway.decide(turn.view, checkpoint, response, options), (error) => {
			turn.view = { ...turn.view, sent: null, refusal: reasonOf(l10n, error) };
			return true;
		});
	}

	function letGoOn(turn) {
		let before = turn.view;
		turn.view = { ...before, isChanging: true, refusal: null };
		watch(turn, options => gateway.retry(before, options), (error) => {
			turn.view = { ...before, refusal: reasonOf(l10n, error) };
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
			turn.view = { ...turn.view, isChanging: false, refusal: reasonOf(l10n, error) };
		}
	}

	function cancel(turn) {
		return change(turn, () => gateway.cancel(turn.view));
	}

	async function takeBack(turn) {
		let left = await gateway.rewind(turn.view);
		open(left);
		onIdle();
		onRewound(turn.view.prompt);
	}

	/** Ask another question in the place of one and of all that came after it. */
	function askInstead(turn, prompt) {
		return change(turn, async () => {
			open(await gateway.rewind(turn.view));
			// Not awaited: the old turn is gone, the new one lives by itself.
			askQuestion(prompt);
		});
	}

	function open({ id, messages }) {
		clear();
		session = id;
		for (let message of messages) {
			addTurn(viewOfMessage(id, message));
		}
		let last = added[added.length - 1];
		if (last && !isOver(last.view)) {
			// Not awaited: the session is open, its run goes on.
			watch(last, options => gateway.resume(last.view, options));
		}
		last?.node.scrollIntoView({ block: 'start' });
	}

	return {
		node,
		clear,
		leave,
		/** Open the session that a reading gives, unless another was opened meanwhile. */
		async open(reading) {
			openings += 1;
			let opening = openings;
			let read = await reading;
			if (opening === openings) {
				open(read);
			}
		},
		ask: askQuestion,
		/** Cancel the live run; one that is only being started is cancelled as soon as it has a name. */
		stop() {
			if (live?.turn.view.invocationId) {
				cancel(live.turn);
			}
			else if (live) {
				live.isUnwanted = true;
			}
		},
		isBusy: () => live !== null,
		isOf: id => session === id,
	};
}
