import assert from 'node:assert/strict';
import { test } from 'node:test';

import { watchChanges } from '../../zotero-plugin/content/changes.mjs';

function scope() {
	let timers = new Map();
	let asked = [];
	let stage = { timers, asked, observer: null };
	let objects = { getLibraryAndKeyFromID: (id) => {
		asked.push(id);
		return { libraryID: id < 1000 ? 1 : 2, key: 'K' };
	} };
	stage.env = {
		setTimeout: (run, after) => timers.set(run, after) && run,
		clearTimeout: run => timers.delete(run),
		Zotero: {
			debug: () => {},
			getMainWindow: () => ({ AbortController }),
			Items: objects, Collections: objects, Searches: objects,
			Libraries: { get: id => ({ libraryType: id === 1 ? 'user' : 'group' }) },
			Groups: { getGroupIDFromLibraryID: () => 77 },
			Notifier: {
				registerObserver: (observer) => {
					stage.observer = observer;
					return 'o';
				},
				unregisterObserver: () => {
					stage.observer = null;
				},
			},
		},
	};
	stage.fire = () => Promise.all([...timers.keys()].map((run) => {
		timers.delete(run);
		return run();
	}));
	return stage;
}

test('ten thousand new items are told once, and looked at once', async () => {
	let stage = scope();
	let told = [];
	watchChanges(stage.env, async (path, init) => told.push([path, JSON.parse(init.body)]));
	stage.observer.notify('add', 'item', Array.from({ length: 10_000 }, (_, at) => at + 1));
	stage.observer.notify('modify', 'item', [5]);
	stage.observer.notify('add', 'item-tag', ['7-3']);
	assert.equal(stage.asked.length, 3);
	await stage.fire();
	assert.deepEqual(told, [['/library/changes', { events: [{ kind: 'item', library: 'user', keys: [] }, { kind: 'item-tag', library: 'user', keys: [] }] }]]);
});

test('a group\'s changes are told of the group', async () => {
	let stage = scope();
	let told = [];
	watchChanges(stage.env, async (_path, init) => told.push(...JSON.parse(init.body).events));
	stage.observer.notify('modify', 'item', [2000]);
	await stage.fire();
	assert.deepEqual(told, [{ kind: 'item', library: 'groups/77', keys: [] }]);
});

test('what changes nothing tells nothing', () => {
	let stage = scope();
	watchChanges(stage.env, async () => {});
	stage.observer.notify('refresh', 'item', [1]);
	stage.observer.notify('redraw', 'item', [1]);
	assert.equal(stage.timers.size, 0);
});

test('a service that is away disturbs nobody', async () => {
	let stage = scope();
	watchChanges(stage.env, async () => {
		throw new TypeError('away');
	});
	stage.observer.notify('modify', 'item', [1]);
	await stage.fire();
});

test('stopping takes the observer and the timer away, and ends a request', async () => {
	let stage = scope();
	let signal;
	let stop = watchChanges(stage.env, (_path, init) => new Promise((_resolve, reject) => {
		signal = init.signal;
		signal.addEventListener('abort', () => reject(new Error('aborted')));
	}));
	stage.observer.notify('modify', 'item', [1]);
	let sent = stage.fire();
	stop();
	await sent;
	assert.ok(signal.aborted);
	assert.equal(stage.observer, null);
	assert.equal(stage.timers.size, 0);
});
