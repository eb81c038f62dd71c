import assert from 'node:assert/strict';
import test from 'node:test';

import { added, bars } from '../../gateway/page/budget_card.mjs';
import { decisionText } from '../../gateway/page/checkpoint.mjs';
import { english, german } from './words.mjs';

let payload = {
	extension_number: 1, max_extensions: 2, gaps: ['Dose'],
	used: { calls: 10, words: 6200, passages_found: 31, documents: 7 },
	limits: { calls: 10, words: 7500, passages: 15 },
	next_limits: { calls: 15, words: 11250, passages: 20 },
};

test('an extension names what it adds, and only that', () => {
	assert.equal(added(english, payload), '+5 calls, +3,750 words, +5 passages');
	assert.equal(added(english, { ...payload, next_limits: { ...payload.next_limits, passages: 15 } }), '+5 calls, +3,750 words');
	assert.equal(added(english, { ...payload, next_limits: { calls: 11, words: 7501, passages: 16 } }), '+1 call, +1 word, +1 passage');
	assert.equal(added(english, { ...payload, limits: undefined }), '');
});

test('the bars show what is used, the limit, and the next one', () => {
	assert.deepEqual(bars(payload).map(bar => [bar.used, bar.limit, bar.next]), [[10, 10, 15], [6200, 7500, 11250], [15, 15, 20]]);
	assert.deepEqual(bars({ ...payload, used: undefined }), []);
});

test('a decision is told with who took it', () => {
	let told = (action, answered_by, isElsewhere) => decisionText(english, { payload, answered: { action, answered_by, isElsewhere } });
	assert.equal(told('extend_budget', 'ada', false), 'Extension 1 of 2 granted by ada');
	assert.equal(told('extend_budget', 'bob', true), 'Extension 1 of 2 granted by bob, elsewhere');
	assert.equal(told('synthesize', 'expiry', undefined), 'Extension 1 of 2 not granted: answered with the existing evidence, as the time to decide was over');
});

test('a decision on a plan and one of the strategy are told as such', () => {
	let told = (action, answered_by, isElsewhere, kind = 'plan_review') => decisionText(english, { kind, payload: { round: 1 }, answered: { action, answered_by, isElsewhere } });
	assert.equal(told('approve', 'ada', false), 'Plan approved by ada');
	assert.equal(told('reject', 'bob', true), 'Rejected by bob, elsewhere');
	assert.equal(decisionText(german, { answered: { action: 'extend_budget', answered_by: 'strategy', isElsewhere: true } }), 'Erweiterung gewährt, wie es die Strategie von selbst tut');
});
