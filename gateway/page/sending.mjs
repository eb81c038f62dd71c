// The line below a card's buttons: a decision on its way, or why one failed.

import { fill, h, show } from './elements.mjs';

/** The line; `busy` is what to say while the decision is on its way. */
export function createSending(busy) {
	let node = h('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
	return {
		node,
		update(isSending, failure) {
			node.className = isSending ? 'status busy' : 'status failed';
			fill(node, isSending ? busy : failure);
			show(node, isSending || Boolean(failure));
		},
	};
}
