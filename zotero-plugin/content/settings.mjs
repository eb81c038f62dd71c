// The plugin's preferences, and what the pane remembers between two openings.

const BRANCH = 'zocrates.';
const LONGEST = 40_000;
const NAME = /^[A-Za-z0-9-]{1,60}$/;
const DEFAULTS = {
	address: '',
	key: '',
	shortcut: 'accel+shift+Y',
	defaultScope: 'library',
	isIntroduced: false,
};
const SHARED = new Set(['defaultScope']);

/** Settings over Zotero's preferences. */
export function createSettings({ Zotero, Services }) {
	let { Prefs } = Zotero;
	return {
		/** A setting, or what it is when nobody has set it. */
		get(name) {
			// Default values are set by Zotero from prefs.js, but not before its first use of them.
			return Prefs.get(BRANCH + name) ?? DEFAULTS[name];
		},

		set(name, value) {
			Prefs.set(BRANCH + name, value);
		},

		/** What the pane put away under a name, or null. */
		remember(name) {
			return Prefs.get(memoryName(name)) ?? null;
		},

		/** Put a text away; null forgets it. */
		setRemembered(name, text) {
			if (text === null) {
				Prefs.clear(memoryName(name));
			}
			else if (String(text).length <= LONGEST) {
				Prefs.set(memoryName(name), String(text));
			}
		},

		/** Forget everything that was ever set or put away. */
		clear() {
			for (let name of Services.prefs.getChildList(`extensions.zotero.${BRANCH}`)) {
				Services.prefs.clearUserPref(name);
			}
		},
	};
}

function memoryName(name) {
	if (!NAME.test(name)) {
		throw new Error(`${JSON.stringify(name)} cannot be remembered: letters, digits and hyphens only.`);
	}
	return SHARED.has(name) ? BRANCH + name : `${BRANCH}memory.${name}`;
}
