"""Each call of the package that the task wire answers; one line of JSON says what came back."""

import json
import sys
import time
from typing import Any

from shannon import ShannonClient, TaskStatusEnum, errors

base_url, api_key, question = sys.argv[1:]
told: dict[str, Any] = {}
client = ShannonClient(base_url=base_url, api_key=api_key, default_timeout=90)


def refused(call: Any, *arguments: Any, **named: Any) -> list[str]:
    try:
        call(*arguments, **named)
    except errors.ShannonError as error:
        return [type(error).__name__, str(error.code), str(error.message)]
    return ["none"]


def reviewed(task_id: str) -> Any:
    deadline = time.monotonic() + 60
    while True:
        try:
            return client.get_review_state(task_id)
        except errors.TaskNotFoundError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


session = f"sdk-{time.time_ns()}"
reviewing = {"force_research": True, "require_review": True}

# Submitting, once however often, into a session of the caller's own.
handle = client.submit_task(
    question, session_id=session, context=reviewing, mode="standard", idempotency_key="once"
)
again = client.submit_task(
    question, session_id=session, context=reviewing, mode="standard", idempotency_key="once"
)
told["same_task"] = handle.task_id == again.task_id == handle.workflow_id
told["session"] = handle.session_id == session

# The review: stale versions, a rejection of nothing, feedback, approval twice.
state = reviewed(handle.workflow_id)
told["rounds"] = [one.role for one in state.rounds]
told["query"] = state.query
told["stale"] = refused(client.submit_review_feedback, handle.workflow_id, "More.", version=9)
told["empty"] = refused(client.submit_review_feedback, handle.workflow_id, "")
told["unknown"] = refused(client.get_review_state, "task-unknown-1")
updated = client.submit_review_feedback(handle.workflow_id, "Add the dose.", version=state.version)
told["updated"] = [updated.version - state.version, bool(updated.current_plan)]
told["stale_approval"] = refused(client.approve_review, handle.workflow_id, version=state.version)
told["approvals"] = [
    client.approve_review(handle.workflow_id, version=updated.version),
    client.approve_review(handle.workflow_id, version=1),
]
told["late_feedback"] = refused(client.submit_review_feedback, handle.workflow_id, "Late.")
final = client.wait(handle.task_id, timeout=120)
told["final"] = [final.status.value, bool(final.result), final.error_message]
told["context"] = sorted(final.context or {})

# Its events: from a stream, by type, from the middle, and from the history.
streamed = list(client.stream(handle.workflow_id))
told["streamed"] = [event.type for event in streamed if event.type != "thread.message.delta"]
wanted = [
    "RESEARCH_PLAN_READY",
    "REVIEW_USER_FEEDBACK",
    "RESEARCH_PLAN_UPDATED",
    "RESEARCH_PLAN_APPROVED",
]
some = list(client.stream(handle.workflow_id, types=wanted))
told["some"] = [event.type for event in some]
rest = list(client.stream(handle.workflow_id, types=wanted, last_event_id=some[1].id))
told["rest"] = [event.type for event in rest]
by_sequence = list(client.stream(handle.workflow_id, types=wanted, last_event_id=str(some[1].seq)))
told["by_sequence"] = [event.type for event in by_sequence]
told["no_stream"] = [event.type for event in client.stream("task-unknown-1")]
history = client.get_task_events(handle.task_id)
ids = {event.stream_id for event in streamed}
told["history"] = [len(history) > 3, all(event.stream_id in ids for event in history)]

# Lists and sessions.
listed = client.list_tasks(limit=5, session_id=session)
told["listed"] = [listed[1], listed[0][0].task_id == handle.task_id, listed[0][0].status]
told["status"] = client.get_status(handle.task_id).status.value
known = client.get_session(session)
told["session_found"] = [known.session_id == session, known.task_count]
told["sessions"] = any(one.session_id == known.session_id for one in client.list_sessions()[0])
past = client.get_session_history(session)
told["past"] = [(one.task_id == handle.task_id, one.status) for one in past]
turns = client.get_session_events(session)
told["turns"] = [len(turns[0]), len(turns[0][0].events) > 3]
told["renamed"] = client.update_session_title(session, "Dose") is not False

# Changed from outside.
second, stream_url = client.submit_and_stream(question, context=reviewing)
told["stream_url"] = stream_url == f"/api/v1/stream/sse?workflow_id={second.workflow_id}"
reviewed(second.workflow_id)
told["pause"] = client.pause_task(second.task_id, reason="Lunch")
control = client.get_control_state(second.task_id)
told["paused"] = [control.is_paused, control.pause_reason, control.paused_at is not None]
told["pause_again"] = refused(client.pause_task, second.task_id)
told["resume"] = client.resume_task(second.task_id)
told["resume_again"] = refused(client.resume_task, second.task_id)
told["cancel"] = [client.cancel(second.task_id, reason="Enough"), client.cancel(second.task_id)]
told["cancelled"] = client.wait(second.task_id, timeout=30).status is TaskStatusEnum.CANCELLED
told["control"] = client.get_control_state(second.task_id).cancel_reason
told["approve"] = refused(client.approve, "interrupt_approval_1", second.workflow_id)
told["timeline"] = refused(client.get_task_timeline, second.task_id)
client.delete_session(session)
told["deleted"] = refused(client.get_session, session)

# Open to everybody, and closed without a key.
told["probes"] = [
    client.health()["status"],
    client.readiness()["status"],
    "/api/v1/tasks" in client.get_openapi_spec()["paths"],
]
client.close()
with ShannonClient(base_url=base_url, bearer_token=api_key) as bearer:
    told["bearer"] = bearer.get_status(second.task_id).status.value
with ShannonClient(base_url=base_url) as nobody:
    told["nobody"] = refused(nobody.list_tasks)
with ShannonClient(base_url=base_url, api_key="wrong") as stranger:
    told["stranger"] = refused(stranger.get_status, second.task_id)
print(json.dumps(told))
