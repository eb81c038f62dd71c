"""The stages of a run, one after the other; each is skipped when its step is recorded."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from services.chassis.errors import INTERNAL_TEXT
from services.chassis.telemetry import EventLog
from services.orchestrator import (
    consent,
    events,
    planning,
    repairing,
    research_pass,
    synthesis,
    tool_calls,
    verification,
    work_spans,
)
from services.orchestrator.ceilings import Ceilings
from services.orchestrator.checkpoint import Choice, Decision
from services.orchestrator.consenting import Consenting
from services.orchestrator.deltas import Publisher
from services.orchestrator.errors import Asked, HandOver, PeerError
from services.orchestrator.events import Told
from services.orchestrator.ledger import Ledger, RunStore, Standing, until_up
from services.orchestrator.options import Options, options_from_json
from services.orchestrator.passages import Evidence, Ranked
from services.orchestrator.peers.rerank import Ranking
from services.orchestrator.peers.synth import Commission, Direction, Draft
from services.orchestrator.research import Errand, research
from services.orchestrator.run import Action, ClaimedRun, Stage
from services.orchestrator.store.history import Recorded
from services.orchestrator.verification import Checked

VERIFY = "verify"
HISTORY_TURNS = 6
HISTORY_CHARACTERS = 1_500

log = EventLog(__name__)


class Mind(planning.Planner, research_pass.Agent, synthesis.Writer, repairing.Repairer, Protocol):
    """Coordinator, planner, search agent and writer."""

    async def converse(
        self,
        prompt: str,
        history: Sequence[tuple[str, str, Sequence[str]]],
        items: Sequence[Mapping[str, Any]],
    ) -> Direction:
        """A direct answer or a question for research."""


class Library(tool_calls.Library, verification.QuoteFinder, synthesis.Languages, Protocol):
    """What is read."""


class Ranker(verification.Judge, Protocol):
    """What looks twice."""

    async def rerank(
        self, query: str, evidence: Sequence[Evidence], *, max_passages: int, max_words: int
    ) -> Ranking:
        """Keep the best passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """Who does the work."""

    mind: Mind
    library: Library
    ranker: Ranker


