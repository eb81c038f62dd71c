"""A pass: the loop in which the search agent calls tools and the orchestrator counts.

Each turn is a step with its whole list of calls, committed before any of them starts. The calls
run in parallel; their results are charged and recorded in the agent's order, so that what a call
may still return never depends on which reply was faster.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from services.orchestrator import ceilings, events, tools, trigger
from services.orchestrator.ceilings import Ceilings
from services.orchestrator.consenting import Consenting
from services.orchestrator.ledger import Ledger
from services.orchestrator.peers.synth import NextMove
from services.orchestrator.tool_calls import Brief, Calls, Library
from services.orchestrator.transcript import (
    ToolCall,
    ToolResult,
    TurnRecord,
    calls_from_json,
    calls_to_json,
)
from services.orchestrator.trigger import CallOutcome, CallRecord, Ending, Report, Turn

# More calls than any ceiling admits are not worth a row each.
MAX_CALLS_A_TURN = 64
MAX_ARGUMENTS = 4_000


class Agent(Protocol):
    """The mind that decides what to look for."""

    async def investigate(
        self, brief: Brief, transcript: Sequence[TurnRecord], left: Ceilings
    ) -> NextMove:
        """The next move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A pass that has ended: the agent's memory of it, and its report."""

    transcript: Sequence[TurnRecord]
    report: Report


async def run_pass(
    ledger: Ledger,
    agent: Agent,
    library: Library,
    brief: Brief,
    earlier: Sequence[Pass],
    consenting: Consenting,
) -> Pass:
    """Search until the pass ends; goes on where an earlier holder stopped. Raises Asked.

    The report is for the caller to record, with what follows from it.
    """
    loop = _Loop(ledger, agent, library, brief, earlier, consenting)
    known = ledger.output(f"pass_{brief.number}/report")
    if known is not None:
        while loop.is_recorded:
            await loop.take_turn()
        return Pass(transcript=loop.transcript, report=report_from_json(known))
    while (why := loop.ending()) is None:
        await loop.take_turn()
    report = trigger.report(
        loop.turns,
        why,
        question=brief.question,
        found_any=bool(ledger.evidence),
        before=earlier[-1].report if earlier else None,
    )
    return Pass(transcript=loop.transcript, report=report)


def report_from_json(data: Mapping[str, Any]) -> Report:
    """The report as its step's output holds it."""
    return Report(**{**data, "gaps": tuple(data["gaps"]), "ending": Ending(data["ending"])})


class _Loop:
    """The turns of one pass so far, read from the ledger and added to it."""

    def __init__(
        self,
        ledger: Ledger,
        agent: Agent,
        library: Library,
        brief: Brief,
        earlier: Sequence[Pass],
        consenting: Consenting,
    ) -> None:
        self._ledger = ledger
        self._agent = agent
        self._calls = Calls(ledger, library, brief)
        self._brief = brief
        self._consenting = consenting
        self._refused: frozenset[str] = frozenset()
        # The agent remembers earlier passes; calls, turns and words are judged by this one.
        self._earlier = [turn for one in earlier for turn in one.transcript]
        self._calls.remember_earlier(self._earlier)
        self.transcript: list[TurnRecord] = []
        self.turns: list[Turn] = []

    @property
    def is_recorded(self) -> bool:
        """Whether the next turn was taken before."""
        return self._ledger.output(self._next_key) is not None

    def ending(self) -> Ending | None:
        """Why the pass is over; None while another turn is to be taken."""
        why = trigger.ending(self.turns, self._brief.ceilings)
        # A turn that was taken counts, whatever was used after it.
        if why is None and not self.is_recorded:
            usage = self._ledger.usage
            if self._brief.ceilings.leave_no_search(usage.tokens):
                return Ending.TOKENS
        return why

    @property
    def _next_key(self) -> str:
        return f"pass_{self._brief.number}/turn_{len(self.turns) + 1}"

    async def take_turn(self) -> None:
        """The next turn, from the record or from the agent, and all its calls."""
        key = self._next_key
        output = self._ledger.output(key)
        if output is None:
            async with self._ledger.working("investigate", key):
                output = await self._ask(key)
        admitted = calls_from_json(output["calls"])
        tools_used = [call.tool for call, number in admitted if number]
        self._refused |= await self._consenting.refused(tools_used)
        results = await self._calls.make(key, admitted, refused=self._refused)
        calls = tuple(call for call, _ in admitted)
        self.transcript.append(TurnRecord(calls=calls, results=results))
        self.turns.append(_turn(calls, results))

    async def _ask(self, key: str) -> Mapping[str, Any]:
        """Ask the agent, admit its calls in its order, and commit the turn."""
        usage, limits = self._ledger.usage, self._brief.ceilings
        left = replace(
            limits,
            calls=max(0, limits.calls - usage.calls),
            words=max(0, limits.words - usage.words),
        )
        move = await self._agent.investigate(self._brief, [*self._earlier, *self.transcript], left)
        calls = move.calls[:MAX_CALLS_A_TURN]
        numbers = ceilings.admit(
            [call.tool in tools.COUNTED - self._refused for call in calls],
            used=usage.calls,
            limit=limits.calls,
            words_spent=self._words_spent,
        )
        output = {
            "calls": calls_to_json(calls, numbers),
            "calls_left_out": len(move.calls) - len(calls),
            "text": move.text,
            "model": move.spoken.model,
        }
        self._ledger.record(
            key,
            output=output,
            events=[
                *events.thought("search", move.spoken.thought),
                *(
                    self._called(f"{key}/call_{place}", call, number)
                    for place, (call, number) in enumerate(zip(calls, numbers, strict=True))
                ),
            ],
            usage=replace(
                move.spoken.added_to(usage),
                calls=usage.calls + sum(1 for number in numbers if number),
            ),
        )
        return output

    def _called(self, key: str, call: ToolCall, number: int) -> events.NewEvent:
        return events.tool_called(
            step_key=key,
            pass_number=self._brief.number,
            tool=call.tool,
            arguments=_shown(call.arguments),
            call_number=number,
            call_limit=self._brief.ceilings.calls,
        )

    @property
    def _words_spent(self) -> bool:
        """Whether no more text can be returned: the ceiling is reached or has cut a result."""
        was_cut = any(result.cut for turn in self.transcript for result in turn.results)
        return was_cut or self._ledger.usage.words >= self._brief.ceilings.words


def _turn(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Turn:
    """The turn as the end of a pass is judged by."""
    stops = [
        tools.parse(call.tool, call.arguments)
        for call, result in zip(calls, results, strict=True)
        if result.outcome is CallOutcome.CONTROL
    ]
    return Turn(
        calls=tuple(CallRecord(outcome=result.outcome, query=result.query) for result in results),
        conclusion=next((one for one in stops if isinstance(one, tools.Conclude)), None),
        extension=next((one for one in stops if isinstance(one, tools.RequestExtension)), None),
    )


def _shown(arguments: str) -> str:
    """The arguments as a JSON object, whatever the agent wrote."""
    try:
        if len(arguments) <= MAX_ARGUMENTS and isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"malformed": arguments[:MAX_ARGUMENTS]}, ensure_ascii=False)
