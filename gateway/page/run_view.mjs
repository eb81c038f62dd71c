// What a run looks like after its events, as plain values. Pure.

const OVER = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED', 'REWOUND', 'DELETED']);
const STATES_BY_CHANGE = {
	cancelled: 'CANCELLED',
	rewound: 'REWOUND',
	paused: 'PAUSED',
	completed: 'COMPLETED',
	failed: 'FAILED',
	expired: 'EXPIRED',
};

/** A run that was just asked for. */
export function newView(prompt) {
	return {
		sessionId: null,
		invocationId: null,
		lastId: null,
		prompt,
		state: 'QUEUED',
		stage: null,
		warnings: [],
		ceilings: null,
		steps: [],
		thoughts: [],
		plan: null,
		report: null,
		rerank: null,
		text: '',
		written: 0,
		attempt: 0,
		answer: null,
		error: null,
		checkpoints: [],
		sent: null,
		refusal: null,
		isChanging: false,
		isLast: true,
		link: 'live',
	};
}

/** A run as a message of GET /sessions/{id}. */
export function viewOfMessage(sessionId, message) {
	let started = message.started?.ceilings ?? null;
	return {
		...newView(message.prompt),
		sessionId,
		invocationId: message.invocation_id,
		lastId: message.last_event_id,
		state: message.state,
		stage: message.stage,
		warnings: message.started?.warnings ?? [],
		ceilings: message.checkpoints.reduce(ceilingsAfter, started),
		checkpoints: message.checkpoints,
		steps: message.steps,
		thoughts: message.thoughts,
		plan: message.plan ? { ...message.plan, isElsewhere: false } : null,
		report: message.report,
		rerank: message.rerank,
		answer: message.answer,
		error: message.error,
	};
}

/** The view after one more frame. */
export function reduce(view, frame) {
	let data = frame.data;
	let next = {
		...view,
		link: 'live',
		lastId: frame.id ?? view.lastId,
		sessionId: data.session_id ?? view.sessionId,
		invocationId: data.invocation_id ?? view.invocationId,
	};
	switch (frame.event) {
		case 'snapshot':
			// The whole run at once, instead of events that are no longer kept.
			return { ...viewOfMessage(data.session_id, data), lastId: next.lastId, isLast: view.isLast };
		case 'run_started':
			return { ...next, state: 'RUNNING', warnings: data.warnings, ceilings: data.ceilings ?? null };
		case 'stage':
			return { ...next, stage: data.stage };
		case 'thought':
			return { ...next, thoughts: [...view.thoughts, { agent: data.agent, text: data.text }] };
		case 'tool_call':
			return { ...next, steps: withStep(view.steps, { ...data, result: null }) };
		case 'tool_result':
			return { ...next, steps: withResult(view.steps, data) };
		case 'plan':
			return { ...next, plan: withPlan(view, data) };
		case 'plan_feedback':
			return { ...next, plan: withComment(view, data) };
		case 'report':
			return { ...next, report: data };
		case 'rerank':
			return { ...next, rerank: data };
		case 'answer_reset':
			return { ...next, text: '', written: 0, attempt: data.attempt };
		case 'answer_delta':
			return withText(next, data);
		case 'answer':
			return { ...next, answer: data, state: 'COMPLETED' };
		case 'error':
			// Without an id the stream broke off, not the run.
			return frame.id === null ? next : { ...next, error: data, state: data.code === 'REVIEW_EXPIRED' ? 'EXPIRED' : 'FAILED' };
		case 'request_input':
			return withQuestion(next, data);
		case 'checkpoint_answered':
			return withDecision(next, data);
		case 'run_state':
			return { ...next, state: STATES_BY_CHANGE[data.change] ?? 'RUNNING', error: null, sent: null, isChanging: false };
		case 'done':
			return { ...next, state: data.state };
		default:
			return next;
	}
}

/** The checkpoint that the run waits at, or null. */
export function pendingCheckpoint(view) {
	return view.state === 'AWAITING_INPUT' ? [...view.checkpoints].reverse().find(one => !one.answered) ?? null : null;
}

