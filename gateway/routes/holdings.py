"""What a library holds, where it is read from, and word that it changed."""

from typing import Annotated

from fastapi import APIRouter, Query

from gateway import holdings, wire
from gateway.errors import GatewayError
from gateway.routes.chat import scope_of
from gateway.routes.context import CalledBy, InContext
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2

router = APIRouter(tags=["library"])

Words = Annotated[str, Query(max_length=500)]
Cursor = Annotated[str, Query(max_length=500)]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.put("/library/source", status_code=202)
async def choose_source(
    body: holdings.SourceChoice, context: InContext, caller: CalledBy
) -> holdings.Accepted:
    """Read the library from another place from now on; a sync follows, which tells how it went."""
    if caller.libraries is not None:
        raise GatewayError(
            "SOURCE_FIXED", "Only who may see the whole library may say where it is read from."
        )
    request = pb.SetSourceRequest(
        kind=body.kind,
        data_dir=body.data_dir or "",
        server=body.server or "",
        base_folder=body.base_folder or "",
    )
    await context.search.set_source(request, owner=caller.owner)
    return holdings.Accepted()


@router.post("/library/changes", status_code=202)
async def note_changes(
    body: holdings.LibraryChanges, context: InContext, caller: CalledBy
) -> holdings.Accepted:
    """Look at the library at once: a program that watches it saw something change."""
    items = [
        corpus.ItemRef(library=event.library, key=key)
        for event in body.events
        if caller.may_read(event.library)
        for key in event.keys
    ]
    await context.search.notify_change(
        sync_control_pb2.NotifyChangeRequest(items=items), owner=caller.owner
    )
    return holdings.Accepted()


@router.get("/library/collections")
async def list_collections(context: InContext, caller: CalledBy) -> holdings.Holdings:
    """List what a scope can name, each with the exact count of what a search there would see."""
    visible = caller.visible(None)
    libraries = None if visible is None else corpus.Selection(values=visible)
    request = pb.ListCollectionsRequest(libraries=libraries)
    found = await context.search.list_collections(request, owner=caller.owner)
    return holdings.Holdings(
        libraries=[
            holdings.LibraryEntry(library=one.library, title=one.title, count=_count(one.count))
            for one in found.libraries
        ],
        collections=[
            holdings.CollectionEntry(
                collection=one.collection,
                name=one.name,
                parent=one.parent or None,
                count=_count(one.count),
            )
            for one in found.collections
        ],
        saved_searches=[
            holdings.SavedSearchEntry(
                saved_search=one.saved_search,
                name=one.name,
                count=_count(one.count),
                unsupported=list(one.unsupported),
            )
            for one in found.saved_searches
        ],
        tags=[
            holdings.TagEntry(
                library=one.library,
                tag=one.tag,
                automatic=one.automatic,
                count=_count(one.count),
            )
            for one in found.tags
        ],
    )


@router.get("/library/documents")
async def list_documents(
    context: InContext,
    caller: CalledBy,
    query: Words = "",
    library: Annotated[list[wire.LibraryName] | None, Query()] = None,
    collection: Annotated[list[wire.CollectionPath] | None, Query()] = None,
    saved_search: Annotated[list[wire.CollectionPath] | None, Query()] = None,
    tag: Annotated[list[wire.Name] | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> holdings.DocumentList:
    """List documents by title, those of a scope whose title or creators hold every word."""
    scope = wire.Scope(
        libraries=library, collections=collection, saved_searches=saved_search, tags=tag
    )
    request = pb.ListDocumentsRequest(
        scope=scope_of(scope, caller), query=query, limit=limit, cursor=cursor
    )
    found = await context.search.list_documents(request, owner=caller.owner)
    return holdings.DocumentList(
        documents=[_document(one) for one in found.documents],
        count=_count(found.count),
        next_cursor=found.next_cursor or None,
    )


def _document(entry: pb.DocumentEntry) -> holdings.DocumentEntry:
    document = entry.document
    kind = corpus.DocumentKind.Name(document.kind).removeprefix("DOCUMENT_KIND_").lower()
    reading = corpus.ReadingState.Name(document.reading_state)
    return holdings.DocumentEntry(
        document_id=document.document_id,
        library=document.item.library,
        item_key=document.item.key,
        alias_keys=list(entry.alias_keys),
        attachment_key=document.attachment_key,
        title=document.title,
        creators=list(document.creators),
        year=document.year,
        citation_key=document.citation_key,
        kind=kind,
        reading=reading.removeprefix("READING_STATE_").lower(),
        reading_reason=document.reading_reason,
        page_count=document.page_count,
    )


def _count(count: pb.ScopeCount) -> holdings.ScopeCount:
    return holdings.ScopeCount(items=count.items, documents=count.documents)
