// The words of the interface: messages of Fluent files, in the part of its syntax that ours use.

const START = /^([a-zA-Z][\w-]*) *= *(.*)$/;
const VARIANT_END = /\s*\n\s*(?:\*?\[|\})|\s*\}/y;
const VARIANT_KEY = /\s*(\*?)\[\s*([\w-]+)\s*\] */y;
const LITERAL = /\{\s*"([^"\\\n]*)"\s*\}/y;
const VARIABLE = /\{\s*\$([a-zA-Z][\w-]*)\s*(->)?/y;
const CLOSE = /\s*\}/y;

/** The patterns of a file by id; raises SyntaxError on what this cannot read. */
export function parseMessages(source) {
	let texts = new Map();
	let id = null;
	for (let line of source.split(/\r\n|\n/)) {
		let start = START.exec(line);
		if (start) {
			id = start[1];
			texts.set(id, start[2]);
		}
		else if (id !== null && /^\s+\S/.test(line)) {
			texts.set(id, `${texts.get(id)}\n${line.trim()}`);
		}
		else if (line.trim() !== '' && !line.startsWith('#')) {
			throw new SyntaxError(`This line is no message: ${line}`);
		}
	}
	return new Map([...texts].map(([name, text]) => [name, parsePattern(text.trim())]));
}

/** Text pieces, variables and selections of a message. */
function parsePattern(text) {
	let at = 0;
	let pattern = readPattern(false);
	return pattern;

	function matched(expression) {
		expression.lastIndex = at;
		let found = expression.exec(text);
		return found;
	}

	function take(expression) {
		let found = matched(expression);
		if (!found) {
			throw new SyntaxError(`Not understood from character ${at} on: ${text}`);
		}
		at = expression.lastIndex;
		return found;
	}

	function readPattern(isVariant) {
		let parts = [];
		let plain = '';
		while (at < text.length && !(isVariant && matched(VARIANT_END))) {
			if (text[at] !== '{') {
				plain += text[at++];
				continue;
			}
			if (matched(LITERAL)) {
				plain += take(LITERAL)[1];
				continue;
			}
			parts.push(plain, readPlaceable());
			plain = '';
		}
		return [...parts, plain].filter(part => part !== '');
	}

	function readPlaceable() {
		let [, name, arrow] = take(VARIABLE);
		let variants = [];
		let other = null;
		while (arrow && matched(VARIANT_KEY)) {
			let [, star, key] = take(VARIANT_KEY);
			let pattern = readPattern(true);
			variants.push([key, pattern]);
			other = star ? pattern : other;
		}
		take(CLOSE);
		if (arrow && other === null) {
			throw new SyntaxError(`No variant is marked as the default: ${text}`);
		}
		return { name, variants: arrow ? variants : null, other };
	}
}

/**
 * What says messages in a language: `files` are texts of Fluent files, the best language first. Missing in
 * all of them is an error of ours.
 */
export function createL10n(language, files) {
	let catalogues = files.map(parseMessages);
	let numbers = new Intl.NumberFormat(language);
	let plurals = new Intl.PluralRules(language);

	let find = id => catalogues.find(messages => messages.has(id))?.get(id);

	function text(pattern, values) {
		return pattern.map((part) => {
			if (typeof part === 'string') {
				return part;
			}
			let value = values[part.name];
			if (value === undefined) {
				throw new ReferenceError(`Nothing was given for ${part.name}`);
			}
			return part.variants ? text(chosen(part, value), values) : shown(value);
		}).join('');
	}

	function chosen({ variants, other }, value) {
		let keys = typeof value === 'number' ? [String(value), plurals.select(value)] : [String(value)];
		return keys.map(key => variants.find(([name]) => name === key)?.[1]).find(Boolean) ?? other;
	}

	let shown = value => (typeof value === 'number' ? numbers.format(value) : String(value));

	return {
		language,
		/** Whether there is such a message. */
		knows: id => find(id) !== undefined,
		/** A message with its values. */
		say(id, values = {}) {
			let pattern = find(id);
			if (pattern === undefined) {
				throw new ReferenceError(`There is no message ${id}`);
			}
			return text(pattern, values);
		},
		/** A number as people of the language write it. */
		number: (value, options) => value.toLocaleString(language, options),
		/** A moment: the time today, else the day. */
		day(iso) {
			let date = new Date(iso);
			let isToday = date.toDateString() === new Date().toDateString();
			let wanted = isToday ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' };
			return date.toLocaleString(language, wanted);
		},
		/** A moment in full. */
		moment: iso => new Date(iso).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' }),
	};
}

/** The first of the wanted languages that there are words in, else English. */
export function chooseLanguage(wanted, offered) {
	for (let tag of wanted) {
		let exact = offered.find(one => one.toLowerCase() === tag.toLowerCase());
		let near = offered.find(one => one.split('-')[0] === tag.toLowerCase().split('-')[0]);
		if (exact ?? near) {
			return exact ?? near;
		}
	}
	return 'en-US';
}

/** Fetch the words of the best language, and the English ones to fill its gaps. */
export async function loadL10n({ locales, localeBase }) {
	let language = chooseLanguage(locales, ['en-US', 'de']);
	let names = [...new Set([language, 'en-US'])];
	let files = await Promise.all(names.map(async (name) => {
		let response = await fetch(`${localeBase}${name}/sidebar.ftl`);
		if (!response.ok) {
			throw new Error(`The words of the language ${name} are not there.`);
		}
		return response.text();
	}));
	return createL10n(language, files);
}
