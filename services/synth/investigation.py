"""The search agent without a model: search each aspect, look closer where support is thin."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.synth.absence import Standing, is_name, most_telling, standing, without_term
from services.synth.aspects import whole
from services.synth.assessment import Finding, Library, find
from services.synth.extension import extended, rephrased
from services.synth.gaps import as_gap, gaps_beside
from services.synth.languages import language_of
from services.synth.mind import Investigation, Move, Passage, Tool, ToolCall
from services.synth.phrases import Phrases
from services.synth.planning import planned_aspects
from services.synth.terms import Term
from services.synth.trail import (
    CONCLUDE,
    EXTEND,
    READ,
    SEARCH,
    Trail,
    page_place,
    pass_mark,
    query_key,
    trail_of,
)

MAX_TURNS = 3
HITS_IN_ALL = 24
MOST_HITS = 10
FEWEST_HITS = 5
PROBED_HITS = 3
WORDS_PER_HIT = 210
# A hit that carries this share of an aspect is worth reading around.
WORTH_READING = 0.3
# A sentence that holds this share of an aspect's words needs no reading around.
PLAIN_ENOUGH = 0.85
READ_BEFORE, READ_AFTER, MOST_READINGS = 3, 6, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The move, and what to say beside it."""

    move: Move
    thought: str


def next_move(investigation: Investigation, phrases: Phrases) -> Plan:
    """What to do next, from the transcript alone."""
    desk = _Desk(investigation, phrases)
    if not desk.trail.turns:
        return desk.further_searches() if investigation.pass_number else desk.first_searches()
    findings = desk.findings()
    if desk.trail.turns >= MAX_TURNS or desk.trail.was_told_to_stop:
        return desk.conclusion(findings)
    return desk.closer_look(findings) or desk.conclusion(findings)


