"""A sentence is its quote, or it is a claim of the writer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orchestrator.passages import Document, Item
from services.orchestrator.statements import is_its_quote, renumbered, without_markers

DOCUMENT = Document(
    id="user/A",
    item=Item(library="user", key="I"),
    attachment_key="A",
    title="Sleep and memory in old age",
    creators=("Ada Meyer", "Bo Chen"),
    year="2019",
    citation_key="",
    kind="DOCUMENT_KIND_PDF",
    reading_state="READING_STATE_FULL",
    reading_reason="",
    page_count=1,
)
QUOTE = "Sleep improves memory."


@pytest.mark.parametrize(
    "statement",
    [
        "Sleep improves memory.",
        "“Sleep improves memory.”",
        "“Sleep improves memory.” [1]",
        "Sleep improves memory [2].",
        "  - Sleep   improves\n memory",
        "> „Sleep improves memory“",
        "Meyer and Chen (2019) report: “Sleep improves memory.” [1]",
        "Ada Meyer et al. (2019, p. 4) wrote: »Sleep improves memory«.",
        "Nach Meyer und Chen (2019): „Sleep improves memory.“",
        "Selon Meyer, « Sleep improves memory. »",
        "According to “Sleep and memory in old age”: “Sleep improves memory.”",
        "Meyer 等人（2019）报告：“Sleep improves memory.”",
        "Meyerら（2019）は次のように述べている：「Sleep improves memory.」",
    ],
)
def test_an_attributed_quote_says_nothing_of_its_own(statement: str) -> None:
    assert is_its_quote(statement, QUOTE, DOCUMENT)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "Sleep improves memory and mood.",
        "Sleep does not help: “Sleep improves memory.”",
        "Meyer (2019) did not show “Sleep improves memory.”",
        "Meyer (2019) doubts: “Sleep improves memory.”",
        "sleep improves memory",
        "It is false that Sleep improves memory.",
        "Meyer reports: Sleep improves memory.",
        "“Sleep improves memory.” Coffee does too.",
        "“Sleep improves memory” is what nobody believes.",
    ],
)
def test_anything_else_is_the_writers_own_claim(statement: str) -> None:
    assert not is_its_quote(statement, QUOTE, DOCUMENT)


def test_markdown_escapes_and_kinds_of_quotation_marks_do_not_count() -> None:
    assert is_its_quote("“The \\*p\\* value was “low”.”", 'The *p* value was "low".', DOCUMENT)


def test_a_quote_of_nothing_is_no_statement() -> None:
    assert not is_its_quote("“.”", ".", DOCUMENT)


def test_a_claim_is_judged_without_its_markers() -> None:
    assert without_markers("- Sleep [1] helps [12].") == "Sleep helps ."


@pytest.mark.parametrize(
    ("markdown", "kept", "text"),
    [
        ("A [1]. B [2].", [1, 2], "A [1]. B [2]."),
        ("A [1]. B [2].", [2], "A. B [1]."),
        ("A [1][3]. B [3]", [3], "A[1]. B [1]"),
        ("A [7].", [], "A."),
        ("See [1](x) and \\[1].", [], "See [1](x) and \\[1]."),
        ("Untouched  text .", [], "Untouched  text ."),
    ],
)
def test_numbers_have_no_holes_and_dropped_markers_leave_no_trace(
    markdown: str, kept: list[int], text: str
) -> None:
    assert renumbered(markdown, kept)[0] == text


@settings(max_examples=40)
@given(st.sets(st.integers(1, 40)))
def test_kept_numbers_keep_their_order(kept: set[int]) -> None:
    _, numbers = renumbered("", kept)
    assert [numbers[old] for old in sorted(kept)] == list(range(1, len(kept) + 1))
