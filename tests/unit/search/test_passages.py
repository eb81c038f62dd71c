"""Passages: their size, their borders, their places on paper and their names."""

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.chassis.words import count_words
from services.search.text.document_text import Page, PagedText, StructuredText
from services.search.text.passages import passage_id, structure, structure_plain

SENTENCE = "The clock of the body is set by light each morning. "  # eleven words


def paged(*texts: str) -> PagedText:
    pages = [Page(index=i, label=f"p{i}", text=text) for i, text in enumerate(texts)]
    return PagedText(pages=tuple(pages), outline=(), page_count=len(pages))


def paragraph(sentences: int, mark: str = "") -> str:
    return (mark + " " if mark else "") + (SENTENCE * sentences).strip()


def paragraph_page(number: int) -> str:
    """A page with some paragraphs of various lengths, the same for the same number."""
    lengths = random.Random(number)
    return "\n\n".join(
        paragraph(lengths.randint(3, 12), f"Page {number}, part {part}.") for part in range(4)
    )


def words(text: StructuredText) -> list[int]:
    return [passage.words for passage in text.passages]


def assert_spans_are_verbatim(text: StructuredText, source: PagedText) -> None:
    pages = {page.index: page for page in source.pages}
    for passage in text.passages:
        for span in passage.spans:
            page = pages[span.page_index]
            printed = page.text[span.page_start : span.page_start + span.end - span.start]
            assert passage.text[span.start : span.end] == printed
            assert span.page_label == page.label


def test_whole_paragraphs_are_gathered_until_there_is_no_room() -> None:
    source = paged("\n\n".join(paragraph(8, str(n)) for n in range(4)))
    text = structure(source, "doc")
    assert words(text) == [178, 178]
    assert text.passages[0].text == paragraph(8, "0") + "\n\n" + paragraph(8, "1")


def test_a_long_paragraph_is_divided_at_sentences() -> None:
    text = structure(paged(paragraph(60)), "doc")
    assert words(text) == [220, 220, 220]
    assert all(passage.text.endswith("morning.") for passage in text.passages)


def test_a_sentence_without_end_is_divided_at_words() -> None:
    text = structure(paged("word " * 1000), "doc")
    assert max(words(text)) <= 220
    assert sum(words(text)) == 1000


def test_text_without_spaces_is_divided_by_its_characters() -> None:
    text = structure(paged("睡眠は記憶を支える。" * 100), "doc")
    assert max(words(text)) <= 220
    assert all(passage.text.endswith("。") for passage in text.passages)


def test_a_short_rest_shares_words_with_the_passage_before() -> None:
    text = structure(paged(paragraph(21)), "doc")
    assert len(words(text)) == 2
    assert min(words(text)) >= 60


def test_a_passage_stays_within_its_section() -> None:
    source = paged(f"Introduction\n\n{paragraph(3)}\n\nResults\n\n{paragraph(4)}")
    text = structure(source, "doc")
    assert [(p.section_path, p.words) for p in text.passages] == [
        (("Introduction",), 33),
        (("Results",), 44),
    ]
    assert [(s.section_id, s.title, s.words) for s in text.sections] == [
        ("s1", "Introduction", 33),
        ("s2", "Results", 44),
    ]


def test_a_passage_names_every_page_it_stands_on() -> None:
    source = paged("The clock is set by light in the", "morning, as was said. " + paragraph(1))
    (passage,) = structure(source, "doc").passages
    assert passage.text.startswith("The clock is set by light in the morning, as was said.")
    assert [(span.page_index, span.page_label) for span in passage.spans] == [(0, "p0"), (1, "p1")]
    assert_spans_are_verbatim(structure(source, "doc"), source)


def test_a_word_divided_by_the_end_of_a_page_is_whole() -> None:
    source = paged("They were shown the infor-", "mation twice.")
    (passage,) = structure(source, "doc").passages
    assert passage.text == "They were shown the information twice."
    assert_spans_are_verbatim(structure(source, "doc"), source)


