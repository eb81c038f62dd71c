import assert from 'node:assert/strict';
import test from 'node:test';

import { bibtexOf, citedItems, cslOf, markdownOf } from '../../gateway/page/bibliography.mjs';

let naps = {
	number: 1, library: 'user', item_key: 'NAPS2020', title: 'Naps & {words}', creators: ['Per Møller', 'Sleep_Group'], year: '2020',
	page_label: '4', quote: 'They\nhelp.', support: 'verified', open_uri: 'zotero://open-pdf/library/items/PDF?page=4', select_uri: 'zotero://select/library/items/NAPS2020',
};
let again = { ...naps, number: 2, page_label: '' };
let other = { ...naps, number: 3, item_key: 'OTHR2020', library: 'groups/7', title: 'Doses', creators: ['Eva Möller'], year: '', open_uri: '' };

test('each cited item stands once, in the order of its first citation', () => {
	assert.deepEqual(citedItems([naps, again, other]).map(one => one.item_key), ['NAPS2020', 'OTHR2020']);
	// A key names an item only within its library.
	assert.equal(citedItems([naps, { ...naps, library: 'groups/7' }]).length, 2);
});

test('BibTeX has a key of plain letters for each item and escapes what TeX reads', () => {
	let [first, second] = bibtexOf([naps, again, other]).split('\n\n');
	assert.equal(first, '@misc{mller2020,\n  title = {{Naps \\& \\{words\\}}},\n  author = {Møller, Per and {Sleep\\_Group}},\n  year = {2020},\n  note = {Zotero user/NAPS2020}\n}');
	assert.match(second, /^@misc\{moller,\n/);
	assert.doesNotMatch(second, /year/);
});

test('two items of one author and year have keys of their own', () => {
	let keys = [...bibtexOf([naps, { ...naps, item_key: 'TWIN2020' }]).matchAll(/@misc\{([^,]+)/g)].map(([, key]) => key);
	assert.deepEqual(keys, ['mller2020', 'mller2020-twin2020']);
});

test('CSL JSON tells names apart from groups and leaves out an unknown year', () => {
	let [first, second] = JSON.parse(cslOf([naps, other]));
	assert.deepEqual(first.author, [{ family: 'Møller', given: 'Per' }, { literal: 'Sleep_Group' }]);
	assert.deepEqual(first.issued, { 'date-parts': [[2020]] });
	assert.equal('issued' in second, false);
});

test('Markdown has the question, the answer and its numbered sources with their links', () => {
	let words = { sources: 'Sources', page: 'p.', noPages: 'no pages', support: support => support.toUpperCase() };
	let text = markdownOf('Do naps\nhelp?', { markdown: 'Yes [1].\n', citations: [naps, again] }, words);
	assert.equal(text, [
		'# Do naps help?', '', 'Yes [1].', '', '## Sources', '',
		'1. [Naps & {words}](zotero://open-pdf/library/items/PDF?page=4) · Per Møller, Sleep_Group, 2020 · p. 4 · VERIFIED', '   > They help.',
		'2. [Naps & {words}](zotero://open-pdf/library/items/PDF?page=4) · Per Møller, Sleep_Group, 2020 · no pages · VERIFIED', '   > They help.', '',
	].join('\n'));
	assert.equal(markdownOf('Hello', { markdown: 'Hi.', citations: [] }, words), '# Hello\n\nHi.\n');
});
