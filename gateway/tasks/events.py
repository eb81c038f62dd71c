"""From a recorded event to the standard event of the task wire: one table, total. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway.cursor import Row

Values = Mapping[str, object]

TEXT_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """What an event says on this wire; `stream_id` leads a stream back behind it."""

    type: str
    message: str = ""
    agent_id: str = ""
    payload: Mapping[str, object] = field(default_factory=dict)


Teller = Callable[[Values], TaskEvent | None]


def task_event(row: Row) -> TaskEvent | None:
    """What this wire tells of a recorded event; None: nothing, its clients pass it."""
    teller = TABLE.get(row.name)
    return teller(row.body) if teller is not None else None


def stream_id_of(row: Row) -> str:
    """The id of the row's frame: when it happened, in milliseconds, and its sequence."""
    moment = datetime.fromisoformat(str(row.body["time"]).replace("Z", "+00:00"))
    return f"{int(moment.timestamp() * 1000)}-{row.sequence}"


def standard(event: TaskEvent, row: Row) -> dict[str, object]:
    """The event as an object, as streams and histories hold it."""
    body: dict[str, object] = {"workflow_id": row.body["invocation_id"], "type": event.type}
    if event.agent_id:
        body["agent_id"] = event.agent_id
    if event.message:
        body["message"] = event.message
    if event.payload:
        body["payload"] = dict(event.payload)
    return {
        **body,
        "timestamp": row.body["time"],
        "seq": row.sequence,
        "stream_id": stream_id_of(row),
    }


def _started(body: Values) -> TaskEvent:
    context = {"query": body["prompt"], **_given(body, "options", "ceilings", "warnings")}
    return TaskEvent(
        type="WORKFLOW_STARTED", message="The task began.", payload={"task_context": context}
    )


STAGES = {
    "converse": ("coordinator", "The question is being understood."),
    "plan": ("planner", "The research is being planned."),
    "search": ("search", "The library is being searched."),
    "rerank": ("rerank", "The evidence is being chosen."),
    "synthesize": ("synthesizer", "The answer is being written."),
    "verify": ("verifier", "The citations are being checked."),
}


def _stage(body: Values) -> TaskEvent:
    agent, message = STAGES.get(str(body["stage"]), ("coordinator", "The task goes on."))
    return TaskEvent(
        type="AGENT_STARTED", agent_id=agent, message=message, payload=_given(body, "stage", "pass")
    )


def _thought(body: Values) -> TaskEvent:
    agent = str(body["agent"])
    return TaskEvent(type="AGENT_THINKING", agent_id=agent, message=str(body["text"]))


def _called(body: Values) -> TaskEvent:
    return TaskEvent(
        type="TOOL_INVOKED",
        agent_id="search",
        message=f"{body['tool']} is called.",
        payload=_given(body, "step_id", "tool", "arguments", "call_number", "call_limit"),
    )


def _returned(body: Values) -> TaskEvent:
    passages = body.get("passages")
    found = len(passages) if isinstance(passages, list) else 0
    message = f"{found} passages with {body['words']} new words were found."
    return TaskEvent(
        type="TOOL_OBSERVATION",
        agent_id="search",
        message=message if body["ok"] else str(body.get("notice") or "The call failed."),
        payload=_given(
            body, "step_id", "ok", "passages", "words", "words_total", "word_limit", "notice"
        ),
    )


def _reported(body: Values) -> TaskEvent:
    summary = str(body["covered_summary"])
    return TaskEvent(
        type="AGENT_COMPLETED",
        agent_id="search",
        message=summary or "A pass of the search ended.",
        payload=_given(body, "pass", "gaps", "automatic", "reason"),
    )


def _ranked(body: Values) -> TaskEvent:
    return TaskEvent(
        type="DATA_PROCESSING",
        agent_id="rerank",
        message=f"{body['kept']} of {body['considered']} passages are kept for the answer.",
        payload=_given(body, "considered", "kept", "words_kept", "model"),
    )


def _reset(body: Values) -> TaskEvent:
    return TaskEvent(
        type="ERROR_RECOVERY",
        agent_id="synthesizer",
        message="The answer is written anew; the text streamed so far is void.",
        payload=_given(body, "attempt"),
    )


def _answered(body: Values) -> TaskEvent:
    shown = _given(body, "citations", "gaps", "support", "usage", "answered", "model")
    return TaskEvent(
        type="LLM_OUTPUT",
        agent_id="synthesizer",
        message=str(body["markdown"]),
        payload=shown,
    )


