import assert from 'node:assert/strict';
import test from 'node:test';

import { citedBySection, evidenceByPaper } from '../../gateway/page/evidence_counts.mjs';

let passage = (key, id) => ({ passage_id: id, item: { library: 'user', key }, title: `Paper ${key}` });
let step = (...passages) => ({ result: { passages } });
let cite = (key, id) => ({ library: 'user', item_key: key, passage_id: id, title: `Paper ${key}` });

test('a passage found twice or cited twice counts once', () => {
	let papers = evidenceByPaper([step(passage('A', 'a1'), passage('A', 'a2')), step(passage('A', 'a1'), passage('B', 'b1'))], [cite('A', 'a1'), cite('A', 'a1')]);
	assert.deepEqual(papers.map(({ title, found, cited }) => [title, found, cited]), [['Paper A', 2, 1], ['Paper B', 1, 0]]);
});

test('the most cited paper stands first, and one whose steps are not kept is there by its citation', () => {
	let papers = evidenceByPaper([step(passage('A', 'a1'), passage('A', 'a2')), { result: null }], [cite('B', 'b1')]);
	assert.deepEqual(papers.map(paper => [paper.title, paper.found, paper.cited]), [['Paper B', 1, 1], ['Paper A', 2, 0]]);
	assert.deepEqual(evidenceByPaper([], []), []);
});

test('cited passages are counted by section', () => {
	let sections = new Map([['a1', 'Results'], ['a2', 'Results'], ['a3', 'Methods']]);
	assert.deepEqual(citedBySection({ passages: ['a3', 'a1', 'a2', 'a4'] }, sections), [{ name: 'Results', cited: 2 }, { name: 'Methods', cited: 1 }, { name: '', cited: 1 }]);
});
