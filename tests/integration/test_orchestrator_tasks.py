"""Tasks: many beside each other in a session, each named by its run id alone."""

import json
from collections.abc import AsyncIterator, Awaitable

import grpc
import pytest

from services.orchestrator.settings import Settings
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import Chat, refusal
from tests.integration.task_calls import TaskCaller, task_caller
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2
from zocrates.orchestrator.v1 import task_pb2 as pb

REVIEWED = chat_pb2.TurnOptions(review_plan=True)


@pytest.fixture
async def tasks(chat: Chat, settings: Settings) -> AsyncIterator[TaskCaller]:
    async with task_caller(settings) as caller:
        yield caller


async def test_a_task_is_answered_without_asking_and_ends_with_a_row_that_says_so(
    tasks: TaskCaller,
) -> None:
    submitted = await tasks.submit(QUESTION)
    task = await tasks.completed(submitted.run_id)
    assert task.answer.answered
    assert task.options.hitl_enabled is False
    assert (task.query, task.session_id) == (QUESTION, submitted.session_id)
    assert task.create_time == submitted.create_time
    assert task.create_time.ToDatetime() <= task.start_time.ToDatetime()
    assert task.start_time.ToDatetime() <= task.finish_time.ToDatetime()
    assert task.usage.input_tokens == task.answer.usage.input_tokens > 0
    answer, end = (await tasks.events(submitted.run_id))[-2:]
    assert answer.WhichOneof("payload") == "answer"
    assert end.run_state.change == event_pb2.RUN_STATE_CHANGE_COMPLETED
    assert end.run_state.by == "system"
    assert task.last_sequence == end.sequence


async def test_many_tasks_run_beside_each_other_in_one_session(tasks: TaskCaller) -> None:
    runs = [await tasks.submit(QUESTION, session="desk:1.a_b-c") for _ in range(3)]
    assert len({one.session_id for one in runs}) == 1
    assert {one.external_session_id for one in runs} == {"desk:1.a_b-c"}
    assert len({one.run_id for one in runs}) == 3
    for one in runs:
        await tasks.completed(one.run_id)
    by_own_id = await tasks.submit(QUESTION, session=runs[0].session_id)
    assert by_own_id.session_id == runs[0].session_id
    assert by_own_id.external_session_id == "desk:1.a_b-c"


async def test_a_session_id_of_somebody_else_is_a_new_session(tasks: TaskCaller) -> None:
    hers = await tasks.submit(QUESTION, session="shared")
    bo = tasks.another("bo")
    his = await bo.submit(QUESTION, session="shared")
    assert his.session_id != hers.session_id
    guessed = await bo.submit(QUESTION, session=hers.session_id)
    assert guessed.session_id != hers.session_id
    assert guessed.external_session_id == hers.session_id


async def test_nothing_of_another_owner_exists(tasks: TaskCaller) -> None:
    submitted = await tasks.submit(QUESTION, session="mine", options=REVIEWED)
    await tasks.waiting(submitted.run_id)
    bo, run_id = tasks.another("bo"), submitted.run_id
    calls: dict[str, list[Awaitable[object]]] = {
        "UNKNOWN_RUN": [bo.get(run_id), bo.cancel(run_id), bo.pause(run_id), bo.control(run_id)],
        "UNKNOWN_SESSION": [bo.session("mine"), bo.session(submitted.session_id)],
        "REVIEW_NOT_FOUND": [bo.review(run_id), bo.comment(run_id, "No."), bo.approve(run_id)],
        "APPROVAL_NOT_FOUND": [bo.decide_approval(run_id, "interrupt_plan", approved=True)],
    }
    for reason, attempts in calls.items():
        for attempt in attempts:
            failure = await refusal(attempt)
            assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, reason)
    assert (await bo.listed()).total_count == 0
    assert (await bo.listed(session="mine")).total_count == 0
    assert (await bo.sessions()).total_count == 0


async def test_what_was_submitted_is_given_back_as_it_was(tasks: TaskCaller) -> None:
    context = '{"force_research": true, "note":  "ünïcode"}'
    submitted = await tasks.submit(
        QUESTION,
        context=context,
        mode="standard",
        models=pb.ModelWish(tier="small", model="m", provider="p"),
    )
    task = await tasks.get(submitted.run_id)
    assert (task.context, task.mode) == (context, "standard")
    assert (task.models.tier, task.models.model, task.models.provider) == ("small", "m", "p")


