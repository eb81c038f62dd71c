// The only door to the outside: requests to the gateway, through whatever the host fetches with.

import { readFrames } from './event_stream.mjs';
import { Refusal } from './refusal.mjs';

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5000;

/**
 * A client of the gateway. `host.fetch(path, init)` reaches it; `host.renew()`, where there is one, looks for
 * another address or key and says whether it found one. What has no signal of its own ends with `life`.
 */
export function createGateway(host, life) {
	async function request(method, path, { body, headers = {}, signal = life } = {}) {
		let init = { method, headers: { ...headers }, signal };
		if (body !== undefined) {
			init.headers['Content-Type'] = 'application/json';
			init.body = JSON.stringify(body);
		}
		let response = await reach(path, init);
		if ((response === null || response.status === 401) && await host.renew?.()) {
			response = await reach(path, init);
		}
		if (response === null) {
			throw new Refusal(0, 'UNREACHABLE', 'The gateway cannot be reached.');
		}
		if (!response.ok) {
			throw await refusalOf(response);
		}
		return response;
	}

	/** The response, or null when nobody is there. */
	async function reach(path, init) {
		try {
			return await host.fetch(path, init);
		}
		catch (error) {
			if (!(error instanceof TypeError)) {
				throw error;
			}
			return null;
		}
	}

	async function send(method, path, options) {
		let response = await request(method, path, options);
		return response.json();
	}

	async function* follow(start, open, { signal, onLink }) {
		let place = { ...start };
		let wait = FIRST_WAIT_MS;
		while (!signal.aborted) {
			try {
				let response = await open(place);
				onLink('live');
				for await (let frame of readFrames(response)) {
					wait = FIRST_WAIT_MS;
					place.sessionId = frame.data.session_id;
					place.invocationId = frame.data.invocation_id;
					place.lastId = frame.id ?? place.lastId;
					yield frame;
					if (frame.event === 'done') {
						return;
					}
				}
			}
			catch (error) {
				if (signal.aborted) {
					return;
				}
				// A body that breaks off is a TypeError in every browser, as is an unreachable host.
				let isPassing = error instanceof Refusal ? error.isPassing : error instanceof TypeError;
				if (!isPassing) {
					throw error;
				}
			}
			onLink('away');
			await pause(wait, signal);
			wait = Math.min(wait * 2, LONGEST_WAIT_MS);
		}
	}

	function listen(place, signal) {
		return request('GET', eventsPath(place), { headers: resumeHeaders(place), signal });
	}

	/** Post what makes a run go on; from then on, follow it. */
	async function* goOn(place, path, body, { signal, onLink }) {
		// The same key each time: a repeated request finds what the first one did.
		let headers = { 'Idempotency-Key': crypto.randomUUID() };
		let isPosted = false;
		let open = async (at) => {
			if (isPosted) {
				return listen(at, signal);
			}
			let response = await request('POST', path, { body, headers, signal });
			isPosted = true;
			return response;
		};
		yield* follow(place, open, { signal, onLink });
	}

	return {
		/** The JSON at a path. */
		read: (path, options) => send('GET', path, options),

		/** Send JSON; gives the reply. */
		send: (method, path, body, options = {}) => send(method, path, { ...options, body }),

		/** Exchange the token of a one-time address for the key. */
		async redeem(token) {
			return (await send('POST', '/page-key', { body: { token } })).key;
		},

		/** Give a session another title; gives the session as it stands in the list. */
		rename: (sessionId, title) => send('PATCH', `/sessions/${sessionId}`, { body: { title } }),

		/** Delete a session with all its runs; one that is gone already is gone. */
		async remove(sessionId) {
			try {
				await request('DELETE', `/sessions/${sessionId}`);
			}
			catch (error) {
				if (error.status !== 404) {
					throw error;
				}
			}
		},

		/** The progress reports of a sync. */
		async* sync(wish, { signal }) {
			yield* readFrames(await request('POST', '/library/sync', { body: wish, signal }));
		},

		/** Cancel a run. */
		cancel: ({ sessionId, invocationId }) => send('POST', `/sessions/${sessionId}/cancel`, { body: { invocation_id: invocationId } }),

		/** Take a run and all later ones back; gives the session without them. */
		async rewind({ sessionId, invocationId }) {
			let { session } = await send('POST', `/sessions/${sessionId}/rewind`, { body: { invocation_id: invocationId } });
			return session;
		},

		/**
		 * Ask a question and yield the frames of its run until it is over or waits, across lost connections. `onLink`
		 * is told each time the gateway is lost (`away`) or there again (`live`). Ends early when the signal aborts.
		 */
		async* ask(question, { signal, onLink }) {
			// The same key each time: a repeated request finds the run that the first one started.
			let headers = { 'Idempotency-Key': crypto.randomUUID() };
			let open = place => (place.invocationId
				? listen(place, signal)
				: request('POST', '/chat', { body: question, headers, signal }));
			yield* follow({ sessionId: null, invocationId: null, lastId: null }, open, { signal, onLink });
		},

		/** Follow a run from a position on through its checkpoints, the same way. */
		async* resume(place, { signal, onLink }) {
			yield* follow(place, at => listen(at, signal), { signal, onLink });
		},

		/** Decide at a checkpoint and yield the frames of the run from there on, the same way. */
		async* decide(place, checkpoint, response, options) {
			let body = {
				session_id: place.sessionId,
				invocation_id: place.invocationId,
				interrupt_id: checkpoint.interrupt_id,
				response,
				expected_version: checkpoint.version,
			};
			yield* goOn(place, '/chat/resume', body, options);
		},

		/** Let a failed or cancelled run go on and yield its frames from there on, the same way. */
		async* retry(place, options) {
			yield* goOn(place, `/sessions/${place.sessionId}/retry`, { invocation_id: place.invocationId }, options);
		},
	};
}

/** Wait, or less when the signal aborts. */
export function pause(milliseconds, signal) {
	return new Promise((resolve) => {
		let end = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', end);
			resolve();
		};
		let timer = setTimeout(end, milliseconds);
		signal.addEventListener('abort', end);
	});
}

function eventsPath({ sessionId, invocationId }) {
	return `/sessions/${sessionId}/runs/${invocationId}/events`;
}

function resumeHeaders({ lastId }) {
	return lastId && lastId !== '0' ? { 'Last-Event-ID': lastId } : {};
}

async function refusalOf(response) {
	// A proxy may answer with something else than the gateway's JSON.
	let told = await response.json().catch(() => ({}));
	let text = told.error ?? `The gateway answered with status ${response.status}.`;
	return new Refusal(response.status, told.code ?? 'UNKNOWN', text);
}
