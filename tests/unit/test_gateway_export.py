"""An answer in the formats of other programs."""

import json

import pytest

from gateway.events import Answer, Citation
from gateway.export import bibtex_of, csl_of, markdown_of, note_of


def citation(number: int = 1, **fields: object) -> Citation:
    known: dict[str, object] = {
        "number": number,
        "passage_id": f"p{number}",
        "library": "user",
        "item_key": f"KEY{number}",
        "attachment_key": "A",
        "title": "Naps & nurses",
        "creators": ["Ana Müller", "Bo Li"],
        "year": "2020",
        "page_label": "iv",
        "page_index": 3,
        "quote": "Naps help\nnurses.",
        "support": "verified",
        "score": 1.0,
        "judged_by": "quote",
        "open_uri": "zotero://open-pdf/library/items/A?page=4",
        "select_uri": "zotero://select/library/items/KEY1",
        "statement": "Naps help.",
        "reading_state": "full",
    }
    return Citation.model_validate({**known, **fields})


def answer(markdown: str, *citations: Citation) -> Answer:
    return Answer(
        markdown=markdown, citations=list(citations), gaps=[], answered=True, model="offline"
    )


def test_markdown_lists_its_sources_with_page_quote_and_support() -> None:
    assert markdown_of("Do naps\nhelp?", answer("Yes [1].", citation())) == (
        "# Do naps help?\n\nYes [1].\n\n## Sources\n\n"
        "1. [Naps & nurses](zotero://open-pdf/library/items/A?page=4)"
        " · Ana Müller, Bo Li, 2020 · p. iv · verified\n   > Naps help nurses.\n"
    )


def test_an_answer_without_sources_has_no_list() -> None:
    assert markdown_of("Hi", answer("Hello!")) == "# Hi\n\nHello!\n"


def test_brackets_of_a_title_do_not_end_its_link() -> None:
    assert r"[On \[sic\] naps](" in markdown_of("?", answer("x", citation(title="On [sic] naps")))


def test_a_note_links_its_citations_and_holds_no_html_of_a_model() -> None:
    told = note_of("<b>?</b>", answer("**Yes** [1, 7].\n\n<script>alert(1)</script>", citation()))
    assert "<h1>&lt;b&gt;?&lt;/b&gt;</h1>" in told
    assert "<strong>Yes</strong>" in told
    assert (
        '(<a href="zotero://open-pdf/library/items/A?page=4">Müller and Li, 2020, p. iv</a>) [7]'
        in told
    )
    assert "<script>" not in told
    assert "href" not in note_of("?", answer("[x](javascript:alert(1))"))


def test_bibtex_names_each_item_once_in_plain_letters() -> None:
    told = bibtex_of([citation(), citation(2, item_key="KEY1"), citation(3)])
    assert told.count("@misc{") == 2
    assert "@misc{muller2020," in told
    assert "@misc{muller2020-key3," in told
    assert r"title = {{Naps \& nurses}}" in told
    assert "author = {Müller, Ana and Li, Bo}" in told


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ana Maria Müller", {"family": "Müller", "given": "Ana Maria"}),
        ("UNESCO", {"literal": "UNESCO"}),
        ("", {"literal": ""}),
    ],
)
def test_csl_takes_the_last_word_of_a_name_for_the_family(
    name: str, expected: dict[str, str]
) -> None:
    (item,) = json.loads(csl_of([citation(creators=[name])]))
    assert item["author"] == [expected]
    assert item["issued"] == {"date-parts": [[2020]]}


def test_a_year_that_is_none_is_left_out() -> None:
    (item,) = json.loads(csl_of([citation(year="n.d.", creators=[])]))
    assert "issued" not in item
    assert "@misc{key1n.d.," in bibtex_of([citation(year="n.d.", creators=[])])