async def test_the_context_of_an_approved_task_has_its_plan_and_conversation(
    tasks: TaskCaller,
) -> None:
    submitted = await tasks.submit(QUESTION, context='{"a": 1}', options=REVIEWED)
    await tasks.waiting(submitted.run_id)
    await tasks.comment(submitted.run_id, "Naps too.")
    await tasks.approve(submitted.run_id, 2)
    context = json.loads((await tasks.completed(submitted.run_id)).context)
    assert context["a"] == 1
    assert context["confirmed_plan"] == "1. Look for it. (plan 2)"
    said = context["review_conversation"]
    assert [(one["role"], one["message"]) for one in said] == [
        ("assistant", "1. Look for it. (plan 1)"),
        ("user", "Naps too."),
        ("assistant", "1. Look for it. (plan 2)"),
    ]
    assert all(one["timestamp"].endswith("Z") for one in said)


async def test_a_key_submits_once(tasks: TaskCaller) -> None:
    first = await tasks.submit(QUESTION, idempotency_key="k", session="s")
    again = await tasks.submit(QUESTION, idempotency_key="k", session="s")
    assert (again.run_id, again.session_id) == (first.run_id, first.session_id)
    assert (first.replayed, again.replayed) == (False, True)
    failure = await refusal(tasks.submit("Other?", idempotency_key="k", session="s"))
    assert failure.reason == "IDEMPOTENCY_MISMATCH"


async def test_clamps_are_told_to_programs_too(tasks: TaskCaller) -> None:
    options = chat_pb2.TurnOptions(review_plan=True, max_extensions=9)
    options.review_timeout.FromSeconds(30 * 24 * 3600)
    submitted = await tasks.submit(QUESTION, options=options)
    told = [(one.code, one.field, one.given, one.used) for one in submitted.warnings]
    assert told == [
        ("MAX_EXTENSIONS_CLAMPED", "max_extensions", "9", "2"),
        ("REVIEW_TIMEOUT_CLAMPED", "review_timeout", "2592000", "604800"),
    ]
    started = (await tasks.events(submitted.run_id))[0].run_started
    assert len(started.warnings) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"session": "no spaces"},
        {"session": "x" * 129},
        {"context": "[]"},
        {"context": "{"},
        {"context": '{"a": "' + "x" * 1024**2 + '"}'},
        {"mode": "x" * 201},
        {"idempotency_key": "ü"},
    ],
)
async def test_a_malformed_task_is_refused(tasks: TaskCaller, fields: dict[str, str]) -> None:
    failure = await refusal(tasks.submit(QUESTION, **fields))
    assert (failure.code, failure.reason) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
    )


async def test_lists_are_counted_filtered_and_paged(tasks: TaskCaller) -> None:
    runs = [await tasks.submit(f"{QUESTION} {n}", session=f"s{n % 2}") for n in range(5)]
    for one in runs:
        await tasks.until(one.run_id, chat_pb2.RUN_STATE_COMPLETED, chat_pb2.RUN_STATE_FAILED)
    page = await tasks.listed(limit=2, offset=1)
    assert page.total_count == 5
    assert [one.run_id for one in page.tasks] == [runs[3].run_id, runs[2].run_id]
    assert not any(one.HasField("answer") for one in page.tasks)
    of_session = await tasks.listed(session="s1")
    assert {one.run_id for one in of_session.tasks} == {runs[1].run_id, runs[3].run_id}
    assert of_session.total_count == 2
    by_own_id = await tasks.listed(session=runs[1].session_id, with_answers=True)
    assert by_own_id.total_count == 2
    assert all(one.HasField("answer") for one in by_own_id.tasks)
    assert (await tasks.listed(states=[chat_pb2.RUN_STATE_QUEUED])).total_count == 0
    assert (await tasks.listed(session="unknown")).total_count == 0
    assert (await refusal(tasks.listed(offset=-1))).reason == "INVALID_REQUEST"


async def test_a_session_tells_what_its_tasks_came_to(
    tasks: TaskCaller, peers: ResearchPeers
) -> None:
    first = await tasks.submit(
        QUESTION,
        session="s",
        mode="standard",
        options=chat_pb2.TurnOptions(strategy=event_pb2.STRATEGY_QUICK),
    )
    done = await tasks.completed(first.run_id)
    second = await tasks.submit("hello", session="s", options=REVIEWED)
    await tasks.waiting(second.run_id)
    await tasks.cancel(second.run_id)
    session = await tasks.session("s")
    assert (session.session_id, session.external_session_id) == (first.session_id, "s")
    assert (session.run_count, session.successful_count, session.failed_count) == (2, 1, 0)
    assert session.latest_query == "hello"
    assert session.latest_state == chat_pb2.RUN_STATE_CANCELLED
    assert session.first_mode == "standard"
    assert session.usage.input_tokens > done.usage.input_tokens
    assert not session.is_active
    assert (await tasks.session(first.session_id)) == session
    assert list((await tasks.sessions()).sessions) == [session]


