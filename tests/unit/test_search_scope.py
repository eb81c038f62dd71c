"""What a scope lets through."""

import pytest

from services.search.index_rows import IndexedDocument, Kind, Reading
from services.search.scope import Scope, searchable_within


def document(
    document_id: str = "user/A", *, year: str = "2019", passages: int = 3
) -> IndexedDocument:
    return IndexedDocument(
        document_id=document_id,
        generation="g",
        library="user",
        item_key="ITEM",
        attachment_key="A",
        kind=Kind.PDF,
        title="Title",
        creators=(),
        year=year,
        citation_key="",
        tags=("sleep", "memory"),
        collections=("user/INNER", "user/OUTER"),
        page_count=1,
        reading=Reading.FULL,
        reading_reason="",
        skip="",
        fingerprint="f",
        passages=passages,
        words=100,
    )


@pytest.mark.parametrize(
    ("scope", "admitted"),
    [
        (Scope(), True),
        (Scope(libraries=frozenset({"user"})), True),
        (Scope(libraries=frozenset({"groups/1"})), False),
        (Scope(libraries=frozenset()), False),
        (Scope(collections=frozenset({"user/OUTER"})), True),
        (Scope(collections=frozenset({"groups/1/OUTER"})), False),
        (Scope(collections=frozenset()), False),
        (Scope(tags=frozenset({"memory", "other"})), True),
        (Scope(tags=frozenset({"Memory"})), False),
        (Scope(tags=frozenset()), False),
        (Scope(items=frozenset({("user", "ITEM")})), True),
        (Scope(items=frozenset({("groups/1", "ITEM")})), False),
        (Scope(items=frozenset()), False),
        (Scope(year_from=2019, year_to=2019), True),
        (Scope(year_from=2020), False),
        (Scope(year_to=2018), False),
        (Scope(libraries=frozenset({"user"}), tags=frozenset({"other"})), False),
    ],
)
def test_every_restriction_must_hold_and_an_empty_choice_lets_nothing_through(
    scope: Scope, admitted: bool
) -> None:
    assert scope.admits(document()) is admitted


@pytest.mark.parametrize("year", ["", "n.d."])
def test_a_document_without_a_year_is_outside_every_bound(year: str) -> None:
    assert not Scope(year_from=1).admits(document(year=year))
    assert not Scope(year_to=9999).admits(document(year=year))
    assert Scope().admits(document(year=year))


def test_a_document_without_text_is_not_counted_as_searched() -> None:
    documents = [document("user/A"), document("user/B", passages=0)]
    assert searchable_within(Scope(), documents) == {"user/A"}
