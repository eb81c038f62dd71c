"""The committed demo library is what its generator makes, and its questions keep their promises."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest

from deploy.demo.content import NOTICE, Paper, load_papers
from deploy.demo.generate import generate
from deploy.demo.location import DEMO_FOLDER, DEMO_LIBRARY, QUESTIONS

TWO_AND_A_HALF_MEGABYTES = 2_500_000
PASSWORD = "invented"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A generated library and its questions."""

    folder: Path
    questions: dict[str, Any]

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "zotero.sqlite")) as connection:
            return connection.execute(statement).fetchall()

    def pdf_names(self) -> list[str]:
        storage = self.folder / "storage"
        return sorted(path.relative_to(storage).as_posix() for path in storage.rglob("*.pdf"))

    def pdf_of(self, attachment_key: str) -> Path:
        (path,) = (self.folder / "storage" / attachment_key).glob("*.pdf")
        return path

    def printed(self, slug: str) -> Path:
        """The PDF of a paper, found by its title as a reader would."""
        title = PAPERS[slug].title.replace("'", "''")
        [(key,)] = self.rows(
            "SELECT a.key FROM items a JOIN itemAttachments USING (itemID) "
            "JOIN itemData d ON d.itemID = parentItemID JOIN itemDataValues v USING (valueID) "
            f"WHERE v.value = '{title}'"
        )
        return self.pdf_of(key)


PAPERS: dict[str, Paper] = {paper.slug: paper for paper in load_papers(DEMO_FOLDER / "papers")}
UNREADABLE = {"ashworth-1987-scan", "brunner-2024-locked"}


@pytest.fixture(scope="module")
def committed() -> Library:
    return Library(folder=DEMO_LIBRARY, questions=json.loads(QUESTIONS.read_text("utf-8")))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("demo")
    generate(folder / "library", folder / "questions.json")
    questions = json.loads((folder / "questions.json").read_text("utf-8"))
    return Library(folder=folder / "library", questions=questions)


def pages_of(path: Path) -> list[tuple[str, str]]:
    """The label and the text of every page."""
    with closing(pdfium.PdfDocument(path, password=PASSWORD)) as document:
        return [
            (document.get_page_label(number), page.get_textpage().get_text_bounded())
            for number, page in enumerate(document)
        ]


def outline_of(path: Path) -> list[tuple[str, int | None]]:
    with closing(pdfium.PdfDocument(path, password=PASSWORD)) as document:
        return [(one.get_title(), one.get_dest().get_index()) for one in document.get_toc()]


def bare(text: str) -> str:
    """Text without what a line end may change: white space, hyphens and the mark for one."""
    return re.sub(r"[\s\-\x02\ufffe\xad]+", "", text).replace("\xb5", "\u03bc")


def answer_places(library: Library) -> Iterator[dict[str, Any]]:
    for question in library.questions["questions"]:
        yield from question["answers"]


def test_the_committed_database_equals_a_fresh_one(committed: Library, fresh: Library) -> None:
    tables = committed.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    assert tables == fresh.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    for (table,) in tables:
        columns = [column[1] for column in fresh.rows(f"PRAGMA table_info({table})")]
        # Compressed bytes may differ between zlib versions; the hash is checked against the file.
        compared = ", ".join(column for column in columns if column != "storageHash")
        statement = f"SELECT {compared} FROM {table} ORDER BY {compared}"
        assert committed.rows(statement) == fresh.rows(statement), table


def test_the_committed_papers_equal_freshly_printed_ones(
    committed: Library, fresh: Library
) -> None:
    assert committed.pdf_names() == fresh.pdf_names()
    for name in committed.pdf_names():
        ours, theirs = (one.folder / "storage" / name for one in (committed, fresh))
        assert pages_of(ours) == pages_of(theirs), name
        assert outline_of(ours) == outline_of(theirs), name


def test_the_committed_questions_equal_fresh_ones(committed: Library, fresh: Library) -> None:
    assert committed.questions == fresh.questions


def test_every_stored_file_has_the_hash_that_the_database_names(committed: Library) -> None:
    stored = committed.rows(
        "SELECT key, path, storageHash FROM items JOIN itemAttachments USING (itemID) "
        "WHERE storageHash IS NOT NULL"
    )
    for key, path, digest in stored:
        file = committed.folder / "storage" / key / path.removeprefix("storage:")
        assert hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest() == digest


