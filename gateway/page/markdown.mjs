// The part of Markdown that answers use, parsed to a tree of plain values; nothing in it is markup.
// Blocks: paragraph, heading, quote, list, fence, rule. Inline: text, strong, em, code, cite, link, break.

const DEEPEST = 8;
const SAFE_LINK = /^(https?:\/\/|zotero:\/\/|doi:)/i;
const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const CITATION = /^\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/;
const LINK = /^\[([^\[\]]{1,500})\]\(([^()\s]{1,2000})\)/;
// As in CommonMark: any ASCII punctuation can be escaped.
const ESCAPED = /^\\([!-/:-@[-`{-~])/;

/** The blocks of a text. */
export function parse(text) {
	return parseLines(linesOf(text), 0).map(([block]) => block);
}

/** The blocks of a text as it is being written, each with the place of its first character. */
export function parseWithPlaces(text) {
	let lines = linesOf(text);
	let starts = [];
	let at = 0;
	for (let line of lines) {
		starts.push(at);
		at += line.length + 1;
	}
	return parseLines(lines, 0).map(([block, line]) => ({ block, start: starts[line] }));
}

function linesOf(text) {
	return String(text).replace(/\r\n?/g, '\n').split('\n');
}

/** Blocks, each with the number of its first line. */
function parseLines(lines, depth) {
	let blocks = [];
	let at = 0;
	while (at < lines.length) {
		if (lines[at].trim() === '') {
			at++;
			continue;
		}
		let [block, next] = parseBlock(lines, at, depth);
		blocks.push([block, at]);
		at = next;
	}
	return blocks;
}

function innerBlocks(lines, depth) {
	return parseLines(lines, depth).map(([block]) => block);
}

function parseBlock(lines, at, depth) {
	let line = lines[at];
	let heading = HEADING.exec(line);
	if (FENCE.test(line)) {
		return fenced(lines, at);
	}
	if (heading) {
		return [{ type: 'heading', level: heading[1].length, children: inline(heading[2]) }, at + 1];
	}
	if (RULE.test(line)) {
		return [{ type: 'rule' }, at + 1];
	}
	// Deeper nesting than any answer needs is shown as text, so that no input exhausts the stack.
	if (depth < DEEPEST && QUOTE.test(line)) {
		return quoted(lines, at, depth);
	}
	if (depth < DEEPEST && ITEM.test(line)) {
		return list(lines, at, depth);
	}
	return paragraph(lines, at, depth);
}

function fenced(lines, at) {
	let fence = FENCE.exec(lines[at])[1];
	let end = at + 1;
	while (end < lines.length && !lines[end].trim().startsWith(fence)) {
		end++;
	}
	return [{ type: 'fence', text: lines.slice(at + 1, end).join('\n') }, end + 1];
}

function quoted(lines, at, depth) {
	let end = at;
	while (end < lines.length && QUOTE.test(lines[end])) {
		end++;
	}
	let inner = lines.slice(at, end).map(line => line.replace(QUOTE, ''));
	return [{ type: 'quote', children: innerBlocks(inner, depth + 1) }, end];
}

function list(lines, at, depth) {
	let first = ITEM.exec(lines[at]);
	let isOrdered = first[3] !== undefined;
	let items = [];
	while (at < lines.length) {
		let found = ITEM.exec(lines[at]);
		if (!found || (found[3] !== undefined) !== isOrdered) {
			break;
		}
		let inner = [found[4]];
		at++;
		// What is indented belongs to the item; so do plain lines that go on without a blank one.
		while (at < lines.length && belongsToItem(lines, at, inner)) {
			inner.push(lines[at].replace(/^ {1,4}|^\t/, ''));
			at++;
		}
		items.push(innerBlocks(inner, depth + 1));
		while (at + 1 < lines.length && lines[at].trim() === '' && ITEM.test(lines[at + 1])) {
			at++;
		}
	}
	let start = isOrdered ? Number(first[3]) : null;
	return [{ type: 'list', ordered: isOrdered, start, items }, at];
}

function belongsToItem(lines, at, inner) {
	let line = lines[at];
	if (line.trim() === '') {
		return /^(\s{2,}|\t)\S/.test(lines[at + 1] ?? '');
	}
	if (/^(\s{2,}|\t)/.test(line)) {
		return true;
	}
	return inner.at(-1).trim() !== '' && !startsBlock(line);
}

function startsBlock(line) {
	return [FENCE, HEADING, RULE, QUOTE, ITEM].some(start => start.test(line));
}

function paragraph(lines, at, depth) {
	let end = at + 1;
	while (end < lines.length && lines[end].trim() !== '' && !(depth < DEEPEST && startsBlock(lines[end]))) {
		end++;
	}
	return [{ type: 'paragraph', children: inline(lines.slice(at, end).join('\n').trim()) }, end];
}

/** The inline parts of a text. */
export function inline(text, depth = 0) {
	let parts = [];
	let plain = '';
	// A delimiter without a partner has none further on either; remembering that keeps this linear.
	let missing = new Set();
	let at = 0;
	while (at < text.length) {
		let [part, length] = inlineAt(text, at, depth, missing) ?? [text[at], 1];
		if (typeof part === 'string') {
			plain += part;
		}
		else {
			if (plain) {
				parts.push({ type: 'text', text: plain });
				plain = '';
			}
			parts.push(part);
		}
		at += length;
	}
	if (plain) {
		parts.push({ type: 'text', text: plain });
	}
	return parts;
}

function inlineAt(text, at, depth, missing) {
	switch (text[at]) {
		case '\\': {
			let found = ESCAPED.exec(text.slice(at, at + 2));
			return found && [found[1], 2];
		}
		case '[':
			return bracketAt(text, at, depth);
		case '`':
			return codeAt(text, at, missing);
		case '*':
		case '_':
			return emphasisAt(text, at, depth, missing);
		case ' ':
			return text.startsWith('  \n', at) ? [{ type: 'break' }, 3] : null;
		default:
			return null;
	}
}

function bracketAt(text, at, depth) {
	// No bracket of ours is longer than this, so no slice is.
	let rest = text.slice(at, at + 2600);
	let citation = CITATION.exec(rest);
	if (citation) {
		return [{ type: 'cite', numbers: citation[1].split(',').map(Number) }, citation[0].length];
	}
	let link = LINK.exec(rest);
	if (link && depth < DEEPEST) {
		if (SAFE_LINK.test(link[2])) {
			return [{ type: 'link', href: link[2], children: inline(link[1], depth + 1) }, link[0].length];
		}
		return [link[1], link[0].length];
	}
	return null;
}

function codeAt(text, at, missing) {
	let end = missing.has('`') ? -1 : text.indexOf('`', at + 1);
	if (end < 0) {
		missing.add('`');
		return null;
	}
	return end === at + 1 ? ['``', 2] : [{ type: 'code', text: text.slice(at + 1, end) }, end + 1 - at];
}

function emphasisAt(text, at, depth, missing) {
	let mark = text[at + 1] === text[at] ? text[at].repeat(2) : text[at];
	let start = at + mark.length;
	let opens = /\S/.test(text[start] ?? ' ') && !(mark[0] === '_' && /\w/.test(text[at - 1] ?? ' '));
	if (!opens || depth >= DEEPEST || missing.has(mark)) {
		return [mark, mark.length];
	}
	let end = closing(text, start, mark);
	if (end < 0) {
		missing.add(mark);
		return [mark, mark.length];
	}
	let type = mark.length === 2 ? 'strong' : 'em';
	return [{ type, children: inline(text.slice(start, end), depth + 1) }, end + mark.length - at];
}

function closing(text, start, mark) {
	for (let end = text.indexOf(mark, start); end >= 0; end = text.indexOf(mark, end + 1)) {
		let isDouble = mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark);
		let isInWord = mark[0] === '_' && /\w/.test(text[end + mark.length] ?? ' ');
		if (end > start && /\S/.test(text[end - 1]) && !isDouble && !isInWord) {
			return end;
		}
	}
	return -1;
}
