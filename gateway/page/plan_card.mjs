// The card of a plan review: the plan, the conversation that led to it, feedback, approval.

import { aboutCheckpoint, keepDraft } from './draft.mjs';
import { fill, h, show } from './elements.mjs';
import { difference, hasChanged } from './plan_diff.mjs';
import { prose } from './prose.mjs';
import { createSending } from './sending.mjs';

const MOST_FEEDBACK = 10_000;

/** The card; it stays the same through all rounds, so that feedback being typed is not lost. */
export function createPlanCard(context, { onDecide }) {
	let { l10n } = context;
	let { say } = l10n;
	let badge = h('p', { class: 'badge' });
	let until = h('p', { class: 'notice' });
	let plan = h('div', { class: 'plan answer' });
	let changes = h('details', { class: 'changes' });
	let rounds = h('details', { class: 'rounds' });
	let feedback = h('textarea', { rows: 2, maxlength: MOST_FEEDBACK, placeholder: say('feedback-hint'), oninput: allow, onkeydown: sendByKey });
	let approve = h('button', { type: 'button', class: 'extend', onclick: () => onDecide(current, { action: 'approve' }) }, say('plan-approve'));
	let send = h('button', { type: 'button', class: 'synthesize', onclick: comment }, say('plan-feedback'));
	let sending = createSending(say('planning'));
	let node = h(
		'section',
		{ class: 'checkpoint', 'aria-label': say('plan-review') },
		badge, until, plan, changes, rounds,
		h('label', { class: 'guidance' }, h('span', {}, say('feedback')), feedback),
		h('div', { class: 'choices' }, approve, send),
		sending.node,
	);
	let keep = () => {};
	let current = null;
	let isBusy = false;

	function comment() {
		onDecide(current, { action: 'feedback', message: feedback.value.trim() });
	}

	function sendByKey(event) {
		if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !send.disabled) {
			event.preventDefault();
			comment();
		}
	}

	/** An empty comment cannot be sent, nor a plan approved that is not there, nor a definitive one changed. */
	function allow() {
		let payload = current?.payload;
		let isFull = payload && payload.round >= payload.max_rounds;
		feedback.disabled = isBusy || isFull;
		send.disabled = feedback.disabled || feedback.value.trim() === '';
		approve.disabled = isBusy || !payload?.current_plan;
	}

	function showVersion(checkpoint, known) {
		let { payload } = checkpoint;
		let before = current;
		fill(badge, say('plan-badge', { round: payload.round, most: payload.max_rounds }));
		fill(until, checkpoint.expires_at && say('expires', { time: l10n.moment(checkpoint.expires_at) }));
		show(until, Boolean(checkpoint.expires_at));
		// A question of the planner stands before the plan that it is about.
		let asks = payload.intent === 'feedback' || payload.text !== payload.current_plan;
		fill(plan, asks && prose(payload.text, plainNumber), payload.current_plan && prose(payload.current_plan, plainNumber));
		showChanges(before, checkpoint, known);
		// The comment is part of the conversation now; one being typed for another version stays.
		if (before && known?.rounds.some(one => one.author === 'person' && one.message === feedback.value.trim())) {
			feedback.value = '';
			keep();
		}
	}

	function showChanges(before, { version, payload }, known) {
		let parts = before?.payload.current_plan ? difference(before.payload.current_plan, payload.current_plan) : [];
		let isElsewhere = known?.isElsewhere ?? false;
		show(changes, hasChanged(parts));
		changes.toggleAttribute('open', isElsewhere);
		let versions = { from: before?.version ?? version, to: version };
		fill(
			changes,
			h('summary', {}, say(isElsewhere ? 'plan-changed-elsewhere' : 'plan-changed', versions)),
			h('p', { class: 'difference' }, parts.map(changeOf)),
		);
	}

	return {
		node,
		update(checkpoint, { run, plan: known, isSending, failure }) {
			if (current === null) {
				keep = keepDraft(context, feedback, 'guidance', aboutCheckpoint(run, checkpoint));
			}
			if (checkpoint.version !== current?.version) {
				showVersion(checkpoint, known);
			}
			current = checkpoint;
			isBusy = isSending;
			showRounds(rounds, l10n, known);
			allow();
			sending.update(isSending, failure);
		},
	};
}

function plainNumber(number) {
	return `[${number}]`;
}

function changeOf({ kind, text }) {
	if (kind === 'same') {
		return text;
	}
	return h(kind === 'added' ? 'ins' : 'del', {}, text);
}

/** What was said before the latest plan. */
function showRounds(node, { say }, plan) {
	let earlier = plan?.rounds.slice(0, -1) ?? [];
	show(node, earlier.length > 0);
	if (Number(node.dataset.rounds ?? 0) === earlier.length) {
		return;
	}
	node.dataset.rounds = String(earlier.length);
	fill(
		node,
		h('summary', {}, say('rounds', { rounds: earlier.length })),
		h('ol', {}, earlier.map(one => h(
			'li',
			{ class: one.author },
			h('p', { class: 'by' }, say('round-by', { author: one.author, round: one.round })),
			prose(one.message, plainNumber),
		))),
	);
}
