// Which part of the library is searched, as chips, and as the gateway's scope. Pure.
// A chip: {kind, library, key | keys | tag | text, title, count}.

const KINDS = ['library', 'collection', 'search', 'tag', 'items', 'paper', 'text'];
const NAMES = { library: 'libraries', collection: 'collections', search: 'saved_searches', tag: 'tags' };
const MOST_QUOTED = 8000;

/** What makes a chip this one and no other. */
export function idOf({ kind, library, key, keys, tag, text }) {
	return [kind, library, key ?? keys?.join(',') ?? tag ?? text ?? ''].join('|');
}

/** The chips as they were remembered; what is no chip is left out. */
export function readChips(remembered) {
	let chips;
	try {
		chips = JSON.parse(remembered ?? '[]');
	}
	catch {
		// Written by something else: not a reason to refuse questions.
		return [];
	}
	return Array.isArray(chips) ? chips.filter(chip => KINDS.includes(chip?.kind) && typeof chip.title === 'string') : [];
}

/** The chips worth remembering for the next question: a text that was selected is not one. */
export function lasting(chips) {
	return chips.filter(chip => chip.kind !== 'text');
}

/** With a chip, or without it when it was there. */
export function toggled(chips, chip) {
	let rest = chips.filter(one => idOf(one) !== idOf(chip));
	return rest.length < chips.length ? rest : [...chips, chip];
}

/** The scope of the chips, or undefined for everything. Kinds narrow each other, chips of one kind add up. */
export function scopeOf(chips) {
	let scope = {};
	for (let chip of chips) {
		let name = NAMES[chip.kind] ?? 'items';
		let values = chip.kind === 'text' ? [] : valuesOf(chip);
		if (values.length) {
			scope[name] = [...scope[name] ?? [], ...values];
		}
	}
	return Object.keys(scope).length ? scope : undefined;
}

function valuesOf({ kind, library, key, keys, tag }) {
	switch (kind) {
		case 'library':
			return [library];
		case 'tag':
			return [tag];
		case 'collection':
		case 'search':
			return [`${library}/${key}`];
		default:
			return (keys ?? [key]).map(one => ({ library, key: one }));
	}
}

/** The items that a selected text is from. */
export function activeItemsOf(chips) {
	return chips.filter(chip => chip.kind === 'text' && chip.key).map(({ library, key }) => ({ library, key }));
}

/** The question with the texts that it is about before it, as quotations. */
export function promptWith(chips, prompt) {
	let quoted = chips
		.filter(chip => chip.kind === 'text')
		.map(({ title, text }) => `${text.slice(0, MOST_QUOTED).trim().replace(/^/gm, '> ')}\n> — ${title}\n\n`);
	return quoted.join('') + prompt;
}

/** The parameters that ask how much a scope holds, or null where that cannot be asked but is known: items. */
export function countQuery(chips) {
	let scope = scopeOf(chips);
	if (!scope || scope.items) {
		return null;
	}
	let names = { libraries: 'library', collections: 'collection', saved_searches: 'saved_search', tags: 'tag' };
	let pairs = Object.entries(scope).flatMap(([name, values]) => values.map(value => [names[name], value]));
	return new URLSearchParams([...pairs, ['limit', '1']]).toString();
}
