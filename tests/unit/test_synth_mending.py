"""Sentences go out of an answer and others come in; the rest stays letter by letter."""

from dataclasses import replace

import pytest

from services.synth.mending import Mended, mended, unsupported_sentences, without_unsupported
from services.synth.mind import Citation, Repair

MARKDOWN = (
    "Naps help [1]. They do harm. [2] Nurses like them [1][3].\n\n"
    "- Longer naps harm [2].\n- Shorter ones do not [1].\n\n"
    "1. In 2019 (p. 4) it was so [2]. Later not [1].\n"
)


def cited(*numbers: int, prefix: str = "p") -> tuple[Citation, ...]:
    return tuple(
        Citation(number=n, passage_id=f"{prefix}{n}", quote="q", statement="s") for n in numbers
    )


@pytest.mark.parametrize(
    ("unsupported", "texts"),
    [
        ({2}, ["They do harm.", "Longer naps harm.", "In 2019 (p. 4) it was so."]),
        # One citation that supports its sentence is enough.
        ({3}, []),
        ({1, 3}, ["Naps help.", "Nurses like them.", "Shorter ones do not.", "Later not."]),
        (set(), []),
    ],
)
def test_a_sentence_is_unsupported_when_none_of_its_citations_supports_it(
    unsupported: set[int], texts: list[str]
) -> None:
    assert [one.text for one in unsupported_sentences(MARKDOWN, unsupported)] == texts


def test_brackets_that_are_text_are_no_citations() -> None:
    assert unsupported_sentences("As \\[2\\] says. See [2](x).", {2}) == ()


def test_dropped_sentences_leave_no_trace_and_numbers_have_no_holes() -> None:
    broken = unsupported_sentences(MARKDOWN, {2})
    text, citations = mended(MARKDOWN, cited(1, 2, 3), dict.fromkeys(broken, Mended()))
    assert text == (
        "Naps help [1]. Nurses like them [1][2].\n\n- Shorter ones do not [1].\n\n"
        "1. Later not [1].\n"
    )
    assert [(one.number, one.passage_id) for one in citations] == [(1, "p1"), (2, "p3")]


def test_a_rewritten_sentence_brings_citations_of_its_own() -> None:
    first, *_ = unsupported_sentences(MARKDOWN, {2})
    new = Mended(markdown="They may harm [1][2].", citations=cited(1, 2, prefix="new"))
    text, citations = mended(MARKDOWN, cited(1, 2, 3), {first: new})
    assert text == MARKDOWN.replace("They do harm. [2]", "They may harm [2][3].").replace(
        "[1][3]", "[1][4]"
    ).replace("harm [2].\n", "harm [5].\n").replace("so [2]", "so [5]")
    assert [one.passage_id for one in citations] == ["p1", "new1", "new2", "p3", "p2"]
    assert [one.number for one in citations] == [1, 2, 3, 4, 5]


def test_without_changes_the_text_stays_letter_by_letter() -> None:
    assert mended(MARKDOWN, cited(1, 2, 3), {}) == (MARKDOWN, cited(1, 2, 3))


def test_what_is_only_dropped_needs_no_mind_and_an_empty_answer_says_so() -> None:
    order = Repair(
        question="Senken Nickerchen die Aussetzer?",
        markdown=MARKDOWN,
        citations=cited(1, 2, 3),
        unsupported=frozenset({2}),
        evidence=(),
        only_drops=True,
    )
    done = without_unsupported(order)
    assert (done.dropped, [one.passage_id for one in done.citations]) == (3, ["p1", "p3"])
    nothing = without_unsupported(replace(order, unsupported=frozenset({1, 2, 3})))
    assert nothing.markdown == "Diese Bibliothek beantwortet die Frage nicht.\n"
    assert nothing.citations == ()
