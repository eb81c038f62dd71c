import assert from 'node:assert/strict';
import test from 'node:test';

import { inline, parse } from '../../gateway/page/markdown.mjs';

let text = string => ({ type: 'text', text: string });

test('paragraphs are parted by blank lines and keep their line breaks', () => {
	assert.deepEqual(parse('one\ntwo\r\n\r\nthree'), [
		{ type: 'paragraph', children: [text('one\ntwo')] },
		{ type: 'paragraph', children: [text('three')] },
	]);
});

test('emphasis nests, and lone or inner marks stay text', () => {
	assert.deepEqual(inline('a **b *c* d** e'), [
		text('a '),
		{ type: 'strong', children: [text('b '), { type: 'em', children: [text('c')] }, text(' d')] },
		text(' e'),
	]);
	assert.deepEqual(inline('2 * 3 * 4'), [text('2 * 3 * 4')]);
	assert.deepEqual(inline('**open'), [text('**open')]);
	assert.deepEqual(inline('snake_case_name'), [text('snake_case_name')]);
	assert.deepEqual(inline('\\*not\\*'), [text('*not*')]);
	assert.deepEqual(inline('p \\< 0.05 \\& https\\://a.example'), [text('p < 0.05 & https://a.example')]);
});

test('numbers in brackets are citations, alone or in a list', () => {
	assert.deepEqual(inline('True.[1][2, 13]'), [
		text('True.'),
		{ type: 'cite', numbers: [1] },
		{ type: 'cite', numbers: [2, 13] },
	]);
	assert.deepEqual(inline('[sic] [1990]'), [text('[sic] [1990]')]);
});

test('links go to the web, to Zotero and to DOIs only', () => {
	assert.deepEqual(inline('[a](https://example.org/x)'), [
		{ type: 'link', href: 'https://example.org/x', children: [text('a')] },
	]);
	assert.deepEqual(inline('[a](javascript:alert`1`)'), [text('a')]);
	assert.deepEqual(inline('[a](JaVaScRiPt:x)'), [text('a')]);
	assert.deepEqual(inline('[a](data:text/html,x)'), [text('a')]);
	assert.equal(inline('[a](zotero://select/library/items/AAAA1111)')[0].type, 'link');
});

test('markup and images are text', () => {
	assert.deepEqual(inline('<img src=x onerror=alert(1)>'), [text('<img src=x onerror=alert(1)>')]);
	assert.deepEqual(inline('![a](https://example.org/track.png)')[0], text('!'));
	assert.equal(inline('![a](https://example.org/track.png)')[1].type, 'link');
});

test('headings, rules, fences and code', () => {
	assert.deepEqual(parse('## Two ##\n---\n```js\na < b\n```\n`x`'), [
		{ type: 'heading', level: 2, children: [text('Two')] },
		{ type: 'rule' },
		{ type: 'fence', text: 'a < b' },
		{ type: 'paragraph', children: [{ type: 'code', text: 'x' }] },
	]);
	assert.deepEqual(parse('```\nnever closed'), [{ type: 'fence', text: 'never closed' }]);
});

test('a quote holds blocks', () => {
	assert.deepEqual(parse('> “Said.” [1]\n>\n> - so'), [{
		type: 'quote',
		children: [
			{ type: 'paragraph', children: [text('“Said.” '), { type: 'cite', numbers: [1] }] },
			{ type: 'list', ordered: false, start: null, items: [[{ type: 'paragraph', children: [text('so')] }]] },
		],
	}]);
});

test('lists keep their start, their nested lists and their continuation lines', () => {
	let [list] = parse('3. three\n   goes on\n   - inner\n\n4. four\nlazy');
	assert.equal(list.start, 3);
	assert.equal(list.items.length, 2);
	assert.equal(list.items[0][0].children[0].text, 'three\ngoes on');
	assert.equal(list.items[0][1].type, 'list');
	assert.equal(list.items[1][0].children[0].text, 'four\nlazy');
});

test('an ordered list does not swallow an unordered one', () => {
	assert.deepEqual(parse('1. a\n- b').map(block => block.ordered), [true, false]);
});

test('no text is lost, whatever it holds', () => {
	let collect = nodes => nodes.map(node => node.text ?? collect(node.children ?? node.items?.flat() ?? [])).join('');
	for (let odd of ['* ', '>', '#', '1.', '[', '[1', '``', '***', '____', '~~~', '\\', '  \n', '- - -x', '>>>>>>>>>>>>x']) {
		assert.doesNotThrow(() => parse(odd), odd);
	}
	assert.equal(collect(parse('a*b_c[d`e')), 'a*b_c[d`e');
	assert.ok(collect(parse('> '.repeat(50) + 'deep')).endsWith('deep'));
});

test('hostile input takes linear time', () => {
	for (let piece of ['*a ', '**a ', '_a ', '[', '[a](', '`', '> ', '- ', '\\', '*a* ', '[1', '**']) {
		let start = performance.now();
		parse(piece.repeat(20_000));
		assert.ok(performance.now() - start < 1500, `${piece} took too long`);
	}
});
