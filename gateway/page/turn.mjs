// One question and its answer: a single bubble from the first step to the sources.

import { createActions } from './actions.mjs';
import { createCheckpointCard, decisionList } from './checkpoint.mjs';
import { count, fill, h, plural, show } from './elements.mjs';
import { prose } from './prose.mjs';
import { isOver, pendingCheckpoint } from './run_view.mjs';
import { chipFor, sourceList } from './sources.mjs';
import { activity, createStepList, gapList, meters, report, summary } from './steps.mjs';

/** A turn with its element; `update` shows a newer view of the run. */
export function createTurn({ onCitation, onDecide, ...changes }) {
	// A heading, so that a screen reader can go from question to question.
	let question = h('h2', { class: 'question' });
	// Only this short line is announced; reading out streamed text would never end.
	let status = h('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
	let warnings = h('ul', { class: 'warnings' });
	let bars = h('div', { class: 'meters' });
	let steps = createStepList();
	let line = h('summary', { class: 'work-line' });
	let work = h('details', { class: 'work', open: true }, line, bars, steps.node);
	let decisions = h('div');
	let card = createCheckpointCard({ onDecide });
	let refusal = h('p', { class: 'status failed', role: 'alert' });
	let actions = createActions(changes);
	let told = h('div');
	let thoughts = h('details', { class: 'thoughts' });
	let answer = h('div', { class: 'answer' });
	let extras = h('div');
	let node = h('article', { class: 'turn' }, question, h(
		'div',
		{ class: 'bubble' },
		status, warnings, work, thoughts, decisions, told, card.node, answer, extras, refusal, actions.node,
	));
	let last = {};

	return {
		node,
		update(view) {
			let changed = (...names) => names.some(name => view[name] !== last[name]);
			if (changed('prompt')) {
				fill(question, view.prompt);
			}
			if (changed('state', 'stage', 'link', 'error')) {
				showStatus(status, view);
			}
			if (changed('warnings')) {
				fill(warnings, view.warnings.map(text => h('li', {}, text)));
				show(warnings, view.warnings.length > 0);
			}
			if (changed('steps', 'ceilings', 'rerank', 'state')) {
				showWork({ work, line, bars, steps }, view, last);
			}
			if (changed('thoughts')) {
				fill(thoughts, h('summary', {}, 'Reasoning'), view.thoughts.map(thought => h('p', {}, thought.text)));
				show(thoughts, view.thoughts.length > 0);
			}
			let pending = pendingCheckpoint(view);
			if (changed('report', 'answer', 'state')) {
				// The card tells what the report of its pass says.
				fill(told, view.answer || pending ? null : report(view));
			}
			if (changed('checkpoints')) {
				fill(decisions, decisionList(view.checkpoints));
			}
			if (changed('checkpoints', 'state', 'sent', 'refusal')) {
				card.update(pending, view.sent !== null, view.refusal);
				fill(refusal, view.refusal);
				show(refusal, view.refusal !== null && pending === null);
			}
			if (changed('state', 'invocationId', 'error', 'isChanging', 'isLast')) {
				actions.update(view);
			}
			if (changed('text', 'answer')) {
				showAnswer(answer, extras, view, onCitation);
			}
			last = view;
		},
	};
}

function showStatus(status, view) {
	status.className = 'status';
	if (view.error) {
		status.classList.add('failed');
		fill(status, view.error.message);
		show(status, true);
		return;
	}
	if (view.link === 'away' && !isOver(view)) {
		status.classList.add('away');
		fill(status, 'The gateway is away. Nothing is lost; this goes on as soon as it is back…');
		return;
	}
	let text = activity(view);
	status.classList.toggle('busy', !isOver(view) && pendingCheckpoint(view) === null && text !== '');
	fill(status, text);
	show(status, text !== '');
}

function showWork({ work, line, bars, steps }, view, last) {
	show(work, view.steps.length > 0);
	steps.update(view.steps);
	fill(bars, meters(view));
	fill(line, view.answer ? `How this was found: ${summary(view)}` : summary(view));
	// Folded once when the run is over; a reader who opens it again keeps it open.
	if (isOver(view) && !isOver({ state: last.state })) {
		work.removeAttribute('open');
	}
}

function showAnswer(answer, extras, view, onCitation) {
	if (!view.answer) {
		fill(answer, prose(view.text, number => `[${number}]`));
		answer.classList.toggle('writing', view.text !== '');
		return;
	}
	answer.classList.remove('writing');
	answer.classList.toggle('unanswered', !view.answer.answered);
	fill(answer, prose(view.answer.markdown, chipFor(view.answer.citations, onCitation)));
	// An answer that names a gap itself needs no list that names it again.
	let untold = view.answer.gaps.filter(gap => !view.answer.markdown.includes(gap));
	fill(
		extras,
		gapList(untold),
		sourceList(view.answer, onCitation),
		h('p', { class: 'colophon' }, colophon(view.answer)),
	);
}

function colophon({ model, usage, citations, support }) {
	let parts = [];
	if (model) {
		parts.push(`Written by ${model}`);
	}
	if (citations.length && support) {
		parts.push(`${count(support.verified)} of ${plural(citations.length, 'citation')} verified`);
	}
	if (usage) {
		parts.push(`${usage.seconds.toLocaleString('en', { maximumFractionDigits: 1 })} s`);
		let tokens = usage.input_tokens + usage.output_tokens;
		if (tokens) {
			parts.push(plural(tokens, 'token'));
		}
		if (usage.cost) {
			parts.push(`$${usage.cost.toFixed(4)}`);
		}
	}
	return parts.join(' · ');
}
