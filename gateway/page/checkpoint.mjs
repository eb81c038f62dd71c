// The card of the checkpoint that a run waits at, by its kind; and the decisions taken so far.

import { createApprovalCard } from './approval_card.mjs';
import { createBudgetCard } from './budget_card.mjs';
import { fill, h, show } from './elements.mjs';
import { createPlanCard } from './plan_card.mjs';

const CARDS = { budget: createBudgetCard, plan_review: createPlanCard, approval: createApprovalCard };

/** The place of the card; `onDecide(checkpoint, response)` is called with each decision. */
export function createCheckpointPlace(context, { onDecide }) {
	let node = h('div');
	let card = null;
	let shown = null;

	return {
		node,
		/** Show a checkpoint (or none) of a run, what is known of the plan, whether a decision is on its way, and why one failed. */
		update(checkpoint, { run, plan, isSending, failure }) {
			show(node, checkpoint !== null);
			if (checkpoint === null) {
				fill(node);
				card = shown = null;
				return;
			}
			// What was typed must survive every update that is not another question.
			if (shown !== checkpoint.interrupt_id) {
				shown = checkpoint.interrupt_id;
				card = (CARDS[checkpoint.kind] ?? createApprovalCard)(context, { onDecide });
				fill(node, card.node);
			}
			card.update(checkpoint, { run, plan, isSending, failure });
		},
	};
}

/** What was decided, as a sentence. */
export function decisionText({ say }, { payload, kind, answered }) {
	let { action, answered_by: by, isElsewhere } = answered;
	let what = payload?.extension_number
		? say('decided-extension', { action, number: payload.extension_number, most: payload.max_extensions })
		: say('decided', { action, kind: kind ?? 'budget' });
	let told = ['expiry', 'strategy'].includes(by) ? say(`decided-by-${by}`, { what }) : say('decided-by', { what, by });
	return isElsewhere && by !== 'strategy' ? say('decided-elsewhere', { what: told }) : told;
}

/** The decisions taken so far, or null. */
export function decisionList({ l10n }, checkpoints) {
	let taken = checkpoints.filter(checkpoint => checkpoint.answered);
	if (!taken.length) {
		return null;
	}
	return h('ul', { class: 'decisions', 'aria-label': l10n.say('decisions') }, taken.map(checkpoint => h(
		'li',
		{},
		decisionText(l10n, checkpoint),
		checkpoint.answered.guidance && h('q', {}, checkpoint.answered.guidance),
	)));
}
