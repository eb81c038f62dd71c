"""The synthesize stage: the answer is written in attempts, each streamed, one of them recorded."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, replace
from typing import Any, Protocol

from services.chassis.telemetry import EventLog
from services.orchestrator import events
from services.orchestrator.deltas import Deltas, Publisher, flowing
from services.orchestrator.errors import PeerError
from services.orchestrator.ledger import Ledger
from services.orchestrator.peers.calls import patiently
from services.orchestrator.peers.synth import PEER, Commission, Draft, DraftCitation, Spoken
from services.orchestrator.run import Stage

KEY = "synthesize"

log = EventLog(__name__)


class Writer(Protocol):
    """The mind that writes."""

    def synthesize(self, commission: Commission) -> AsyncGenerator[str | Draft, None]:
        """Pieces of text, and the draft at the end."""


class Languages(Protocol):
    """What the search makes of languages."""

    async def bridged_languages(self) -> Sequence[str]:
        """Languages between which a question finds texts."""


async def write(
    ledger: Ledger,
    writer: Writer,
    languages: Languages,
    publisher: Publisher,
    commission: Commission,
    *,
    patience_s: float,
) -> Draft:
    """The draft, written once; a writer that goes away in between begins again."""
    if (known := ledger.output(KEY)) is not None:
        return _draft(known)

    # Begun with the write that led here; one that brought no text is left for the next try.
    begun = [ledger.begin(KEY, _reset)]

    async with ledger.working("synthesize", KEY):
        told = replace(commission, bridged_languages=await _bridged(languages))

        async def attempt() -> Draft:
            pieces = writer.synthesize(told)
            async with aclosing(pieces):
                return await _streamed(ledger, publisher, pieces, begun)

        draft = await patiently(PEER, attempt, patience_s=patience_s)
    ledger.record(
        KEY,
        output=asdict(draft),
        events=events.thought("synthesizer", draft.spoken.thought),
        usage=draft.spoken.added_to(ledger.usage),
        then=Stage.VERIFY,
    )
    return draft


async def _bridged(languages: Languages) -> Sequence[str]:
    """The bridged languages; an answer is not held up by a search that does not tell them."""
    try:
        return await languages.bridged_languages()
    except PeerError as error:
        log.warning("languages_unknown", code=error.code)
        return ()


async def _streamed(
    ledger: Ledger,
    publisher: Publisher,
    pieces: AsyncGenerator[str | Draft, None],
    begun: list[int],
) -> Draft:
    """Send the pieces on. The attempt is recorded before its first piece can be seen."""
    async with AsyncExitStack() as stack:
        deltas: Deltas | None = None
        async for piece in pieces:
            if isinstance(piece, Draft):
                return piece
            if deltas is None:
                number = begun.pop() if begun else ledger.begin(KEY, _reset)
                await ledger.settle()
                deltas = await stack.enter_async_context(
                    flowing(
                        Deltas(
                            publisher,
                            session_id=ledger.run.session_id,
                            run_id=ledger.run.id,
                            attempt=number,
                            after_sequence=lambda: ledger.last_sequence,
                        )
                    )
                )
            await deltas.add(piece)
    raise AssertionError("a writer ends with a draft or an error")


def _reset(attempt: int) -> Sequence[events.NewEvent]:
    """What is told when an attempt begins: text of an earlier one is void."""
    return [events.answer_reset(attempt)] if attempt > 1 else []


def _draft(data: Any) -> Draft:  # the JSON object that this module wrote
    return Draft(
        spoken=Spoken(**data["spoken"]),
        markdown=data["markdown"],
        citations=tuple(DraftCitation(**one) for one in data["citations"]),
        gaps=tuple(data["gaps"]),
        answered=data["answered"],
    )
