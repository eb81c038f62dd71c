import assert from 'node:assert/strict';
import test from 'node:test';

import { difference, hasChanged } from '../../gateway/page/plan_diff.mjs';

let shown = parts => parts.map(({ kind, text }) => ({ same: text, removed: `[-${text}-]`, added: `[+${text}+]` })[kind]).join('');

test('the same text has no change', () => {
	assert.ok(!hasChanged(difference('a b\nc', 'a b\nc')));
	assert.ok(!hasChanged(difference('', '')));
});

test('words that went and words that came are told where they stand', () => {
	assert.equal(shown(difference('search for trials of naps', 'search for reviews of naps')), 'search for [-trials -][+reviews +]of naps');
	assert.equal(shown(difference('- one\n- two\n', '- one\n- two\n- three\n')), '- one\n- two\n[+- three\n+]');
	assert.equal(shown(difference('a', '')), '[-a-]');
});

test('what is the same or removed gives the old text, what is the same or added the new one', () => {
	let words = ['nap', 'trial ', 'dose\n', '\n\n', '- ', 'x'];
	let seed = 7;
	let next = (most) => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return seed % most;
	};
	for (let round = 0; round < 200; round++) {
		let [before, after] = [0, 1].map(() => Array.from({ length: next(12) }, () => words[next(words.length)]).join(''));
		let parts = difference(before, after);
		let of = kind => parts.filter(part => part.kind !== kind).map(part => part.text).join('');
		assert.deepEqual([of('added'), of('removed')], [before, after]);
	}
});

test('texts too long to compare word by word are told as a whole', () => {
	let before = Array.from({ length: 3000 }, (_, n) => `a${n}`).join(' ');
	let after = Array.from({ length: 3000 }, (_, n) => `b${n}`).join(' ');
	assert.deepEqual(difference(before, after).map(part => part.kind), ['removed', 'added']);
});
