// The page's only door to the outside: the gateway it came from.

import { readFrames } from './event_stream.mjs';

const KEY = 'zocrates-key';
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5000;

/** The gateway answered with an error, or (status 0) cannot be reached. */
export class Refusal extends Error {
	constructor(status, code, text) {
		super(text);
		this.status = status;
		this.code = code;
	}

	/** Whether the same request may work later. */
	get isPassing() {
		return this.status === 0 || this.status === 503 || this.status === 504;
	}
}

/** Exchange the token in the page's address for the key, once. */
export async function redeemLink() {
	let token = /^#link=(.+)$/.exec(location.hash)?.[1];
	if (!token) {
		return;
	}
	// The token is used up by this; the address must not keep it, whatever comes of it.
	history.replaceState(null, '', location.pathname);
	let { key } = await send('POST', '/page-key', { body: { token } });
	sessionStorage.setItem(KEY, key);
}

/** The JSON at a path. */
export function read(path) {
	return send('GET', path);
}

/** Give a session another title; gives the session as it stands in the list. */
export function rename(sessionId, title) {
	return send('PATCH', `/sessions/${sessionId}`, { body: { title } });
}

/** Delete a session with all its runs; one that is gone already is gone. */
export async function remove(sessionId) {
	try {
		await request('DELETE', `/sessions/${sessionId}`);
	}
	catch (error) {
		if (error.status !== 404) {
			throw error;
		}
	}
}

/** The progress reports of a sync. */
export async function* sync() {
	yield* readFrames(await request('POST', '/library/sync', { body: {} }));
}

/** Cancel a run. */
export function cancel({ sessionId, invocationId }) {
	return send('POST', `/sessions/${sessionId}/cancel`, { body: { invocation_id: invocationId } });
}

/** Take a run and all later ones back; gives the session without them. */
export async function rewind({ sessionId, invocationId }) {
	let { session } = await send('POST', `/sessions/${sessionId}/rewind`, { body: { invocation_id: invocationId } });
	return session;
}

/**
 * Ask a question and yield the frames of its run until it is over or waits, across lost connections. `onLink`
 * is told each time the gateway is lost (`away`) or there again (`live`). Ends early when the signal aborts.
 */
export async function* ask(question, { signal, onLink }) {
	// The same key each time: a repeated request finds the run that the first one started.
	let headers = { 'Idempotency-Key': crypto.randomUUID() };
	let open = place => (place.invocationId
		? request('GET', eventsPath(place), { headers: resumeHeaders(place), signal })
		: request('POST', '/chat', { body: question, headers, signal }));
	yield* follow({ sessionId: null, invocationId: null, lastId: null }, open, { signal, onLink });
}

/** Follow a run from a position on through its checkpoints, the same way. */
export async function* resume(place, { signal, onLink }) {
	let open = at => request('GET', eventsPath(at), { headers: resumeHeaders(at), signal });
	yield* follow(place, open, { signal, onLink });
}

/** Decide at a checkpoint and yield the frames of the run from there on, the same way. */
export async function* decide(place, checkpoint, response, options) {
	let body = {
		session_id: place.sessionId,
		invocation_id: place.invocationId,
		interrupt_id: checkpoint.interrupt_id,
		response,
		expected_version: checkpoint.version,
	};
	// The same key each time: a repeated request finds the decision that the first one made.
	let headers = { 'Idempotency-Key': crypto.randomUUID() };
	yield* goOn(place, '/chat/resume', { body, headers }, options);
}

/** Let a failed or cancelled run go on and yield its frames from there on, the same way. */
export async function* retry(place, options) {
	let body = { invocation_id: place.invocationId };
	let headers = { 'Idempotency-Key': crypto.randomUUID() };
	yield* goOn(place, `/sessions/${place.sessionId}/retry`, { body, headers }, options);
}

/** Post what makes a run go on; from then on, follow it. */
async function* goOn(place, path, { body, headers }, { signal, onLink }) {
	let isPosted = false;
	let open = async (at) => {
		if (isPosted) {
			return request('GET', eventsPath(at), { headers: resumeHeaders(at), signal });
		}
		let response = await request('POST', path, { body, headers, signal });
		isPosted = true;
		return response;
	};
	yield* follow(place, open, { signal, onLink });
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

function eventsPath({ sessionId, invocationId }) {
	return `/sessions/${sessionId}/runs/${invocationId}/events`;
}

function resumeHeaders({ lastId }) {
	return lastId && lastId !== '0' ? { 'Last-Event-ID': lastId } : {};
}

function pause(milliseconds, signal) {
	return new Promise((resolve) => {
		let timer = setTimeout(resolve, milliseconds);
		signal.addEventListener('abort', () => {
			clearTimeout(timer);
			resolve();
		}, { once: true });
	});
}

async function send(method, path, options) {
	let response = await request(method, path, options);
	return response.json();
}

async function request(method, path, { body, headers = {}, signal } = {}) {
	let key = sessionStorage.getItem(KEY);
	let all = { ...headers };
	if (key) {
		all['X-API-Key'] = key;
	}
	if (body !== undefined) {
		all['Content-Type'] = 'application/json';
	}
	let response;
	try {
		response = await fetch(path, {
			method,
			headers: all,
			body: body === undefined ? undefined : JSON.stringify(body),
			signal,
			credentials: 'omit',
			cache: 'no-store',
		});
	}
	catch (error) {
		if (error.name === 'AbortError') {
			throw error;
		}
		throw new Refusal(0, 'UNREACHABLE', 'The gateway cannot be reached.');
	}
	if (!response.ok) {
		throw await refusalOf(response);
	}
	return response;
}

async function refusalOf(response) {
	let told = await response.json().catch(() => ({}));
	let text = told.error ?? `The gateway answered with status ${response.status}.`;
	return new Refusal(response.status, told.code ?? 'UNKNOWN', text);
}
