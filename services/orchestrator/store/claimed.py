"""A run as its claimant gets it, and what a statement has to be told to give it to one."""

from typing import Any

from services.orchestrator.run import Claimant, ClaimedRun, Lease, RunKind, Stage, State, Usage


def claiming(claimant: Claimant | None) -> dict[str, Any]:
    """The parameters of a statement that may give the run to a claimant."""
    return {
        "claimant": claimant.name if claimant else None,
        "lease_s": claimant.lease_s if claimant else 0.0,
        "running": State.RUNNING,
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
