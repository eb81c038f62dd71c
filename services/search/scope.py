"""What part of the library a query may see."""

from collections.abc import Iterable
from dataclasses import dataclass

from services.search.index_rows import IndexedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Restrictions that hold at once. None restricts nothing; an empty set lets nothing through."""

    libraries: frozenset[str] | None = None
    collections: frozenset[str] | None = None
    """`<library>/<key>`; a document carries the ancestors of its collections too."""
    tags: frozenset[str] | None = None
    year_from: int | None = None
    year_to: int | None = None
    items: frozenset[tuple[str, str]] | None = None
    """Library and key of top-level items."""
    prefer_marked: bool = False
    """Whether notes and marks come before passages of about equal standing; restricts nothing."""
    searches: frozenset[str] | None = None
    """`<library>/<key>` of saved searches; `Scopes` puts their items in their place."""

    def admits(self, document: IndexedDocument) -> bool:
        """Whether the document is inside every restriction but that of saved searches."""
        return (
            (self.libraries is None or document.library in self.libraries)
            and (self.collections is None or not self.collections.isdisjoint(document.collections))
            and (self.tags is None or not self.tags.isdisjoint(document.tags))
            and (self.items is None or document.item in self.items)
            and self._admits_year(document.year)
        )

    def _admits_year(self, year: str) -> bool:
        if self.year_from is None and self.year_to is None:
            return True
        if not year.isdecimal():
            return False
        return (self.year_from is None or int(year) >= self.year_from) and (
            self.year_to is None or int(year) <= self.year_to
        )


def searchable_within(scope: Scope, documents: Iterable[IndexedDocument]) -> frozenset[str]:
    """The ids of the documents inside the scope that have any text."""
    return frozenset(
        document.document_id
        for document in documents
        if document.passages and scope.admits(document)
    )
