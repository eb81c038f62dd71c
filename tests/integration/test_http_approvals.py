"""Consent to a step over HTTP: found in the task and its events, given or refused, once."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from services.orchestrator.consent import Consent
from tests.integration.orchestrator_stage import eventually
from tests.integration.task_stage import API, TaskStage, TaskWire, task_stage

ASKING = Consent(enabled=True, complexity_threshold=0)


@pytest.fixture(scope="module")
async def tasks(
    shared_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TaskStage]:
    folder = tmp_path_factory.mktemp("nats")
    async with task_stage(shared_database_url, folder, consent=ASKING) as shared:
        yield shared


async def waiting(wire: TaskWire) -> tuple[str, str]:
    """A task that waits for consent, and the id to decide under."""
    task_id = await wire.submit(context={"force_research": True})

    async def is_asked() -> bool:
        return "approval_id" in await wire.task(task_id)

    await eventually(is_asked, "the question")
    return task_id, str((await wire.task(task_id))["approval_id"])


async def decide(wire: TaskWire, key: str | None = None, **body: Any) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await wire.http.post(f"{API}/approvals/decision", json=body, headers=headers)


async def test_an_approved_step_is_taken_and_the_decision_is_told(wire: TaskWire) -> None:
    task_id, approval_id = await waiting(wire)
    asked = {"workflow_id": task_id, "approval_id": approval_id, "approved": True}
    first = await decide(wire, "click", **asked, feedback="Go on.")
    assert (first.status_code, first.json()["status"]) == (200, "sent")
    assert first.json()["success"]
    again = await decide(wire, "click", **asked, feedback="Go on.")
    assert again.json() == first.json()
    assert again.headers["X-Idempotency-Cached"] == "true"
    late = await decide(wire, **{**asked, "approved": False})
    assert (late.status_code, late.json()["success"]) == (200, False)
    assert (await wire.ended(task_id))["result"]
    told = {
        frame.kind: frame.data["payload"]
        for frame in await wire.stream(task_id, types="APPROVAL_REQUESTED,APPROVAL_DECISION")
    }
    assert told["APPROVAL_REQUESTED"]["approval_id"] == approval_id
    assert told["APPROVAL_DECISION"]["approved"] is True
    assert told["APPROVAL_DECISION"]["approved_by"] == wire.owner


async def test_a_refused_search_ends_the_task_without_one(wire: TaskWire) -> None:
    task_id, approval_id = await waiting(wire)
    reply = await decide(wire, workflow_id=task_id, approval_id=approval_id, approved=False)
    assert reply.json()["success"]
    assert (await wire.ended(task_id))["status"] == "TASK_STATUS_COMPLETED"
    assert not wire.peers.synth.investigations


async def test_a_decision_needs_its_ids_and_says_what_it_is(wire: TaskWire) -> None:
    task_id, approval_id = await waiting(wire)
    whole = {"workflow_id": task_id, "approval_id": approval_id, "approved": True}
    for left_out in ("workflow_id", "approval_id"):
        body = {name: value for name, value in whole.items() if name != left_out}
        reply = await decide(wire, **body)
        assert reply.json()["error"] == "workflow_id and approval_id are required"
    missing = await decide(wire, workflow_id=task_id, approval_id=approval_id)
    assert (missing.status_code, missing.json()["error"]) == (400, "approved is required")
    for wrong in ({"approval_id": "nothing"}, {"workflow_id": "task-1"}):
        reply = await decide(wire, **{**whole, **wrong})
        assert (reply.status_code, reply.json()["error"]) == (404, "Workflow or approval not found")
