"""The verify stage: every citation is looked up on its page and its sentence is judged."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import PeerError
from services.orchestrator.passages import NO_PAGE, Document, Evidence, Passage
from services.orchestrator.peers.rerank import Judgement
from services.orchestrator.peers.search import QuoteMatch
from services.orchestrator.peers.synth import Draft, DraftCitation
from services.orchestrator.statements import is_its_quote, renumbered, without_markers

AT_A_TIME = 8
QUOTE_FINDER = "quote"
UNSUPPORTED = "UNSUPPORTED"
ANNOTATION = "DOCUMENT_KIND_ANNOTATION"
# What Zotero's reader opens.
OPENED = ("DOCUMENT_KIND_PDF", "DOCUMENT_KIND_WEB_PAGE", "DOCUMENT_KIND_EPUB", ANNOTATION)

log = EventLog(__name__)


class QuoteFinder(Protocol):
    """Finds text in a passage."""

    async def find_quote(self, quote: str, passage: Passage) -> QuoteMatch | None:
        """The quote's place, None when it is not there."""


class Judge(Protocol):
    """Rates support."""

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> Judgement:
        """How far each passage supports its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The answer's text and its citations as the wire's JSON objects."""

    markdown: str
    citations: tuple[Mapping[str, Any], ...]
    # Citations that named no passage of the run's evidence.
    dropped: int
    # The draft's numbers of citations that do not support their sentence.
    unsupported: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What looking for a quote gave; a search that is down gives no verdict."""

    match: QuoteMatch | None
    was_searched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    support: str
    score: float
    judged_by: str


async def verify(
    draft: Draft,
    evidence: Mapping[str, Evidence],
    finder: QuoteFinder,
    judge: Judge | None,
    *,
    threshold: float,
) -> Checked:
    """Check every citation of a draft; one that is not from the evidence is dropped.

    Without a judge only what quotes and nothing else is verified.
    """
    cited = [one for one in draft.citations if one.passage_id in evidence]
    markdown, numbers = renumbered(draft.markdown, [one.number for one in cited])
    cited.sort(key=lambda one: one.number)
    passages = [evidence[one.passage_id].passage for one in cited]
    places = await _places(cited, passages, finder)
    verdicts = await _verdicts(cited, passages, places, judge, threshold)
    return Checked(
        markdown=markdown,
        citations=tuple(
            _citation(numbers[one.number], one, passage, place, verdict)
            for one, passage, place, verdict in zip(cited, passages, places, verdicts, strict=True)
        ),
        dropped=len(draft.citations) - len(cited),
        unsupported=tuple(
            one.number
            for one, verdict in zip(cited, verdicts, strict=True)
            if verdict.support == UNSUPPORTED
        ),
    )


async def _places(
    cited: Sequence[DraftCitation], passages: Sequence[Passage], finder: QuoteFinder
) -> list[_Place]:
    gate = asyncio.Semaphore(AT_A_TIME)

    async def find(one: DraftCitation, passage: Passage) -> _Place:
        if not one.quote.strip():
            return _Place(match=None, was_searched=True)
        # What stands there letter by letter needs no search.
        if (match := _own_match(one.quote, passage)) is not None:
            return _Place(match=match, was_searched=True)
        async with gate:
            try:
                match = await finder.find_quote(one.quote, passage)
            except PeerError as error:
                log.warning("quote_unchecked", code=error.code, detail=str(error))
                # A refusal for good is about the quote itself: nothing like it can be found.
                return _Place(match=None, was_searched=not error.retryable)
        return _Place(match=match, was_searched=True)

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(find(one, passage))
            for one, passage in zip(cited, passages, strict=True)
        ]
    return [task.result() for task in tasks]


def _own_match(quote: str, passage: Passage) -> QuoteMatch | None:
    """Where the quote stands letter by letter."""
    start = passage.text.find(quote)
    if start < 0:
        return None
    page_index, page_label = passage.page_at(start)
    return QuoteMatch(page_index=page_index, page_label=page_label, start=start, text=quote)


async def _verdicts(
    cited: Sequence[DraftCitation],
    passages: Sequence[Passage],
    places: Sequence[_Place],
    judge: Judge | None,
    threshold: float,
) -> list[_Verdict]:
    """Quotes speak for themselves; the support model judges the other sentences."""
    verdicts: dict[int, _Verdict] = {}
    open_questions: list[int] = []
    for index, (one, passage, place) in enumerate(zip(cited, passages, places, strict=True)):
        if not place.was_searched:
            verdicts[index] = _unchecked("nobody: the search process gave no answer")
        elif place.match is None:
            verdicts[index] = _Verdict(support=UNSUPPORTED, score=0, judged_by=QUOTE_FINDER)
        elif not without_markers(one.statement):
            verdicts[index] = _unchecked("nobody: the citation has no sentence")
        elif is_its_quote(one.statement, place.match.text, passage.document):
            verdicts[index] = _Verdict(support="VERIFIED", score=1, judged_by=QUOTE_FINDER)
        else:
            open_questions.append(index)
    pairs = [(without_markers(cited[i].statement), passages[i].text) for i in open_questions]
    verdicts.update(zip(open_questions, await _judged(pairs, judge, threshold), strict=True))
    return [verdicts[index] for index in range(len(cited))]


async def _judged(
    pairs: Sequence[tuple[str, str]], judge: Judge | None, threshold: float
) -> list[_Verdict]:
    if not pairs:
        return []
    if judge is None:
        return [_unchecked("nobody: a quick answer is not checked")] * len(pairs)
    try:
        judgement = await judge.judge(pairs)
    except PeerError as error:
        log.warning("support_unchecked", code=error.code, detail=str(error))
        return [_unchecked(f"nobody: the {error.peer} process gave no answer")] * len(pairs)
    # Only a model that passed its calibration may call a sentence verified.
    best = "VERIFIED" if judgement.calibrated else "WEAK"
    return [
        _Verdict(
            support=best if score >= threshold else UNSUPPORTED,
            score=score,
            judged_by=judgement.model,
        )
        for score in judgement.scores
    ]


def _unchecked(why: str) -> _Verdict:
    """No verdict, and why there is none in the place of who gave it."""
    return _Verdict(support="UNCHECKED", score=0, judged_by=why)


def _citation(
    number: int, draft: DraftCitation, passage: Passage, place: _Place, verdict: _Verdict
) -> dict[str, Any]:
    document = passage.document
    match = place.match
    page_index, page_label = (match.page_index, match.page_label) if match else passage.page_at(0)
    return {
        "number": number,
        "passage_id": passage.id,
        "library": document.item.library,
        "item_key": document.item.key,
        "attachment_key": document.attachment_key,
        "title": document.title,
        "creators": list(document.creators),
        "year": document.year,
        "page_label": page_label,
        "page_index": page_index,
        # Only text of the page is shown as a quote; what was not found there is not.
        "quote": match.text if match else "",
        "support": f"SUPPORT_LEVEL_{verdict.support}",
        "score": verdict.score,
        "judged_by": verdict.judged_by,
        "open_uri": open_uri(document, page_index),
        "select_uri": f"zotero://select/{_place_in_zotero(document)}/items/{document.item.key}",
        "statement": without_markers(draft.statement),
        "reading_state": document.reading_state,
    }


def open_uri(document: Document, page_index: int) -> str:
    """A link that opens the file on its physical page, or at the annotation; else empty."""
    if document.kind not in OPENED or not document.attachment_key:
        return ""
    aims = [] if page_index == NO_PAGE else [f"page={page_index + 1}"]
    if document.kind == ANNOTATION:
        aims.append(f"annotation={document.id.rsplit('/', 1)[-1]}")
    query = f"?{'&'.join(aims)}" if aims else ""
    place = _place_in_zotero(document)
    return f"zotero://open-pdf/{place}/items/{document.attachment_key}{query}"


def _place_in_zotero(document: Document) -> str:
    library = document.item.library
    return library if library.startswith("groups/") else "library"
