"""The documents that a library's records make, before any file is opened."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.search.index_rows import IndexedDocument, Kind
from services.search.library.records import (
    Attachment,
    Collection,
    Item,
    LibraryRecords,
    LinkMode,
    Note,
    RemoteFile,
    Tag,
    Unread,
)
from services.search.text.media import media_of

# Raise when reading, sections or passages change, so that every document is read again.
TEXT_VERSION = 2
NO_FILES = frozenset({LinkMode.LINKED_URL, LinkMode.EMBEDDED_IMAGE})
NOTHING_TO_READ = "The item has no abstract and no file."

COLORS = {
    "#ffd400": "yellow",
    "#ff6666": "red",
    "#5fb236": "green",
    "#2ea8e5": "blue",
    "#a28ae5": "purple",
    "#e56eee": "magenta",
    "#f19837": "orange",
    "#aaaaaa": "gray",
}

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """The page that an annotation is on."""

    page_index: int
    page_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A document as it should be: what is known of it, and where its text comes from."""

    document_id: str
    library: str
    item_key: str
    attachment_key: str
    kind: Kind
    title: str
    creators: tuple[str, ...]
    year: str
    citation_key: str
    tags: tuple[str, ...]
    collections: tuple[str, ...]
    added: str = ""
    """When it came to the library; the newest files are read first."""
    path: Path | None = None
    """The file to read; None when `text` is the whole text or there is nothing to read."""
    remote: RemoteFile | None = None
    """The file to fetch before it can be read."""
    text: str = ""
    heading: str = ""
    """What kind of text it is, where the kind alone does not say it: a yellow highlight."""
    place: PagePlace | None = None
    unread: Unread | None = None
    detail: str = ""

    def describes(self, document: IndexedDocument) -> bool:
        """Whether the indexed document carries the same facts; says nothing about its text."""
        return all(getattr(self, name) == getattr(document, name) for name in FACTS)


FACTS = (
    "library",
    "item_key",
    "attachment_key",
    "kind",
    "title",
    "creators",
    "year",
    "citation_key",
    "tags",
    "collections",
)


def plan(records: LibraryRecords) -> list[Planned]:
    """All documents of a library: short texts first, since they are searchable at once."""
    planner = Planner(records)
    texts = [*planner.abstracts(), *planner.notes(), *planner.annotations()]
    return [*texts, *planner.files()]


