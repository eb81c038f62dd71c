import assert from 'node:assert/strict';
import test from 'node:test';

import { findQuote } from '../../gateway/page/quote.mjs';

function found(text, quote) {
	let range = findQuote(text, quote);
	return range && text.slice(...range);
}

test('a quote is found word for word', () => {
	assert.equal(found('It is so. It is not.', 'It is not.'), 'It is not.');
});

test('white space, quotation marks, dashes and case do not matter', () => {
	assert.equal(found('He said “one –\n  two”.', 'he said "one - two"'), 'He said “one –\n  two”');
});

test('a word split at a line end is one word', () => {
	assert.equal(found('the hippo-\ncampus grows', 'hippocampus grows'), 'hippo-\ncampus grows');
	assert.equal(found('soft\u00adened', 'softened'), 'soft\u00adened');
});

test('what is not there is not found', () => {
	assert.equal(found('abc', 'abd'), null);
	assert.equal(found('abc', '  '), null);
});

test('letters that grow in lower case keep the range right', () => {
	assert.equal(found('İstanbul is large', 'is LARGE'), 'is large');
});
