import assert from 'node:assert/strict';
import test from 'node:test';

import { createParser, readFrames } from '../../gateway/page/event_stream.mjs';

let WIRE = 'id: 1\nevent: stage\ndata: {"a":"é"}\n\n: ping\n\nid: 1.1.0\nevent: answer_delta\ndata: {"text":"x"}\n\n';

test('frames come out the same however the text is split', () => {
	let whole = createParser()(WIRE);
	assert.equal(whole.length, 2);
	for (let cut = 0; cut <= WIRE.length; cut++) {
		let feed = createParser();
		assert.deepEqual([...feed(WIRE.slice(0, cut)), ...feed(WIRE.slice(cut))], whole, `cut at ${cut}`);
	}
});

test('CR, LF and CRLF end lines, also across pieces', () => {
	let expected = createParser()(WIRE);
	for (let end of ['\r\n', '\r']) {
		let wire = WIRE.replaceAll('\n', end) + (end === '\r' ? ' ' : '');
		let feed = createParser();
		assert.deepEqual([...wire].flatMap(character => feed(character)), expected);
	}
});

test('data of several lines is joined; comments and unknown fields are skipped', () => {
	let [frame] = createParser()(':x\nretry: 5\ndata:a\ndata: b\ndata\n\n');
	assert.deepEqual(frame, { id: null, event: 'message', data: 'a\nb\n' });
});

test('a frame that the end cuts off is dropped, and split UTF-8 is put together', async () => {
	let bytes = new TextEncoder().encode(WIRE + 'event: stage\ndata: {"cut":');
	let body = new ReadableStream({
		start(controller) {
			for (let byte of bytes) {
				controller.enqueue(new Uint8Array([byte]));
			}
			controller.close();
		},
	});
	let frames = [];
	for await (let frame of readFrames({ body })) {
		frames.push(frame);
	}
	assert.deepEqual(frames.map(frame => frame.data), [{ a: 'é' }, { text: 'x' }]);
});
