"""The events of a task over HTTP: names, positions, filters, ends, and where a client goes on."""

import asyncio
import re

import httpx
import pytest

from tests.integration.task_stage import API, TaskStage, TaskWire, frames_in, gateway_to

FORCED = {"force_research": True}


def told(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]


async def test_a_stream_tells_the_task_to_its_end_in_the_names_of_this_wire(
    wire: TaskWire,
) -> None:
    task_id = await wire.submit(context=FORCED)
    seen = await wire.stream(task_id)
    kinds = [frame.kind for frame in seen]
    assert kinds[0] == "WORKFLOW_STARTED"
    assert kinds[-3:] == ["thread.message.completed", "WORKFLOW_COMPLETED", "done"]
    assert {"TOOL_INVOKED", "TOOL_OBSERVATION", "AGENT_COMPLETED", "DATA_PROCESSING"} <= set(kinds)
    numbers = [int(frame.position.split("-")[1]) for frame in seen]
    assert numbers == sorted(numbers)
    told_rows = [one for one in seen if one.name not in ("thread.message.delta", "done")]
    assert len({frame.position for frame in told_rows}) == len(told_rows)
    assert seen[-1].data == "[DONE]"
    assert seen[-1].position == seen[-2].position
    written = "".join(frame.data["delta"] for frame in seen if frame.kind == "thread.message.delta")
    [answer] = [one.data for one in seen if one.name == "thread.message.completed"]
    assert answer["response"] == (await wire.task(task_id))["result"]
    assert answer["response"].startswith(written[:5])
    history = (await wire.http.get(f"{API}/tasks/{task_id}/events?limit=200")).json()
    assert history["count"] == len(history["events"])
    assert [one["stream_id"] for one in history["events"]] == [one.position for one in told_rows]


@pytest.mark.parametrize("form", ["stream_id", "seq", "header"])
async def test_a_stream_goes_on_behind_the_last_event(wire: TaskWire, form: str) -> None:
    task_id = await wire.submit(context=FORCED)
    await wire.ended(task_id)
    whole = await wire.stream(task_id)
    last = whole[3]
    if form == "header":
        # The header beats the parameter, and one that is no position is passed over.
        query = {"workflow_id": task_id, "last_event_id": "1"}
        reply = await wire.http.get(
            f"{API}/stream/sse", params=query, headers={"Last-Event-ID": last.position}
        )
        rest = frames_in(reply.text)
        reply = await wire.http.get(
            f"{API}/stream/sse",
            params={**query, "last_event_id": last.position},
            headers={"Last-Event-ID": "garbage"},
        )
        assert frames_in(reply.text) == rest
    else:
        position = last.position if form == "stream_id" else last.position.split("-")[1]
        rest = await wire.stream(task_id, last_event_id=position)
    told_rows = [one for one in whole[4:] if one.name != "thread.message.delta"]
    assert [one for one in rest if one.name != "thread.message.delta"] == told_rows
    nothing_new = await wire.stream(task_id, last_event_id="99999")
    assert [frame.name for frame in nothing_new] == ["done"]


async def test_a_filter_lets_only_its_types_through_and_the_stream_still_ends(
    wire: TaskWire,
) -> None:
    task_id = await wire.submit(context=FORCED)
    await wire.ended(task_id)
    wanted = await wire.stream(task_id, types="TOOL_INVOKED, STREAM_END,nothing")
    assert {frame.kind for frame in wanted} == {"TOOL_INVOKED", "done"}
    assert await wire.stream(task_id, types="workflow.paused") == []


async def test_a_stream_begins_with_a_comment_and_is_not_kept_by_proxies(wire: TaskWire) -> None:
    task_id = await wire.submit(context=FORCED)
    reply = await wire.http.get(f"{API}/stream/sse", params={"workflow_id": task_id})
    assert reply.text.startswith(f": events of workflow {task_id}\n\n")
    assert reply.headers["Content-Type"].startswith("text/event-stream")
    assert reply.headers["Cache-Control"] == "no-cache"
    assert reply.headers["X-Accel-Buffering"] == "no"
    assert re.search(r"^retry:", reply.text, re.MULTILINE) is None


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("", 400, "Invalid or missing workflow_id"),
        ("workflow_id=a%20b", 400, "Invalid or missing workflow_id"),
        ("workflow_id=task-unknown", 404, "Task not found"),
        (f"workflow_id={'0' * 32}", 404, "Task not found"),
        (f"workflow_id={'0' * 32}&last_event_id=x", 400, "Invalid last_event_id"),
    ],
)
async def test_a_stream_of_nothing_is_refused_at_once(
    wire: TaskWire, query: str, status: int, text: str
) -> None:
    reply = await wire.http.get(f"{API}/stream/sse?{query}")
    assert told(reply) == (status, text)


async def test_a_stopping_gateway_breaks_its_streams_off_so_that_clients_come_back(
    tasks: TaskStage, wire: TaskWire
) -> None:
    task_id = await wire.under_review()
    opened = asyncio.Event()
    async with gateway_to(tasks.settings, tasks.peers) as stopping:
        path = f"{stopping.base_url}{API}/stream/sse?workflow_id={task_id}"

        async def read() -> None:
            async with wire.http.stream("GET", path) as reply:
                async for _ in reply.aiter_raw():
                    opened.set()

        reading = asyncio.create_task(read())
        await asyncio.wait_for(opened.wait(), 10)
    with pytest.raises(httpx.RemoteProtocolError):
        await reading
