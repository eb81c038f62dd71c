"""The search stage: passes, and between them the questions to the researcher.

Where the stage is follows from rows alone: the reports of passes and the decisions on checkpoints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from services.orchestrator import checkpoint, events, research_pass, trigger
from services.orchestrator.ceilings import Ceilings, Harness, Options
from services.orchestrator.checkpoint import Choice, Decision, Progress, Question
from services.orchestrator.ledger import Ledger
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the last pass reported, and the ceilings that were granted by then."""

    report: Report
    ceilings: Ceilings


async def research(
    ledger: Ledger, agent: Agent, library: Library, errand: Errand
) -> Outcome | None:
    """Search until nothing is open or nobody extends it; None: a person is asked, the run waits."""
    harness, options = Harness(**ledger.run.ceilings), Options(**ledger.run.options)
    passes: list[Pass] = []
    granted = Decision(choice=Choice.EXTEND_BUDGET)
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
        )
        passes.append(await research_pass.run_pass(ledger, agent, library, brief, passes))
        report = passes[-1].report
        why = trigger.checkpoint(report, options, extensions_used=number)
        if why is None:
            await _record(ledger, number, report, question=None)
            return Outcome(report=report, ceilings=brief.ceilings)
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
                expires_at=datetime.now(UTC) + errand.patience if errand.patience else None,
            )
            await _record(ledger, number, report, question)
            return None
        if known.decision.choice is Choice.SYNTHESIZE:
            return Outcome(report=report, ceilings=brief.ceilings)
        granted = known.decision


async def _record(ledger: Ledger, number: int, report: Report, question: Question | None) -> None:
    """Write the report, and with the same write what comes next: a question, or rerank."""
    key = f"pass_{number}/report"
    is_recorded = ledger.output(key) is not None
    told = events.reported(
        pass_number=number,
        summary=report.summary,
        gaps=report.gaps,
        automatic=report.automatic,
        reason=report.reason,
    )
    if question is None:
        if not is_recorded:
            ledger.record(key, output=asdict(report), events=[told], then=Stage.RERANK)
    elif is_recorded:
        # The question was withdrawn and the run taken up again.
        await ledger.ask(question)
    else:
        await ledger.ask(question, key=key, output=asdict(report), events=[told])
