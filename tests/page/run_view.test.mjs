import assert from 'node:assert/strict';
import test from 'node:test';

import { canRetry, isOver, newView, pendingCheckpoint, reduce, usage, viewOfMessage } from '../../gateway/page/run_view.mjs';

let frame = (event, data, id = '1') => ({ event, id, data: { session_id: 's', invocation_id: 'i', ...data } });
let after = (...frames) => frames.reduce(reduce, newView('Why?'));
let call = (step_id, number) => frame('tool_call', { step_id, pass: 0, tool: 'search_corpus', arguments: {}, call_number: number, call_limit: 10 });
let result = (step_id, total) => frame('tool_result', { step_id, ok: true, passages: [], words: 5, words_total: total, word_limit: 7500 });

test('a result joins its call, and usage is cumulative', () => {
	let view = after(call('a', 1), call('b', 2), result('b', 40), result('a', 100));
	assert.deepEqual(view.steps.map(step => [step.step_id, step.result.words_total]), [['a', 100], ['b', 40]]);
	assert.deepEqual(usage(view), { calls: 2, callLimit: 10, words: 100, wordLimit: 7500 });
});

test('a run whose session was deleted is over and cannot go on', () => {
	let view = after(call('a', 1), frame('done', { state: 'DELETED' }));
	assert.ok(isOver(view));
	assert.ok(!canRetry(view));
});

test('a repeated call does not appear twice', () => {
	assert.equal(after(call('a', 1), call('a', 1)).steps.length, 1);
});

test('text grows by pieces, counted in code points', () => {
	let view = after(
		frame('answer_delta', { text: '𝒳y', attempt: 1, offset: 0 }, '3.1.0'),
		frame('answer_delta', { text: 'z', attempt: 1, offset: 2 }, '3.1.2'),
	);
	assert.equal(view.text, '𝒳yz');
	assert.equal(view.lastId, '3.1.2');
});

test('a gap, a repetition and an older attempt leave the text alone', () => {
	let start = [frame('answer_delta', { text: 'ab', attempt: 2, offset: 0 }), frame('answer_delta', { text: 'cd', attempt: 2, offset: 2 })];
	for (let [attempt, offset] of [[2, 9], [2, 2], [1, 0], [1, 4]]) {
		assert.equal(after(...start, frame('answer_delta', { text: 'X', attempt, offset })).text, 'abcd');
	}
});

test('a reset or a new attempt starts the text again', () => {
	let view = after(frame('answer_delta', { text: 'old', attempt: 1, offset: 0 }), frame('answer_reset', { attempt: 2 }));
	assert.equal(view.text, '');
	assert.equal(reduce(view, frame('answer_delta', { text: 'new', attempt: 2, offset: 0 })).text, 'new');
	assert.equal(reduce(view, frame('answer_delta', { text: 'later', attempt: 3, offset: 0 })).text, 'later');
});

test('an error with an id ends the run, one without does not', () => {
	let error = { code: 'PEER_DOWN', message: 'Away.', retryable: true };
	assert.equal(after(frame('run_started', { warnings: [] }), frame('error', error, null)).state, 'RUNNING');
	assert.ok(isOver(after(frame('error', error, '4'))));
});

test('done sets the state and what is unknown changes nothing but the position', () => {
	assert.equal(after(frame('done', { state: 'CANCELLED' })).state, 'CANCELLED');
	let view = after(frame('invented_later', { much: 1 }, '7'));
	assert.deepEqual({ ...view, lastId: null, sessionId: null, invocationId: null }, newView('Why?'));
});

test('a message of a session looks like the run that was followed', () => {
	let message = {
		invocation_id: 'i', prompt: 'Why?', created_at: '', state: 'RUNNING', stage: 'search', last_event_id: '2',
		started: { prompt: 'Why?', warnings: ['w'], ceilings: null }, steps: [], thoughts: [], checkpoints: [], report: null, rerank: null, answer: null, error: null,
	};
	let followed = after(frame('run_started', { prompt: 'Why?', warnings: ['w'] }), frame('stage', { stage: 'search', pass: 0 }, '2'));
	assert.deepEqual(viewOfMessage('s', message), followed);
});

test('a snapshot takes the place of all that was seen and keeps the position of its frame', () => {
	let message = {
		invocation_id: 'i', prompt: 'Why?', created_at: '', state: 'COMPLETED', stage: 'verify', last_event_id: '8',
		started: null, steps: [], thoughts: [], checkpoints: [], report: null, rerank: null, answer: { markdown: 'Because.' }, error: null,
	};
	let before = { ...after(call('a', 1), frame('answer_delta', { text: 'old', attempt: 1, offset: 0 })), sent: 'interrupt_ext_1', isLast: false };
	let view = reduce(before, frame('snapshot', { ...message, sequence: 9 }, '9'));
	assert.deepEqual(view, { ...viewOfMessage('s', message), lastId: '9', isLast: false });
	assert.deepEqual([view.text, view.sent, view.link, isOver(view)], ['', null, 'live', true]);
});

let limits = calls => ({ calls, words: calls * 750, passages: calls + 5 });
let question = (number = 1) => ({
	interrupt_id: `interrupt_ext_${number}`, kind: 'budget', version: 1, message: 'Gaps.',
	payload: { extension_number: number, max_extensions: 2, gaps: ['Dose'], limits: limits(5 + 5 * number), next_limits: limits(10 + 5 * number) },
});
let asked = (number, id = '5') => frame('request_input', question(number), id);
let answered = (action, number = 1) => frame('checkpoint_answered', { interrupt_id: `interrupt_ext_${number}`, action, answered_by: 'ada' }, '6');

