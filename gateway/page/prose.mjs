// An answer's Markdown as elements. Only the kinds listed here can come out.

import { h } from './elements.mjs';
import { parse } from './markdown.mjs';

/** Elements for a text; `chip(number)` makes the element of a citation. */
export function prose(text, chip) {
	let blocks = parse(text);
	let top = Math.min(...blocks.filter(block => block.type === 'heading').map(block => block.level));
	return blocks.map(block => blockElement(block, chip, top));
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

function inlineElements(parts, chip) {
	return parts.map((part) => {
		switch (part.type) {
			case 'strong':
			case 'em':
				return h(part.type, {}, inlineElements(part.children, chip));
			case 'code':
				return h('code', {}, part.text);
			case 'cite':
				return part.numbers.map(number => chip(number));
			case 'link':
				return h(
					'a',
					{ href: part.href, rel: 'noopener noreferrer', target: '_blank' },
					inlineElements(part.children, chip),
				);
			case 'break':
				return h('br');
			default:
				return part.text;
		}
	});
}
