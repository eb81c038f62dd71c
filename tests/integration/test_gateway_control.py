"""Runs and sessions changed from outside: cancel, retry, rewind, rename, delete."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.fakes.gateway_peers import RecordedRun, question
from tests.fakes.gateway_stage import BOB, Stage, frames, names, rest, stage_with_nats, upcoming
from zocrates.events.v1 import event_pb2 as ev

ANSWER = {"answer": ev.Answered(markdown="Because.", answered=True)}
FAILURE = {"error": ev.Failed(code="PEER_TIMEOUT", message="Slow.", retryable=True)}


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; each changes runs of its own."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats"), silence_s=0.2) as lit:
        yield lit


def told(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


async def change(stage: Stage, verb: str, run: RecordedRun, **headers: str) -> httpx.Response:
    return await stage.http.post(
        f"/sessions/{run.session_id}/{verb}",
        json={"invocation_id": run.run_id},
        headers=headers,
    )


@pytest.mark.parametrize("is_waiting", [False, True])
async def test_a_cancelled_run_ends_its_streams(stage: Stage, is_waiting: bool) -> None:
    run = stage.orchestrator.add()
    if is_waiting:
        run.record(request_input=question())
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        reply = await change(stage, "cancel", run)
        await run.publish(stage.bus, run.events[-1])
        *_, changed, done = await rest(stream)
    assert reply.json() == {
        "session_id": run.session_id,
        "invocation_id": run.run_id,
        "state": "CANCELLED",
    }
    assert (changed.name, changed.data["change"], changed.data["by"]) == (
        "run_state",
        "cancelled",
        "ada",
    )
    assert (done.name, done.data["state"]) == ("done", "CANCELLED")
    [message] = (await stage.http.get(f"/sessions/{run.session_id}")).json()["messages"]
    assert message["state"] == "CANCELLED"
    assert message["changed"] == {"change": "cancelled", "by": "ada"}
    assert "pending_hitl" not in message


async def test_a_run_that_is_over_cannot_be_cancelled(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**ANSWER)
    reply = await change(stage, "cancel", run)
    assert told(reply) == (409, "WRONG_STATE")
    assert reply.json()["detail"] == {"state": "COMPLETED"}


async def test_a_retried_run_is_streamed_from_there_and_its_failure_is_past(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**FAILURE)
    path = f"/sessions/{run.session_id}/retry"
    async with stage.http.stream("POST", path, json={"invocation_id": run.run_id}) as reply:
        stream = frames(reply)
        first = await upcoming(stream)
        assert (first.name, first.data["change"]) == ("run_state", "retried")
        [message] = (await stage.http.get(f"/sessions/{run.session_id}")).json()["messages"]
        assert (message["state"], message["error"]) == ("QUEUED", None)
        await stage.subscribed()
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]
    assert told(await change(stage, "retry", run)) == (409, "WRONG_STATE")


async def test_a_repeated_retry_attaches_to_the_first(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**FAILURE)

    async def retried(**headers: str) -> None:
        path, body = f"/sessions/{run.session_id}/retry", {"invocation_id": run.run_id}
        async with stage.http.stream("POST", path, json=body, headers=headers) as reply:
            first = await upcoming(frames(reply))
        assert (first.name, first.data["change"]) == ("run_state", "retried")

    await retried(**{"Idempotency-Key": "click"})
    await retried(**{"Idempotency-Key": "click"})
    assert len(run.events) == 3
    run.record(**FAILURE)
    await retried()
    keys = [one.idempotency_key for one in stage.orchestrator.retries[-3:]]
    assert keys[:2] == ["click", "click"]
    # A call that the channel repeats must not be a conflict with itself.
    assert keys[2].startswith("gateway-")


async def test_a_rewound_run_leaves_the_session_and_ends_its_streams(stage: Stage) -> None:
    kept = stage.orchestrator.add(prompt="First?")
    kept.record(**ANSWER)
    gone = [stage.orchestrator.add(session_id=kept.session_id, prompt=p) for p in ("2?", "3?")]
    async with stage.follow(gone[1].path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        reply = await change(stage, "rewind", gone[0])
        *_, done = await rest(stream)
    assert done.data["state"] == "REWOUND"
    body = reply.json()
    assert body["rewound"] == [run.run_id for run in gone]
    assert [message["prompt"] for message in body["session"]["messages"]] == ["First?"]


async def test_a_session_is_renamed(stage: Stage) -> None:
    run = stage.orchestrator.add()
    path = f"/sessions/{run.session_id}"
    reply = await stage.http.patch(path, json={"title": "  Über Schlaf "})
    assert (reply.status_code, reply.json()["title"]) == (200, "Über Schlaf")
    assert reply.json()["state"] == "RUNNING"
    assert (await stage.http.get(path)).json()["title"] == "Über Schlaf"


@pytest.mark.parametrize("title", ["", "  ", "x" * 201, 5, None, "a\0b"])
async def test_a_title_has_a_measure(stage: Stage, title: Any) -> None:
    run = stage.orchestrator.add()
    reply = await stage.http.patch(f"/sessions/{run.session_id}", json={"title": title})
    assert told(reply) == (400, "INVALID_REQUEST")


async def test_a_deleted_session_is_gone_and_so_are_its_streams(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        reply = await stage.http.delete(f"/sessions/{run.session_id}")
        assert (reply.status_code, reply.content) == (204, b"")
        [told_last] = await rest(stream)
    assert (told_last.name, told_last.data["state"]) == ("done", "DELETED")
    assert told_last.position == "1"
    again = await stage.http.delete(f"/sessions/{run.session_id}")
    assert told(again) == (404, "UNKNOWN_SESSION")


@pytest.mark.parametrize("verb", ["cancel", "retry", "rewind"])
@pytest.mark.parametrize(
    "body", [{}, {"invocation_id": "x"}, {"invocation_id": "a" * 32, "force": True}, []]
)
async def test_a_malformed_change_is_refused(stage: Stage, verb: str, body: Any) -> None:
    run = stage.orchestrator.add()
    reply = await stage.http.post(f"/sessions/{run.session_id}/{verb}", json=body)
    assert told(reply) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("verb", ["cancel", "retry", "rewind"])
async def test_nobody_changes_what_is_another_owners(stage: Stage, verb: str) -> None:
    run = stage.orchestrator.add()
    reply = await change(stage, verb, run, **{"X-API-Key": BOB})
    assert told(reply) == (404, "UNKNOWN_RUN")
    session = f"/sessions/{run.session_id}"
    for reply in (
        await stage.http.patch(session, json={"title": "x"}, headers={"X-API-Key": BOB}),
        await stage.http.delete(session, headers={"X-API-Key": BOB}),
    ):
        assert told(reply) == (404, "UNKNOWN_SESSION")
