// As much of a document as building elements needs; what was built is read as a nested text.

class Node {
	constructor() {
		this.parent = null;
	}

	remove() {
		let siblings = this.parent.childNodes;
		siblings.splice(siblings.indexOf(this), 1);
		this.parent = null;
	}
}

class Text extends Node {
	constructor(text) {
		super();
		this.data = text;
	}

	toString() {
		return this.data;
	}
}

class Element extends Node {
	constructor(name) {
		super();
		this.name = name;
		this.attributes = {};
		this.childNodes = [];
	}

	get lastChild() {
		return this.childNodes[this.childNodes.length - 1] ?? null;
	}

	setAttribute(name, value) {
		this.attributes[name] = value;
	}

	append(...nodes) {
		for (let node of nodes) {
			let child = node instanceof Node ? node : new Text(String(node));
			child.parent = this;
			this.childNodes.push(child);
		}
	}

	replaceChildren(...nodes) {
		this.childNodes = [];
		this.append(...nodes);
	}

	toString() {
		let attributes = Object.entries(this.attributes).map(([name, value]) => ` ${name}=${value}`).join('');
		return `<${this.name}${attributes}>${this.childNodes.join('')}</${this.name}>`;
	}
}

/** Let modules build elements, until the process ends. */
export function installDocument() {
	globalThis.document = { createElementNS: (namespace, name) => new Element(name) };
}
