"""A run as a message of its session, put together from its rows. Pure."""

from collections.abc import Iterable

from gateway.cursor import Row

HEAD = frozenset({"session_id", "invocation_id", "sequence", "time"})
# Events of which a message keeps the last one, by the field that holds it.
LAST_OF = {
    "run_started": "started",
    "report": "report",
    "rerank": "rerank",
    "answer": "answer",
    "error": "error",
    "run_state": "changed",
}


def message_of(rows: Iterable[Row]) -> dict[str, object]:
    """What the rows add up to: the fields of a message that come from events."""
    steps: dict[object, dict[str, object]] = {}
    thoughts: list[dict[str, object]] = []
    checkpoints: dict[object, dict[str, object]] = {}
    rounds: list[dict[str, object]] = []
    plan: dict[str, object] | None = None
    message: dict[str, object] = {"started": None, "stage": None, "last_event_id": "0"}
    for row in rows:
        payload = {key: value for key, value in row.body.items() if key not in HEAD}
        message["last_event_id"] = str(row.sequence)
        match row.name:
            case "stage":
                message["stage"] = payload["stage"]
            case "thought":
                thoughts.append(payload)
            case "tool_call":
                steps[payload["step_id"]] = {**payload, "result": None}
            case "tool_result":
                # A record that lost a call must not make the whole session unreadable.
                if (step := steps.get(payload["step_id"])) is not None:
                    step["result"] = payload
            case "plan":
                rounds.append(_said("planner", row, payload["text"]))
                plan = payload
            case "plan_feedback":
                rounds.append(_said("person", row, payload["message"]))
            case "request_input":
                checkpoints[payload["interrupt_id"]] = {**payload, "answered": None}
            case "checkpoint_answered":
                if (checkpoint := checkpoints.get(payload["interrupt_id"])) is not None:
                    checkpoint["answered"] = payload
            case name if name in LAST_OF:
                message[LAST_OF[name]] = payload
                if payload.get("change") == "retried":
                    # The run goes on; what once ended it is not its end any more.
                    message["error"] = None
    if plan is not None:
        message["plan"] = {**plan, "rounds": rounds}
    return {
        **message,
        "steps": list(steps.values()),
        "thoughts": thoughts,
        "checkpoints": list(checkpoints.values()),
    }


def _said(author: str, row: Row, text: object) -> dict[str, object]:
    return {"author": author, "round": row.body["round"], "message": text, "time": row.body["time"]}
