"""A run as its claimant gets it, and what a statement has to be told to give it to one."""

from typing import Any

from services.orchestrator.events import StoredEvent, Told
from services.orchestrator.run import Claimant, ClaimedRun, Lease, RunKind, Stage, State, Usage

# How long a holder's relay has the run to itself after each write.
RELAY_S = 5.0
# What such a statement returns besides the columns of the run, its events being `told`: who writes
# an event and publishes it need not read it.
TOLD = """
    published_sequence, relay_owner, update_time,
    (SELECT json_agg(json_build_array(sequence, type, payload) ORDER BY sequence) FROM told)
        AS told
"""


def claiming(claimant: Claimant | None) -> dict[str, Any]:
    """The parameters of a statement that may give the run to a claimant."""
    return {
        "claimant": claimant.name if claimant else None,
        "lease_s": claimant.lease_s if claimant else 0.0,
        "running": State.RUNNING,
        "relay_s": RELAY_S,
    }


def claimed_run(row: Any) -> ClaimedRun:  # its columns have no static types
    """The run of a row that has all its columns."""
    return ClaimedRun(
        lease=Lease(run_id=row.id, epoch=row.lease_epoch),
        session_id=row.session_id,
        ordinal=row.ordinal,
        prompt=row.prompt,
        active_items=tuple(row.active_items),
        scope=row.scope,
        options=row.options,
        ceilings=row.ceilings,
        stage=Stage(row.stage),
        pass_number=getattr(row, "pass"),
        last_sequence=row.last_sequence,
        usage=Usage(**row.usage),
        trace=row.trace,
        create_time=row.create_time,
        is_pausing=row.is_pausing,
        kind=RunKind(row.kind),
    )


def told_of(row: Any) -> Told:  # its columns have no static types
    """The events that a statement with `TOLD` wrote."""
    return Told(
        session_id=row.session_id,
        run_id=row.id,
        trace=row.trace,
        relay=row.relay_owner,
        published=row.published_sequence,
        events=[
            StoredEvent(
                session_id=row.session_id,
                run_id=row.id,
                sequence=sequence,
                time=row.update_time,
                type=kind,
                payload=payload,
            )
            for sequence, kind, payload in row.told
        ],
    )
