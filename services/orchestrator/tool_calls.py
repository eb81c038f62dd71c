"""The calls of one turn: made in parallel, charged and recorded in the agent's order.

Results that are there at the same time are written together.
"""

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from services.orchestrator import events, retrieval, tools, work_spans
from services.orchestrator.ceilings import Ceilings, Harness
from services.orchestrator.errors import PeerRefused
from services.orchestrator.ledger import Ledger
from services.orchestrator.plans import ConfirmedPlan
from services.orchestrator.retrieval import Account, Fetched
from services.orchestrator.tools import BadArguments, GetToc, ReadDocument, Request, SearchCorpus
from services.orchestrator.transcript import (
    Hit,
    Section,
    ToolCall,
    ToolResult,
    TurnRecord,
    result_from_json,
    result_to_json,
)
from services.orchestrator.trigger import CallOutcome

Admitted = Sequence[tuple[ToolCall, int]]


class Library(Protocol):
    """What the tools read."""

    async def search(self, request: SearchCorpus, scope: Mapping[str, Any]) -> Sequence[Hit]:
        """Passages for a query."""

    async def toc(self, request: GetToc) -> Sequence[Section]:
        """Sections of a document."""

    async def read(self, request: ReadDocument) -> Sequence[Hit]:
        """Passages of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a pass is about, and its limits."""

    question: str
    items: Sequence[Mapping[str, Any]]
    scope: Mapping[str, Any]
    number: int
    ceilings: Ceilings
    harness: Harness
    # What an extension pass goes on from.
    remaining_gaps: Sequence[str] = ()
    guidance: str = ""
    plan: ConfirmedPlan | None = None


