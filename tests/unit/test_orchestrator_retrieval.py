"""What a result costs: words once, references nothing, sections their titles; a cut is clean."""

import pytest

from services.orchestrator.ceilings import Ceilings, Harness
from services.orchestrator.passages import Document, Evidence, Item, PageSpan, Passage
from services.orchestrator.retrieval import Account, Fetched, blocked, charge
from services.orchestrator.transcript import (
    Hit,
    Section,
    ToolCall,
    ToolResult,
    result_from_json,
    result_to_json,
)
from services.orchestrator.trigger import CallOutcome

CALL = ToolCall(call_id="c", tool="search_corpus", arguments="{}")
TEXT = "One two three. Four five six. Seven eight nine."
DOCUMENT = Document(
    id="user/A",
    item=Item(library="user", key="I"),
    attachment_key="A",
    title="T",
    creators=(),
    year="",
    citation_key="",
    kind="DOCUMENT_KIND_PDF",
    reading_state="READING_STATE_FULL",
    reading_reason="",
    page_count=2,
)


def passage(passage_id: str = "p", text: str = TEXT) -> Passage:
    return Passage(
        id=passage_id,
        document=DOCUMENT,
        section_path=(),
        text=text,
        page_spans=(
            PageSpan(start=0, end=20, page_index=0, page_label="1"),
            PageSpan(start=20, end=len(text), page_index=1, page_label="2"),
        ),
        ordinal=0,
    )


def charged(
    fetched: Fetched, *, words_left: int = 100, seen: dict[str, Evidence] | None = None
) -> ToolResult:
    account = Account(
        ceilings=Ceilings(calls=10, words=1_000, passages=5),
        harness=Harness(soft_word_ratio=1),
        words_used=1_000 - words_left,
        call_number=1,
    )
    return charge(CALL, "k", fetched, seen or {}, account)


def hits(*ids: str) -> Fetched:
    return Fetched(hits=[Hit(passage=passage(one)) for one in ids])


def test_text_is_charged_once_and_a_reference_is_free() -> None:
    first = charged(hits("a", "b"))
    assert first.words == 18
    seen = {one.passage.id: one for one in first.fresh}
    second = charged(hits("b", "c"), seen=seen)
    assert second.words == 9
    assert [one.seen_before for one in second.found] == [True, False]
    assert [one.passage.id for one in second.fresh] == ["c"]


def test_a_passage_twice_in_one_result_is_charged_once() -> None:
    result = charged(hits("a", "a"))
    assert result.words == 9
    assert [one.seen_before for one in result.found] == [False, True]


@pytest.mark.parametrize(
    ("words_left", "text", "last_label"),
    [
        (9, TEXT, "2"),
        (8, "One two three. Four five six.", "2"),
        (5, "One two three.", "1"),
    ],
)
def test_a_result_is_cut_at_the_last_sentence_that_fits(
    words_left: int, text: str, last_label: str
) -> None:
    result = charged(hits("a"), words_left=words_left)
    (found,) = result.found
    assert found.evidence.passage.text == text
    assert found.evidence.passage.page_spans[-1].end == len(text)
    assert found.evidence.passage.page_spans[-1].page_label == last_label
    assert result.cut == (words_left < 9)
    assert result.words == found.evidence.words <= words_left


def test_nothing_is_returned_when_no_sentence_fits() -> None:
    result = charged(hits("a", "b"), words_left=2)
    assert (result.found, result.words, result.cut) == ((), 0, True)
    assert result.outcome is CallOutcome.EMPTY
    assert "cut at a sentence" in result.notice


def test_no_passage_follows_one_that_was_cut() -> None:
    result = charged(hits("a", "b", "c"), words_left=13)
    assert [one.evidence.passage.id for one in result.found] == ["a", "b"]
    assert result.words == 12


def test_sections_are_charged_by_their_titles() -> None:
    sections = [
        Section(
            section_id=str(n), title="Two words", level=1, first_page_label="", last_page_label=""
        )
        for n in range(3)
    ]
    assert charged(Fetched(sections=sections)).words == 6
    result = charged(Fetched(sections=sections), words_left=5)
    assert (len(result.sections), result.words, result.cut) == (2, 4, True)


def test_an_empty_result_is_told_apart_from_a_failed_one() -> None:
    assert charged(Fetched()).outcome is CallOutcome.EMPTY
    failed = charged(Fetched(error="No.", outcome=CallOutcome.FAILED))
    assert failed.outcome is CallOutcome.FAILED
    assert not failed.ok


def test_a_blocked_call_has_a_notice_and_no_text() -> None:
    ceilings = Ceilings(calls=3, words=100, passages=5)
    result = blocked(CALL, ceilings, query="q", words_spent=False)
    assert (result.ok, result.words, result.query) == (False, 0, "q")
    assert "3 calls" in result.notice


def test_a_result_survives_its_row() -> None:
    result = charged(hits("a", "b"))
    evidence = {one.passage.id: one for one in result.fresh}
    assert result_from_json(result_to_json(result), evidence) == result
