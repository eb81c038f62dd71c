// An answer's Markdown as elements. Only the kinds listed here can come out.

import { h } from './elements.mjs';
import { linkTarget } from './links.mjs';
import { parse, parseWithPlaces } from './markdown.mjs';

// What a new piece can still change of a text: its last block, and the one before if the last turns out to go on with it.
const OPEN_BLOCKS = 2;

/** Elements for a text; `chip(number)` makes the element of a citation. */
export function prose(text, chip) {
	let blocks = parse(text);
	let top = Math.min(...blocks.filter(block => block.type === 'heading').map(block => block.level));
	return blocks.map(block => blockElement(block, chip, top));
}

/**
 * Elements for a text that grows. Blocks that no further piece can change are made once, so that a long answer
 * costs as much per piece as a short one.
 */
export function createGrowingProse(chip) {
	let node = h('div', { class: 'growing' });
	let text = '';
	// How much of the text stands in blocks that are final, and how many elements those are.
	let settled = 0;
	let kept = 0;
	let top = Infinity;

	function restart() {
		node.replaceChildren();
		settled = kept = 0;
		top = Infinity;
	}

	return {
		node,
		update(next) {
			// Line ends are made equal first: places count characters of what is parsed.
			let clean = next.replace(/\r\n?/g, '\n');
			if (!clean.startsWith(text)) {
				restart();
			}
			text = clean;
			let blocks = parseWithPlaces(text.slice(settled));
			for (let { block } of blocks) {
				top = block.type === 'heading' ? Math.min(top, block.level) : top;
			}
			while (node.childNodes.length > kept) {
				node.lastChild.remove();
			}
			node.append(...blocks.map(({ block }) => blockElement(block, chip, top)));
			if (blocks.length > OPEN_BLOCKS) {
				kept += blocks.length - OPEN_BLOCKS;
				settled += blocks[blocks.length - OPEN_BLOCKS].start;
			}
		},
		clear() {
			restart();
			text = '';
		},
	};
}

function blockElement(block, chip, top) {
	switch (block.type) {
		case 'heading':
			// The page has its own first two levels; an answer gets two more, whatever its writer began with.
			return h(block.level > top ? 'h4' : 'h3', {}, inlineElements(block.children, chip));
		case 'rule':
			return h('hr');
		case 'fence':
			return h('pre', {}, h('code', {}, block.text));
		case 'quote':
			return h('blockquote', {}, block.children.map(inner => blockElement(inner, chip, top)));
		case 'list':
			return h(
				block.ordered ? 'ol' : 'ul',
				{ start: block.start === 1 ? null : block.start },
				block.items.map(item => h('li', {}, itemElements(item, chip, top))),
			);
		default:
			return h('p', {}, inlineElements(block.children, chip));
	}
}

function itemElements(blocks, chip, top) {
	// A lone paragraph needs no spacing of its own inside an item.
	if (blocks.length === 1 && blocks[0].type === 'paragraph') {
		return inlineElements(blocks[0].children, chip);
	}
	return blocks.map(block => blockElement(block, chip, top));
}

// What closes a sentence or a bracket right behind a citation.
const CLOSING = /^[.,;:!?)\]…。、，；：！？）]+/;

function inlineElements(parts, chip) {
	return parts.map((part, at) => {
		let before = parts[at - 1];
		switch (part.type) {
			case 'strong':
			case 'em':
				return h(part.type, {}, inlineElements(part.children, chip));
			case 'code':
				return h('code', {}, part.text);
			case 'cite':
				return citedBy(part.numbers.map(number => chip(number)), closing(parts[at + 1]));
			case 'link':
				return h(
					'a',
					{ href: linkTarget(part.href), rel: 'noopener noreferrer', target: '_blank' },
					inlineElements(part.children, chip),
				);
			case 'break':
				return h('br');
			default:
				return before?.type === 'cite' ? part.text.slice(closing(part).length) : part.text;
		}
	});
}

/** Chips; the last of them and what closes the sentence stay on one line. */
function citedBy(chips, closed) {
	return [chips.slice(0, -1), h('span', { class: 'closed' }, chips.slice(-1), closed)];
}

function closing(part) {
	return part?.type === 'text' ? CLOSING.exec(part.text)?.[0] ?? '' : '';
}
