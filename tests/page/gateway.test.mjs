import assert from 'node:assert/strict';
import test from 'node:test';

import { decide, resume, retry } from '../../gateway/page/gateway.mjs';

const PLACE = { sessionId: 's', invocationId: 'i', lastId: null };

let frame = number => `id: ${number}\nevent: stage\ndata: {"session_id":"s","invocation_id":"i","stage":"search"}\n\n`;
let done = 'id: 9\nevent: done\ndata: {"session_id":"s","invocation_id":"i","state":"COMPLETED"}\n\n';

/** A gateway whose replies are given in turn: text that ends early, or an error. Tells what was requested. */
function gateway(...replies) {
	let requests = [];
	globalThis.sessionStorage = { getItem: () => 'key' };
	globalThis.setTimeout = (call) => {
		queueMicrotask(call);
		return 0;
	};
	globalThis.fetch = async (path, { method, headers }) => {
		requests.push({ method, path, after: headers['Last-Event-ID'], key: headers['Idempotency-Key'] });
		let reply = replies.shift();
		if (reply instanceof Error) {
			throw reply;
		}
		return new Response(reply);
	};
	return requests;
}

async function ids(frames) {
	let seen = [];
	for await (let one of frames) {
		seen.push(one.id);
	}
	return seen;
}

let options = () => ({ signal: new AbortController().signal, onLink() {} });

test('each reconnect goes on where the last one broke off', async () => {
	let requests = gateway(frame(1) + frame(2), new TypeError('lost'), frame(3), frame(4) + done);
	assert.deepEqual(await ids(resume(PLACE, options())), ['1', '2', '3', '4', '9']);
	assert.deepEqual(requests.map(one => one.after), [undefined, '2', '2', '3']);
});

test('a decision or retry whose reply was lost is sent again under its key, and then followed', async () => {
	let checkpoint = { interrupt_id: 'interrupt_ext_1', version: 1 };
	for (let going of [options => decide(PLACE, checkpoint, { action: 'synthesize' }, options), options => retry(PLACE, options)]) {
		let requests = gateway(new TypeError('lost'), frame(5), frame(6) + done);
		assert.deepEqual(await ids(going(options())), ['5', '6', '9']);
		assert.deepEqual(requests.map(one => one.method), ['POST', 'POST', 'GET']);
		assert.ok(requests[0].key);
		assert.equal(requests[1].key, requests[0].key);
		assert.equal(requests[2].after, '5');
	}
});
