"""Sessions and what happened in them, as bodies of the task wire."""

import json
from collections.abc import Sequence

from gateway.cursor import Row
from gateway.tasks import session_wire
from gateway.tasks.convert import (
    event_bodies,
    moment,
    moment_if,
    prefixed,
    status_of,
    task_of,
)
from zocrates.events.v1 import event_pb2 as events
from zocrates.orchestrator.v1 import task_pb2 as pb

# A search is the work of three: who understands the question, who searches, who writes.
AGENTS_OF_A_SEARCH, AGENTS_WITHOUT = 3, 1


def session_of(session: pb.TaskSession) -> session_wire.TaskSession:
    """A session with what its runs came to."""
    return session_wire.TaskSession.model_validate(_session(session))


def listed_session(session: pb.TaskSession) -> session_wire.ListedSession:
    """The same in a list, with more about its tasks."""
    ended = session.successful_count + session.failed_count
    count = session.run_count
    return session_wire.ListedSession.model_validate(
        {
            **_session(session),
            "last_activity_at": moment(session.update_time),
            "is_active": session.is_active,
            "successful_tasks": session.successful_count,
            "failed_tasks": session.failed_count,
            "success_rate": session.successful_count / ended if ended else None,
            "total_cost_usd": session.usage.cost,
            "average_cost_per_task": session.usage.cost / count if count else None,
            "latest_task_query": session.latest_query or None,
            "latest_task_status": prefixed(session.latest_state) if count else None,
            "first_task_mode": session.first_mode or None,
        }
    )


def past_task(task: pb.Task) -> session_wire.PastTask:
    """A task in the history of its session."""
    told = task_of(task)
    return session_wire.PastTask.model_validate(
        {
            "task_id": task.run_id,
            "workflow_id": task.run_id,
            "query": task.query,
            "status": status_of(task.state),
            "mode": task.mode or None,
            "result": told.result,
            "error_message": told.error,
            "total_tokens": task.usage.input_tokens + task.usage.output_tokens,
            "total_cost_usd": task.usage.cost,
            "duration_ms": _duration_ms(task),
            "agents_used": _agents(task),
            "tools_invoked": task.usage.calls,
            "started_at": moment_if(task, "start_time") or moment(task.create_time),
            "completed_at": moment_if(task, "finish_time"),
            "metadata": told.metadata,
        }
    )


def turn_of(number: int, task: pb.Task, rows: Sequence[Row]) -> session_wire.Turn:
    """A task of a session with its events."""
    return session_wire.Turn.model_validate(
        {
            "turn": number,
            "task_id": task.run_id,
            "user_query": task.query,
            "final_output": task.answer.markdown,
            "timestamp": moment(task.create_time),
            "events": [_with_text(body) for body in event_bodies(rows)],
            "metadata": {
                "tokens_used": task.usage.input_tokens + task.usage.output_tokens,
                "execution_time_ms": _duration_ms(task) or 0,
                "agents_involved": _agents(task),
                "cost_usd": task.usage.cost,
            },
        }
    )


def _session(session: pb.TaskSession) -> dict[str, object]:
    external = session.external_session_id
    strategy = events.Strategy.Name(session.latest_strategy).removeprefix("STRATEGY_").lower()
    return {
        "session_id": session.session_id,
        "user_id": session.owner,
        "title": session.title or None,
        "task_count": session.run_count,
        "tokens_used": session.usage.input_tokens + session.usage.output_tokens,
        "created_at": moment(session.create_time),
        "updated_at": moment(session.update_time),
        "context": {"external_id": external} if external else None,
        "is_research_session": session.usage.calls > 0,
        "research_strategy": None if strategy == "unspecified" else strategy,
    }


def _with_text(body: dict[str, object]) -> dict[str, object]:
    if "payload" not in body:
        return body
    return {**body, "payload": json.dumps(body["payload"], ensure_ascii=False)}


def _duration_ms(task: pb.Task) -> int | None:
    if not (task.HasField("start_time") and task.HasField("finish_time")):
        return None
    return max(0, task.finish_time.ToMilliseconds() - task.start_time.ToMilliseconds())


def _agents(task: pb.Task) -> int:
    return AGENTS_OF_A_SEARCH if task.usage.calls else AGENTS_WITHOUT