async def test_a_task_is_cancelled_once_and_says_why(tasks: TaskCaller) -> None:
    submitted = await tasks.submit(QUESTION, options=REVIEWED)
    run_id = submitted.run_id
    await tasks.waiting(run_id)
    cancelled = await tasks.cancel(run_id, reason="Too slow.", idempotency_key="k")
    assert not cancelled.replayed
    state = await tasks.control(run_id)
    assert (state.is_cancelled, state.is_paused) == (True, False)
    assert (state.cancel_reason, state.cancelled_by) == ("Too slow.", "ada")
    end = (await tasks.events(run_id))[-1].run_state
    assert (end.change, end.reason) == (event_pb2.RUN_STATE_CHANGE_CANCELLED, "Too slow.")
    assert (await tasks.cancel(run_id, idempotency_key="k")).replayed
    failure = await refusal(tasks.cancel(run_id))
    assert (failure.reason, failure.facts["state"]) == ("WRONG_STATE", "CANCELLED")
    assert (await refusal(tasks.review(run_id))).reason == "REVIEW_NOT_FOUND"


async def test_a_waiting_task_that_is_paused_takes_its_decision_and_pauses_then(
    tasks: TaskCaller,
) -> None:
    run_id = (await tasks.submit(QUESTION, options=REVIEWED)).run_id
    await tasks.waiting(run_id)
    await tasks.pause(run_id, reason="Lunch.", idempotency_key="k")
    assert (await tasks.pause(run_id, idempotency_key="k")).replayed
    failure = await refusal(tasks.pause(run_id))
    assert (failure.reason, failure.facts["paused"]) == ("WRONG_STATE", "true")
    await tasks.approve(run_id)
    task = await tasks.until(run_id, chat_pb2.RUN_STATE_PAUSED)
    assert not task.HasField("pending")
    state = await tasks.control(run_id)
    assert (state.is_paused, state.pause_reason, state.paused_by) == (True, "Lunch.", "ada")
    assert state.HasField("pause_time")
    told = (await tasks.events(run_id))[-1].run_state
    assert (told.change, told.reason) == (event_pb2.RUN_STATE_CHANGE_PAUSED, "Lunch.")
    await tasks.resume(run_id)
    await tasks.completed(run_id)
    assert await tasks.control(run_id) == pb.GetControlStateResponse()
    failure = await refusal(tasks.resume(run_id))
    assert (failure.reason, failure.facts["paused"]) == ("WRONG_STATE", "false")


async def test_a_failed_task_says_what_went_wrong(tasks: TaskCaller, peers: ResearchPeers) -> None:
    await peers.stop("synth")
    run_id = (await tasks.submit(QUESTION)).run_id
    task = await tasks.until(run_id, chat_pb2.RUN_STATE_FAILED)
    assert task.error.code == "PEER_UNAVAILABLE"
    assert not task.HasField("answer")
    error, end = (await tasks.events(run_id))[-2:]
    assert error.HasField("error")
    assert end.run_state.change == event_pb2.RUN_STATE_CHANGE_FAILED


async def test_a_task_beside_a_chat_turn_disturbs_nothing(tasks: TaskCaller, chat: Chat) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    submitted = await tasks.submit(QUESTION, session=turn.session_id)
    assert submitted.session_id == turn.session_id
    await tasks.completed(submitted.run_id)
    await chat.waiting(turn)
    assert await chat.rewind(turn) == [turn.run_id]
    assert (await tasks.get(submitted.run_id)).state == chat_pb2.RUN_STATE_COMPLETED


async def test_research_can_be_asked_for_where_the_session_could_answer(
    tasks: TaskCaller,
) -> None:
    direct = await tasks.submit("hello")
    assert (await tasks.completed(direct.run_id)).answer.markdown == "Hello."
    forced = await tasks.submit("hello", options=chat_pb2.TurnOptions(force_research=True))
    assert (await tasks.completed(forced.run_id)).answer.markdown != "Hello."
