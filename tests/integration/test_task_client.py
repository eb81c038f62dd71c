"""Our own client of the task wire, against a real gateway before a real orchestrator."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.client import Client
from gateway.connection import Refused
from gateway.location import Location
from gateway.sse import ServerEvent
from gateway.task_client import ANY
from tests.integration.orchestrator_stage import eventually
from tests.integration.task_stage import REVIEWED, TaskStage, TaskWire, gateway_to, key_of
from tests.servers import free_port


@pytest.fixture
async def client(wire: TaskWire) -> AsyncIterator[Client]:
    location = Location(base_url=str(wire.http.base_url), api_key=key_of(wire.owner))
    async with Client(location) as opened:
        yield opened


async def under_review(client: Client) -> str:
    task = await client.tasks.submit("Does sleep help?", context=REVIEWED, session_id="mine")
    await wire_ready(client, task.task_id)
    return task.task_id


async def wire_ready(client: Client, task_id: str) -> None:
    async def is_ready() -> bool:
        return (await client.tasks.get(task_id)).waiting_for is not None

    await eventually(is_ready, "the plan")


async def test_a_review_goes_through_its_versions_without_naming_them(client: Client) -> None:
    task_id = await under_review(client)
    assert (await client.tasks.feedback(task_id, "Dose too.")).version == 2
    assert (await client.tasks.feedback(task_id, "Age too.")).plan.round == 3
    assert (await client.tasks.approve(task_id)).status == "approved"
    task = await asyncio.wait_for(client.tasks.wait(task_id), 20)
    assert (task.status, task.session_id) == ("TASK_STATUS_COMPLETED", "mine")
    assert task.context is not None
    assert task.context["confirmed_plan"] == "1. Look for it. (plan 3)"
    events = await client.tasks.events(task_id)
    assert "RESEARCH_PLAN_APPROVED" in [event.type for event in events.events]
    assert [one.task_id for one in (await client.tasks.history("mine")).tasks] == [task_id]
    assert (await client.tasks.list()).total_count == 1
    assert (await client.tasks.sessions()).total_count == 1


async def test_who_saw_an_older_version_is_told_so_unless_any_will_do(
    wire: TaskWire, client: Client
) -> None:
    task_id = await under_review(client)
    await client.tasks.review(task_id)
    await wire.review(task_id, "feedback", message="From elsewhere.")
    with pytest.raises(Refused) as late:
        await client.tasks.approve(task_id)
    assert (late.value.status, late.value.code) == (409, "VERSION_CONFLICT")
    await client.tasks.approve(task_id, version=ANY)


async def test_a_task_is_changed_from_outside(client: Client) -> None:
    task_id = await under_review(client)
    assert (await client.tasks.pause(task_id, "Lunch")).success
    assert (await client.tasks.control_state(task_id)).pause_reason == "Lunch"
    assert (await client.tasks.resume(task_id)).success
    assert (await client.tasks.cancel(task_id)).success
    assert not (await client.tasks.cancel(task_id)).success


async def test_a_stream_goes_on_over_a_gateway_that_is_started_again(
    tasks: TaskStage, wire: TaskWire
) -> None:
    port = free_port()
    seen: list[ServerEvent] = []
    location = Location(base_url=f"http://127.0.0.1:{port}", api_key=key_of(wire.owner))
    async with Client(location) as client:
        async with gateway_to(tasks.settings, tasks.peers, port=port):
            task = await client.tasks.submit("Does sleep help?", context=REVIEWED)

            async def follow() -> None:
                seen.extend([event async for event in client.tasks.stream(task.task_id)])

            following = asyncio.create_task(follow())
            await wire_ready(client, task.task_id)
        async with gateway_to(tasks.settings, tasks.peers, port=port):
            await client.tasks.approve(task.task_id)
            await asyncio.wait_for(following, 20)
    assert seen[-1].name == "done"
    rows = [event.id for event in seen if event.name not in ("thread.message.delta", "done")]
    assert len(set(rows)) == len(rows)
    kinds = [event.data.get("type") for event in seen]
    assert {"RESEARCH_PLAN_READY", "RESEARCH_PLAN_APPROVED", "WORKFLOW_COMPLETED"} <= set(kinds)
