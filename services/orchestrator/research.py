"""The search stage: passes, and between them the questions to the researcher.

Where the stage is follows from rows alone: the reports of passes and the decisions on checkpoints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from services.orchestrator import checkpoint, events, research_pass, trigger
from services.orchestrator.ceilings import Ceilings, Harness
from services.orchestrator.checkpoint import Choice, Decision, Progress, Question
from services.orchestrator.consenting import Consenting
from services.orchestrator.events import NewEvent
from services.orchestrator.ledger import Ledger
from services.orchestrator.options import options_from_json
from services.orchestrator.plans import ConfirmedPlan
from services.orchestrator.research_pass import Agent, Pass
from services.orchestrator.run import Stage
from services.orchestrator.tool_calls import Brief, Library
from services.orchestrator.trigger import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What the search is for."""

    question: str
    items: Sequence[Mapping[str, Any]]
    # How long a question to the researcher stays open; None: for ever.
    patience: timedelta | None
    consenting: Consenting
    # What a person approved before the search began, and the steering that came with consent to it.
    plan: ConfirmedPlan | None = None
    guidance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the last pass reported, and the ceilings that were granted by then."""

    report: Report
    ceilings: Ceilings


async def research(
    ledger: Ledger, agent: Agent, library: Library, errand: Errand
) -> Outcome | None:
    """Search until nothing is open or nobody extends it; None: a person is asked, the run waits.

    Raises Asked where consent is asked for.
    """
    harness, options = Harness(**ledger.run.ceilings), options_from_json(ledger.run.options)
    passes: list[Pass] = []
    granted = Decision(choice=Choice.EXTEND_BUDGET, guidance=errand.guidance)
    while True:
        number = len(passes)
        before = passes[-1].report if passes else None
        brief = Brief(
            question=errand.question,
            items=errand.items,
            scope=ledger.run.scope,
            number=number,
            ceilings=harness.ceilings(number),
            harness=harness,
            remaining_gaps=before.gaps if before else (),
            guidance=granted.guidance,
            plan=errand.plan,
        )
        passes.append(
            await research_pass.run_pass(ledger, agent, library, brief, passes, errand.consenting)
        )
        report = passes[-1].report
        why = trigger.checkpoint(report, options, extensions_used=number)
        if why is None:
            await _record(ledger, number, report, question=None)
            return Outcome(report=report, ceilings=brief.ceilings)
        if options.extends_itself:
            _record_extension(ledger, number, report)
            granted = Decision(choice=Choice.EXTEND_BUDGET)
            continue
        known = ledger.checkpoint(checkpoint.interrupt_id(number + 1))
        if known is None or known.decision is None:
            progress = Progress(
                harness=harness,
                options=options,
                extensions=number,
                usage=ledger.usage,
                evidence=ledger.evidence.values(),
            )
            question = checkpoint.budget_question(
                report,
                why,
                progress,
                version=known.version + 1 if known else 1,
                expires_at=await ledger.deadline(errand.patience),
            )
            await _record(ledger, number, report, question)
            return None
        if known.decision.choice is Choice.SYNTHESIZE:
            return Outcome(report=report, ceilings=brief.ceilings)
        granted = known.decision


def _record_extension(ledger: Ledger, number: int, report: Report) -> None:
    """Write the report, and that the strategy goes on."""
    key = f"pass_{number}/report"
    if ledger.output(key) is None:
        name = checkpoint.interrupt_id(number + 1)
        granted = events.extended_by_strategy(name, datetime.now(UTC))
        told = [_told(number, report), granted]
        ledger.record(key, output=asdict(report), events=told, then=Stage.SEARCH, passes=1)


async def _record(ledger: Ledger, number: int, report: Report, question: Question | None) -> None:
    """Write the report, and with the same write what comes next: a question, or rerank."""
    key = f"pass_{number}/report"
    is_recorded = ledger.output(key) is not None
    told = _told(number, report)
    if question is None:
        if not is_recorded:
            ledger.record(key, output=asdict(report), events=[told], then=Stage.RERANK)
    elif is_recorded:
        # The question was withdrawn and the run taken up again.
        await ledger.ask(question)
    else:
        await ledger.ask(question, key=key, output=asdict(report), events=[told])


def _told(number: int, report: Report) -> NewEvent:
    return events.reported(
        pass_number=number,
        summary=report.summary,
        gaps=report.gaps,
        automatic=report.automatic,
        reason=report.reason,
    )
