import assert from 'node:assert/strict';
import test from 'node:test';

import { createGateway } from '../../gateway/page/gateway.mjs';

const PLACE = { sessionId: 's', invocationId: 'i', lastId: null };

let frame = number => `id: ${number}\nevent: stage\ndata: {"session_id":"s","invocation_id":"i","stage":"search"}\n\n`;
let done = 'id: 9\nevent: done\ndata: {"session_id":"s","invocation_id":"i","state":"COMPLETED"}\n\n';

/** A host whose replies are given in turn: text that ends early, a response, or an error. Tells what was requested. */
function hostOf(...replies) {
	let requests = [];
	globalThis.setTimeout = (call) => {
		queueMicrotask(call);
		return 0;
	};
	return {
		requests,
		async fetch(path, { method, headers }) {
			requests.push({ method, path, after: headers['Last-Event-ID'], key: headers['Idempotency-Key'] });
			let reply = replies.shift();
			if (reply instanceof Error) {
				throw reply;
			}
			return reply instanceof Response ? reply : new Response(reply);
		},
	};
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
	let host = hostOf(frame(1) + frame(2), new TypeError('lost'), frame(3), frame(4) + done);
	assert.deepEqual(await ids(createGateway(host).resume(PLACE, options())), ['1', '2', '3', '4', '9']);
	assert.deepEqual(host.requests.map(one => one.after), [undefined, '2', '2', '3']);
});

test('a decision or retry whose reply was lost is sent again under its key, and then followed', async () => {
	let checkpoint = { interrupt_id: 'interrupt_ext_1', version: 1 };
	for (let going of [gateway => gateway.decide(PLACE, checkpoint, { action: 'synthesize' }, options()), gateway => gateway.retry(PLACE, options())]) {
		let host = hostOf(new TypeError('lost'), frame(5), frame(6) + done);
		assert.deepEqual(await ids(going(createGateway(host))), ['5', '6', '9']);
		assert.deepEqual(host.requests.map(one => one.method), ['POST', 'POST', 'GET']);
		assert.ok(host.requests[0].key);
		assert.equal(host.requests[1].key, host.requests[0].key);
		assert.equal(host.requests[2].after, '5');
	}
});

test('a host that finds another address or key is asked once more, one that finds none is not', async () => {
	for (let lost of [() => new TypeError('lost'), () => new Response('{}', { status: 401 })]) {
		let host = { ...hostOf(lost(), '{"a": 1}'), renew: async () => true };
		assert.deepEqual(await createGateway(host).read('/library'), { a: 1 });
		let poor = { ...hostOf(lost(), '{"a": 1}'), renew: async () => false };
		await assert.rejects(createGateway(poor).read('/library'));
		assert.equal(poor.requests.length, 1);
	}
});

test('an error carries its code, its status and whether it passes', async () => {
	let told = new Response('{"error": "Too slow.", "code": "PEER_TIMEOUT"}', { status: 504 });
	await assert.rejects(createGateway(hostOf(told)).read('/library'), { code: 'PEER_TIMEOUT', status: 504, message: 'Too slow.', isPassing: true });
	await assert.rejects(createGateway(hostOf(new TypeError('lost'))).read('/library'), { code: 'UNREACHABLE', isPassing: true });
	let proxy = new Response('<html>', { status: 502 });
	await assert.rejects(createGateway(hostOf(proxy)).read('/library'), { code: 'UNKNOWN', isPassing: false });
});