class Pipeline:
    """Continues any run from its rows."""

    def __init__(
        self,
        store: RunStore,
        peers: Peers,
        publisher: Publisher,
        *,
        support_threshold: float,
        patience_s: float,
        checkpoint_patience: timedelta | None,
        approval_patience: timedelta | None = None,
        on_write: Callable[[Told], None],
    ) -> None:
        self._store = store
        self._peers = peers
        self._publisher = publisher
        self._support_threshold = support_threshold
        self._patience_s = patience_s
        self._checkpoint_patience = checkpoint_patience
        self._approval_patience = approval_patience
        self._on_write = on_write

    async def run(self, run: ClaimedRun, standing: Standing) -> None:
        """Work until the run ends or waits for a person. Raises Stale, HandOver."""
        # The first holder of a run finds nothing recorded.
        first = run.lease.epoch == 1
        recorded = Recorded() if first else await until_up(lambda: self._store.load(run.id))
        ledger = Ledger(run, self._store, recorded, on_write=self._on_write, standing=standing)
        try:
            await self._stages(ledger)
        except Asked:
            return
        except HandOver:
            await ledger.settle()
            raise
        except PeerError as error:
            log.warning("run_failed", run_id=run.id, code=error.code, peer=error.peer)
            await _fail(ledger, error.code, str(error), retryable=error.retryable)

    async def fail(self, run: ClaimedRun) -> None:
        """End a run that met a bug. Raises Stale."""
        recorded = await until_up(lambda: self._store.load(run.id))
        standing = Standing(asyncio.Event())
        ledger = Ledger(run, self._store, recorded, on_write=self._on_write, standing=standing)
        await _fail(ledger, "INTERNAL", INTERNAL_TEXT, retryable=False)

    async def _stages(self, ledger: Ledger) -> None:
        options = options_from_json(ledger.run.options)
        direction = await self._converse(ledger, options)
        if direction is None:
            return
        question, _ = direction
        errand = await self._agreed(ledger, options, *direction)
        if errand is None:
            return
        outcome = await research(ledger, self._peers.mind, self._peers.library, errand)
        if outcome is None:
            return
        report, plan = outcome.report, errand.plan
        kept = await self._rerank(ledger, question, outcome.ceilings)
        commission = Commission(
            question=question,
            evidence=kept,
            covered_summary=report.summary,
            gaps=report.gaps,
            plan=plan.text if plan else "",
        )
        draft = await synthesis.write(
            ledger,
            self._peers.mind,
            self._peers.library,
            self._publisher,
            commission,
            patience_s=self._patience_s,
        )
        await self._verify(ledger, options, commission, draft, outcome.ceilings)

    async def _agreed(
        self,
        ledger: Ledger,
        options: Options,
        question: str,
        items: Sequence[Mapping[str, Any]],
    ) -> Errand | None:
        """The search as a person wants it; None when it is not allowed, which ends the run.

        Raises Asked.
        """
        plan = None
        if options.review_plan:
            patience = _review_patience(options) or self._checkpoint_patience
            plan = await planning.reviewed_plan(
                ledger, self._peers.mind, question=question, items=items, patience=patience
            )
        consenting = Consenting(ledger, options, self._approval_patience)
        decision = await consenting.to_research()
        if decision.choice is Choice.REJECT:
            await _deny(ledger, decision)
            return None
        return Errand(
            question=question,
            items=items,
            patience=self._checkpoint_patience,
            consenting=consenting,
            plan=plan,
            guidance=" ".join(filter(None, (decision.guidance, decision.modified_action))),
        )

    async def _converse(
        self, ledger: Ledger, options: Options
    ) -> tuple[str, Sequence[Mapping[str, Any]]] | None:
        """The question for research; None after a direct answer, which ends the run."""
        key = "converse"
        if (known := ledger.output(key)) is not None:
            return known["question"], known["items"]
        run = ledger.run
        async with ledger.working("converse", key):
            past = await ledger.conversation(HISTORY_TURNS)
            history = [
                (turn.prompt, turn.answer[:HISTORY_CHARACTERS], turn.cited_titles) for turn in past
            ]
            direction = await self._peers.mind.converse(run.prompt, history, run.active_items)
        spoken = direction.spoken
        question, items = direction.question, direction.active_items
        if options.needs_research and not question:
            question, items = run.prompt, tuple(run.active_items)
        output = {"question": question, "items": list(items), "model": spoken.model}
        usage = spoken.added_to(ledger.usage)
        thoughts = events.thought("coordinator", spoken.thought)
        if question:
            then = Stage.PLAN if options.review_plan else Stage.SEARCH
            ledger.record(key, output=output, events=thoughts, usage=usage, then=then)
            return question, items
        answer = events.answered(
            markdown=direction.answer,
            citations=(),
            gaps=(),
            has_answer=True,
            model=spoken.model,
            usage=usage,
            passages=0,
            seconds=_seconds_since(run.create_time),
        )
        await ledger.finish(
            Action.COMPLETE, key=key, output=output, events=[*thoughts, answer], usage=usage
        )
        return None

    async def _rerank(self, ledger: Ledger, question: str, ceilings: Ceilings) -> list[Ranked]:
        """The kept passages with their scores, best first."""
        key = "rerank"
        known = ledger.output(key)
        if known is None:
            ranking = Ranking(kept=(), sentence_scores={}, considered=0, words_kept=0, model="")
            if ledger.evidence:
                async with ledger.working("rerank", key) as span:
                    ranking = await self._peers.ranker.rerank(
                        question,
                        list(ledger.evidence.values()),
                        max_passages=ceilings.passages,
                        max_words=ceilings.words,
                    )
                    work_spans.tell_ranked(span, question, ranking.model, ranking.kept)
            known = asdict(ranking)
            told = events.reranked(
                considered=ranking.considered,
                kept=len(ranking.kept),
                words_kept=ranking.words_kept,
                model=ranking.model,
            )
            ledger.record(key, output=known, events=[told], then=Stage.SYNTHESIZE)
        return [
            Ranked(
                evidence=ledger.evidence[passage_id],
                score=score,
                # A row of an earlier version has none.
                sentence_scores=known.get("sentence_scores", {}).get(passage_id, ()),
            )
            for passage_id, score in known["kept"]
        ]

    async def _verify(
        self,
        ledger: Ledger,
        options: Options,
        commission: Commission,
        draft: Draft,
        ceilings: Ceilings,
    ) -> None:
        """Check the answer, mend what nothing supports, and end the run with it."""
        draft = repairing.as_recorded(ledger, draft)
        checked = await self._checked(ledger, draft, options)
        for kind in self._repairs(ledger, options, ceilings):
            mended = await repairing.repaired(
                ledger,
                self._peers.mind,
                kind,
                commission=commission,
                draft=draft,
                unsupported=checked.unsupported,
            )
            if mended is not None:
                draft = mended
                checked = await self._checked(ledger, draft, options)
        answer = events.answered(
            markdown=checked.markdown,
            citations=checked.citations,
            gaps=tuple(dict.fromkeys((*commission.gaps, *draft.gaps))),
            has_answer=draft.answered,
            model=draft.spoken.model,
            usage=ledger.usage,
            passages=len(ledger.evidence),
            seconds=_seconds_since(ledger.run.create_time),
        )
        await ledger.finish(
            Action.COMPLETE, key=VERIFY, output={"dropped": checked.dropped}, events=[answer]
        )

    async def _checked(self, ledger: Ledger, draft: Draft, options: Options) -> Checked:
        async with ledger.working("verify", VERIFY):
            return await verification.verify(
                draft,
                ledger.evidence,
                self._peers.library,
                self._peers.ranker if options.checks_support else None,
                threshold=self._support_threshold,
            )

    @staticmethod
    def _repairs(ledger: Ledger, options: Options, ceilings: Ceilings) -> Iterator[repairing.Kind]:
        """What may be done about unsupported sentences, in this order."""
        if options.checks_support and not ceilings.leave_no_call(ledger.usage.tokens):
            yield repairing.Kind.REWRITE
        if options.drops_unsupported:
            yield repairing.Kind.DROP


async def _fail(ledger: Ledger, code: str, message: str, *, retryable: bool) -> None:
    told = events.failed(code=code, message=message, retryable=retryable)
    await ledger.finish(Action.FAIL, events=[told])


async def _deny(ledger: Ledger, decision: Decision) -> None:
    """End a run whose search a person does not allow; that is its answer."""
    answer = events.answered(
        markdown=consent.DENIED.format(reason=decision.guidance or consent.NO_REASON),
        citations=(),
        gaps=(),
        has_answer=False,
        model="",
        usage=ledger.usage,
        passages=0,
        seconds=_seconds_since(ledger.run.create_time),
    )
    await ledger.finish(Action.COMPLETE, key="denied", events=[answer])


def _review_patience(options: Options) -> timedelta | None:
    """How long the request lets its plan review wait."""
    seconds = options.review_timeout_s
    return timedelta(seconds=seconds) if seconds else None


def _seconds_since(start: datetime) -> float:
    # The database's clock wrote the start; a clock behind it must not give less than nothing.
    return max(0.0, (datetime.now(UTC) - start).total_seconds())
