// Building elements. Text only ever becomes text nodes.

const XHTML = 'http://www.w3.org/1999/xhtml';

/**
 * An element with attributes and children. `on…` values are listeners, `true` is an empty attribute,
 * null, undefined and false leave an attribute or child out.
 */
export function h(name, attributes = {}, ...children) {
	let element = document.createElementNS(XHTML, name);
	for (let [key, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) {
			continue;
		}
		if (typeof value === 'function') {
			element.addEventListener(key.slice(2), value);
		}
		else {
			element.setAttribute(key, value === true ? '' : String(value));
		}
	}
	fill(element, ...children);
	return element;
}

/** Replace what an element holds. */
export function fill(element, ...children) {
	let nodes = children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false);
	element.replaceChildren(...nodes);
}

/** Show or hide. */
export function show(element, isShown) {
	element.toggleAttribute('hidden', !isShown);
}

/** A button that looks like text. */
export function quiet(text, onclick, attributes = {}) {
	return h('button', { type: 'button', class: 'quiet', onclick, ...attributes }, text);
}
