"""Checkpoints on the wire: asking, deciding, and late, wrong and repeated answers."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest

from tests.fakes.gateway_peers import RecordedRun, question, refusal
from tests.fakes.gateway_stage import (
    BOB,
    Frame,
    Stage,
    frames,
    names,
    rest,
    stage_with_nats,
    upcoming,
)
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import chat_pb2 as chat

SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
ANSWER = {"answer": ev.Answered(markdown="Because.", answered=True)}
EXTEND = {"action": "extend_budget", "guidance": "  Table 3 \n"}


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; each asks about runs of its own."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats"), silence_s=0.2) as lit:
        yield lit


@pytest.fixture(autouse=True)
def willing(stage: Stage) -> None:
    stage.orchestrator.refuses = None


def waiting(stage: Stage, **fields: Any) -> RecordedRun:
    run = stage.orchestrator.add(**fields)
    run.record(request_input=question())
    return run


def decision(run: RecordedRun, response: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "session_id": run.session_id,
        "invocation_id": run.run_id,
        "interrupt_id": "interrupt_ext_1",
        "response": EXTEND if response is None else response,
        **fields,
    }


def told(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


async def resumed(stage: Stage, body: dict[str, Any], **headers: str) -> list[Frame]:
    async with stage.http.stream("POST", "/chat/resume", json=body, headers=headers) as reply:
        assert reply.status_code == 200
        return await rest(frames(reply))


async def test_a_question_ends_with_what_a_person_is_asked(stage: Stage) -> None:
    async with stage.http.stream("POST", "/chat", json={"prompt": "Why?"}) as reply:
        stream = frames(reply)
        first = await upcoming(stream)
        run = stage.orchestrator.runs[first.data["invocation_id"]]
        await stage.subscribed()
        await run.tell(stage.bus, request_input=question())
        asked, done = await rest(stream)
    assert (asked.name, done.name) == ("request_input", "done")
    assert (asked.position, done.position) == ("2", "2")
    assert done.data["state"] == "AWAITING_INPUT"
    assert asked.data["kind"] == "budget"
    assert asked.data["response_schema"]["required"] == ["action"]
    payload = asked.data["payload"]
    assert payload["trigger"] == "agent"
    assert payload["gaps"] == ["Older adults", "Dose"]
    assert payload["used"] == {
        "calls": 10,
        "words": 6200,
        "passages_found": 31,
        "documents": 7,
        "tokens": 0,
    }
    assert payload["next_limits"] == {"calls": 15, "words": 11250, "passages": 20, "tokens": 0}


async def test_a_decision_is_passed_on_and_continues_the_same_run(stage: Stage) -> None:
    run = waiting(stage)
    body = decision(run, expected_version=1)
    headers = {"Idempotency-Key": "click-1"}
    async with stage.http.stream("POST", "/chat/resume", json=body, headers=headers) as reply:
        stream = frames(reply)
        answered = await upcoming(stream)
        await stage.subscribed()
        await run.tell(stage.bus, **SEARCHING)
        await run.tell(stage.bus, **ANSWER)
        after = await rest(stream)
    sent = stage.orchestrator.decisions[-1]
    assert sent.action == ev.DECISION_ACTION_EXTEND_BUDGET
    assert (sent.guidance, sent.expected_version) == ("Table 3", 1)
    assert sent.idempotency_key == "click-1"
    assert (answered.name, answered.position) == ("checkpoint_answered", "3")
    assert (answered.data["action"], answered.data["answered_by"]) == ("extend_budget", "ada")
    assert answered.data["invocation_id"] == run.run_id
    assert names(after) == ["stage", "answer", "done"]


async def test_a_continuation_ends_at_the_next_checkpoint(stage: Stage) -> None:
    run = waiting(stage)
    async with stage.http.stream("POST", "/chat/resume", json=decision(run)) as reply:
        stream = frames(reply)
        await upcoming(stream)
        await stage.subscribed()
        await run.tell(stage.bus, request_input=question(2))
        asked, done = await rest(stream)
    assert asked.data["interrupt_id"] == "interrupt_ext_2"
    assert done.data["state"] == "AWAITING_INPUT"


async def test_each_decision_without_a_key_gets_its_own(stage: Stage) -> None:
    for _ in range(2):
        run = waiting(stage)
        async with stage.http.stream("POST", "/chat/resume", json=decision(run)) as reply:
            await upcoming(frames(reply))
    one, two = (sent.idempotency_key for sent in stage.orchestrator.decisions[-2:])
    assert one != two
    assert not stage.orchestrator.decisions[-1].HasField("expected_version")


async def test_a_late_decision_is_told_who_decided_what_and_when(stage: Stage) -> None:
    run = waiting(stage)
    run.answer("synthesize")
    reply = await stage.http.post("/chat/resume", json=decision(run))
    assert told(reply) == (409, "STALE_INTERRUPT")
    assert reply.json()["detail"] == {
        "action": "synthesize",
        "answered_by": "bob",
        "answered_at": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (409, "STALE_INTERRUPT"),
        (409, "VERSION_CONFLICT"),
        (410, "CHECKPOINT_EXPIRED"),
        (422, "ACTION_NOT_OFFERED"),
        (422, "IDEMPOTENCY_MISMATCH"),
        (404, "UNKNOWN_RUN"),
        (503, "PEER_DOWN"),
    ],
)
async def test_a_refused_decision_has_its_code(stage: Stage, status: int, code: str) -> None:
    run = waiting(stage)
    stage.orchestrator.refuses = refusal(grpc.StatusCode.FAILED_PRECONDITION, code)
    assert told(await stage.http.post("/chat/resume", json=decision(run))) == (status, code)


@pytest.mark.parametrize("action", ["dance", "", "Approve"])
async def test_what_no_checkpoint_offers_is_refused(stage: Stage, action: str) -> None:
    run = waiting(stage)
    before = len(stage.orchestrator.decisions)
    reply = await stage.http.post("/chat/resume", json=decision(run, {"action": action}))
    assert told(reply) == (422, "ACTION_NOT_OFFERED")
    offered = "extend_budget, synthesize, feedback, approve, reject"
    assert reply.json()["detail"]["offered"] == offered
    assert len(stage.orchestrator.decisions) == before


async def test_feedback_on_a_plan_is_handed_on_with_the_version_that_was_seen(stage: Stage) -> None:
    run = waiting(stage)
    body = decision(run, {"action": "feedback", "message": "Dose too."}) | {"expected_version": 1}
    async with stage.http.stream("POST", "/chat/resume", json=body) as reply:
        assert reply.status_code == 200
    sent = stage.orchestrator.decisions[-1]
    assert sent.action == ev.DECISION_ACTION_FEEDBACK
    assert (sent.message, sent.guidance, sent.expected_version) == ("Dose too.", "", 1)


@pytest.mark.parametrize(
    "change",
    [
        {"response": {}},
        {"response": "synthesize"},
        {"response": {"action": 1}},
        {"response": {"action": "synthesize", "budget": 100}},
        {"response": {"action": "extend_budget", "guidance": "x" * 2001}},
        {"response": {"action": "extend_budget", "guidance": "\0"}},
        {"response": {"action": "extend_budget", "message": "to nobody"}},
        {"session_id": "session-1"},
        {"invocation_id": None},
        {"interrupt_id": "../ext"},
        {"expected_version": "1"},
        {"expected_version": 0},
        {"expected_version": 2**31},
        {"prompt": "more"},
    ],
)
async def test_a_malformed_decision_reaches_nobody(stage: Stage, change: dict[str, Any]) -> None:
    run = waiting(stage)
    before = len(stage.orchestrator.decisions)
    reply = await stage.http.post("/chat/resume", json=decision(run) | change)
    assert told(reply) == (400, "INVALID_REQUEST")
    assert next(iter(change)) in reply.json()["error"]
    assert len(stage.orchestrator.decisions) == before
    assert run.pending is not None


async def test_a_run_of_another_owner_cannot_be_decided(stage: Stage) -> None:
    run = waiting(stage)
    reply = await stage.http.post("/chat/resume", json=decision(run), headers={"X-API-Key": BOB})
    assert told(reply) == (404, "UNKNOWN_RUN")


async def test_a_question_to_a_waiting_session_is_told_what_to_do(stage: Stage) -> None:
    run = waiting(stage)
    reply = await stage.http.post("/chat", json={"prompt": "More?", "session_id": run.session_id})
    assert told(reply) == (409, "PENDING_CHECKPOINT")
    assert reply.json()["detail"] == {
        "interrupt_id": "interrupt_ext_1",
        "invocation_id": run.run_id,
    }
    assert "resolve" in reply.json()["error"]
    assert "rewind" in reply.json()["error"]


async def test_the_stream_of_a_run_goes_on_through_its_checkpoints(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        for extension, action in ((1, "extend_budget"), (2, "synthesize")):
            await run.tell(stage.bus, request_input=question(extension))
            assert (await upcoming(stream)).name == "request_input"
            run.answer(action)
            await run.publish(stage.bus, run.events[-1])
            assert (await upcoming(stream)).data["action"] == action
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]


async def test_a_replayed_question_goes_past_checkpoints_that_were_answered(stage: Stage) -> None:
    run = waiting(stage)
    body = decision(run)
    async with stage.http.stream("POST", "/chat/resume", json=body) as reply:
        await upcoming(frames(reply))
    run.record(request_input=question(2))
    run.answer("synthesize")
    run.record(**ANSWER)
    async with stage.follow(run.path) as stream:
        assert names(await rest(stream)) == [
            "run_started",
            "request_input",
            "checkpoint_answered",
            "request_input",
            "checkpoint_answered",
            "answer",
            "done",
        ]


async def test_a_session_shows_its_pending_checkpoint_exactly_while_it_waits(stage: Stage) -> None:
    run = waiting(stage)
    [message] = (await stage.http.get(f"/sessions/{run.session_id}")).json()["messages"]
    assert message["state"] == "AWAITING_INPUT"
    pending = message["pending_hitl"]
    assert set(pending) == {
        *("interrupt_id", "invocation_id", "kind", "version", "message"),
        *("payload", "response_schema"),
    }
    assert pending["interrupt_id"] == "interrupt_ext_1"
    assert pending["invocation_id"] == run.run_id
    assert (pending["kind"], pending["version"]) == ("budget", 1)
    assert pending["payload"]["limits"]["calls"] == 10
    assert pending["response_schema"]["type"] == "object"
    run.answer("extend_budget", "Table 3")
    [message] = (await stage.http.get(f"/sessions/{run.session_id}")).json()["messages"]
    assert "pending_hitl" not in message
    [past] = message["checkpoints"]
    assert past["answered"]["guidance"] == "Table 3"
    assert past["answered"]["action"] == "extend_budget"


async def test_a_checkpoint_is_read_with_its_evidence(stage: Stage) -> None:
    run = waiting(stage, owner="bob")
    for number, library in enumerate(("user", "groups/7")):
        item = corpus.ItemRef(library=library, key="ITEM1111")
        passage = corpus.Passage(
            passage_id=f"{number:08x}",
            text="Naps helped.",
            document=corpus.Document(item=item, title="On naps", attachment_key="ATTA2222"),
        )
        stage.orchestrator.evidence[run.run_id, passage.passage_id] = passage
    path = f"/sessions/{run.session_id}/runs/{run.run_id}/checkpoint"
    checkpoint = (await stage.http.get(path, headers={"X-API-Key": BOB})).json()
    assert checkpoint["interrupt_id"] == "interrupt_ext_1"
    snapshot = checkpoint["snapshot"]
    assert snapshot["ceilings"] == {"calls": 10, "words": 7500, "passages": 15, "tokens": 0}
    assert (snapshot["call_count"], snapshot["completed_extensions"]) == (10, [1])
    # Bob may not read the library "user" any more.
    assert [one["library"] for one in snapshot["evidence"]] == ["groups/7"]
    assert snapshot["evidence"][0]["text"] == "Naps helped."
    run.answer("synthesize")
    gone = await stage.http.get(path, headers={"X-API-Key": BOB})
    assert told(gone) == (404, "NO_PENDING_CHECKPOINT")
    assert told(await stage.http.get(path)) == (404, "UNKNOWN_RUN")


async def test_a_run_that_waited_and_expired_says_who_decided(stage: Stage) -> None:
    run = waiting(stage)
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        assert (await upcoming(stream)).name == "request_input"
        await stage.subscribed()
        run.answer("synthesize", by="expiry")
        await run.publish(stage.bus, run.events[-1])
        assert (await upcoming(stream)).data["answered_by"] == "expiry"
    assert run.state == chat.RUN_STATE_QUEUED
