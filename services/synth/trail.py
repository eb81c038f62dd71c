"""What a pass has done so far, read from its transcript."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.synth.assessment import Source
from services.synth.mind import Investigation, ToolCall, ToolResult

SEARCH = "search_corpus"
READ = "read_document"
CONCLUDE = "conclude_search"
EXTEND = "request_search_extension"
COUNTED = frozenset({SEARCH, READ, "get_document_toc"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The calls made, the passages seen, and whether the ceilings or the library said stop."""

    queries: frozenset[str]
    read_around: frozenset[str]
    seen: tuple[Source, ...]
    nearest: Mapping[str, float | None]
    """The best similarity that each query reached; None without vectors."""
    was_told_to_stop: bool
    """The last turn brought a notice, or nothing but failures."""
    turns: int
    """How many turns this pass has taken; earlier passes are in the transcript too."""


def trail_of(investigation: Investigation) -> Trail:
    """The trail that the transcript tells."""
    queries: set[str] = set()
    read_around: set[str] = set()
    for call in (call for turn in investigation.transcript for call in turn.calls):
        arguments = arguments_of(call)
        if call.tool == SEARCH:
            queries.add(query_key(str(arguments.get("query", ""))))
        if call.tool == READ:
            read_around.add(_place(arguments))
    return Trail(
        queries=frozenset(queries),
        read_around=frozenset(read_around),
        seen=_seen(investigation),
        nearest=_nearest(investigation),
        was_told_to_stop=_told_to_stop(investigation),
        turns=sum(
            any(call.call_id.startswith(pass_mark(investigation)) for call in turn.calls)
            for turn in investigation.transcript
        ),
    )


def pass_mark(investigation: Investigation) -> str:
    """What the ids of all calls of this pass begin with."""
    return f"{investigation.pass_number}-"


def arguments_of(call: ToolCall) -> dict[str, Any]:  # whatever JSON object the call carries
    """The call's arguments; empty when they are not a JSON object."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def query_key(query: str) -> str:
    """What two queries share that ask for the same."""
    return " ".join(query.casefold().split()).rstrip(" ?？؟.。!！")


def page_place(document_id: str, first_page: int) -> str:
    """The name of a place that was read by pages."""
    return f"{document_id} {first_page}"


def _place(arguments: dict[str, Any]) -> str:
    if "passage_id" in arguments:
        return str(arguments["passage_id"])
    return page_place(str(arguments.get("document_id", "")), arguments.get("first_page", 0))


def _seen(investigation: Investigation) -> tuple[Source, ...]:
    found: dict[str, Source] = {}
    for one in (one for result in _results(investigation) for one in result.passages):
        known = found.get(one.passage.passage_id)
        passage = known.passage if known and not one.passage.text else one.passage
        similarities = [
            value
            for value in (known.similarity if known else None, one.similarity)
            if value is not None
        ]
        found[passage.passage_id] = Source(
            passage=passage, similarity=max(similarities, default=None)
        )
    return tuple(one for one in found.values() if one.passage.text)


def _nearest(investigation: Investigation) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for turn in investigation.transcript:
        queries = {
            call.call_id: query_key(str(arguments_of(call).get("query", "")))
            for call in turn.calls
            if call.tool == SEARCH
        }
        for result in turn.results:
            if result.call_id in queries:
                known = [one.similarity for one in result.passages if one.similarity is not None]
                found[queries[result.call_id]] = max(known, default=None)
    return found


def _results(investigation: Investigation) -> Iterator[ToolResult]:
    for turn in investigation.transcript:
        yield from turn.results


def _told_to_stop(investigation: Investigation) -> bool:
    if not investigation.transcript:
        return False
    last = investigation.transcript[-1].results
    return any(result.notice for result in last) or not any(result.ok for result in last)