def test_the_library_is_small_enough_to_commit(committed: Library) -> None:
    sizes = [path.stat().st_size for path in committed.folder.rglob("*") if path.is_file()]
    assert sum(sizes) < TWO_AND_A_HALF_MEGABYTES


def test_the_database_has_a_rollback_journal_and_the_current_version(committed: Library) -> None:
    header = (committed.folder / "zotero.sqlite").read_bytes()[:20]
    assert header[18:20] == b"\x01\x01"  # read and write format 1: no write-ahead log
    assert committed.rows("SELECT version FROM version WHERE schema = 'userdata'") == [(129,)]
    assert committed.rows("PRAGMA foreign_key_check") == []


def test_twelve_questions_of_which_ten_can_be_answered(committed: Library) -> None:
    questions = committed.questions["questions"]
    assert [len(questions), sum(one["answerable"] for one in questions)] == [12, 10]
    assert all(bool(one["answers"]) == one["answerable"] for one in questions)
    comparisons = [one for one in questions if len({a["item_key"] for a in one["answers"]}) > 1]
    assert len(comparisons) == 4


def test_every_answer_is_printed_on_its_page_under_its_label(committed: Library) -> None:
    for answer in answer_places(committed):
        label, text = pages_of(committed.pdf_of(answer["attachment_key"]))[answer["page_index"]]
        assert bare(answer["quote"]) in bare(text), answer["quote"]
        assert label == answer["page_label"]


def test_an_answer_names_its_item_and_attachment(committed: Library) -> None:
    pairs = committed.rows(
        "SELECT p.key, a.key FROM itemAttachments t JOIN items a USING (itemID) "
        "JOIN items p ON p.itemID = t.parentItemID"
    )
    named = {(answer["item_key"], answer["attachment_key"]) for answer in answer_places(committed)}
    assert named <= set(pairs)


def test_nothing_in_the_library_treats_the_unanswerable_questions(committed: Library) -> None:
    everything = " ".join(
        text for name in committed.pdf_names()
        for _, text in pages_of(committed.folder / "storage" / name)
    )  # fmt: skip
    values = " ".join(str(value) for (value,) in committed.rows("SELECT value FROM itemDataValues"))
    assert not re.search(r"parkinson|zolpidem|adolescent", everything + values, re.IGNORECASE)


@pytest.mark.parametrize("slug", sorted(set(PAPERS) - UNREADABLE))
def test_a_paper_says_on_its_first_page_that_it_is_invented(committed: Library, slug: str) -> None:
    (_, first), *_ = pages_of(committed.printed(slug))
    assert bare(NOTICE) in bare(first)


def test_every_record_says_that_it_is_invented(committed: Library) -> None:
    records = committed.rows(
        "SELECT i.itemID FROM items i JOIN itemTypesCombined USING (itemTypeID) "
        "WHERE typeName NOT IN ('attachment', 'note', 'annotation') "
        "AND i.itemID NOT IN (SELECT itemID FROM feedItems)"
    )
    marked = committed.rows(
        "SELECT itemID FROM itemData JOIN fieldsCombined USING (fieldID) "
        "JOIN itemDataValues USING (valueID) "
        f"WHERE fieldName = 'extra' AND value LIKE '{NOTICE.split(':', maxsplit=1)[0]}%'"
    )
    assert set(records) == set(marked)


def test_the_printed_pages_are_those_of_the_record(committed: Library) -> None:
    for slug in set(PAPERS) - {"okafor-2017-draft"}:
        labels = [label for label, _ in pages_of(committed.printed(slug))]
        first, last = re.match(r"(\d+)(?:-(\d+))?", PAPERS[slug].entry.fields["pages"]).groups()  # type: ignore[union-attr]
        numbers = [label for label in labels if label.isdigit()]
        assert not numbers or (numbers[0], numbers[-1]) == (first, last or first), slug


def test_page_labels_differ_from_physical_pages_in_most_papers(committed: Library) -> None:
    labels = {slug: [label for label, _ in pages_of(committed.printed(slug))] for slug in PAPERS}
    assert labels["lindqvist-2019-acoustic"] == ["i", "88", "89", "90", "S1"]
    shifted = [slug for slug, found in labels.items() if found and found[0] not in ("", "1")]
    assert len(shifted) >= 12