def _failed(body: Values) -> TaskEvent:
    return TaskEvent(
        type="ERROR_OCCURRED",
        agent_id="planner" if body["code"] == "REVIEW_EXPIRED" else "orchestrator",
        message=str(body["message"]),
        payload=_given(body, "code", "retryable"),
    )


def _planned(body: Values) -> TaskEvent:
    is_first = body["round"] == 1
    return TaskEvent(
        type="RESEARCH_PLAN_READY" if is_first else "RESEARCH_PLAN_UPDATED",
        agent_id="planner" if is_first else "research-planner",
        message=str(body["text"]),
        payload=_given(body, "round", "version", "intent"),
    )


def _commented(body: Values) -> TaskEvent:
    return TaskEvent(
        type="REVIEW_USER_FEEDBACK",
        agent_id="user",
        message=str(body["message"]),
        payload=_given(body, "round", "version"),
    )


def _asked(body: Values) -> TaskEvent | None:
    shown = body.get("payload")
    payload = dict(shown) if isinstance(shown, Mapping) else {}
    match body["kind"]:
        case "plan_review":
            # The plan before it has said so.
            return None
        case "approval":
            return TaskEvent(
                type="APPROVAL_REQUESTED",
                agent_id="orchestrator",
                message=str(body["message"]),
                payload={"approval_id": body["interrupt_id"], **payload},
            )
    waits = _given(body, "interrupt_id", "version", "expires_at")
    return TaskEvent(
        type="WAITING",
        agent_id="orchestrator",
        message=str(body["message"]),
        payload={**waits, "invocation_id": body["invocation_id"], **payload},
    )


def _decided(body: Values) -> TaskEvent:
    interrupt, action = str(body["interrupt_id"]), str(body["action"])
    if interrupt == "interrupt_plan" and action == "approve":
        return TaskEvent(
            type="RESEARCH_PLAN_APPROVED", agent_id="planner", message="The plan is approved."
        )
    answered = _given(body, "interrupt_id", "action", "guidance", "answered_by", "answered_at")
    if interrupt.startswith("interrupt_approval"):
        told = _given(body, "approved_by", "modified_action")
        return TaskEvent(
            type="APPROVAL_DECISION",
            agent_id="user",
            message="Approved." if action == "approve" else "Rejected.",
            payload={
                "approval_id": interrupt,
                "approved": action == "approve",
                **answered,
                **told,
            },
        )
    return TaskEvent(
        type="HITL_RESPONSE",
        agent_id="user",
        message=f"{body['answered_by']} decided: {action.replace('_', ' ')}.",
        payload=answered,
    )


CHANGES = {
    "cancelled": ("WORKFLOW_CANCELLED", "The task is cancelled."),
    "rewound": ("WORKFLOW_CANCELLED", "The task was taken back."),
    "retried": ("ERROR_RECOVERY", "The task goes on after its failure."),
    "paused": ("WORKFLOW_PAUSED", "The task is paused."),
    "resumed": ("WORKFLOW_RESUMED", "The task goes on."),
    "completed": ("WORKFLOW_COMPLETED", "The task is complete."),
    "failed": ("WORKFLOW_FAILED", "The task failed."),
    # As a review that timed out ends on this wire: completed, with an error before it.
    "expired": ("WORKFLOW_COMPLETED", "The review timed out."),
}


def _changed(body: Values) -> TaskEvent | None:
    told = CHANGES.get(str(body["change"]))
    if told is None:
        return None
    kind, message = told
    reason = body.get("reason")
    return TaskEvent(
        type=kind,
        agent_id="orchestrator",
        message=f"{message[:-1]}: {reason}" if reason else message,
        payload=_given(body, "change", "by", "reason"),
    )


def _given(body: Values, *names: str) -> dict[str, object]:
    return {name: body[name] for name in names if body.get(name) is not None}


# What each kind of event is told as; docs/http-api.md publishes the same table.
TABLE: Mapping[str, Teller] = {
    "run_started": _started,
    "stage": _stage,
    "thought": _thought,
    "tool_call": _called,
    "tool_result": _returned,
    "report": _reported,
    "rerank": _ranked,
    "answer_reset": _reset,
    "answer": _answered,
    "error": _failed,
    "plan": _planned,
    "plan_feedback": _commented,
    "request_input": _asked,
    "checkpoint_answered": _decided,
    "run_state": _changed,
}
