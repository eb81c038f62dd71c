"""A few passages as a library, and the tool loop of a pass over it."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from services.synth.mind import (
    FoundPassage,
    Investigation,
    InvestigationTurn,
    ItemRef,
    Mind,
    Move,
    Passage,
    Tool,
    ToolCall,
    ToolResult,
    Work,
)
from services.synth.terms import stems_of

PARAMETERS = {
    "search_corpus": ["query", "limit"],
    "get_document_toc": ["document_id"],
    "read_document": ["document_id", "passage_id", "before", "after"],
    "request_search_extension": ["justification", "covered_summary", "missing_aspects"],
    "conclude_search": ["summary", "gaps"],
}
TOOLS = tuple(
    Tool(
        name=name,
        description=name,
        parameters_schema=json.dumps(
            {"type": "object", "properties": {parameter: {} for parameter in parameters}}
        ),
    )
    for name, parameters in PARAMETERS.items()
)
MAX_TURNS = 23

Event = TypeVar("Event")


def passage(
    passage_id: str, text: str, *, title: str = "", creators: Iterable[str] = (), year: str = ""
) -> Passage:
    """A passage whose document is named by what stands before the dash of its id."""
    document = passage_id.split("-")[0]
    work = Work(
        document_id=f"user/{document}",
        item=ItemRef(library="user", key=document),
        title=title,
        creators=tuple(creators),
        year=year,
    )
    return Passage(
        passage_id=passage_id, work=work, text=text, first_page_index=0, last_page_index=0
    )


async def all_of(events: AsyncIterator[Event]) -> list[Event]:
    """Everything that a mind streams."""
    return [event async for event in events]


@dataclass
class Pass:
    """One pass: what was asked for, what came of it, and the report at its end."""

    calls: list[ToolCall] = field(default_factory=list)
    transcript: list[InvestigationTurn] = field(default_factory=list)
    report: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class SmallLibrary:
    """Finds by shared words, as a search would find by its index."""

    passages: tuple[Passage, ...]
    language: str = "en"

    def search(self, query: str, limit: int) -> list[Passage]:
        """The passages that share most words with the query."""
        wanted = stems_of(query, self.language)
        shared = {
            one.passage_id: len(wanted & stems_of(f"{one.work.title} {one.text}", self.language))
            for one in self.passages
        }
        ranked = sorted(self.passages, key=lambda one: -shared[one.passage_id])
        return [one for one in ranked if shared[one.passage_id]][:limit]

    async def investigate(
        self,
        mind: Mind,
        question: str,
        *,
        calls: int = 10,
        before: Pass | None = None,
        guidance: str = "",
    ) -> Pass:
        """Run the loop of a pass as its owner would, without the ceilings' finer points.

        After `before` it is an extension of that pass, whose transcript the mind sees too.
        """
        earlier = before.transcript if before else []
        gaps = before.report["gaps"] if before and before.report else ()
        known = {
            found.passage.passage_id
            for turn in earlier
            for result in turn.results
            for found in result.passages
        }
        done = Pass()
        while len(done.transcript) < MAX_TURNS:
            left = calls - sum(one.tool not in ("conclude_search",) for one in done.calls)
            state = Investigation(
                question=question,
                transcript=(*earlier, *done.transcript),
                tools=TOOLS,
                calls_left=left,
                words_left=7_500,
                pass_number=1 if before else 0,
                remaining_gaps=tuple(gaps),
                guidance=guidance,
            )
            *_, move = await all_of(mind.investigate(state))
            assert isinstance(move, Move)
            done.calls += move.calls
            results = tuple(self._result(call, known) for call in move.calls)
            done.transcript.append(InvestigationTurn(calls=move.calls, results=results))
            ends = [one for one in move.calls if one.tool == "conclude_search"]
            if ends:
                done.report = json.loads(ends[-1].arguments)
            if ends or not move.calls:
                return done
        raise AssertionError("the pass does not end")

    def _result(self, call: ToolCall, known: set[str]) -> ToolResult:
        arguments = json.loads(call.arguments)
        match call.tool:
            case "search_corpus":
                hits = self.search(arguments["query"], arguments["limit"])
            case "read_document":
                center = next(
                    n
                    for n, one in enumerate(self.passages)
                    if one.passage_id == arguments["passage_id"]
                )
                around = self.passages[max(0, center - 1) : center + 3]
                document = self.passages[center].work.document_id
                hits = [one for one in around if one.work.document_id == document]
            case _:
                hits = []
        found = tuple(
            FoundPassage(
                passage=replace(one, text="") if one.passage_id in known else one,
                seen_before=one.passage_id in known,
            )
            for one in hits
        )
        known.update(one.passage_id for one in hits)
        return ToolResult(call_id=call.call_id, ok=True, passages=found)