def test_some_papers_have_an_outline_and_some_have_only_headings(committed: Library) -> None:
    with_outline = [slug for slug in PAPERS if outline_of(committed.printed(slug))]
    assert 5 <= len(with_outline) <= len(PAPERS) - 5
    titles = outline_of(committed.printed("varga-2016-spindles"))
    assert ("3. Results", 2) in titles


def test_the_encrypted_paper_does_not_open_without_its_password(committed: Library) -> None:
    path = committed.printed("brunner-2024-locked")
    with pytest.raises(pdfium.PdfiumError, match="password"):
        pdfium.PdfDocument(path)
    assert "consecutive nights" in " ".join(text for _, text in pages_of(path))


def test_the_scanned_paper_has_pages_without_text(committed: Library) -> None:
    assert [text for _, text in pages_of(committed.printed("ashworth-1987-scan"))] == ["", ""]


def test_accents_greek_ligatures_and_japanese_come_back_as_text(committed: Library) -> None:
    french = " ".join(text for _, text in pages_of(committed.printed("moreau-2021-acoustic")))
    assert all(part in french for part in ("Élodie", "L'œuvre", "σ band", "confirmed"))
    japanese = " ".join(text for _, text in pages_of(committed.printed("tanabe-2020-faces")))
    assert "睡眠紡錘波" in japanese


def test_an_annotation_lies_on_the_words_that_it_quotes(committed: Library) -> None:
    annotations = committed.rows(
        "SELECT a.key, n.text, n.pageLabel, n.position FROM itemAnnotations n "
        "JOIN items a ON a.itemID = n.parentItemID WHERE n.type != 2"
    )
    assert len(annotations) >= 15
    for key, text, label, position in annotations:
        place = json.loads(position)
        with closing(pdfium.PdfDocument(committed.pdf_of(key))) as document:
            number = place["pageIndex"]
            page = document[number].get_textpage()
            found = "".join(page.get_text_bounded(*rectangle) for rectangle in place["rects"])
            assert bare(text) in bare(found), text
            assert label == (document.get_page_label(number) or str(number + 1))


def test_the_library_holds_every_kind_of_thing_that_a_reader_must_treat(committed: Library) -> None:
    counts = {
        "trashed items": "SELECT count(*) FROM deletedItems",
        "trashed collections": "SELECT count(*) FROM deletedCollections",
        "nested collections": (
            "SELECT count(*) FROM collections WHERE parentCollectionID IS NOT NULL"
        ),
        "child notes": "SELECT count(*) FROM itemNotes WHERE parentItemID IS NOT NULL",
        "standalone notes": "SELECT count(*) FROM itemNotes WHERE parentItemID IS NULL",
        "institutions": "SELECT count(*) FROM creators WHERE fieldMode = 1",
        "editors and translators": (
            "SELECT count(*) FROM itemCreators JOIN creatorTypes USING (creatorTypeID) "
            "WHERE creatorType IN ('editor', 'translator')"
        ),
        "automatic tags": "SELECT count(*) FROM itemTags WHERE type = 1",
        "linked addresses": "SELECT count(*) FROM itemAttachments WHERE linkMode = 3",
        "snapshots": "SELECT count(*) FROM itemAttachments WHERE linkMode = 1",
        "group items": "SELECT count(*) FROM groupItems",
        "feed items": "SELECT count(*) FROM feedItems",
        "dates without a month": (
            "SELECT count(*) FROM itemDataValues WHERE value LIKE '____-00-00 %'"
        ),
        "citation keys in Extra": (
            "SELECT count(*) FROM itemDataValues WHERE value LIKE '%Citation Key: %'"
        ),
    }
    missing = [name for name, statement in counts.items() if committed.rows(statement) == [(0,)]]
    assert missing == []


def test_one_attachment_has_lost_its_file(committed: Library) -> None:
    named = committed.rows(
        "SELECT key, path FROM items JOIN itemAttachments USING (itemID) WHERE path IS NOT NULL"
    )
    storage = committed.folder / "storage"
    lost = [path for key, path in named if not (storage / key / path[len("storage:") :]).is_file()]
    assert lost == ["storage:Whitcombe and Lindqvist - 2023 - Who hears at night.pdf"]
