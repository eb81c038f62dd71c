import assert from 'node:assert/strict';
import test from 'node:test';

import { countChosen, optionsOf, readChoices } from '../../gateway/page/choices.mjs';

let usual = readChoices(null);

test('what was never chosen is left to the service', () => {
	assert.equal(optionsOf(usual), undefined);
	assert.equal(countChosen(usual), 0);
});

test('what was chosen goes as options of the wire', () => {
	let chosen = { strategy: 'deep', reviewsPlan: true, asksBeforeExtending: false };
	assert.deepEqual(optionsOf(chosen), { strategy: 'deep', review_plan: true, hitl_enabled: false });
	assert.equal(countChosen(chosen), 3);
	assert.deepEqual(readChoices(JSON.stringify(chosen)), chosen);
});

test('what was remembered badly is as if it was not', () => {
	for (let remembered of ['', '{', 'null', '7', '{"strategy": "magic", "reviewsPlan": "yes"}']) {
		assert.deepEqual(readChoices(remembered), usual);
	}
});
