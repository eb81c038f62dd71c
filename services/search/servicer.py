"""SearchService on the wire."""

import asyncio

from services.chassis.errors import InvalidRequest
from services.chassis.server import Context
from services.search import convert
from services.search.crossing import Crossing
from services.search.demand import Demand
from services.search.engine import Engine
from services.search.quotes import VERBATIM, find_quote, valid_least_score, valid_quote
from services.search.reading import DocumentReader
from services.search.scopes import Scopes
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

DEFAULT_HITS = 8
MOST_HITS = 50
DEFAULT_WORDS = 2_000
MOST_WORDS = 100_000
MOST_NEIGHBOURS = 1_000


class SearchServicer(rpc.SearchServiceServicer):
    """Validates, asks the engine or the reader, encodes."""

    def __init__(
        self,
        engine: Engine,
        reader: DocumentReader,
        scopes: Scopes,
        demand: Demand,
        crossing: Crossing,
    ) -> None:
        self._crossing = crossing
        self._engine = engine
        self._demand = demand
        self._scopes = scopes
        self._reader = reader

    async def SearchCorpus(
        self, request: pb.SearchCorpusRequest, context: Context
    ) -> pb.SearchCorpusResponse:
        """Rank passages for a query."""
        limit = convert.bounded("limit", request.limit, default=DEFAULT_HITS, most=MOST_HITS)
        scope = await self._scopes.resolved(convert.scope_of(request.scope))
        result = await self._engine.search(request.query, scope, limit)
        if not result.degraded:
            self._demand.note(
                hit.document.document_id for hit in result.hits if hit.similarity is None
            )
        return convert.search_to_proto(result)

    async def GetDocumentToc(
        self, request: pb.GetDocumentTocRequest, context: Context
    ) -> pb.GetDocumentTocResponse:
        """List the sections of a document."""
        document = await self._reader.document(request.document_id)
        return convert.toc_to_proto(
            document, await self._reader.sections(document), await self._reader.pages(document)
        )

    async def ReadDocument(
        self, request: pb.ReadDocumentRequest, context: Context
    ) -> pb.ReadDocumentResponse:
        """Return passages in reading order."""
        words = convert.bounded(
            "max_words", request.max_words, default=DEFAULT_WORDS, most=MOST_WORDS
        )
        match request.WhichOneof("selector"):
            case "around":
                window = request.around
                read = await self._reader.read_around(
                    window.passage_id,
                    request.document_id,
                    before=convert.bounded(
                        "before", window.before, default=0, most=MOST_NEIGHBOURS
                    ),
                    after=convert.bounded("after", window.after, default=0, most=MOST_NEIGHBOURS),
                    max_words=words,
                )
            case "section_id":
                document = await self._reader.document(request.document_id)
                read = await self._reader.read_section(document, request.section_id, words)
            case "pages":
                document = await self._reader.document(request.document_id)
                pages = request.pages
                read = await self._reader.read_pages(
                    document, pages.first_page_index, pages.last_page_index, words
                )
            case _:
                document = await self._reader.document(request.document_id)
                read = await self._reader.read(document, words)
        return convert.read_to_proto(read)

    async def FindQuote(
        self, request: pb.FindQuoteRequest, context: Context
    ) -> pb.FindQuoteResponse:
        """Find a sentence on a document's pages or in the passages given."""
        valid_quote(request.quote)
        least = request.least_score if request.HasField("least_score") else VERBATIM
        valid_least_score(least)
        match request.WhichOneof("where"):
            case "document_id":
                return await self._find_in_document(request.quote, request.document_id, least)
            case "text":
                return await self._find_in_passages(request.quote, request.text, least)
            case _:
                raise InvalidRequest("Say where to look: set 'document_id' or 'text'.")

    async def _find_in_document(
        self, quote: str, document_id: str, least: float
    ) -> pb.FindQuoteResponse:
        document = await self._reader.document(document_id)
        leaves = convert.leaves_of_pages(await self._reader.pages(document))
        # Folding a long document takes a while; queries go on meanwhile.
        matches = await asyncio.to_thread(find_quote, quote, leaves, least)
        return pb.FindQuoteResponse(
            matches=[
                convert.page_match_to_proto(match, leaves[match.leaf], document_id)
                for match in matches
            ]
        )

    async def _find_in_passages(
        self, quote: str, text: pb.QuoteText, least: float
    ) -> pb.FindQuoteResponse:
        found = []
        # Each by itself: passages of a request need not follow each other in their document.
        for passage in text.passages:
            leaves = convert.leaves_of_passages([passage])
            matches = await asyncio.to_thread(find_quote, quote, leaves, least)
            found += [convert.passage_match_to_proto(match, passage) for match in matches]
        return pb.FindQuoteResponse(matches=found)

    async def DescribeEncoder(
        self, request: encoder_pb2.DescribeEncoderRequest, context: Context
    ) -> encoder_pb2.DescribeEncoderResponse:
        """Tell the encoder and the languages between which it finds meaning."""
        return encoder_pb2.DescribeEncoderResponse(
            encoder_id=self._crossing.encoder_id,
            bridged_languages=await self._crossing.languages(),
        )
