import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noteHtml } from '../../zotero-plugin/content/note.mjs';

let citation = {
	number: 1, library: 'user', item_key: 'ITEM0001', attachment_key: 'FILE0001', title: 'Naps', creators: ['Doe, Ann', 'Roe, Bo'],
	year: 2020, page_label: 'iv', page_index: 3, open_uri: 'zotero://open-pdf/library/items/FILE0001?page=4', quote: 'Naps help.',
};
let cited = new Map([[1, { uri: 'http://zotero.org/users/1/items/ITEM0001', itemData: { title: 'It\'s "naps"' } }]]);
let html = (markdown, others = {}) => noteHtml({ title: 'Do naps help?', markdown, citations: [citation], cited, ...others });

test('a citation is Zotero\'s own, with its page, and a link that jumps', () => {
	let note = html('They help [1].');
	let data = JSON.parse(decodeURIComponent(/data-citation="([^"]+)"/.exec(note)[1]));
	assert.deepEqual(data.citationItems, [{ uris: ['http://zotero.org/users/1/items/ITEM0001'], label: 'page', locator: 'iv' }]);
	assert.match(note, /<span class="citation-item">Doe and Roe, 2020, p\. iv<\/span>/);
	assert.match(note, /<a href="zotero:\/\/open-pdf\/library\/items\/FILE0001\?page=4">p\. iv<\/a>/);
});

test('the items cited stand once in the note\'s metadata', () => {
	let note = html('One [1]. Two [1].');
	let stored = /^<div data-citation-items="([^"]+)" data-schema-version="9">/.exec(note)[1];
	assert.doesNotMatch(stored, /'/);
	assert.deepEqual(JSON.parse(decodeURIComponent(stored)), [{ uris: ['http://zotero.org/users/1/items/ITEM0001'], itemData: { title: 'It\'s "naps"' } }]);
});

test('text never becomes markup', () => {
	let note = html('<img src=x onerror=alert(1)> **<b>** `<i>` [link](https://a.example/"><script>)', { title: '<h1>' });
	assert.doesNotMatch(note, /<img|<b>|<i>|<script/);
	assert.match(note, /<h1>&#60;h1&#62;<\/h1>/);
	assert.match(note, /<strong>&#60;b&#62;<\/strong>/);
});

test('an item that is not in this library is named in plain text', () => {
	let note = html('They help [1].', { cited: new Map() });
	assert.doesNotMatch(note, /data-citation="/);
	assert.match(note, /\(Doe and Roe, 2020, p\. iv\)/);
});

test('a number without a citation stays as it is', () => {
	assert.match(html('They help [7].'), /They help \[7\]\./);
});

test('lists, quotes, headings and code keep their form', () => {
	let note = html('# Results\n\n- one\n- two\n\n> said\n\n```\nx < y\n```\n\n3. three');
	assert.match(note, /<h2>Results<\/h2><ul><li><p>one<\/p><\/li><li><p>two<\/p><\/li><\/ul><blockquote><p>said<\/p><\/blockquote><pre>x &#60; y<\/pre><ol start="3">/);
});
