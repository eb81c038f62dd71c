// Keyboard shortcuts as text, such as accel+shift+Y; accel is Cmd on a Mac and Ctrl elsewhere.

const MODIFIERS = ['accel', 'ctrl', 'meta', 'alt', 'shift'];

/** The modifiers and key of a shortcut, or null when it names no key with accel, ctrl, meta or alt. */
export function parseShortcut(text) {
	let parts = text.split('+').map(part => part.trim()).filter(Boolean);
	let key = parts.pop();
	let modifiers = new Set(parts.map(part => part.toLowerCase()));
	let isKnown = [...modifiers].every(name => MODIFIERS.includes(name));
	// Shift alone would take a letter away from whoever types.
	let isFree = ['accel', 'ctrl', 'meta', 'alt'].some(name => modifiers.has(name));
	if (!key || MODIFIERS.includes(key.toLowerCase()) || !isKnown || !isFree) {
		return null;
	}
	return { key: key.toUpperCase(), modifiers };
}

/** Whether a keydown event is the shortcut. */
export function isShortcut(event, text, { isMac }) {
	let wanted = parseShortcut(text);
	if (!wanted || event.repeat || event.isComposing) {
		return false;
	}
	let has = name => wanted.modifiers.has(name);
	return keyOf(event) === wanted.key
		&& event.shiftKey === has('shift')
		&& event.altKey === has('alt')
		&& event.ctrlKey === (has('ctrl') || has('accel') && !isMac)
		&& event.metaKey === (has('meta') || has('accel') && isMac);
}

/** The shortcut that a keydown event is, as text, or null when it is none. */
export function shortcutOf(event, { isMac }) {
	let names = [
		(isMac ? event.metaKey : event.ctrlKey) && 'accel',
		isMac && event.ctrlKey && 'ctrl',
		!isMac && event.metaKey && 'meta',
		event.altKey && 'alt',
		event.shiftKey && 'shift',
	].filter(Boolean);
	let text = [...names, keyOf(event)].join('+');
	return parseShortcut(text) && text;
}

/** A shortcut as it is written on the system. */
export function shownShortcut(text, { isMac }) {
	let signs = isMac
		? { ctrl: '⌃', alt: '⌥', shift: '⇧', meta: '⌘', accel: '⌘' }
		: { accel: 'Ctrl+', ctrl: 'Ctrl+', meta: 'Super+', alt: 'Alt+', shift: 'Shift+' };
	let shortcut = parseShortcut(text);
	let held = Object.keys(signs).filter(name => shortcut?.modifiers.has(name));
	return shortcut ? held.map(name => signs[name]).join('') + shortcut.key : text;
}

function keyOf({ key, code }) {
	// By the place of the key where modifiers change the letter it makes.
	return /^Key[A-Z]$/.test(code ?? '') && !/^[a-z]$/i.test(key) ? code.slice(3) : key.toUpperCase();
}
