import assert from 'node:assert/strict';
import test from 'node:test';

import { activeItemsOf, countQuery, lasting, promptWith, readChips, scopeOf, toggled } from '../../gateway/page/scope_choice.mjs';

let collection = { kind: 'collection', library: 'groups/7', key: 'SLEEP001', title: 'Sleep' };
let tag = { kind: 'tag', library: 'user', tag: 'to read', title: 'to read' };
let items = { kind: 'items', library: 'user', keys: ['AAAA1111', 'BBBB2222'], title: '2 items' };
let paper = { kind: 'paper', library: 'user', key: 'CCCC3333', title: 'Naps' };
let text = { kind: 'text', library: 'user', key: 'CCCC3333', text: 'Naps help.\nA lot.', title: 'Naps, p. 3' };

test('chips become the scope of the wire; kinds stand beside each other, chips of one kind add up', () => {
	assert.deepEqual(scopeOf([collection, { ...collection, key: 'SLEEP002' }, tag]), { collections: ['groups/7/SLEEP001', 'groups/7/SLEEP002'], tags: ['to read'] });
	assert.deepEqual(scopeOf([items, paper]), {
		items: [{ library: 'user', key: 'AAAA1111' }, { library: 'user', key: 'BBBB2222' }, { library: 'user', key: 'CCCC3333' }],
	});
	assert.deepEqual(scopeOf([{ kind: 'search', library: 'user', key: 'RECENT01' }, { kind: 'library', library: 'user' }]), { saved_searches: ['user/RECENT01'], libraries: ['user'] });
});

test('no chip and a mere text restrict nothing, and nothing is never an empty list', () => {
	assert.equal(scopeOf([]), undefined);
	assert.equal(scopeOf([text]), undefined);
	assert.equal(scopeOf([{ ...items, keys: [] }]), undefined);
});

test('a selected text goes before the question as a quotation, with the item it is from', () => {
	assert.equal(promptWith([tag, text], 'Why?'), '> Naps help.\n> A lot.\n> — Naps, p. 3\n\nWhy?');
	assert.deepEqual(activeItemsOf([tag, text]), [{ library: 'user', key: 'CCCC3333' }]);
	assert.deepEqual(lasting([tag, text]), [tag]);
});

test('a chip is taken or left by what it means, not by which object it is', () => {
	assert.deepEqual(toggled([collection], { ...tag }), [collection, tag]);
	assert.deepEqual(toggled([collection, tag], { ...tag, count: 3 }), [collection]);
});

test('what was remembered badly restricts nothing', () => {
	for (let remembered of [null, '', '{', '7', '[{"kind":"spell","title":"x"}]', '[null]']) {
		assert.deepEqual(readChips(remembered), []);
	}
	assert.deepEqual(readChips(JSON.stringify([collection])), [collection]);
});

test('how much is in scope is asked by the same names, but not of single items', () => {
	assert.equal(countQuery([collection, tag]), 'collection=groups%2F7%2FSLEEP001&tag=to+read&limit=1');
	assert.equal(countQuery([paper, tag]), null);
	assert.equal(countQuery([]), null);
});
