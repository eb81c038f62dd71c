"""The search process, as the orchestrator uses it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from services.orchestrator.convert import (
    passage_to_proto,
    passages_from_proto,
    scope_to_proto,
    section_from_proto,
)
from services.orchestrator.passages import Passage
from services.orchestrator.peers.calls import Deadlines, unary
from services.orchestrator.tools import GetToc, ReadDocument, SearchCorpus
from services.orchestrator.transcript import Hit, Section
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

PEER = "search"
# What only adds a remark is not waited for.
DESCRIBE_S = 2.0
# Languages change with the encoder only, for which search starts anew.
LANGUAGES_KEPT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch:
    """Where a quote stands in a passage; `text` is verbatim."""

    page_index: int
    page_label: str
    start: int
    text: str


class SearchPeer:
    """Tools of the search agent, and the quote finder of the verify stage. Raises PeerError."""

    def __init__(self, channel: grpc.aio.Channel, deadlines: Deadlines) -> None:
        self._stub = rpc.SearchServiceStub(channel)
        self._deadline_s = deadlines.other_s
        # What search told last, and when.
        self._languages: tuple[float, Sequence[str]] | None = None

    async def search(self, request: SearchCorpus, scope: Mapping[str, Any]) -> Sequence[Hit]:
        """Passages for a query, best first."""
        reply: pb.SearchCorpusResponse = await self._call(
            self._stub.SearchCorpus,
            pb.SearchCorpusRequest(
                query=request.query, limit=request.limit, scope=scope_to_proto(scope)
            ),
        )
        passages = passages_from_proto(hit.passage for hit in reply.hits)
        return [
            Hit(
                passage=passage,
                similarity=hit.similarity if hit.HasField("similarity") else None,
            )
            for passage, hit in zip(passages, reply.hits, strict=True)
        ]

    async def toc(self, request: GetToc) -> Sequence[Section]:
        """The sections of a document."""
        reply: pb.GetDocumentTocResponse = await self._call(
            self._stub.GetDocumentToc, pb.GetDocumentTocRequest(document_id=request.document_id)
        )
        return [section_from_proto(entry) for entry in reply.entries]

    async def read(self, request: ReadDocument) -> Sequence[Hit]:
        """Passages of a document in reading order."""
        message = pb.ReadDocumentRequest(document_id=request.document_id)
        if request.section_id is not None:
            message.section_id = request.section_id
        if request.pages is not None:
            first, last = request.pages
            message.pages.first_page_index, message.pages.last_page_index = first, last
        if request.around is not None:
            passage_id, before, after = request.around
            message.around.passage_id = passage_id
            message.around.before, message.around.after = before, after
        reply: pb.ReadDocumentResponse = await self._call(self._stub.ReadDocument, message)
        return [Hit(passage=passage) for passage in passages_from_proto(reply.passages)]

    async def find_quote(self, quote: str, passage: Passage) -> QuoteMatch | None:
        """The first place of a quote in a passage as the run recorded it."""
        reply: pb.FindQuoteResponse = await self._call(
            self._stub.FindQuote,
            pb.FindQuoteRequest(
                quote=quote, text=pb.QuoteText(passages=[passage_to_proto(passage)])
            ),
        )
        if not reply.matches:
            return None
        match = reply.matches[0]
        return QuoteMatch(
            page_index=match.page_index,
            page_label=match.page_label,
            start=match.start,
            text=match.text,
        )

    async def bridged_languages(self) -> Sequence[str]:
        """Languages between which a question finds texts, if search tells them soon."""
        now = asyncio.get_running_loop().time()
        if self._languages is not None and now - self._languages[0] < LANGUAGES_KEPT_S:
            return self._languages[1]
        reply: encoder_pb2.DescribeEncoderResponse = await unary(
            PEER,
            self._stub.DescribeEncoder,
            encoder_pb2.DescribeEncoderRequest(),
            deadline_s=min(self._deadline_s, DESCRIBE_S),
        )
        self._languages = (now, list(reply.bridged_languages))
        return self._languages[1]

    async def _call(self, method: Any, request: object) -> Any:  # a multicallable of the stub
        return await unary(PEER, method, request, deadline_s=self._deadline_s)
