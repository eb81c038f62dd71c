"""The repair of an answer whose sentences nothing supports: at most one of a kind, each recorded.

A repair makes an answer better, and no answer fails because it could not be made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any, Protocol

from services.chassis.telemetry import EventLog
from services.orchestrator import events
from services.orchestrator.errors import PeerError
from services.orchestrator.ledger import Ledger
from services.orchestrator.passages import Ranked
from services.orchestrator.peers.synth import Commission, Draft, DraftCitation, Repaired

log = EventLog(__name__)


class Kind(StrEnum):
    """What is done with the sentences; the values are the keys of the steps."""

    REWRITE = "repair"
    DROP = "drop"


class Repairer(Protocol):
    """The mind that writes."""

    async def repair(
        self,
        question: str,
        draft: Draft,
        unsupported: Sequence[int],
        evidence: Sequence[Ranked],
        *,
        drop_only: bool,
    ) -> Repaired:
        """The draft with its unsupported sentences mended."""


def as_recorded(ledger: Ledger, draft: Draft) -> Draft:
    """The draft as the repairs that are recorded left it."""
    for kind in Kind:
        if (known := ledger.output(kind)) is not None:
            draft = _after(draft, known)
    return draft


async def repaired(
    ledger: Ledger,
    repairer: Repairer,
    kind: Kind,
    *,
    commission: Commission,
    draft: Draft,
    unsupported: Sequence[int],
) -> Draft | None:
    """The draft after a repair of this kind; None when there was one, or it cannot be made."""
    if not unsupported or ledger.output(kind) is not None:
        return None
    try:
        async with ledger.working("repair", kind):
            done = await repairer.repair(
                commission.question,
                draft,
                unsupported,
                _cited(draft, unsupported, commission.evidence),
                drop_only=kind is Kind.DROP,
            )
    except PeerError as error:
        log.warning("repair_left_out", code=error.code, detail=str(error))
        return None
    output = {
        "markdown": done.markdown,
        "citations": [asdict(one) for one in done.citations],
        "rewritten": done.rewritten,
        "dropped": done.dropped,
        "model": done.spoken.model,
    }
    ledger.record(
        kind,
        output=output,
        events=events.thought("synthesizer", done.spoken.thought),
        usage=done.spoken.added_to(ledger.usage),
    )
    return _after(draft, output)


def _cited(
    draft: Draft, unsupported: Sequence[int], evidence: Sequence[Ranked]
) -> Sequence[Ranked]:
    wanted = {one.passage_id for one in draft.citations if one.number in unsupported}
    return [one for one in evidence if one.evidence.passage.id in wanted]


def _after(draft: Draft, output: Mapping[str, Any]) -> Draft:
    citations = tuple(DraftCitation(**one) for one in output["citations"])
    return replace(
        draft,
        markdown=output["markdown"],
        citations=citations,
        answered=draft.answered and bool(citations),
    )
