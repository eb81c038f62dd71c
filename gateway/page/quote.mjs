// Where a quote stands in a passage. Pure.

const SAME = { '‘': "'", '’': "'", '“': '"', '”': '"', '‐': '-', '‑': '-', '–': '-', '—': '-' };

/**
 * Half-open range of the quote in the text, in UTF-16 units: exactly, else with white space, quotation
 * marks, hyphens and letter case made equal. Null when it is not there.
 */
export function findQuote(text, quote) {
	let wanted = quote.trim();
	if (!wanted) {
		return null;
	}
	let exact = text.indexOf(wanted);
	if (exact >= 0) {
		return [exact, exact + wanted.length];
	}
	let haystack = normalised(text);
	let needle = normalised(wanted).text;
	let found = needle ? haystack.text.indexOf(needle) : -1;
	if (found < 0) {
		return null;
	}
	return [haystack.starts[found], haystack.ends[found + needle.length - 1]];
}

/** The text made comparable, and for each of its characters where it came from. */
function normalised(text) {
	let result = '';
	let starts = [];
	let ends = [];
	for (let at = 0; at < text.length; at++) {
		let character = text[at];
		// Hyphens that only split a word at a line's end.
		let isSplit = character === '-' && /^-\s*\n\s*\p{Ll}/u.test(text.slice(at, at + 8));
		if (isSplit) {
			at += /^-\s*\n\s*/.exec(text.slice(at, at + 8))[0].length - 1;
			continue;
		}
		if (character === '\u00ad') {
			continue;
		}
		let plain = /\s/.test(character) ? ' ' : (SAME[character] ?? character.toLowerCase());
		if (plain === ' ' && (result === '' || result.endsWith(' '))) {
			continue;
		}
		for (let unit of plain.split('')) {
			result += unit;
			starts.push(at);
			ends.push(at + 1);
		}
	}
	return { text: result.replace(/ $/, ''), starts, ends };
}
