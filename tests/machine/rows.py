"""All that the database holds of an owner, at one moment, and what must always be true of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from services.orchestrator.ceilings import Harness
from services.orchestrator.run import ACTIVE
from services.orchestrator.store.database import Database
from services.orchestrator.store.evidence import unpacked

ALL = text("""
    SELECT to_jsonb(run) - 'update_time' - 'lease_until' - 'relay_until' AS run,
        (SELECT coalesce(jsonb_agg(to_jsonb(event) ORDER BY sequence), '[]')
         FROM event WHERE run_id = run.id) AS events,
        (SELECT coalesce(jsonb_agg(to_jsonb(step) ORDER BY key), '[]')
         FROM step WHERE run_id = run.id) AS steps,
        (SELECT coalesce(jsonb_agg(to_jsonb(evidence) ORDER BY ordinal), '[]')
         FROM evidence WHERE run_id = run.id) AS evidence,
        (SELECT coalesce(jsonb_agg(to_jsonb(checkpoint) ORDER BY interrupt_id), '[]')
         FROM checkpoint WHERE run_id = run.id) AS checkpoints
    FROM run WHERE owner = :owner ORDER BY create_time
""")
ENDINGS = ("answer", "error")
CHANGE = "RUN_STATE_CHANGE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRows:
    """The rows of a run."""

    run: Mapping[str, Any]
    events: list[Mapping[str, Any]]
    steps: Mapping[str, Mapping[str, Any]]
    evidence: list[Mapping[str, Any]]
    checkpoints: Mapping[str, Mapping[str, Any]]

    def told(self, kind: str) -> list[Mapping[str, Any]]:
        """The payloads of the events of a type."""
        return [one["payload"] for one in self.events if one["type"] == kind]

    def done(self) -> dict[str, Mapping[str, Any]]:
        """The outputs of the finished steps."""
        return {key: one["output"] for key, one in self.steps.items() if one["state"] == "done"}

    @property
    def turns(self) -> dict[str, Mapping[str, Any]]:
        """The turns of all passes."""
        return {
            key: output
            for key, output in self.done().items()
            if key.rsplit("/", 1)[-1].startswith("turn_")
        }


async def rows_of(database: Database, owner: str) -> dict[str, RunRows]:
    """Every run of the owner."""
    found = await database.fetch(ALL, {"owner": owner})
    return {
        row.run["id"]: RunRows(
            run=row.run,
            events=row.events,
            steps={one["key"]: one for one in row.steps},
            evidence=[one for packed in row.evidence for one in _unpacked(packed)],
            checkpoints={one["interrupt_id"]: one for one in row.checkpoints},
        )
        for row in found
    }


def _unpacked(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    # Binary data is hexadecimal in JSON, after "\\x".
    found = unpacked(row["step_key"], bytes.fromhex(row["content"][2:]))
    return [
        {"ordinal": ordinal, "step_key": one.step_key, "evidence": one}
        for ordinal, one in enumerate(found, start=row["ordinal"])
    ]


def check(rows: RunRows) -> None:
    """What is true of a run whatever happens to it."""
    _check_events(rows)
    _check_steps(rows)
    _check_checkpoints(rows)
    run = rows.run
    assert (run["lease_owner"] is None) == (run["state"] != "RUNNING")
    assert not run["is_pausing"] or run["state"] in ("RUNNING", "AWAITING_INPUT")


def check_growth(before: RunRows, now: RunRows) -> None:
    """What was written once stays as it is, and more is only added."""
    assert now.events[: len(before.events)] == before.events
    assert now.evidence[: len(before.evidence)] == before.evidence
    was, is_now = before.done(), now.done()
    assert {key: is_now.get(key) for key in was} == was
    assert now.run["lease_epoch"] >= before.run["lease_epoch"]
    over = _is_over(before)
    added = now.events[len(before.events) :]
    if over and added:
        # An end is followed by nothing but what somebody did from outside.
        assert added[0]["type"] == "run_state", added


def check_sessions(all_rows: Mapping[str, RunRows]) -> None:
    """A session has one active run at most, and its runs are numbered."""
    active = Counter(
        one.run["session_id"] for one in all_rows.values() if one.run["state"] in ACTIVE
    )
    assert not active or max(active.values()) == 1


def _check_events(rows: RunRows) -> None:
    sequences = [one["sequence"] for one in rows.events]
    assert sequences == list(range(1, rows.run["last_sequence"] + 1))
    for kind in ("tool_call", "tool_result"):
        steps = [one["step_id"] for one in rows.told(kind)]
        assert len(steps) == len(set(steps)), f"told twice: {steps}"
    answers = [one["interrupt_id"] for one in rows.told("checkpoint_answered")]
    assert len(answers) == len(set(answers)), f"answered twice: {answers}"
    assert len(rows.told("answer")) <= 1


def _check_steps(rows: RunRows) -> None:
    calls = {key: output for key, output in rows.done().items() if "/call_" in key}
    asked = [
        (f"{key}/call_{place}", one)
        for key, output in rows.turns.items()
        for place, one in enumerate(output["calls"])
    ]
    assert {one["step_id"] for one in rows.told("tool_call")} == {key for key, _ in asked}
    assert {one["step_id"] for one in rows.told("tool_result")} == set(calls)
    assert set(calls) <= {key for key, _ in asked}
    usage = {"calls": 0, "words": 0, **rows.run["usage"]}
    numbers = sorted(one["number"] for _, one in asked if one["number"])
    # Counted once each, without a hole.
    assert numbers == list(range(1, usage["calls"] + 1))
    assert usage["words"] == sum(one["words"] for one in calls.values())
    ceilings = Harness(**rows.run["ceilings"]).ceilings(rows.run["pass"])
    assert usage["calls"] <= ceilings.calls
    assert usage["words"] <= ceilings.words
    assert [one["ordinal"] for one in rows.evidence] == list(range(len(rows.evidence)))
    assert {one["step_key"] for one in rows.evidence} <= set(calls)
    passages = Counter(one["evidence"].passage.id for one in rows.evidence)
    assert set(passages.values()) <= {1}


def _check_checkpoints(rows: RunRows) -> None:
    by_state = Counter(one["state"] for one in rows.checkpoints.values())
    assert by_state["PENDING"] == (rows.run["state"] == "AWAITING_INPUT")
    decided = {
        name for name, one in rows.checkpoints.items() if one["state"] in ("ANSWERED", "EXPIRED")
    }
    assert {one["interrupt_id"] for one in rows.told("checkpoint_answered")} == decided
    for name, one in rows.checkpoints.items():
        asked = [ask for ask in rows.told("request_input") if ask["interrupt_id"] == name]
        # Asked once for each version, and never changed after an answer.
        assert [ask["version"] for ask in asked] == list(range(1, one["version"] + 1))
        assert (one["decision"] is not None) == (name in decided)
    granted = [one for one in rows.checkpoints.values() if _extends(one)]
    assert rows.run["pass"] == len(granted)


def _extends(checkpoint: Mapping[str, Any]) -> bool:
    decision = checkpoint["decision"]
    return decision is not None and decision["choice"] == "EXTEND_BUDGET"


def _is_over(rows: RunRows) -> bool:
    if not rows.events:
        return False
    last = rows.events[-1]
    changed = last["payload"].get("change", "") if last["type"] == "run_state" else ""
    return last["type"] in ENDINGS or changed in (f"{CHANGE}CANCELLED", f"{CHANGE}REWOUND")


def same(one: RunRows, other: RunRows) -> bool:
    """Whether two looks at a run saw the same."""
    return _plain(one) == _plain(other)


def _plain(rows: RunRows) -> list[Any]:
    return [rows.run, rows.events, rows.steps, rows.evidence, rows.checkpoints]
