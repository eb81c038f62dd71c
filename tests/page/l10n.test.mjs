import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { chooseLanguage, createL10n, parseMessages } from '../../gateway/page/l10n.mjs';
import { english, german, wordsOf } from './words.mjs';

const PAGE = new URL('../../gateway/page/', import.meta.url);

/** The names of the variables of a pattern, however deep. */
function variables(pattern) {
	return pattern.flatMap(part => (typeof part === 'string' ? [] : [part.name, ...(part.variants ?? []).flatMap(([, inner]) => variables(inner))]));
}

function namesOf(language) {
	return new Map([...parseMessages(wordsOf(language))].map(([id, pattern]) => [id, [...new Set(variables(pattern))].sort()]));
}

test('text, variables, literals and selections are said', () => {
	let { say } = createL10n('en-US', ['# a comment\nplain = Words\nset = { $n ->\n    [0] none\n    [one] one of { $of }\n   *[other] { $n } of { $of }\n  } left\nsigns = {"{"}x{ "}" }\nlong = first\n    second\n']);
	assert.equal(say('plain'), 'Words');
	assert.deepEqual([0, 1, 2000].map(n => say('set', { n, of: 'them' })), ['none left', 'one of them left', '2,000 of them left']);
	assert.equal(say('signs'), '{x}');
	assert.equal(say('long'), 'first\nsecond');
});

test('a selection by text falls back to its default', () => {
	let { say } = createL10n('en-US', ['kind = { $kind ->\n    [a-b] yes\n   *[other] { $kind }?\n  }']);
	assert.deepEqual(['a-b', 'c'].map(kind => say('kind', { kind })), ['yes', 'c?']);
});

test('values are text: what stands in them is not read as a message', () => {
	let { say } = createL10n('en-US', ['told = “{ $text }”']);
	assert.equal(say('told', { text: '{ $other } <b>' }), '“{ $other } <b>”');
});

test('a missing message, value or default is an error of ours', () => {
	let { say } = createL10n('en-US', ['told = { $text }']);
	assert.throws(() => say('unknown'), ReferenceError);
	assert.throws(() => say('told'), ReferenceError);
	assert.throws(() => parseMessages('a = { $n ->\n    [one] x\n  }'), SyntaxError);
	assert.throws(() => parseMessages('no message'), SyntaxError);
});

test('what one language lacks is said in the next', () => {
	assert.equal(createL10n('de', ['a = A', 'a = B\nb = B']).say('b'), 'B');
});

test('the language is the first wanted one that there are words in', () => {
	let chosen = (...wanted) => chooseLanguage(wanted, ['en-US', 'de']);
	assert.deepEqual([chosen('de-AT', 'en'), chosen('fr', 'DE'), chosen('fr'), chosen('en-GB')], ['de', 'de', 'en-US', 'en-US']);
});

test('both languages have the same messages with the same variables', () => {
	assert.deepEqual(namesOf('de'), namesOf('en-US'));
});

test('every message that a module names is there, and every one that is there is named', () => {
	let modules = readdirSync(PAGE).filter(name => name.endsWith('.mjs')).map(name => readFileSync(new URL(name, PAGE), 'utf8')).join('\n');
	let ids = new Set(parseMessages(wordsOf('en-US')).keys());
	let said = [...modules.matchAll(/\bsay\(([^)]*?)(?:,|\))/g)].flatMap(([, first]) => [...first.matchAll(/'([a-z][a-z0-9-]*)'/g)].map(([, id]) => id));
	assert.deepEqual(said.filter(id => !ids.has(id)), []);
	let isNamed = id => modules.includes(`'${id}'`) || [...modules.matchAll(/`([a-z-]*)\$\{[^}]+\}([a-z-]*)`/g)].some(([, before, after]) => before + after !== '' && id.startsWith(before) && id.endsWith(after));
	assert.deepEqual([...ids].filter(id => !isNamed(id)), []);
});

test('numbers are written as people of the language write them', () => {
	assert.equal(english.say('of', { value: 1200, limit: 7500 }), '1,200 of 7,500');
	assert.equal(german.say('of', { value: 1200, limit: 7500 }), '1.200 von 7.500');
});
