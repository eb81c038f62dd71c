"""A whole library as an API of Zotero told it: what is live, and the records of that."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from services.search.library.api_items import (
    Json,
    annotation_of,
    attachment_of,
    collection_of,
    item_of,
    link_mode_of,
    note_of,
    search_of,
    text,
)
from services.search.library.attachment_paths import Location
from services.search.library.records import (
    Annotation,
    Attachment,
    Item,
    Library,
    LibraryRecords,
    LinkMode,
    Note,
    RemoteFile,
)

NOT_REGULAR = frozenset({"attachment", "note", "annotation"})

Locate = Callable[[str, Json], Location | RemoteFile]
"""Where the file of an attachment is, by the library's name and the object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLibrary:
    """The objects of one library as replies hold them; trashed ones may be among them."""

    library: Library
    items: tuple[Json, ...]
    collections: tuple[Json, ...]
    searches: tuple[Json, ...]


def records_of(
    told: Iterable[ToldLibrary],
    locate: Locate,
    *,
    schema_version: int,
    notices: tuple[str, ...] = (),
) -> LibraryRecords:
    """The records of some libraries, the trash left out, in the order of every source."""
    parts = [_Part(one, locate) for one in told]
    parts.sort(key=lambda part: part.name)
    libraries = [part.told.library for part in parts]
    return LibraryRecords(
        libraries=tuple(sorted(libraries, key=lambda one: (one.name != "user", one.name))),
        items=tuple(item for part in parts for item in part.items()),
        attachments=tuple(one for part in parts for one in part.attachments()),
        notes=tuple(note for part in parts for note in part.notes()),
        annotations=tuple(one for part in parts for one in part.annotations()),
        collections=tuple(
            collection_of(part.name, data, part.collections)
            for part in parts
            for key, data in sorted(part.collection_data.items())
            if key in part.collections
        ),
        searches=tuple(
            search_of(part.name, entry["data"])
            for part in parts
            for entry in sorted(part.told.searches, key=lambda one: text(one["data"]["key"]))
            if not entry["data"].get("deleted")
        ),
        schema_version=schema_version,
        notices=notices,
    )


class _Part:
    """One library of a reply, with what is live in it."""

    def __init__(self, told: ToldLibrary, locate: Locate) -> None:
        self.told = told
        self.name = told.library.name
        self._locate = locate
        self.collection_data = {text(one["data"]["key"]): one["data"] for one in told.collections}
        self.collections = _live_collections(self.collection_data)
        self._live = _live_items(told.items)

    def items(self) -> Iterator[Item]:
        """The regular items, by key."""
        for key, entry in sorted(self._live.items()):
            if entry["data"].get("itemType") not in NOT_REGULAR:
                yield item_of(self.name, self._live[key], self.collections)

    def attachments(self) -> Iterator[Attachment]:
        """The attachments, by key, but for pictures embedded in notes."""
        for data in self._of("attachment"):
            if link_mode_of(data) not in (None, LinkMode.EMBEDDED_IMAGE):
                location = self._locate(self.name, self._live[text(data["key"])])
                yield attachment_of(self.name, data, location, self.collections)

    def notes(self) -> Iterator[Note]:
        """The notes, those of attachments among them, by key."""
        for data in sorted(
            [*self._of("note"), *self._of("attachment")], key=lambda one: text(one["key"])
        ):
            note = note_of(self.name, data, self.collections)
            if note is not None:
                yield note

    def annotations(self) -> list[Annotation]:
        """The marks, in reading order within each attachment."""
        found = [annotation_of(self.name, data) for data in self._of("annotation")]
        return sorted(found, key=lambda one: (one.attachment_key, one.sort_index, one.key))

    def _of(self, kind: str) -> list[Json]:
        entries = (entry["data"] for _, entry in sorted(self._live.items()))
        return [data for data in entries if data.get("itemType") == kind]


def _live_collections(data: Mapping[str, Json]) -> frozenset[str]:
    """The keys outside the trash; what is below a collection that is not listed is in it too."""

    def is_live(key: str) -> bool:
        seen: set[str] = set()
        # A ring of parents ends the walk.
        while key and key not in seen:
            if key not in data or data[key].get("deleted"):
                return False
            seen.add(key)
            key = text(data[key].get("parentCollection"))
        return True

    return frozenset(key for key in data if is_live(key))


def _live_items(entries: Iterable[Json]) -> dict[str, Json]:
    """The objects outside the trash by key; what belongs to an absent object is absent too."""
    by_key = {text(entry["data"]["key"]): entry for entry in entries}

    def is_live(key: str) -> bool:
        # An annotation belongs to an attachment, which belongs to an item.
        for _ in range(3):
            entry = by_key.get(key)
            if entry is None or entry["data"].get("deleted"):
                return False
            key = text(entry["data"].get("parentItem"))
            if not key:
                return True
        return False

    return {key: entry for key, entry in by_key.items() if is_live(key)}
