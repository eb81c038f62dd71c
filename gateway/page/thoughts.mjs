// The reasoning of the model: apart from the answer, and closed until somebody wants it.

import { h, show } from './elements.mjs';

/** The thoughts of a turn; `update` adds what is new. */
export function createThoughts({ l10n: { say } }) {
	let count = h('span', { class: 'numbers' });
	let node = h('details', { class: 'thoughts' }, h('summary', {}, say('reasoning'), ' ', count));
	let shown = 0;

	return {
		node,
		update({ thoughts }) {
			if (thoughts.length < shown) {
				// A snapshot may know less than was seen.
				node.replaceChildren(node.firstChild);
				shown = 0;
			}
			node.append(...thoughts.slice(shown).map(thought => h('p', {}, thought.text)));
			shown = thoughts.length;
			count.textContent = String(shown || '');
			show(node, shown > 0);
		},
	};
}