class Planner:
    """Joins the records of one library."""

    def __init__(self, records: LibraryRecords) -> None:
        self._records = records
        self._items = {(item.library, item.key): item for item in records.items}
        self._attachments = {(one.library, one.key): one for one in records.attachments}
        self._ancestors = ancestors_of(records.collections)

    def abstracts(self) -> Iterator[Planned]:
        """Each item's abstract; an item with no text at all is kept with that as its reason."""
        files = [one for one in self._records.attachments if one.link_mode not in NO_FILES]
        has_more = {(one.library, one.parent_key) for one in files}
        has_more |= {(one.library, one.parent_key) for one in self._records.notes}
        for item in self._records.items:
            text = item.abstract.strip()
            if text or (item.library, item.key) not in has_more:
                yield self._planned(
                    f"{item.library}/{item.key}#abstract",
                    Kind.ABSTRACT,
                    item,
                    text=text,
                    detail="" if text else NOTHING_TO_READ,
                )

    def notes(self) -> Iterator[Planned]:
        """Each note that has text."""
        for note in self._records.notes:
            if note.text.strip():
                yield self._planned(
                    f"{note.library}/{note.key}",
                    Kind.NOTE,
                    self._item(note.library, note.parent_key),
                    own=note,
                    text=note.text.strip(),
                )

    def annotations(self) -> Iterator[Planned]:
        """Each annotation with text or a comment, as a text of its own."""
        for one in self._records.annotations:
            text = "\n\n".join(part.strip() for part in (one.text, one.comment) if part.strip())
            attachment = self._attachments.get((one.library, one.attachment_key))
            if not text or attachment is None:
                continue
            place = None
            if one.page_index is not None:
                label = one.page_label or str(one.page_index + 1)
                place = PagePlace(page_index=one.page_index, page_label=label)
            yield self._planned(
                f"{one.library}/{one.key}",
                Kind.ANNOTATION,
                self._item(attachment.library, attachment.parent_key),
                own=attachment,
                more_tags=one.tags,
                text=text,
                heading=mark_of(one.kind, one.color),
                place=place,
            )

    def files(self) -> Iterator[Planned]:
        """Each attachment that is a file, also one that cannot be read."""
        for one in self._records.attachments:
            if one.link_mode in NO_FILES:
                continue
            name = one.remote.name if one.remote else str(one.path or "")
            media = media_of(one.content_type, name)
            unread, detail = one.unread, one.detail
            if unread is None and media is None:
                unread = Unread.UNSUPPORTED_TYPE
                detail = f"Files of type {one.content_type or 'unknown'} are not read yet."
            yield self._planned(
                f"{one.library}/{one.key}",
                Kind(media.value) if media else Kind.OTHER,
                self._item(one.library, one.parent_key),
                own=one,
                path=one.path if unread is None else None,
                remote=one.remote if unread is None else None,
                unread=unread,
                detail=detail,
            )

    def _item(self, library: str, key: str | None) -> Item | None:
        return self._items.get((library, key)) if key else None

    def _planned(
        self,
        document_id: str,
        kind: Kind,
        item: Item | None,
        *,
        own: Attachment | Note | None = None,
        more_tags: Iterable[Tag] = (),
        path: Path | None = None,
        remote: RemoteFile | None = None,
        text: str = "",
        heading: str = "",
        place: PagePlace | None = None,
        unread: Unread | None = None,
        detail: str = "",
    ) -> Planned:
        """A document of an item, or of `own` when it stands alone."""
        top = item or own
        assert top is not None
        tags = {tag.name for tag in (*(item.tags if item else ()), *(own.tags if own else ()))}
        # A file's own title is "PDF" or the like; a note's says something.
        own_title = own.title if own and (isinstance(own, Note) or item is None) else ""
        return Planned(
            document_id=document_id,
            library=top.library,
            item_key=top.key,
            attachment_key=own.key if isinstance(own, Attachment) else "",
            kind=kind,
            title=own_title or (item.title if item else ""),
            creators=tuple(one.display for one in item.creators) if item else (),
            year=item.year if item else "",
            citation_key=item.citation_key if item else "",
            tags=tuple(sorted(tags | {tag.name for tag in more_tags})),
            collections=self._collections(top),
            added=own.added if own else top.added,
            path=path,
            remote=remote,
            text=text,
            heading=heading,
            place=place,
            unread=unread,
            detail=detail,
        )

    def _collections(self, top: Item | Attachment | Note) -> tuple[str, ...]:
        keys = {
            ancestor
            for key in top.collections
            for ancestor in self._ancestors.get((top.library, key), ())
        }
        return tuple(sorted(f"{top.library}/{key}" for key in keys))


def ancestors_of(collections: Iterable[Collection]) -> Mapping[Key, frozenset[str]]:
    """For each collection its own key and those of the collections around it."""
    parents = {(one.library, one.key): one.parent_key for one in collections}
    around: dict[Key, frozenset[str]] = defaultdict(frozenset)
    for library, key in parents:
        chain: set[str] = set()
        current: str | None = key
        # A damaged library can hold a circle of collections.
        while current is not None and current not in chain:
            chain.add(current)
            current = parents.get((library, current))
        around[library, key] = frozenset(chain)
    return around


def mark_of(kind: str, color: str) -> str:
    """What a person calls a mark: its kind, and its colour as Zotero's menu names it."""
    name = COLORS.get(color.lower(), color)
    return f"{kind.capitalize()}, {name}" if name else kind.capitalize()
