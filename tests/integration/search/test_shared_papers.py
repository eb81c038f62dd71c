"""Real papers, good and bad, are read as what they are."""

import re
from pathlib import Path

import pytest

from services.search.library.records import Unread
from services.search.text.document_text import BlockKind, PagedText
from services.search.text.passages import structure
from services.search.text.pdf import read_pdf


@pytest.fixture(scope="module")
def papers(shared: Path) -> dict[str, PagedText]:
    folder = shared / "data" / "papers"
    return {path.stem: read_pdf(path) for path in sorted(folder.glob("*.pdf"))}


def test_each_file_is_read_or_says_why_not(papers: dict[str, PagedText]) -> None:
    assert {name: (len(text.pages), text.unread) for name, text in papers.items()} == {
        "arxiv_0807_3577": (15, None),
        "arxiv_0908_0054": (4, None),
        "bookmarks": (3, None),
        "code_and_formula": (2, None),
        "invalid": (0, Unread.DAMAGED),
        "molecular_explanations": (41, None),
        "multi_page": (5, None),
        "no_unicode_mapping": (0, Unread.NO_UNICODE_MAP),
        "pasa_paper_search_agent": (15, None),
        "password_protected": (0, Unread.ENCRYPTED),
        "right_to_left": (1, None),
        "scanned_skewed": (0, Unread.IMAGE_ONLY),
    }


def test_every_page_is_clean(papers: dict[str, PagedText]) -> None:
    for text in papers.values():
        for page in text.pages:
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe]", page.text)
            assert [page.text[b.start : b.end] for b in page.blocks] == (
                page.text.split("\n\n") if page.text else []
            )


TWO_COLUMNS = [
    (
        0,
        "Academic paper search lies at the core of research yet represents a particularly "
        "challenging information retrieval task.",
    ),
    (
        0,
        "Additionally, we develop RealScholarQuery, a benchmark collecting real-world academic "
        "queries to assess PaSa performance in more realistic scenarios.",
    ),
    (
        0,
        "In academic search, however, the process goes beyond simple retrieval. Human researchers "
        "not only use search tools, but also engage in deeper activities, such as reading relevant "
        "papers and checking citations, to perform comprehensive and accurate literature surveys.",
    ),
    (
        1,
        "The Crawler iteratively processes each paper in the paper queue, navigating citation "
        "networks to discover increasingly relevant papers.",
    ),
    (
        2,
        "To evaluate the quality of AutoScholarQuery, we sampled 100 query-paper pairs and "
        "assessed the rationality and relevance of each query and the corresponding paper.",
    ),
    (7, "PaSa-7b-ensemble 0.7503 0.4938 0.6488 0.7281 0.6877 0.5986"),
]


@pytest.mark.parametrize(("index", "quote"), TWO_COLUMNS)
def test_sentences_of_a_two_column_paper_are_verbatim_on_their_page(
    papers: dict[str, PagedText], index: int, quote: str
) -> None:
    assert quote in papers["pasa_paper_search_agent"].pages[index].text


def test_columns_of_a_preprint_are_read_one_after_the_other(papers: dict[str, PagedText]) -> None:
    page = papers["arxiv_0908_0054"].pages[0]
    order = [
        "It has been argued that a Scalar Field",
        "There is a fermionic particle",
        "Between the times of decoupling",
        "II. ULTRA LIGHT BOSONS AS DARK MATTER",
        "We consider a Bosonic Ultra Light species of matter.",
    ]
    places = [page.text.index(start) for start in order]
    assert places == sorted(places)
    assert "Departamento de Física" in page.text
    assert "Investigación" in page.text


def test_labels_and_outline_of_a_journal_are_kept(papers: dict[str, PagedText]) -> None:
    text = papers["arxiv_0807_3577"]
    assert [page.label for page in text.pages[:3]] == ["1", "2", "3"]
    assert [(entry.title, entry.level, entry.page_index) for entry in text.outline[:2]] == [
        ("1. Introduction", 1, 1),
        ("2. The Buchert scheme", 1, 3),
    ]
    assert not any("JCAP10(2008)003" in page.text for page in text.pages[1:])


def test_a_table_of_contents_has_page_ranges(papers: dict[str, PagedText]) -> None:
    sections = structure(papers["pasa_paper_search_agent"], "doc").sections
    found = {s.title: (s.level, s.first_page_index, s.last_page_index) for s in sections}
    assert found["Abstract"] == (1, 0, 0)
    assert found["1 Introduction"] == (1, 0, 2)
    assert found["3.1 AutoScholarQuery"] == (2, 2, 3)
    assert found["6 Conclusion"][0] == 1
    assert "References" not in found


def test_the_reference_list_is_in_no_passage(papers: dict[str, PagedText]) -> None:
    for name in ("pasa_paper_search_agent", "molecular_explanations", "arxiv_0908_0054"):
        passages = structure(papers[name], "doc").passages
        assert not [
            p for p in passages if "arXiv preprint arXiv" in p.text or "[astro-ph/" in p.text
        ]


def test_headings_without_an_outline_give_sections(papers: dict[str, PagedText]) -> None:
    sections = structure(papers["molecular_explanations"], "doc").sections
    top = [section.title for section in sections if section.level == 1]
    assert top[1:5] == ["Abstract", "Introduction", "Theory", "Applications"]


def test_arabic_is_in_writing_order(papers: dict[str, PagedText]) -> None:
    (page,) = papers["right_to_left"].pages
    assert page.text.startswith("تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R")
    assert "تحليل البيانات" in page.text


def test_captions_are_kept_and_told_apart(papers: dict[str, PagedText]) -> None:
    captions = [
        page.text[block.start : block.end]
        for page in papers["pasa_paper_search_agent"].pages
        for block in page.blocks
        if block.kind is BlockKind.CAPTION
    ]
    assert "Table 6: Results on RealScholarQuery." in captions
    assert not any(caption.startswith("Table 12 shows") for caption in captions)


def test_spans_are_verbatim_in_every_paper(papers: dict[str, PagedText]) -> None:
    for text in papers.values():
        pages = {page.index: page for page in text.pages}
        for passage in structure(text, "doc").passages:
            for span in passage.spans:
                end = span.page_start + span.end - span.start
                printed = pages[span.page_index].text[span.page_start : end]
                assert passage.text[span.start : span.end] == printed
