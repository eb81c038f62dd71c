"""The search process as scripted servicers, for tests of the gateway."""

import asyncio
from collections.abc import AsyncIterator

import grpc
from google.protobuf.message import Message

from services.chassis.errors import ServiceError
from services.chassis.server import Context
from tests.fakes.gateway_peers import refusal
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as search
from zocrates.search.v1 import search_pb2_grpc as search_rpc
from zocrates.search.v1 import sync_control_pb2


class ScriptedSearch(search_rpc.SearchServiceServicer):
    """An index of a few passages."""

    def __init__(self) -> None:
        self.passages: list[corpus.Passage] = []

    async def ReadDocument(
        self, request: search.ReadDocumentRequest, context: Context
    ) -> search.ReadDocumentResponse:
        window = request.around
        middle = next((p for p in self.passages if p.passage_id == window.passage_id), None)
        if middle is None:
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_PASSAGE")
        near = [
            passage
            for passage in self.passages
            if -window.before <= passage.ordinal - middle.ordinal <= window.after
        ]
        return search.ReadDocumentResponse(document=middle.document, passages=near)

    async def SearchCorpus(
        self, request: search.SearchCorpusRequest, context: Context
    ) -> search.SearchCorpusResponse:
        raise AssertionError("the gateway does not search")

    async def GetDocumentToc(
        self, request: search.GetDocumentTocRequest, context: Context
    ) -> search.GetDocumentTocResponse:
        raise AssertionError("the gateway reads no tables of contents")

    async def FindQuote(
        self, request: search.FindQuoteRequest, context: Context
    ) -> search.FindQuoteResponse:
        raise AssertionError("the gateway finds no quotes")


class ScriptedLibrary(search_rpc.LibraryServiceServicer):
    """A library whose state the tests set."""

    def __init__(self) -> None:
        self.status = search.GetStatusResponse()
        self.speaks = asyncio.Event()
        """Unset, it does not tell its state."""
        self.speaks.set()
        self.progress: list[search.SyncProgress] = []
        self.refuses: ServiceError | None = None
        self.told: list[Message] = []
        """The requests of the other calls, as they came."""
        self.holdings = search.ListCollectionsResponse()
        self.documents = search.ListDocumentsResponse()

    async def GetStatus(
        self, request: search.GetStatusRequest, context: Context
    ) -> search.GetStatusResponse:
        await self.speaks.wait()
        return self.status

    async def Sync(
        self, request: search.SyncRequest, context: Context
    ) -> AsyncIterator[search.SyncProgress]:
        self.told.append(request)
        for progress in self.progress:
            yield progress
        if self.refuses is not None:
            raise self.refuses

    async def StopSync(
        self, request: sync_control_pb2.StopSyncRequest, context: Context
    ) -> sync_control_pb2.StopSyncResponse:
        self.told.append(request)
        return sync_control_pb2.StopSyncResponse(stopped=True)

    async def SetSource(
        self, request: search.SetSourceRequest, context: Context
    ) -> search.SetSourceResponse:
        self.told.append(request)
        if self.refuses is not None:
            raise self.refuses
        return search.SetSourceResponse()

    async def NotifyChange(
        self, request: sync_control_pb2.NotifyChangeRequest, context: Context
    ) -> sync_control_pb2.NotifyChangeResponse:
        self.told.append(request)
        return sync_control_pb2.NotifyChangeResponse()

    async def ListCollections(
        self, request: search.ListCollectionsRequest, context: Context
    ) -> search.ListCollectionsResponse:
        self.told.append(request)
        return self.holdings

    async def ListDocuments(
        self, request: search.ListDocumentsRequest, context: Context
    ) -> search.ListDocumentsResponse:
        self.told.append(request)
        return self.documents