class Calls:
    """Makes the calls of a pass; what was asked before is answered from the record."""

    def __init__(self, ledger: Ledger, library: Library, brief: Brief) -> None:
        self._ledger = ledger
        self._library = library
        self._brief = brief
        self._made: dict[str, ToolResult] = {}

    def remember_earlier(self, turns: Sequence[TurnRecord]) -> None:
        """Take what earlier passes answered in full; under larger ceilings the rest may succeed."""
        for turn in turns:
            for call, result in zip(turn.calls, turn.results, strict=True):
                if result.ok and not result.cut:
                    self._remember(call, result)

    async def make(
        self, key: str, admitted: Admitted, *, refused: Container[str] = ()
    ) -> tuple[ToolResult, ...]:
        """The results of a turn's calls; each row follows those before it. Raises PeerError.

        `refused` are the tools that a person does not allow.
        """
        results: list[ToolResult] = []
        try:
            async with asyncio.TaskGroup() as group:
                allowed = [(call, 0 if call.tool in refused else n) for call, n in admitted]
                fetches = self._start(group, key, allowed)
                for place, (call, number) in enumerate(admitted):
                    call_key = f"{key}/call_{place}"
                    known = self._ledger.output(call_key)
                    if known is None and call.tool in refused:
                        result = retrieval.refused(call, query=_query(call))
                        self._record(call_key, call, result)
                    elif known is None:
                        fetched = await self._arrived(fetches.get(place))
                        result = self._result(call, number, call_key, fetched)
                        self._record(call_key, call, result)
                    else:
                        result = result_from_json(known, self._ledger.evidence)
                    self._remember(call, result)
                    results.append(result)
        except BaseExceptionGroup as failures:
            # The group has cancelled the others; callers tell failures apart by type.
            raise failures.exceptions[0] from failures
        return tuple(results)

    async def _arrived(self, fetch: asyncio.Task[Fetched] | None) -> Fetched | None:
        """What was fetched; no result that is here already waits unwritten for a slower one."""
        if fetch is None:
            return None
        if not fetch.done():
            await self._ledger.settle()
        return await fetch

    def _remember(self, call: ToolCall, result: ToolResult) -> None:
        same = tools.same_call(call.tool, call.arguments)
        if same not in self._made or result.ok:
            self._made[same] = result

    def _start(
        self, group: asyncio.TaskGroup, key: str, admitted: Admitted
    ) -> dict[int, asyncio.Task[Fetched]]:
        """Start what has to be asked of search: admitted, not recorded, not answered before."""
        fetches: dict[int, asyncio.Task[Fetched]] = {}
        asked = {same for same, result in self._made.items() if result.ok}
        for place, (call, number) in enumerate(admitted):
            same = tools.same_call(call.tool, call.arguments)
            call_key = f"{key}/call_{place}"
            if number and same not in asked and self._ledger.output(call_key) is None:
                fetches[place] = group.create_task(self._fetch(call_key, call))
            asked.add(same)
        return fetches

    async def _fetch(self, call_key: str, call: ToolCall) -> Fetched:
        try:
            request = tools.parse(call.tool, call.arguments)
        except BadArguments as error:
            return Fetched(error=str(error), outcome=CallOutcome.REFUSED)
        query = request.query if isinstance(request, SearchCorpus) else ""
        async with self._ledger.working(call.tool, call_key) as span:
            work_spans.tell_arguments(span, call.arguments)
            try:
                fetched = await self._retrieve(request)
                work_spans.tell_hits(span, fetched.hits)
                return replace(fetched, query=query)
            except PeerRefused as error:
                if error.code == PeerRefused.code:
                    raise  # a bug of the peer: the agent cannot mend it
                return Fetched(error=str(error), outcome=CallOutcome.FAILED, query=query)

    async def _retrieve(self, request: Request) -> Fetched:
        match request:
            case SearchCorpus():
                with self._ledger.spans.retrieving(request.query) as span:
                    hits = await self._library.search(request, self._brief.scope)
                    work_spans.tell_retrieved(span, request.query, hits)
                return Fetched(hits=hits)
            case GetToc():
                return Fetched(sections=await self._library.toc(request))
            case ReadDocument():
                return Fetched(hits=await self._library.read(request))
            case _:
                raise AssertionError(f"{request!r} is not a retrieval")

    def _result(self, call: ToolCall, number: int, key: str, fetched: Fetched | None) -> ToolResult:
        earlier = self._made.get(tools.same_call(call.tool, call.arguments))
        if call.tool not in tools.COUNTED:
            return _uncounted(call, earlier)
        if not number:
            return retrieval.blocked(
                call,
                self._brief.ceilings,
                query=_query(call),
                words_spent=self._ledger.usage.calls < self._brief.ceilings.calls,
            )
        if fetched is None:
            assert earlier is not None, f"{key} was neither asked nor repeated"
            fetched = _repetition(earlier)
        elif earlier is not None and fetched.error:
            fetched = replace(fetched, outcome=CallOutcome.REPEATED)
        account = Account(
            ceilings=self._brief.ceilings,
            harness=self._brief.harness,
            words_used=self._ledger.usage.words,
            call_number=number,
        )
        return retrieval.charge(call, key, fetched, self._ledger.evidence, account)

    def _record(self, key: str, call: ToolCall, result: ToolResult) -> None:
        usage = self._ledger.usage
        total = usage.words + result.words
        told = events.tool_returned(
            step_key=key,
            ok=result.ok,
            found=[one.evidence for one in result.found],
            words=result.words,
            words_total=total,
            word_limit=self._brief.ceilings.words,
            notice=result.notice,
        )
        self._ledger.record(
            key,
            input=asdict(call),
            output=result_to_json(result),
            events=[told],
            evidence=result.fresh,
            usage=replace(usage, words=total),
        )


def _uncounted(call: ToolCall, earlier: ToolResult | None) -> ToolResult:
    """The result of a call that retrieves nothing: a request to stop, or an unknown tool."""
    outcome = CallOutcome.CONTROL if call.tool in tools.KNOWN else CallOutcome.UNKNOWN
    error = ""
    try:
        tools.parse(call.tool, call.arguments)
    except BadArguments as problem:
        error = str(problem)
        if outcome is CallOutcome.CONTROL:
            outcome = CallOutcome.REPEATED if earlier else CallOutcome.REFUSED
    return ToolResult(call_id=call.call_id, outcome=outcome, error=error)


def _repetition(earlier: ToolResult) -> Fetched:
    """What was asked before is answered from the record, with references instead of text."""
    return Fetched(
        hits=[
            Hit(passage=one.evidence.passage, similarity=one.similarity) for one in earlier.found
        ],
        sections=earlier.sections,
        query=earlier.query,
        error=earlier.error,
        outcome=CallOutcome.REPEATED,
    )


def _query(call: ToolCall) -> str:
    try:
        request = tools.parse(call.tool, call.arguments)
    except BadArguments:
        return ""
    return request.query if isinstance(request, SearchCorpus) else ""
