import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isShortcut, parseShortcut, shortcutOf, shownShortcut } from '../../zotero-plugin/content/shortcut.mjs';

let pressed = (key, held = {}) => ({ key, code: `Key${key.toUpperCase()}`, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...held });
let mac = { isMac: true };
let other = { isMac: false };

test('accel is Cmd on a Mac and Ctrl elsewhere', () => {
	assert.ok(isShortcut(pressed('Y', { ctrlKey: true, shiftKey: true }), 'accel+shift+Y', other));
	assert.ok(!isShortcut(pressed('Y', { ctrlKey: true, shiftKey: true }), 'accel+shift+Y', mac));
	assert.ok(isShortcut(pressed('Y', { metaKey: true, shiftKey: true }), 'accel+shift+Y', mac));
});

test('a modifier more or less is another shortcut', () => {
	assert.ok(!isShortcut(pressed('Y', { ctrlKey: true }), 'accel+shift+Y', other));
	assert.ok(!isShortcut(pressed('Y', { ctrlKey: true, shiftKey: true, altKey: true }), 'accel+shift+Y', other));
});

test('a key that is held or that composes a letter is none', () => {
	assert.ok(!isShortcut(pressed('Y', { ctrlKey: true, shiftKey: true, repeat: true }), 'accel+shift+Y', other));
	assert.ok(!isShortcut(pressed('Y', { ctrlKey: true, shiftKey: true, isComposing: true }), 'accel+shift+Y', other));
});

test('letters alone, or with shift, stay letters', () => {
	assert.equal(parseShortcut('Y'), null);
	assert.equal(parseShortcut('shift+Y'), null);
	assert.equal(parseShortcut('accel+shift'), null);
	assert.equal(parseShortcut('hyper+Y'), null);
});

test('what was pressed is read back as the same shortcut', () => {
	let event = pressed('¥', { code: 'KeyY', altKey: true, metaKey: true });
	assert.equal(shortcutOf(event, mac), 'accel+alt+Y');
	assert.ok(isShortcut(event, 'accel+alt+Y', mac));
	assert.equal(shortcutOf(pressed('a'), other), null);
});

test('a shortcut is shown as the system writes it', () => {
	assert.equal(shownShortcut('accel+shift+Y', other), 'Ctrl+Shift+Y');
	assert.equal(shownShortcut('accel+shift+Y', mac), '⇧⌘Y');
});
