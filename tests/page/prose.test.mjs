import assert from 'node:assert/strict';
import test from 'node:test';

import { createGrowingProse, prose } from '../../gateway/page/prose.mjs';
import { installDocument } from './dom.mjs';

installDocument();

const TEXT = [
	'# Naps', '', 'They help [1], *mostly*', 'in trials.', '', '- one', '- two', '  deeper', '', '- three', '', 'Then:', '', '1. first', '2. second', '',
	'> quoted', '> words', '', '```', 'code', '', '# no heading', '```', '', '## Doses', '', '---', 'The end. 𝒳',
].join('\n');

let plain = number => `[${number}]`;
let whole = text => prose(text, plain).join('');
let drawn = growing => growing.node.childNodes.join('');

test('a text that grew by pieces looks like the text at once, however it was cut', () => {
	for (let size of [1, 2, 3, 7, 20]) {
		let growing = createGrowingProse(plain);
		for (let end = size; end < TEXT.length + size; end += size) {
			growing.update(TEXT.slice(0, end));
		}
		assert.equal(drawn(growing), whole(TEXT), `pieces of ${size}`);
	}
});

test('line ends of other systems, cut in the middle, are one line end', () => {
	let growing = createGrowingProse(plain);
	let text = 'a\r\n\r\nb\r\n\r\nc\r\n\r\nd';
	for (let end = 1; end <= text.length; end++) {
		growing.update(text.slice(0, end));
	}
	assert.equal(drawn(growing), whole(text));
});

test('another text begins anew', () => {
	let growing = createGrowingProse(plain);
	growing.update('a\n\nb\n\nc\n\nd');
	growing.update('x');
	assert.equal(drawn(growing), '<p>x</p>');
	growing.clear();
	assert.equal(drawn(growing), '');
});

test('blocks that no piece can change any more are made once', () => {
	let growing = createGrowingProse(plain);
	growing.update('a\n\nb\n\nc\n\nd');
	let [first, second] = growing.node.childNodes;
	growing.update('a\n\nb\n\nc\n\nd and more\n\ne');
	assert.equal(growing.node.childNodes[0], first);
	assert.equal(growing.node.childNodes[1], second);
});

test('links lead where a link may lead, and a DOI to its resolver', () => {
	assert.equal(whole('[a](doi:10.1/x)'), '<p><a href=https://doi.org/10.1/x rel=noopener noreferrer target=_blank>a</a></p>');
	assert.equal(whole('[a](javascript:alert(1))'), '<p>[a](javascript:alert(1))</p>');
	assert.equal(whole('[a](data:x)'), '<p>a</p>');
});
