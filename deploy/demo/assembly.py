"""Assembles the library: rows of the database and files of the storage folder."""

import hashlib
import json
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from deploy.demo.annotating import annotation_row
from deploy.demo.catalogue import Attachment, Catalogue, Note
from deploy.demo.content import Annotation, ContentError, Entry
from deploy.demo.database import (
    FEED_LIBRARY,
    GROUP_LIBRARY,
    MANUAL_TAG,
    USER_LIBRARY,
    AttachmentRow,
    Database,
)
from deploy.demo.keys import key_of
from deploy.demo.typeset import Printed

_IMPORTED_FILE, _IMPORTED_URL, _LINKED_URL = 0, 1, 3
_LOCAL_USER_KEY = "DeMoUsEr"
_PDF = "application/pdf"
_NOT_IN_FILE_NAMES = frozenset('<>:"/\\|?*')  # on any system


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of the storage folder."""

    key: str
    name: str
    content: bytes


def file_name(entry: Entry) -> str:
    """Return the name that Zotero would give to the PDF of a record, in plain ASCII."""
    authors = [one for one in entry.creators if one.role == "author"]
    names = (
        " and ".join(one.last for one in authors)
        if len(authors) < 3
        else f"{authors[0].last} et al."
    )
    title = entry.fields["title"].split(":")[0]
    name = f"{names} - {entry.year} - {title}"
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    allowed = "".join(character for character in bare if character not in _NOT_IN_FILE_NAMES)
    return f"{allowed[:90].strip()}.pdf"


class Assembly:
    """Fills an empty database and collects the stored files."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue
        self._items: dict[str, int] = {}
        self._collections: dict[str, int] = {}
        self._printed: dict[str, Printed] = {}
        self.files: list[StoredFile] = []

    def fill(self, printed: tuple[Printed, ...]) -> None:
        """Write everything."""
        self._printed = {one.paper.slug: one for one in printed}
        self._add_libraries()
        self._add_collections()
        for one in printed:
            self._add_paper(one)
        for record in self._catalogue.records:
            item = self._add_entry(record.entry)
            for attachment in record.attachments:
                self._add_attachment(record.entry, item, attachment)
        for note in self._catalogue.notes:
            self._add_note(note)
        for subject, target in self._catalogue.relations:
            self._relate(subject, target)
        self._relate_deletion()

    def _add_libraries(self) -> None:
        insert, group, feed = self._database.insert, self._catalogue.group, self._catalogue.feed
        insert("settings", setting="account", key="localUserKey", value=_LOCAL_USER_KEY)
        insert("libraries", libraryID=USER_LIBRARY, type="user", editable=1, filesEditable=1)
        insert("libraries", libraryID=GROUP_LIBRARY, type="group", editable=1, filesEditable=1)
        insert("libraries", libraryID=FEED_LIBRARY, type="feed", editable=0, filesEditable=0)
        insert(
            "groups",
            groupID=group.id,
            libraryID=GROUP_LIBRARY,
            name=group.name,
            description=group.description,
            version=0,
        )
        insert("feeds", libraryID=FEED_LIBRARY, name=feed.name, url=feed.url)
        item = self._database.add_item("journalArticle", "feed", key_of("feed", feed.guid))
        self._database.set_fields(item, {"title": feed.title})
        insert("feedItems", itemID=item, guid=feed.guid)

    def _add_collections(self) -> None:
        for one in self._catalogue.collections:
            parent = self._collections[one.parent] if one.parent else None
            key = key_of("collection", one.id)
            row = self._database.add_collection(one.library, key, one.name, parent)
            self._collections[one.id] = row
            if one.trashed:
                self._database.trash_collection(row)

    def _add_entry(self, entry: Entry) -> int:
        item = self._database.add_entry(entry, key_of("item", entry.slug))
        self._items[entry.slug] = item
        self._collect(item, entry.collections)
        if entry.is_trashed:
            self._database.trash_item(item)
        return item

    def _collect(self, item: int, collections: tuple[str, ...]) -> None:
        for name in collections:
            collection = self._collections[name]
            self._database.insert("collectionItems", collectionID=collection, itemID=item)

    def _add_paper(self, printed: Printed) -> None:
        entry = printed.paper.entry
        item = self._add_entry(entry)
        key = key_of("attachment", entry.slug)
        attachment = self._store(
            entry.library, key, item, {"title": "Full Text PDF"}, file_name(entry), printed.pdf
        )
        if not (printed.paper.design.picture_only or printed.paper.design.password):
            pages = len(printed.labels)
            self._database.insert(
                "fulltextItems", itemID=attachment, indexedPages=pages, totalPages=pages
            )
        for annotation in printed.paper.annotations:
            self._annotate(printed, attachment, annotation)

    def _store(
        self,
        library: str,
        key: str,
        parent: int,
        fields: dict[str, str],
        name: str,
        content: bytes,
        *,
        link_mode: int = _IMPORTED_FILE,
        content_type: str = _PDF,
    ) -> int:
        self.files.append(StoredFile(key=key, name=name, content=content))
        row = AttachmentRow(
            link_mode=link_mode,
            content_type=content_type,
            path=f"storage:{name}",
            storage_hash=hashlib.md5(content, usedforsecurity=False).hexdigest(),
        )
        return self._database.add_attachment(library, key, parent, fields, row)

    def _add_attachment(self, entry: Entry, item: int, attachment: Attachment) -> None:
        key = key_of("attachment", entry.slug)
        fields = {"title": attachment.title}
        if attachment.url:
            fields["url"] = attachment.url
        match attachment.kind:
            case "missing":
                row = AttachmentRow(
                    link_mode=_IMPORTED_FILE,
                    content_type=_PDF,
                    path=f"storage:{attachment.file_name}",
                )
                self._database.add_attachment(entry.library, key, item, fields, row)
            case "link":
                row = AttachmentRow(link_mode=_LINKED_URL, content_type="text/html")
                self._database.add_attachment(entry.library, key, item, fields, row)
            case "snapshot":
                self._store(
                    entry.library,
                    key,
                    item,
                    fields,
                    attachment.file_name,
                    attachment.html.lstrip().encode(),
                    link_mode=_IMPORTED_URL,
                    content_type="text/html",
                )
            case "copy":
                source = self._printed[attachment.paper]
                name = file_name(source.paper.entry)
                self._store(entry.library, key, item, fields, name, source.pdf)
            case unknown:
                raise ContentError(f"{entry.slug!r} has an attachment of unknown kind {unknown!r}")

    def _annotate(self, printed: Printed, attachment: int, annotation: Annotation) -> None:
        paper = printed.paper
        key = key_of("annotation", f"{paper.slug}/{annotation.mark}")
        row = annotation_row(printed, annotation)
        item = self._database.add_annotation(paper.entry.library, key, attachment, row)
        self._database.add_tags(item, annotation.tags, MANUAL_TAG)

    def _add_note(self, note: Note) -> None:
        parent = self._items[note.parent] if note.parent else None
        html = note.html + "".join(self._citation(slug) for slug in note.cites)
        item = self._database.add_note(key_of("note", note.id), parent, note.title, html)
        self._database.add_tags(item, note.tags, MANUAL_TAG)
        self._collect(item, note.collections)
        if note.trashed:
            self._database.trash_item(item)

    def _citation(self, slug: str) -> str:
        entry = self._printed[slug].paper.entry
        data = {"citationItems": [{"uris": [_uri(slug)]}], "properties": {}}
        encoded = quote(json.dumps(data, separators=(",", ":")), safe="")
        shown = f"({entry.creators[0].last}, {entry.year})"
        return f'<p>See <span class="citation" data-citation="{encoded}">{shown}</span></p>'

    def _relate(self, subject: str, target: str) -> None:
        item = self._items[subject]
        self._database.insert("itemRelations", itemID=item, predicateID=1, object=_uri(target))

    def _relate_deletion(self) -> None:
        """Record one deletion that was never synced, as a library in use has."""
        self._database.insert(
            "syncDeleteLog",
            syncObjectTypeID=3,
            libraryID=USER_LIBRARY,
            key=key_of("item", "deleted-for-good"),
            dateDeleted="2026-09-02 08:00:00",
        )


def _uri(slug: str) -> str:
    return f"http://zotero.org/users/local/{_LOCAL_USER_KEY}/items/{key_of('item', slug)}"
