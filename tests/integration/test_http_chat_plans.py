"""A plan reviewed in a conversation: the same review as a task's, told on the chat wire."""

import asyncio
from typing import Any

from tests.fakes.gateway_stage import Frame, frames, names
from tests.integration.task_stage import TaskWire

OPTIONS = {"review_plan": True, "hitl_enabled": False}


async def streamed(wire: TaskWire, path: str, body: dict[str, Any]) -> list[Frame]:
    """All that the reply to a POST tells."""
    async with asyncio.timeout(20), wire.http.stream("POST", path, json=body) as reply:
        assert reply.status_code == 200, await reply.aread()
        return [frame async for frame in frames(reply) if frame.name != "answer_delta"]


async def asked(wire: TaskWire, **options: Any) -> list[Frame]:
    body = {"prompt": "Does sleep help?", "options": {**OPTIONS, **options}}
    return await streamed(wire, "/chat", body)


def decision(question: Frame, action: str, version: int | None, **more: str) -> dict[str, Any]:
    named = {name: question.data[name] for name in ("session_id", "invocation_id", "interrupt_id")}
    version_seen = {} if version is None else {"expected_version": version}
    return {**named, **version_seen, "response": {"action": action, **more}}


async def message(wire: TaskWire, question: Frame) -> dict[str, Any]:
    session = (await wire.http.get(f"/sessions/{question.data['session_id']}")).json()
    [found] = session["messages"]
    assert isinstance(found, dict)
    return found


async def test_a_turn_stops_at_a_plan_takes_feedback_and_goes_on_when_it_is_approved(
    wire: TaskWire,
) -> None:
    *_, plan, question, done = await asked(wire, strategy="quick")
    assert (plan.name, plan.data["round"], plan.data["intent"]) == ("plan", 1, "ready")
    assert (question.name, question.data["kind"]) == ("request_input", "plan_review")
    assert question.data["payload"]["current_plan"] == plan.data["text"]
    assert done.data["state"] == "AWAITING_INPUT"
    waiting = await message(wire, question)
    assert waiting["pending_hitl"]["interrupt_id"] == "interrupt_plan"
    assert waiting["started"]["options"]["strategy"] == "quick"

    comment = decision(question, "feedback", 1, message="Dose too.")
    seen = await streamed(wire, "/chat/resume", comment)
    assert names(seen) == ["plan_feedback", "plan", "request_input", "done"]
    assert [frame.data.get("version") for frame in seen[:3]] == [2, 2, 2]
    told = (await message(wire, question))["plan"]
    assert [one["author"] for one in told["rounds"]] == ["planner", "person", "planner"]

    stale = await wire.http.post("/chat/resume", json=decision(question, "approve", 1))
    assert (stale.status_code, stale.json()["code"]) == (409, "VERSION_CONFLICT")
    rest = await streamed(wire, "/chat/resume", decision(question, "approve", 2))
    assert (rest[0].name, rest[0].data["action"]) == ("checkpoint_answered", "approve")
    assert rest[-1].data["state"] == "COMPLETED"
    ended = await message(wire, question)
    assert "pending_hitl" not in ended
    assert wire.peers.synth.investigations[-1].confirmed_plan == told["text"]


async def test_a_plan_is_decided_on_in_its_own_ways_and_for_a_version(wire: TaskWire) -> None:
    question = (await asked(wire))[-2]
    refusals = {}
    for action, version in (("extend_budget", 1), ("approve", None), ("feedback", None)):
        reply = await wire.http.post("/chat/resume", json=decision(question, action, version))
        refusals[action] = (reply.status_code, reply.json()["code"])
    assert refusals == {
        "extend_budget": (422, "ACTION_NOT_OFFERED"),
        "approve": (400, "INVALID_REQUEST"),
        "feedback": (400, "INVALID_REQUEST"),
    }
    empty = await wire.http.post("/chat/resume", json=decision(question, "feedback", 1))
    assert (empty.status_code, empty.json()["code"]) == (400, "MESSAGE_REQUIRED")


async def test_a_review_of_a_turn_waits_for_ever_unless_the_request_says_how_long(
    wire: TaskWire,
) -> None:
    assert "expires_at" not in (await asked(wire))[-2].data
    question = (await asked(wire, review_timeout=1))[-2]
    assert question.data["expires_at"]
    named = (question.data["session_id"], question.data["invocation_id"])
    path = "/sessions/{}/runs/{}/events".format(*named)
    async with asyncio.timeout(20), wire.http.stream("GET", path) as reply:
        *_, error, done = [frame async for frame in frames(reply)]
    assert (error.name, error.data["code"]) == ("error", "REVIEW_EXPIRED")
    assert done.data["state"] == "EXPIRED"
    late = await wire.http.post("/chat/resume", json=decision(question, "approve", 1))
    assert (late.status_code, late.json()["code"]) == (410, "CHECKPOINT_EXPIRED")
