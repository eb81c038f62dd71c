// An answer in the formats of other programs: Markdown with its sources, BibTeX, CSL JSON. Pure.

/** The answer with its question and its numbered sources, as one text; `labels` are the words between them. */
export function markdownOf(prompt, answer, { sources, page, noPages, support }) {
	let lines = answer.citations.map((citation) => {
		let where = citation.page_label ? `${page} ${citation.page_label}` : noPages;
		let by = [citation.creators.join(', '), citation.year].filter(Boolean).join(', ');
		let link = citation.open_uri || citation.select_uri;
		let title = link ? `[${linkText(citation.title)}](${link})` : citation.title;
		return `${citation.number}. ${[title, by, where, support(citation.support)].filter(Boolean).join(' · ')}\n   > ${citation.quote.replace(/\s+/g, ' ')}`;
	});
	let list = lines.length ? `\n\n## ${sources}\n\n${lines.join('\n')}` : '';
	return `# ${prompt.replace(/\s+/g, ' ')}\n\n${answer.markdown.trim()}${list}\n`;
}

/** The items that the citations name, each once, in the order of their first citation. */
export function citedItems(citations) {
	let items = new Map();
	for (let citation of citations) {
		let key = `${citation.library}/${citation.item_key}`;
		if (!items.has(key)) {
			items.set(key, citation);
		}
	}
	return [...items.values()];
}

/** CSL JSON of the cited items, as far as citations know them. */
export function cslOf(citations) {
	let items = citedItems(citations).map(citation => ({
		id: `${citation.library}/${citation.item_key}`,
		type: 'document',
		title: citation.title,
		author: citation.creators.map(cslName),
		...citation.year && { issued: { 'date-parts': [[Number(citation.year)]] } },
		...citation.select_uri && { URL: citation.select_uri },
	}));
	return JSON.stringify(items, null, 2);
}

/** BibTeX of the cited items, as far as citations know them. */
export function bibtexOf(citations) {
	let taken = new Set();
	return citedItems(citations).map((citation) => {
		let fields = [
			['title', `{${tex(citation.title)}}`],
			['author', citation.creators.map(bibtexName).join(' and ')],
			['year', citation.year],
			['note', tex(`Zotero ${citation.library}/${citation.item_key}`)],
		].filter(([, value]) => value);
		let body = fields.map(([name, value]) => `  ${name} = {${value}}`).join(',\n');
		return `@misc{${citationKey(citation, taken)},\n${body}\n}`;
	}).join('\n\n') + '\n';
}

function citationKey({ creators, year, item_key: itemKey }, taken) {
	let family = creators.length ? familyOf(creators[0]) : '';
	// BibTeX reads plain letters only.
	let plain = family.normalize('NFD').replace(/[^A-Za-z]/g, '').toLowerCase();
	let key = `${plain || itemKey.toLowerCase()}${year}`;
	let free = taken.has(key) ? `${key}-${itemKey.toLowerCase()}` : key;
	taken.add(free);
	return free;
}

/** The last word of a display name; one word alone is the whole name of a group of people. */
function familyOf(name) {
	return name.trim().split(/\s+/).pop();
}

function cslName(name) {
	let words = name.trim().split(/\s+/);
	return words.length < 2 ? { literal: name } : { family: words[words.length - 1], given: words.slice(0, -1).join(' ') };
}

function bibtexName(name) {
	let { family, given, literal } = cslName(name);
	return literal ? `{${tex(literal)}}` : `${tex(family)}, ${tex(given)}`;
}

function tex(text) {
	let special = { '\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}' };
	return text.replace(/[\\{}~^&%$#_]/g, sign => special[sign] ?? `\\${sign}`);
}

function linkText(text) {
	return text.replace(/[[\]]/g, '\\$&');
}
