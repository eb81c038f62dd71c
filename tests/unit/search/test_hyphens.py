"""Lines become running text; divided words become whole, compounds stay."""

import pytest

from services.search.text.hyphens import Joiner


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["one line", "and another"], "one line and another"),
        (["the informa-", "tion is"], "the information is"),
        (["soft infor\u00ad", "mation"], "soft information"),
        (["the COVID-", "19 pandemic"], "the COVID-19 pandemic"),
        (["from 2019-", "2021"], "from 2019-2021"),
        (["by Meyer-", "Lindenberg"], "by Meyer-Lindenberg"),
        (["a dash -", "like this"], "a dash - like this"),
        (["睡眠は記", "憶を支える"], "睡眠は記憶を支える"),
        (["한국어 문장은", "띄어 쓴다"], "한국어 문장은 띄어 쓴다"),
        (["", "only"], "only"),
    ],
)
def test_lines_are_joined(lines: list[str], text: str) -> None:
    assert Joiner(lines).join(lines) == text


@pytest.mark.parametrize(
    ("elsewhere", "joined"),
    [
        ("a long-term effect", "the long-term plan"),
        ("the longterm effect", "the longterm plan"),
        ("the long view of the term", "the long-term plan"),
        ("nothing of the kind", "the longterm plan"),
    ],
)
def test_the_rest_of_the_document_says_whether_a_hyphen_stays(elsewhere: str, joined: str) -> None:
    assert Joiner([elsewhere]).join(["the long-", "term plan"]) == joined


def test_a_capital_goes_with_its_word_when_the_document_writes_it_so() -> None:
    assert (
        Joiner(["we built PaperQuery"]).join(["our Paper-", "Query tool"]) == "our PaperQuery tool"
    )