class _Desk:
    """One turn's view of the pass."""

    def __init__(self, investigation: Investigation, phrases: Phrases) -> None:
        self._state = investigation
        self._phrases = phrases
        self._tools = {tool.name: tool for tool in investigation.tools}
        self._language = language_of(investigation.question)
        # An extension is about the gaps; what was covered before stays so.
        self._aspects, self._open = extended(
            planned_aspects(investigation.question, investigation.confirmed_plan),
            investigation,
            self._language,
            phrases,
        )
        self._whole = whole(investigation.question, self._language).query
        self.trail: Trail = trail_of(investigation)

    def findings(self) -> list[Finding]:
        """How well what was seen carries each aspect."""
        library = Library(self.trail.seen, self._language)
        return [self._weighed(find(aspect, library), library) for aspect in self._aspects]

    def _weighed(self, finding: Finding, library: Library) -> Finding:
        """The finding, without support when the aspect is about something foreign."""
        question = self._state.question
        missing = [
            term
            for term in finding.missing
            # Words of two languages cannot meet; only names can be missed.
            if library.speaks_the_language or is_name(term, question)
        ]
        standings = {term: self._standing(term) for term in missing}
        foreign = tuple(term for term in missing if standings[term] is Standing.FOREIGN)
        return replace(
            finding,
            missing=tuple(missing),
            foreign=foreign,
            doubtful=tuple(term for term in missing if standings[term] is Standing.DOUBTFUL),
            is_supported=finding.is_supported and not foreign,
        )

    def _standing(self, term: Term) -> Standing:
        nearest = self.trail.nearest
        before = nearest.get(query_key(self._whole))
        after = nearest.get(query_key(without_term(self._whole, term)))
        return standing(
            term,
            self._state.question,
            self._language,
            lift=None if before is None or after is None else after - before,
            alone=nearest.get(query_key(term.surface)),
        )

    def first_searches(self) -> Plan:
        """The whole question and each of its aspects, side by side."""
        queries = [self._whole, *(aspect.query for aspect in self._aspects)]
        return self._searching(self._new(queries)) or self._nothing_possible()

    def further_searches(self) -> Plan:
        """The start of an extension: each gap in other words, and around what came closest."""
        findings = self.findings()
        thin = [one for one in findings if self._is_thin(one)]
        queries = self._new(
            query
            for finding in thin
            for query in rephrased(finding.aspect, self._state.guidance, self.trail.queries)
        )
        calls: list[tuple[str, dict[str, object]]]
        calls = [(SEARCH, {"query": query, "limit": MOST_HITS}) for query in queries]
        calls += [
            (READ, arguments)
            for passage in _worth_reading(thin)
            if (arguments := self._around(passage)) is not None
        ]
        if not (calls := self._affordable(calls)):
            return self.conclusion(findings)
        return self._plan(calls, self._phrases.searching.format(queries="; ".join(queries)))

    def _is_thin(self, finding: Finding) -> bool:
        return not finding.is_supported and finding.aspect.label in self._open

    def closer_look(self, findings: Sequence[Finding]) -> Plan | None:
        """Other words for each thin aspect, and once the surroundings of the best hits."""
        thin = [finding for finding in findings if self._is_thin(finding)]
        queries = self._new(query for finding in thin for query in _other_words(finding))
        calls: list[tuple[str, dict[str, object]]]
        calls = [(SEARCH, {"query": q, "limit": PROBED_HITS}) for q in self._probes(findings)]
        calls += [(SEARCH, {"query": q, "limit": FEWEST_HITS}) for q in queries]
        titles: list[str] = []
        # What is reported in one passage of a paper is often measured in another one.
        for passage in [] if self.trail.read_around else _worth_reading(findings):
            if (arguments := self._around(passage)) is not None:
                calls.append((READ, arguments))
                titles.append(passage.work.title)
        if not (calls := self._affordable(calls)):
            return None
        said = [self._phrases.searching.format(queries="; ".join(queries))] if queries else []
        said += [self._phrases.reading.format(title=title) for title in dict.fromkeys(titles)]
        return self._plan(calls, " ".join(said))

    def _probes(self, findings: Sequence[Finding]) -> list[str]:
        """Queries that show whether words missing so far are missing in the whole library."""
        missing = {term.stem: term for finding in findings for term in finding.missing}
        asked: list[str] = []
        for term in most_telling(missing.values()):
            asked += [without_term(self._whole, term), term.surface]
        return self._new(asked)

    def conclusion(self, findings: Sequence[Finding]) -> Plan:
        """The end of the pass: what is covered and what is not."""
        covered = [one.aspect.topic for one in findings if not self._is_thin(one)]
        thin = {
            one.aspect.label: as_gap(one.aspect, [t.surface for t in one.foreign], self._phrases)
            for one in findings
            if self._is_thin(one)
        }
        doubtful = {t.surface for one in findings if one.is_supported for t in one.doubtful}
        gaps = gaps_beside(thin, sorted(doubtful), self._phrases)
        summary = (
            self._phrases.covered.format(aspects="; ".join(covered))
            if covered
            else self._phrases.not_covered
        )
        if CONCLUDE not in self._tools:
            return Plan(move=Move(calls=(), text=summary), thought=self._phrases.concluding)
        arguments: dict[str, object] = {"summary": summary, "gaps": gaps}
        return self._plan([(CONCLUDE, arguments)], self._phrases.concluding)

    def _nothing_possible(self) -> Plan:
        gaps = [aspect.label for aspect in self._aspects]
        if EXTEND in self._tools and SEARCH in self._tools:
            arguments: dict[str, object] = {
                "justification": self._phrases.not_covered,
                "covered_summary": "",
                "missing_aspects": gaps,
            }
            return self._plan([(EXTEND, arguments)], self._phrases.concluding)
        return self.conclusion(self.findings())

    def _searching(self, queries: Sequence[str]) -> Plan | None:
        limit = max(FEWEST_HITS, min(MOST_HITS, HITS_IN_ALL // max(1, len(queries))))
        calls = self._affordable([(SEARCH, {"query": q, "limit": limit}) for q in queries])
        if not calls:
            return None
        asked = "; ".join(queries[: len(calls)])
        return self._plan(calls, self._phrases.searching.format(queries=asked))

    def _new(self, queries: Iterable[str]) -> list[str]:
        """The queries that were not asked yet, each once."""
        fresh = {query_key(query): query for query in reversed(list(queries)) if query.strip()}
        return [query for key, query in reversed(fresh.items()) if key not in self.trail.queries]

    def _around(self, passage: Passage) -> dict[str, object] | None:
        """Arguments that read on around a passage, in the way the tool on offer takes."""
        tool = self._tools.get(READ)
        if tool is None:
            return None
        if _takes(tool, "passage_id"):
            if passage.passage_id in self.trail.read_around:
                return None
            return {"passage_id": passage.passage_id, "before": READ_BEFORE, "after": READ_AFTER}
        if passage.first_page_index is None:
            return None
        first = passage.first_page_index + 1
        if page_place(passage.work.document_id, first) in self.trail.read_around:
            return None
        last = (passage.last_page_index or passage.first_page_index) + 1
        return {
            "document_id": passage.work.document_id,
            "first_page": first,
            "last_page": max(first, last),
        }

    def _affordable(
        self, calls: Sequence[tuple[str, dict[str, object]]]
    ) -> list[tuple[str, dict[str, object]]]:
        """The calls that the tools and ceilings allow, first come first served."""
        if self._state.words_left < WORDS_PER_HIT:
            return []
        offered = [call for call in calls if call[0] in self._tools]
        return offered[: max(0, self._state.calls_left)]

    def _plan(self, calls: Sequence[tuple[str, dict[str, object]]], thought: str) -> Plan:
        turn = len(self._state.transcript)
        return Plan(
            move=Move(
                calls=tuple(
                    ToolCall(
                        call_id=f"{pass_mark(self._state)}{turn}-{number}",
                        tool=tool,
                        arguments=json.dumps(arguments, ensure_ascii=False),
                    )
                    for number, (tool, arguments) in enumerate(calls)
                ),
                text=thought,
            ),
            thought=thought,
        )


def _worth_reading(findings: Sequence[Finding]) -> list[Passage]:
    """The best passages of the best documents, of each aspect in turn."""
    open_ones = [finding for finding in findings if finding.plainest < PLAIN_ENOUGH]
    places: dict[str, Passage] = {}
    for rank in range(MOST_READINGS):
        for finding in open_ones:
            # An abstract or a note was read whole already; around it is nothing more.
            paged = [
                one
                for one in finding.best
                if one.first_page_index is not None and not one.work.is_own_note
            ]
            if rank < len(paged) and finding.score >= WORTH_READING:
                places.setdefault(paged[rank].work.document_id, paged[rank])
    return list(places.values())[:MOST_READINGS]


def _other_words(finding: Finding) -> Iterator[str]:
    """The same aspect in fewer words: the telling ones, then those that the library knows."""
    telling = [term.surface for term in finding.aspect.specific]
    yield " ".join(telling)
    missing = {term.stem for term in finding.missing}
    known = [term.surface for term in finding.aspect.specific if term.stem not in missing]
    if 2 <= len(known) < len(telling):
        yield " ".join(known)


def _takes(tool: Tool, parameter: str) -> bool:
    try:
        schema = json.loads(tool.parameters_schema)
    except ValueError:
        return False
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and parameter in properties
