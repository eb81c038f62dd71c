import assert from 'node:assert/strict';
import test from 'node:test';

import { beginning, changing, deleted, emptiness, left, newRows, renamed, withPage } from '../../gateway/page/session_rows.mjs';

let session = (id, title = id) => ({ id, title });
let page = (...sessions) => ({ sessions, next_cursor: null });
let two = withPage(newRows(), page(session('a'), session('b')));
let titles = rows => rows.sessions.map(one => one.title);

test('a later page is added, a first one replaces', () => {
	assert.deepEqual(titles(withPage(two, page(session('c')), { isMore: true })), ['a', 'b', 'c']);
	assert.deepEqual(titles(withPage(two, page(session('c')))), ['c']);
});

test('renaming begins with the title that there is and keeps the place', () => {
	let rows = beginning(two, 'a', 'rename');
	assert.deepEqual(rows.row, { id: 'a', doing: 'rename', title: 'a', isBusy: false, refusal: null });
	rows = renamed(changing(rows, { title: 'x' }), { id: 'a', title: 'x' });
	assert.deepEqual([titles(rows), rows.row], [['x', 'b'], null]);
});

test('what is being typed survives a list that is read anew', () => {
	let rows = changing(beginning(two, 'b', 'rename'), { title: 'half' });
	assert.equal(withPage(rows, page(session('c'), session('b'))).row.title, 'half');
});

test('what is done to a session that is gone is left', () => {
	assert.equal(withPage(beginning(two, 'b', 'delete'), page(session('a'))).row, null);
	assert.equal(changing(left(two), { refusal: 'late' }).row, null);
});

test('a deleted session is out of the list and not the open one any more', () => {
	let rows = deleted({ ...two, selected: 'a' }, 'a');
	assert.deepEqual([titles(rows), rows.selected], [['b'], null]);
	assert.equal(deleted({ ...two, selected: 'a' }, 'b').selected, 'a');
});

test('an empty list says why', () => {
	assert.equal(emptiness(two), null);
	assert.equal(emptiness(newRows()), 'no-sessions');
	assert.equal(emptiness({ ...newRows(), query: 'naps' }), 'no-such-session');
});
