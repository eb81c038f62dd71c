"""What a sync has to do, and how much of each item was read; decided without I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from services.search.index_rows import IndexedDocument, Kind, Reading
from services.search.library.fingerprints import Print
from services.search.library.planned import Planned

FILES = frozenset({Kind.PDF, Kind.WEB_PAGE, Kind.EPUB, Kind.TEXT, Kind.OTHER})
NO_FILE = "The item has no file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Which documents are read again though their text has not changed."""

    before: str = ""
    """Those of generations that sort before this one; empty for none."""
    unread: bool = False
    """Those that could not be read, or not in full."""

    def asks_for(self, document: IndexedDocument) -> bool:
        """Whether the document is to be read again."""
        return document.generation < self.before or (self.unread and bool(document.skip))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference between the library and the index."""

    to_read: tuple[Planned, ...]
    """New, changed in their text, or asked for again: short texts first, then the newest files."""
    to_retitle: tuple[Planned, ...]
    """Their text is as it was; their passages carry the title and are written again."""
    to_relabel: tuple[Planned, ...]
    """Only facts changed that passages do not carry: the row is enough."""
    to_remove: tuple[str, ...]
    """Documents that are not in the library any more."""

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.to_read or self.to_retitle or self.to_relabel or self.to_remove)


def compare(
    plan: Sequence[Planned],
    prints: Mapping[str, Print],
    indexed: Mapping[str, IndexedDocument],
    again: Again,
) -> Changes:
    """What to do."""
    to_read, to_retitle, to_relabel = [], [], []
    for planned in plan:
        document = indexed.get(planned.document_id)
        print_ = prints[planned.document_id]
        if document is None or not print_.same_text or again.asks_for(document):
            to_read.append(planned)
        elif document.title != planned.title:
            to_retitle.append(planned)
        elif not planned.describes(document) or document.fingerprint != print_.value:
            to_relabel.append(planned)
    # The order of time is turned round, that of the plan kept: sorting is stable.
    to_read.sort(key=lambda one: one.added, reverse=True)
    to_read.sort(key=lambda one: one.kind in FILES)
    return Changes(
        to_read=tuple(to_read),
        to_retitle=tuple(to_retitle),
        to_relabel=tuple(to_relabel),
        to_remove=tuple(sorted(set(indexed) - {planned.document_id for planned in plan})),
    )


def item_readings(documents: Iterable[IndexedDocument]) -> dict[tuple[str, str], Reading]:
    """How much of each item was read: its best file, else its abstract, else its notes."""
    by_item: dict[tuple[str, str], list[IndexedDocument]] = {}
    for document in documents:
        by_item.setdefault(document.item, []).append(document)
    return {item: _reading(group) for item, group in by_item.items()}


def _reading(documents: Sequence[IndexedDocument]) -> Reading:
    files = {one.reading for one in documents if one.kind in FILES}
    for reading in (Reading.FULL, Reading.PARTIAL):
        if reading in files:
            return reading
    if any(one.kind is Kind.ABSTRACT and one.passages for one in documents):
        return Reading.ABSTRACT_ONLY
    return Reading.FULL if any(one.passages for one in documents) else Reading.UNREADABLE


def settled_abstracts(documents: Sequence[IndexedDocument]) -> list[IndexedDocument]:
    """The abstracts that now stand alone for their item, or no longer do, with rows that say so."""
    readings = item_readings(documents)
    reasons = {
        document.item: document.reading_reason for document in documents if document.kind in FILES
    }
    changed = []
    for document in documents:
        if document.kind is not Kind.ABSTRACT or not document.passages:
            continue
        alone = readings[document.item] is Reading.ABSTRACT_ONLY
        settled = replace(
            document,
            reading=Reading.ABSTRACT_ONLY if alone else Reading.FULL,
            reading_reason=reasons.get(document.item, NO_FILE) if alone else "",
        )
        if settled != document:
            changed.append(settled)
    return changed
