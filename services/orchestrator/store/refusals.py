"""Why a decision on a checkpoint did nothing, with what was decided before, by whom and when."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from services.orchestrator import checkpoint
from services.orchestrator.checkpoint import CheckpointState, Choice, Kind
from services.orchestrator.errors import (
    ActionNotOffered,
    CheckpointExpired,
    FeedbackInProgress,
    NoPlan,
    NotAsked,
    StaleInterrupt,
    UnknownRun,
    VersionConflict,
)
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.database import Transaction

STANDING = text("""
    SELECT run.state AS run_state, checkpoint.state, checkpoint.version, decision, checkpoint.kind,
           answered_by, answered_at, expires_at <= clock_timestamp() AS is_over,
           COALESCE(in_flight_until > clock_timestamp(), false) AS is_in_flight,
           payload #>> '{plan,current_plan}' AS current_plan
    FROM run LEFT JOIN checkpoint
      ON checkpoint.run_id = run.id AND checkpoint.interrupt_id = :interrupt_id
    WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner
""")


async def refusal(connection: Transaction, answer: Answer) -> Exception:
    """Why a decision did nothing."""
    now = (await connection.execute(STANDING, answer.names)).first()
    name = answer.interrupt_id
    if now is None:
        return UnknownRun(f"There is no run {answer.run_id!r} in session {answer.session_id!r}.")
    if now.state == CheckpointState.EXPIRED or (
        now.state == CheckpointState.PENDING and now.is_over
    ):
        return CheckpointExpired(f"The time to answer {name!r} is over.", **_decided(now))
    if now.state != CheckpointState.PENDING:
        return _stale(answer, now)
    return _not_now(answer, now)


def _not_now(answer: Answer, now: Any) -> Exception:  # a row of STANDING
    """Why a question that waits did not take this answer."""
    name = answer.interrupt_id
    # A kind of newer code offers nothing that this one could take.
    offered = checkpoint.OFFERED.get(now.kind, ())
    if answer.choice not in offered:
        known = ", ".join(one.lower() for one in offered) or "nothing that is known here"
        return ActionNotOffered(f"{name!r} cannot be answered so; it offers {known}.")
    if answer.expected_version not in (None, now.version):
        return version_conflict(name, now.version, answer.expected_version)
    if now.is_in_flight or answer.choice is Choice.FEEDBACK:
        return FeedbackInProgress("A comment on the plan is being worked on; wait for the reply.")
    if now.kind == Kind.PLAN_REVIEW and answer.choice is Choice.APPROVE and not now.current_plan:
        return NoPlan("There is no plan to approve yet; answer the planner's questions.")
    return version_conflict(name, now.version, answer.expected_version)


def version_conflict(name: str, version: int, expected: int | None) -> VersionConflict:
    """The person saw another version."""
    return VersionConflict(
        f"{name!r} has version {version}, not {expected}; look at it again.", version=version
    )


def _stale(answer: Answer, now: Any) -> StaleInterrupt:  # a row of STANDING
    name, run_state = answer.interrupt_id, now.run_state
    if now.state is None:
        message = f"Run {answer.run_id!r} does not wait for {name!r}; it is {run_state}."
        return NotAsked(message, state=run_state, run_state=run_state)
    facts = _decided(now)
    if now.state == CheckpointState.WITHDRAWN:
        what = f"{name!r} was withdrawn by {now.answered_by!r}"
    else:
        what = f"{name!r} is answered: {now.answered_by!r} chose {facts['action']}"
    message = f"{what} at {facts['answered_at']}; the run is {run_state}."
    return StaleInterrupt(message, state=now.state, run_state=run_state, **facts)


def _decided(now: Any) -> dict[str, object]:  # a row of STANDING
    """What was decided, by whom and when; nothing while nothing was."""
    facts: dict[str, object] = {}
    if now.decision:
        facts["action"] = now.decision["choice"].lower()
    if now.answered_by:
        answered_at: datetime = now.answered_at
        # As the event of the answer has it.
        when = answered_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        facts |= {"answered_by": now.answered_by, "answered_at": when}
    return facts
