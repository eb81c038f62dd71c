"""Asks for consent where a run needs it: before its search, and before the first use of a tool."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from services.orchestrator import consent
from services.orchestrator.checkpoint import Choice, Decision, Question
from services.orchestrator.errors import Asked
from services.orchestrator.ledger import Ledger
from services.orchestrator.options import Options


class Consenting:
    """The questions for consent of one run, each asked once and numbered in that order."""

    def __init__(self, ledger: Ledger, options: Options, patience: timedelta | None) -> None:
        self._ledger = ledger
        self._options = options
        self._patience = patience

    async def to_research(self) -> Decision:
        """What was decided on the search as a whole. Raises Asked."""
        share = self._options.complexity
        if share is None:
            return Decision(choice=Choice.APPROVE)
        return await self._decision(consent.RESEARCH)

    async def refused(self, tools: Sequence[str]) -> frozenset[str]:
        """Those of the tools that may not be used. Raises Asked while one is not decided on."""
        refused = set()
        for tool in dict.fromkeys(tools):
            if tool in self._options.consent_tools:
                decision = await self._decision(tool)
                if decision.choice is Choice.REJECT:
                    refused.add(tool)
        return frozenset(refused)

    async def _decision(self, subject: str) -> Decision:
        key = f"approval/{subject}"
        recorded = self._ledger.output(key)
        name = recorded["interrupt_id"] if recorded else consent.interrupt_id(self._asked + 1)
        known = self._ledger.checkpoint(name)
        if known is not None and known.decision is not None:
            return known.decision
        question = self._question(
            subject,
            name,
            version=known.version + 1 if known else 1,
            expires_at=await self._ledger.deadline(self._patience),
        )
        if recorded:
            # The question was withdrawn and the run taken up again.
            await self._ledger.ask(question)
        else:
            await self._ledger.ask(question, key=key, output={"interrupt_id": name})
        raise Asked

    @property
    def _asked(self) -> int:
        """How many questions were asked so far."""
        subjects = (consent.RESEARCH, *self._options.consent_tools)
        keys = (f"approval/{subject}" for subject in subjects)
        return sum(self._ledger.output(key) is not None for key in keys)

    def _question(
        self, subject: str, name: str, *, version: int, expires_at: datetime | None
    ) -> Question:
        if subject == consent.RESEARCH:
            share = self._options.complexity or 0.0
            return consent.research_question(name, share, version=version, expires_at=expires_at)
        return consent.tool_question(name, subject, version=version, expires_at=expires_at)