test('a run waits from the question to its answer', () => {
	let waiting = after(asked(1));
	assert.equal(waiting.state, 'AWAITING_INPUT');
	assert.ok(!isOver(waiting));
	assert.equal(pendingCheckpoint(waiting).interrupt_id, 'interrupt_ext_1');
	let going = reduce(waiting, answered('synthesize'));
	assert.deepEqual([going.state, pendingCheckpoint(going)], ['RUNNING', null]);
	assert.equal(pendingCheckpoint(reduce(going, asked(2))).interrupt_id, 'interrupt_ext_2');
});

test('a granted extension raises the limits, a synthesis does not', () => {
	let extended = usage(after(asked(1), answered('extend_budget')));
	assert.deepEqual([extended.callLimit, extended.wordLimit], [15, 11250]);
	assert.equal(usage(after(asked(1), answered('synthesize'))).callLimit, 0);
});

test('a decision that was not sent from here was taken elsewhere', () => {
	let ours = reduce({ ...after(asked(1)), sent: 'interrupt_ext_1' }, answered('synthesize'));
	assert.equal(ours.checkpoints[0].answered.isElsewhere, false);
	assert.equal(ours.sent, null);
	assert.equal(after(asked(1), answered('synthesize')).checkpoints[0].answered.isElsewhere, true);
});

test('a repeated question is not asked twice', () => {
	assert.equal(after(asked(1), asked(1)).checkpoints.length, 1);
});

test('a change from outside ends a run or lets it go on without its failure', () => {
	let change = what => frame('run_state', { change: what, by: 'ada' }, '9');
	let cancelled = after(asked(1), change('cancelled'));
	assert.deepEqual([cancelled.state, pendingCheckpoint(cancelled)], ['CANCELLED', null]);
	assert.equal(after(change('rewound')).state, 'REWOUND');
	let failed = after(frame('error', { code: 'X', message: 'No.', retryable: true }, '4'));
	assert.deepEqual([reduce(failed, change('retried')).state, reduce(failed, change('retried')).error], ['RUNNING', null]);
});

test('only the last run of a session that failed or was cancelled can go on', () => {
	let failed = after(frame('error', { code: 'X', message: 'No.', retryable: false }, '4'));
	assert.ok(canRetry(failed));
	assert.ok(canRetry(after(frame('done', { state: 'CANCELLED' }))));
	assert.ok(!canRetry({ ...failed, isLast: false }));
	assert.ok(!canRetry({ ...failed, error: { ...failed.error, isOurs: true } }));
	assert.ok(!canRetry({ ...newView('Why?'), state: 'FAILED' }));
	assert.ok(!canRetry(after(frame('done', { state: 'COMPLETED' }))));
});

test('a reloaded run waits at its checkpoint with the limits of its last extension', () => {
	let message = {
		invocation_id: 'i', prompt: 'Why?', state: 'AWAITING_INPUT', stage: 'search', last_event_id: '12',
		started: { warnings: [], ceilings: limits(10) }, steps: [], thoughts: [], report: null, rerank: null, answer: null, error: null,
		checkpoints: [{ ...question(1), answered: { action: 'extend_budget', answered_by: 'ada' } }, { ...question(2), answered: null }],
	};
	let view = viewOfMessage('s', message);
	assert.equal(pendingCheckpoint(view).interrupt_id, 'interrupt_ext_2');
	assert.equal(usage(view).callLimit, 15);
});

let plan = (version, text, id = '7') => frame('plan', { round: version, version, intent: 'ready', text, current_plan: text, model: 'm', time: 't' }, id);
let comment = (version, message) => frame('plan_feedback', { round: version, version, message, by: 'ada', time: 't' }, '8');
let review = version => frame('request_input', { interrupt_id: 'interrupt_plan', kind: 'plan_review', version, message: 'Review.', payload: { round: version, max_rounds: 10, current_plan: 'p' } }, '9');

test('a plan grows by rounds and the card by versions, while the run goes on waiting', () => {
	let view = after(plan(1, 'One.'), review(1), comment(2, 'More.'), plan(2, 'Two.'), review(2));
	assert.deepEqual(view.plan.rounds.map(one => [one.author, one.message]), [['planner', 'One.'], ['person', 'More.'], ['planner', 'Two.']]);
	assert.deepEqual([view.plan.version, view.plan.current_plan, view.checkpoints.length, pendingCheckpoint(view).version], [2, 'Two.', 1, 2]);
});

test('feedback that was sent from here is told apart from feedback from elsewhere', () => {
	let waiting = after(plan(1, 'One.'), review(1));
	let ours = [comment(2, 'More.'), plan(2, 'Two.')].reduce(reduce, { ...waiting, sent: 'interrupt_plan' });
	let theirs = [comment(2, 'More.'), plan(2, 'Two.')].reduce(reduce, waiting);
	assert.deepEqual([ours.plan.isElsewhere, theirs.plan.isElsewhere], [false, true]);
	// With the next version the card takes decisions again.
	assert.equal(reduce(ours, review(2)).sent, null);
});

test('a review that nobody answered in time ends the run as expired, not as failed', () => {
	let view = after(plan(1, 'One.'), review(1), frame('error', { code: 'REVIEW_EXPIRED', message: 'Too late.', retryable: false }, '10'));
	assert.equal(view.state, 'EXPIRED');
	assert.ok(isOver(view) && !canRetry(view) && pendingCheckpoint(view) === null);
});

test('why a decision was refused can still be read when the new version has come', () => {
	let refused = { ...after(plan(1, 'One.'), review(1)), refusal: 'It has changed.' };
	assert.equal(reduce(refused, review(2)).refusal, 'It has changed.');
	// Another question, or the reply to what was sent from here, is another matter.
	assert.equal(reduce(refused, asked(1)).refusal, null);
	assert.equal(reduce({ ...refused, sent: 'interrupt_plan' }, review(2)).refusal, null);
});
