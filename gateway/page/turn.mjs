// One question and its answer: a single bubble from the first step to the sources.

import { createActions } from './actions.mjs';
import { createAnswer } from './answer.mjs';
import { createCheckpointPlace, decisionList } from './checkpoint.mjs';
import { fill, h, show } from './elements.mjs';
import { createQuestion } from './question.mjs';
import { reasonOf } from './refusal.mjs';
import { report } from './report.mjs';
import { isOver, pendingCheckpoint } from './run_view.mjs';
import { createWork } from './steps.mjs';
import { createThoughts } from './thoughts.mjs';
import { activity } from './wording.mjs';

/** A turn with its element; `update` shows a newer view of the run, and touches only what differs. */
export function createTurn(context, { onCitation, onDecide, onEdited, ...changes }) {
	let question = createQuestion(context, { onAskAgain: onEdited });
	// Only this short line is announced; reading out streamed text would never end.
	let status = h('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
	let warnings = h('ul', { class: 'warnings' });
	let work = createWork(context);
	let thoughts = createThoughts(context);
	let decisions = h('div');
	let told = h('div');
	let card = createCheckpointPlace(context, { onDecide });
	let answer = createAnswer(context, { onCitation });
	let refusal = h('p', { class: 'status failed', role: 'alert' });
	let actions = createActions(context, changes);
	let node = h('article', { class: 'turn' }, question.node, h(
		'div',
		{ class: 'bubble' },
		status, warnings, work.node, thoughts.node, decisions, told, card.node, answer.node, refusal, actions.node,
	));
	let last = {};

	return {
		node,
		update(view) {
			let changed = (...names) => names.some(name => view[name] !== last[name]);
			let pending = pendingCheckpoint(view);
			if (changed('prompt', 'invocationId', 'isChanging', 'isLast', 'state')) {
				question.update(view);
			}
			if (changed('state', 'stage', 'link', 'error')) {
				showStatus(context, status, view);
			}
			if (changed('warnings')) {
				fill(warnings, view.warnings.map(text => h('li', {}, text)));
				show(warnings, view.warnings.length > 0);
			}
			if (changed('steps', 'ceilings', 'rerank', 'state', 'answer')) {
				work.update(view);
			}
			if (changed('thoughts')) {
				thoughts.update(view);
			}
			if (changed('report', 'answer', 'state')) {
				// The card tells what the report of its pass says.
				fill(told, view.answer || pending ? null : report(context.l10n, view));
			}
			if (changed('checkpoints')) {
				fill(decisions, decisionList(context, view.checkpoints));
			}
			if (changed('checkpoints', 'state', 'sent', 'refusal', 'plan')) {
				card.update(pending, { run: view.invocationId, plan: view.plan, isSending: view.sent !== null, failure: view.refusal });
				fill(refusal, view.refusal);
				show(refusal, view.refusal !== null && pending === null);
			}
			if (changed('state', 'invocationId', 'error', 'isChanging', 'isLast')) {
				actions.update(view);
			}
			if (changed('text', 'answer')) {
				answer.update(view);
			}
			last = view;
		},
	};
}

function showStatus({ l10n }, status, view) {
	status.className = 'status';
	if (view.error && view.state !== 'EXPIRED') {
		status.classList.add('failed');
		// What a run failed at is told by the run; only what failed here has words here.
		fill(status, view.error.isOurs ? reasonOf(l10n, view.error) : view.error.message);
		show(status, true);
		return;
	}
	if (view.link === 'away' && !isOver(view)) {
		status.classList.add('away');
		fill(status, l10n.say('away-run'));
		show(status, true);
		return;
	}
	let text = activity(l10n, view);
	status.classList.toggle('busy', !isOver(view) && pendingCheckpoint(view) === null && text !== '');
	fill(status, text);
	show(status, text !== '');
}
