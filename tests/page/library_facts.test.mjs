import assert from 'node:assert/strict';
import test from 'node:test';

import { facts, lineText, progressText, skipsByReason } from '../../gateway/page/library_facts.mjs';
import { english } from './words.mjs';

let state = {
	sources: [{ kind: 'sqlite', location: '/home/ada/Zotero', demo: false }],
	counts: { items: 1200, documents: 1190, read_in_full: 1000, read_in_part: 9, abstract_only: 44, unreadable: 4 },
	vectors: { done: 5, total: 10 },
	synced_at: null, encoder: 'minilm', last_error: null,
};

test('one line tells how much there is, and what is still to come', () => {
	assert.deepEqual(lineText(english, state), { name: '1,190 documents', more: ' · vectors 5 of 10' });
	assert.deepEqual(lineText(english, { ...state, sources: [{ kind: 'sqlite', demo: true }], vectors: { done: 10, total: 10 } }), { name: 'Demo library · 1,190 documents', more: '' });
	assert.deepEqual(lineText(english, { ...state, sources: [] }), { name: 'No library', more: '' });
});

test('facts without a value are left out', () => {
	let told = new Map(facts(english, state));
	assert.equal(new Map(facts(english, { ...state, models: { ranking: null, support: null, search_agent: 'offline', writer: 'smol' } })).get('Written by'), 'smol');
	assert.deepEqual([told.get('Read in full'), told.get('Unreadable'), told.get('Last read'), told.has('Last error')], ['1,000', '4', 'not yet', false]);
});

test('progress names the phase, how far it is, and a failure its reason', () => {
	assert.equal(progressText(english, { phase: 'text', done: 3, total: 10, current: 'Naps' }), 'Reading texts 3 of 10: Naps');
	assert.equal(progressText(english, { phase: 'snapshot', done: 0, total: 0, current: '' }), 'Reading the library');
	assert.equal(progressText(english, { phase: 'failed', error: 'Locked.' }), 'Locked.');
});

test('what was not read is grouped by reason, the most frequent first, with what to do', () => {
	let skip = (reason, title) => ({ reason, title });
	let [missing, odd] = skipsByReason(english, [skip('new_reason', 'a'), skip('file_missing', 'b'), skip('file_missing', 'c')]);
	assert.deepEqual([missing.name, missing.skips.length], ['File missing', 2]);
	assert.match(missing.remedy, /try again/);
	// A newer service may have reasons that there are no words for yet.
	assert.deepEqual([odd.name, odd.remedy], ['new_reason', null]);
});
