"""Tasks over HTTP: submission, status, lists, control, sessions, owners."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.integration.orchestrator_stage import eventually
from tests.integration.task_stage import (
    API,
    TaskWire,
    key_of,
)

FORCED = {"force_research": True}


def told(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]


async def test_a_task_is_submitted_worked_on_and_read(wire: TaskWire) -> None:
    before = datetime.now(UTC)
    context = {**FORCED, "topic": "sleep"}
    reply = await wire.http.post(f"{API}/tasks", json={"query": "Why?", "context": context})
    body = reply.json()
    assert reply.status_code == 200
    assert body["status"] == "STATUS_CODE_OK"
    assert body["task_id"] == body["workflow_id"] == reply.headers["X-Workflow-ID"]
    assert body["warnings"] == []
    assert datetime.fromisoformat(body["created_at"]) >= before.replace(microsecond=0)
    task = await wire.ended(body["task_id"])
    assert task["status"] == "TASK_STATUS_COMPLETED"
    assert task["result"]
    assert task["context"] == context
    assert (task["query"], task["session_id"]) == ("Why?", reply.headers["X-Session-ID"])
    assert task["usage"]["total_tokens"] > 0
    assert task["metadata"]["citations"]
    assert "error" not in task
    created, updated = (datetime.fromisoformat(task[name]) for name in ("created_at", "updated_at"))
    assert before.replace(microsecond=0) <= created < updated


async def test_a_stream_is_named_and_not_begun_by_the_submission(wire: TaskWire) -> None:
    reply = await wire.http.post(f"{API}/tasks/stream", json={"query": "Why?", "context": FORCED})
    body = reply.json()
    assert reply.status_code == 201
    assert body["stream_url"] == f"{API}/stream/sse?workflow_id={body['task_id']}"
    assert reply.headers["Link"] == f"<{body['stream_url']}>; rel=stream"
    redirect = await wire.http.get(
        f"{API}/tasks/{body['task_id']}/stream?types=A,B&last_event_id=3"
    )
    assert redirect.status_code == 307
    assert redirect.headers["Location"] == f"{body['stream_url']}&types=A%2CB&last_event_id=3"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{", "Invalid request body"),
        (b"[]", "Invalid request body"),
        (b'{"query": 5}', "Invalid request body"),
        (b'{"query": "a\\u0000b"}', "Invalid request body"),
        (
            b'{"query": "x", "context": {"a": "\\u0000"}}',
            "context must not contain the NUL character",
        ),
        (b'{"query": "x", "context": {"a": "\\ud800"}}', "Invalid request body"),
        (b'{"query": "x", "context": {"a": NaN}}', "Invalid request body"),
        (b'{"query": " "}', "Query is required"),
        (
            b'{"query": "x", "mode": "fast"}',
            "Invalid mode (allowed: simple, standard, complex, supervisor)",
        ),
        (b'{"query": "x", "session_id": "a b"}', "Invalid session ID format"),
    ],
)
async def test_a_submission_that_cannot_be_meant_is_refused(
    wire: TaskWire, body: bytes, text: str
) -> None:
    headers = {"Content-Type": "application/json"}
    for path in ("tasks", "tasks/stream"):
        reply = await wire.http.post(f"{API}/{path}", content=body, headers=headers)
        assert reply.status_code == 400
        assert reply.json()["error"].startswith(text)
        assert reply.json()["code"] == "INVALID_REQUEST"


async def test_a_task_may_carry_more_than_other_requests_and_keeps_little_of_it(
    wire: TaskWire,
) -> None:
    context = {"attachments": [{"filename": "a.pdf", "data": "A" * 3_000_000}]}
    task = await wire.task(await wire.submit(context=context))
    assert task["context"]["attachments"] == [{"filename": "a.pdf"}]
    body = {"query": "Why?", "context": {"notes": ["A" * 900] * 100}}
    assert told(await wire.http.post(f"{API}/tasks", json=body)) == (
        400,
        "context holds more than 65536 bytes",
    )
    rename = await wire.http.patch(f"{API}/sessions/x", json={"title": "A" * 3_000_000})
    assert rename.status_code == 413


async def test_a_key_makes_one_task_of_two_requests_and_says_so(wire: TaskWire) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"query": "Why?", "context": FORCED}
    first = await wire.http.post(f"{API}/tasks", json=body, headers=headers)
    again = await wire.http.post(f"{API}/tasks", json=body, headers=headers)
    assert first.json() == again.json()
    assert "X-Idempotency-Cached" not in first.headers
    assert again.headers["X-Idempotency-Cached"] == "true"
    assert again.headers["X-Idempotency-Key"] == "once"
    other = await wire.http.post(f"{API}/tasks", json={**body, "query": "How?"}, headers=headers)
    assert other.status_code == 200
    assert "X-Idempotency-Cached" not in other.headers
    elsewhere = await wire.http.post(f"{API}/tasks/stream", json=body, headers=headers)
    made = {reply.json()["task_id"] for reply in (first, other, elsewhere)}
    assert len(made) == 3


async def test_tasks_of_one_session_run_side_by_side_under_a_name_of_the_clients(
    wire: TaskWire,
) -> None:
    first = await wire.submit("One?", session_id="my-session", context=FORCED)
    second = await wire.submit("Two?", session_id="my-session", context=FORCED)
    for task_id in (first, second):
        assert (await wire.ended(task_id))["session_id"] == "my-session"
    session = (await wire.http.get(f"{API}/sessions/my-session")).json()
    assert session["context"] == {"external_id": "my-session"}
    assert (session["task_count"], session["user_id"]) == (2, wire.owner)
    by_own_id = (await wire.http.get(f"{API}/sessions/{session['session_id']}")).json()
    assert by_own_id == session
    history = (await wire.http.get(f"{API}/sessions/my-session/history")).json()
    assert [one["query"] for one in history["tasks"]] == ["One?", "Two?"]
    assert {one["status"] for one in history["tasks"]} == {"COMPLETED"}
    turns = (await wire.http.get(f"{API}/sessions/my-session/events?limit=1&offset=1")).json()
    assert (turns["count"], len(turns["turns"])) == (2, 1)
    assert (turns["turns"][0]["turn"], turns["turns"][0]["user_query"]) == (2, "Two?")
    assert all(isinstance(one.get("payload", ""), str) for one in turns["turns"][0]["events"])
    listed = (await wire.http.get(f"{API}/sessions")).json()
    assert (listed["total_count"], listed["sessions"][0]["successful_tasks"]) == (1, 2)


async def test_tasks_are_listed_by_page_status_and_session(wire: TaskWire) -> None:
    done = [await wire.submit(f"{number}?", context=FORCED) for number in range(3)]
    for task_id in done:
        await wire.ended(task_id)
    page = (await wire.http.get(f"{API}/tasks?limit=2&offset=1&status=completed")).json()
    assert page["total_count"] == 3
    assert [one["task_id"] for one in page["tasks"]] == [done[1], done[0]]
    assert page["tasks"][0]["status"] == "TASK_STATUS_COMPLETED"
    assert page["tasks"][0]["mode"] == "EXECUTION_MODE_STANDARD"
    assert (await wire.http.get(f"{API}/tasks?status=TIMEOUT")).json()["total_count"] == 0
    assert (await wire.http.get(f"{API}/tasks?session_id=none")).json()["tasks"] == []
    for query in ("limit=0", "limit=101", "offset=-1", "status=PAUSED"):
        refused = await wire.http.get(f"{API}/tasks?{query}")
        assert refused.status_code == 400
        assert refused.json()["error"].startswith(f"Invalid {query.split('=')[0]}")


async def test_a_title_and_the_end_of_a_session(wire: TaskWire) -> None:
    await wire.ended(await wire.submit(session_id="mine", context=FORCED))
    path = f"{API}/sessions/mine"
    renamed = await wire.http.patch(path, json={"title": " Naps "})
    assert renamed.json() == {"session_id": "mine", "title": "Naps"}
    for title in ("", " ", "x" * 61):
        assert (await wire.http.patch(path, json={"title": title})).status_code == 400
    for _ in range(2):
        assert (await wire.http.delete(path)).status_code == 204
    assert told(await wire.http.get(path)) == (404, "Session not found")


async def test_a_task_pauses_resumes_and_says_why(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    path = f"{API}/tasks/{task_id}"
    state = (await wire.http.get(f"{path}/control-state")).json()
    assert state == dict.fromkeys(state, "") | {"is_paused": False, "is_cancelled": False}
    paused = await wire.http.post(f"{path}/pause", json={"reason": "Lunch"})
    assert (paused.status_code, paused.json()["message"]) == (202, "Pause signal sent")
    state = (await wire.http.get(f"{path}/control-state")).json()
    assert (state["is_paused"], state["pause_reason"], state["paused_by"]) == (
        True,
        "Lunch",
        wire.owner,
    )
    datetime.fromisoformat(state["paused_at"])
    assert told(await wire.http.post(f"{path}/pause")) == (409, "task is already paused")
    # It still takes its decision, and then pauses instead of going on.
    assert (await wire.review(task_id, "approve", "1")).status_code == 200

    async def is_paused() -> bool:
        return bool((await wire.task(task_id))["status"] == "TASK_STATUS_PAUSED")

    await eventually(is_paused, "the pause")
    resumed = await wire.http.post(f"{path}/resume", json={})
    assert (resumed.status_code, resumed.json()["message"]) == (202, "Resume signal sent")
    assert (await wire.ended(task_id))["result"]
    kinds = [frame.name for frame in await wire.stream(task_id)]
    assert [kind for kind in kinds if kind.startswith("workflow.")] == [
        "workflow.paused",
        "workflow.resumed",
    ]
    assert told(await wire.http.post(f"{path}/resume")) == (409, "cannot resume completed task")
    assert told(await wire.http.post(f"{path}/pause")) == (409, "cannot pause completed task")
    cancelled = await wire.http.post(f"{path}/cancel")
    assert (cancelled.status_code, cancelled.json()["success"]) == (202, False)


async def test_a_cancelled_task_says_by_whom_and_why(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    path = f"{API}/tasks/{task_id}"
    headers = {"Idempotency-Key": "click"}
    first = await wire.http.post(f"{path}/cancel", json={"reason": "Enough"}, headers=headers)
    again = await wire.http.post(f"{path}/cancel", json={"reason": "Enough"}, headers=headers)
    assert first.json() == again.json()
    assert again.headers["X-Idempotency-Cached"] == "true"
    state = (await wire.http.get(f"{path}/control-state")).json()
    assert (state["is_cancelled"], state["cancel_reason"], state["cancelled_by"]) == (
        True,
        "Enough",
        wire.owner,
    )
    assert (await wire.task(task_id))["error"]
    assert [frame.name for frame in await wire.stream(task_id)][-2:] == [
        "workflow.cancelled",
        "done",
    ]


async def test_extensions_are_asked_for_only_by_who_wants_them(wire: TaskWire) -> None:
    await wire.ended(await wire.submit(context=FORCED))
    wire.peers.synth.investigations.clear()
    task_id = await wire.submit(context={**FORCED, "hitl_extensions": True})

    async def waits() -> bool:
        return "waiting_for" in await wire.task(task_id)

    await eventually(waits, "the question")
    task = await wire.task(task_id)
    assert (task["status"], task["waiting_for"]["kind"]) == ("TASK_STATUS_RUNNING", "budget")
    events = (await wire.http.get(f"{API}/tasks/{task_id}/events?limit=200")).json()["events"]
    [waiting] = [one["payload"] for one in events if one["type"] == "WAITING"]
    session = (await wire.http.get(f"{API}/sessions/{task['session_id']}")).json()["session_id"]
    decision = {
        "session_id": session,
        "invocation_id": waiting["invocation_id"],
        "interrupt_id": waiting["interrupt_id"],
        "response": {"action": "synthesize"},
    }
    async with wire.http.stream("POST", "/chat/resume", json=decision) as reply:
        assert reply.status_code == 200
    assert (await wire.ended(task_id))["result"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "tasks/{id}", None),
        ("GET", "tasks/{id}/events", None),
        ("GET", "tasks/{id}/stream", None),
        ("GET", "tasks/{id}/control-state", None),
        ("GET", "tasks/{id}/review", None),
        ("GET", "stream/sse?workflow_id={id}", None),
        ("POST", "tasks/{id}/cancel", {}),
        ("POST", "tasks/{id}/pause", {}),
        ("POST", "tasks/{id}/resume", {}),
        ("POST", "tasks/{id}/review", {"action": "approve"}),
        (
            "POST",
            "approvals/decision",
            {"workflow_id": "{id}", "approval_id": "interrupt_approval_1", "approved": True},
        ),
        ("GET", "sessions/theirs", None),
        ("GET", "sessions/theirs/history", None),
        ("GET", "sessions/theirs/events", None),
        ("PATCH", "sessions/theirs", {"title": "Mine"}),
    ],
)
async def test_what_is_somebody_elses_is_not_there(
    wire: TaskWire, other: TaskWire, method: str, path: str, body: dict[str, Any] | None
) -> None:
    task_id = await wire.submit(context=FORCED, session_id="theirs")
    filled = {name: task_id if value == "{id}" else value for name, value in (body or {}).items()}
    reply = await other.http.request(
        method, f"{API}/{path.format(id=task_id)}", json=filled if method != "GET" else None
    )
    assert reply.status_code == 404
    assert reply.json()["error"].split()[-2:] in (["not", "found"], ["or", "expired"])


async def test_another_owner_sees_none_in_lists_and_may_use_the_same_names(
    wire: TaskWire, other: TaskWire
) -> None:
    mine = await wire.submit(context=FORCED, session_id="same")
    assert (await other.http.get(f"{API}/tasks")).json()["total_count"] == 0
    assert (await other.http.get(f"{API}/sessions")).json()["total_count"] == 0
    await other.submit(context=FORCED, session_id="same")
    assert (await other.http.delete(f"{API}/sessions/same")).status_code == 204
    assert (await wire.task(mine))["session_id"] == "same"


@pytest.mark.parametrize("path", ["tasks/{id}/timeline", "stream/ws?workflow_id={id}", "tools"])
async def test_what_is_not_spoken_here_is_not_found(wire: TaskWire, path: str) -> None:
    reply = await wire.http.get(f"{API}/{path.format(id='0' * 32)}")
    assert (reply.status_code, reply.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("name", ["a%20b", "a" * 129, "%2e%2e%2fx"])
async def test_an_id_of_another_shape_is_refused(wire: TaskWire, name: str) -> None:
    reply = await wire.http.get(f"{API}/tasks/{name}")
    assert reply.status_code in (400, 404)
    if "%2f" not in name:
        assert told(reply) == (400, "Invalid task ID format")


async def test_bearer_keys_work_here_too(wire: TaskWire) -> None:
    async with httpx.AsyncClient(base_url=wire.http.base_url) as anonymous:
        headers = {"Authorization": f"Bearer {key_of(wire.owner)}"}
        assert (await anonymous.get(f"{API}/tasks", headers=headers)).status_code == 200