def test_a_new_sentence_on_the_next_page_is_a_paragraph_of_its_own() -> None:
    (passage,) = structure(paged("It ended.", "Then it began."), "doc").passages
    assert passage.text == "It ended.\n\nThen it began."


def test_names_depend_on_document_text_and_occurrence_only() -> None:
    text = paragraph(3)
    first = structure(paged(f"Introduction\n\n{text}\n\nResults\n\n{text}"), "doc")
    again = structure(paged(f"New page in front. Then:\n\nIntroduction\n\n{text}"), "doc")
    assert [p.passage_id for p in first.passages] == [
        passage_id("doc", text, 0),
        passage_id("doc", text, 1),
    ]
    assert first.passages[0].passage_id in [p.passage_id for p in again.passages]
    assert passage_id("other", text, 0) != passage_id("doc", text, 0)
    assert len(passage_id("doc", text, 0)) == 32


def test_a_section_covers_the_pages_of_its_own_sections() -> None:
    pages = [
        f"1 Introduction\n\n{paragraph(2)}\n\n2 Methods",
        f"2.1 Task\n\n{paragraph(2)}",
        f"2.2 People\n\n{paragraph(2)}",
    ]
    sections = structure(paged(*pages), "doc").sections
    assert [
        (s.title, s.level, s.first_page_index, s.last_page_index, s.words) for s in sections
    ] == [
        ("1 Introduction", 1, 0, 0, 22),
        ("2 Methods", 1, 0, 2, 0),
        ("2.1 Task", 2, 1, 1, 22),
        ("2.2 People", 2, 2, 2, 22),
    ]
    assert sections[3].path == ("2 Methods", "2.2 People")


def test_a_text_without_pages_has_passages_without_places() -> None:
    text = structure_plain(f"{paragraph(12)}\n\n{paragraph(12)}", "note", "Reading note")
    (section,) = text.sections
    assert (section.title, section.words, section.first_page_index) == ("Reading note", 264, 0)
    assert words(text) == [132, 132]
    assert all(passage.spans == () for passage in text.passages)


def test_an_empty_text_has_nothing() -> None:
    empty = StructuredText(sections=(), passages=())
    assert structure_plain(" \n ", "note", "Title") == empty
    assert structure(paged(), "doc") == empty
    assert structure(paged("", " "), "doc") == empty


LETTERS = "ab. \n-é日。ابЖ1"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet=LETTERS, max_size=400), max_size=5))
def test_spans_are_verbatim_whatever_the_text(texts: list[str]) -> None:
    source = paged(*texts)
    text = structure(source, "doc")
    assert_spans_are_verbatim(text, source)
    assert all(passage.words <= 220 + 60 for passage in text.passages)
    assert [passage.ordinal for passage in text.passages] == list(range(len(text.passages)))
    assert all(passage.words == count_words(passage.text) for passage in text.passages)
    assert structure(replace(source), "doc") == text


def test_a_text_in_one_paragraph_is_divided_in_bounded_time() -> None:
    text = "Sleep after learning protects what was learned. " * 5_000
    begin = time.process_time()
    passages = structure_plain(text, "note", "Reading note").passages
    assert time.process_time() - begin < 10
    assert sum(passage.words for passage in passages) == 7 * 5_000
    assert all(passage.words <= 220 for passage in passages)


def test_a_text_without_a_single_space_is_divided_in_bounded_time() -> None:
    begin = time.process_time()
    passages = structure_plain("a" * 1_000_000, "note", "Reading note").passages
    assert time.process_time() - begin < 10
    assert "".join(passage.text for passage in passages).count("a") == 1_000_000


@pytest.mark.parametrize("place", ["front", "end"])
def test_another_page_leaves_most_names_as_they_were(place: str) -> None:
    pages = [paragraph_page(n) for n in range(30)]
    more = [paragraph_page(99)]
    longer = [*more, *pages] if place == "front" else [*pages, *more]
    before, after = (
        {passage.passage_id for passage in structure(paged(*texts), "user/KEY").passages}
        for texts in (pages, longer)
    )
    assert len(before & after) >= 0.75 * len(before)
