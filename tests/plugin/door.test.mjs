import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createDoor } from '../../zotero-plugin/content/door.mjs';

let found = { base: 'http://127.0.0.1:8080', key: 'k' };

function door(address = found) {
	let sent = [];
	let request = createDoor({ fetch: async (url, init) => sent.push({ url, init }), address: async () => address });
	return { request, sent };
}

test('a path goes to the gateway with the key, and no redirection is followed', async () => {
	let { request, sent } = door();
	await request('/chat', { method: 'POST', headers: { 'Idempotency-Key': 'i' }, body: '{}' });
	let [{ url, init }] = sent;
	assert.equal(url, 'http://127.0.0.1:8080/chat');
	assert.deepEqual(init.headers, { 'Idempotency-Key': 'i', 'X-API-Key': 'k' });
	assert.equal(init.redirect, 'error');
	assert.equal(init.credentials, 'omit');
});

for (let path of ['https://elsewhere.example/', '//elsewhere.example/chat', '/\\elsewhere.example/', 'chat', '@elsewhere.example']) {
	test(`${path} leads nowhere`, async () => {
		let { request, sent } = door();
		await assert.rejects(request(path), /no path of the gateway/);
		assert.deepEqual(sent, []);
	});
}

test('no running service is as a server that does not answer', async () => {
	await assert.rejects(door(null).request('/chat'), TypeError);
});
