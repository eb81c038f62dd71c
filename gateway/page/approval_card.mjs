// The card where plain consent is asked for: yes or no.

import { fill, h } from './elements.mjs';
import { createSending } from './sending.mjs';

/** The card; `onDecide(checkpoint, response)` is called with each decision. */
export function createApprovalCard({ l10n: { say } }, { onDecide }) {
	let node = h('section', { class: 'checkpoint', 'aria-label': say('decision-needed') });
	let approve = h('button', { type: 'button', class: 'extend', onclick: () => onDecide(current, { action: 'approve' }) }, say('approve'));
	let reject = h('button', { type: 'button', class: 'synthesize', onclick: () => onDecide(current, { action: 'reject' }) }, say('reject'));
	let sending = createSending(say('sending'));
	let current = null;

	return {
		node,
		update(checkpoint, { isSending, failure }) {
			if (checkpoint !== current) {
				fill(
					node,
					h('p', { class: 'badge' }, say('decision-needed')),
					h('p', {}, checkpoint.message),
					checkpoint.payload?.reason && h('p', { class: 'notice' }, checkpoint.payload.reason),
					h('div', { class: 'choices' }, approve, reject),
					sending.node,
				);
			}
			current = checkpoint;
			approve.disabled = reject.disabled = isSending;
			sending.update(isSending, failure);
		},
	};
}