/** Whether the run can go on after what ended it; only the last one of a session can. */
export function canRetry(view) {
	let hasFailed = view.state === 'FAILED' && !view.error?.isOurs;
	return view.isLast && view.invocationId !== null && (hasFailed || view.state === 'CANCELLED');
}

/** Whether nothing more will happen in the run by itself. */
export function isOver(view) {
	return OVER.has(view.state);
}

/** Counted calls and words so far, with their limits. */
export function usage(view) {
	let calls = 0;
	let words = 0;
	let callLimit = view.ceilings?.calls ?? 0;
	let wordLimit = view.ceilings?.words ?? 0;
	for (let step of view.steps) {
		calls = Math.max(calls, step.call_number);
		callLimit = Math.max(callLimit, step.call_limit);
		if (step.result) {
			words = Math.max(words, step.result.words_total);
			wordLimit = Math.max(wordLimit, step.result.word_limit);
		}
	}
	return { calls, callLimit, words, wordLimit };
}

function withCheckpoint(checkpoints, checkpoint) {
	let known = checkpoints.findIndex(one => one.interrupt_id === checkpoint.interrupt_id);
	return known < 0 ? [...checkpoints, checkpoint] : replaced(checkpoints, known, checkpoint);
}

/** The array with another element at a place. */
function replaced(array, place, element) {
	return array.map((one, at) => (at === place ? element : one));
}

/** What the planner says; the conversation so far stays. */
function withPlan(view, { round, version, intent, text, current_plan, model, time }) {
	let rounds = view.plan?.rounds ?? [];
	return {
		round, version, intent, text, current_plan, model,
		rounds: [...rounds, { author: 'planner', round, message: text, time }],
		isElsewhere: view.plan?.isElsewhere ?? false,
	};
}

/** A comment on the plan; one that this page did not send came from elsewhere. */
function withComment(view, { round, message, time }) {
	return {
		...view.plan,
		rounds: [...view.plan?.rounds ?? [], { author: 'person', round, message, time }],
		isElsewhere: view.sent === null,
	};
}

/** The run waits. Why a decision was refused stays to be read when the same question comes in another version. */
function withQuestion(view, data) {
	let isAgain = view.sent === null && view.checkpoints.some(one => one.interrupt_id === data.interrupt_id);
	return {
		...view,
		state: 'AWAITING_INPUT',
		checkpoints: withCheckpoint(view.checkpoints, { ...data, answered: null }),
		sent: null,
		refusal: isAgain ? view.refusal : null,
	};
}

/** The run goes on; a decision that this page did not send was taken elsewhere. */
function withDecision(view, data) {
	let answered = { ...data, isElsewhere: view.sent !== data.interrupt_id };
	let checkpoints = view.checkpoints.map(one => (one.interrupt_id === data.interrupt_id ? { ...one, answered } : one));
	let decided = checkpoints.filter(one => one.interrupt_id === data.interrupt_id);
	return { ...view, state: 'RUNNING', checkpoints, sent: null, refusal: null, ceilings: decided.reduce(ceilingsAfter, view.ceilings) };
}

function ceilingsAfter(ceilings, { payload, answered }) {
	return answered?.action === 'extend_budget' ? payload?.next_limits ?? ceilings : ceilings;
}

function withStep(steps, step) {
	let known = steps.findIndex(one => one.step_id === step.step_id);
	return known < 0 ? [...steps, step] : replaced(steps, known, step);
}

function withResult(steps, result) {
	return steps.map(step => (step.step_id === result.step_id ? { ...step, result } : step));
}

/** Text goes on where it ended; offsets count code points, as the gateway does. */
function withText(view, delta) {
	if (delta.attempt < view.attempt) {
		return view;
	}
	let isNewAttempt = delta.attempt > view.attempt;
	let written = isNewAttempt ? 0 : view.written;
	if (delta.offset !== written && delta.offset !== 0) {
		return view;
	}
	let before = delta.offset === 0 ? '' : view.text;
	return {
		...view,
		attempt: delta.attempt,
		text: before + delta.text,
		written: delta.offset + Array.from(delta.text).length,
	};
}
