"""A work that the library holds twice takes one place in a reply."""

from services.search.engine import ScoredPassage, without_copies
from services.search.index_rows import IndexedDocument, IndexedPassage, Kind, Reading


def hit(name: str, text: str, *, creators: tuple[str, ...] = (), key: str = "") -> ScoredPassage:
    document = IndexedDocument(
        document_id=f"user/{name}",
        generation="1",
        library="user",
        item_key=name,
        attachment_key=name,
        kind=Kind.PDF,
        title="On naps",
        creators=creators,
        year="2014",
        citation_key=key,
        tags=(),
        collections=(),
        page_count=1,
        reading=Reading.FULL,
        reading_reason="",
        skip="",
        fingerprint="",
        passages=1,
        words=3,
    )
    passage = IndexedPassage(
        passage_id=f"{name}-0",
        document_id=document.document_id,
        generation="1",
        ordinal=0,
        section_id="",
        section_path=(),
        text=text,
        words=3,
        spans=(),
        digest=name,
    )
    return ScoredPassage(
        passage=passage, document=document, score=1, bm25_rank=1, vector_rank=1, similarity=0.5
    )


def names(*hits: ScoredPassage) -> list[str]:
    return [one.document.item_key for one in without_copies(hits)]


def test_the_record_that_says_more_stands_in_the_place_of_the_first() -> None:
    short = hit("COPY", "A nap helped.", creators=("G. Castellano",))
    full = hit("FULL", "A nap\nhelped.", creators=("Giulia Castellano",))
    assert names(short, hit("OTHER", "It did not."), full) == ["FULL", "OTHER"]
    assert names(full, short) == ["FULL"]


def test_a_record_with_a_citation_key_is_preferred() -> None:
    keyed = hit("KEYED", "A nap helped.", key="castellano2014")
    assert names(hit("COPY", "A nap helped.", creators=("Giulia C.",)), keyed) == ["KEYED"]


def test_of_equal_records_the_first_stays() -> None:
    assert names(hit("A", "A nap helped."), hit("B", "A nap helped.")) == ["A"]


def test_different_texts_of_a_work_all_stay() -> None:
    assert names(hit("A", "A nap helped."), hit("A", "It did not.")) == ["A", "A"]
