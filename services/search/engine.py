"""One query through both retrievers and their fusion."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from services.search.analysis import is_mostly_latin
from services.search.encoder_lanes import EncoderLanes
from services.search.errors import InvalidQuery
from services.search.fusion import (
    VECTOR_WEIGHT,
    VECTOR_WEIGHT_ELSEWHERE,
    VECTORS,
    WORDS,
    Fused,
    at_most,
    fuse,
    with_firsts,
)
from services.search.index import Index
from services.search.index_rows import Documents, Found, IndexedDocument, IndexedPassage, Kind
from services.search.scope import Scope, searchable_within

MAX_QUERY_CHARACTERS = 1_000
# How deep each retriever's list goes: deep enough that the cap per document still fills a reply.
CANDIDATES = 80
CANDIDATES_PER_HIT = 4
# One paper must not fill a reply, unless the scope is that paper.
HITS_PER_DOCUMENT = 3
# What a person marked comes before what is a little nearer to the query, if they prefer it.
MARKED_BONUS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPassage:
    """A passage, its document and the reasons it was found."""

    passage: IndexedPassage
    document: IndexedDocument
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The best passages, best first, and what was searched."""

    hits: tuple[ScoredPassage, ...]
    documents_in_scope: int
    vectors_done: int
    vectors_total: int
    degraded: str
    """Why the result rests on BM25 alone; empty when both retrievers ran."""


class Engine:
    """Ranks passages; without an encoder it searches words alone and says `why`."""

    def __init__(self, index: Index, encoder: EncoderLanes | None, why: str = "") -> None:
        self._index = index
        self._encoder = encoder
        self._why = why

    async def search(self, query: str, scope: Scope, limit: int) -> SearchResult:
        """The best passages for a query within a scope; raises InvalidQuery."""
        text = valid_query(query)
        documents = await self._index.documents()
        result = await self._search(text, scope, limit, documents)
        # A document that was replaced, and whose old rows were swept, meanwhile is in no version
        # of the reply; the new version has it.
        latest = await self._index.documents()
        if latest.version != documents.version:
            result = await self._search(text, scope, limit, latest)
        return result

    async def _search(
        self, text: str, scope: Scope, limit: int, documents: Documents
    ) -> SearchResult:
        within = searchable_within(scope, documents.by_id.values())
        done, total = await self._coverage(documents)
        degraded = await self._why_degraded()
        hits: list[ScoredPassage] = []
        if within:
            use_vectors = done > 0 and not degraded
            marked = _marked(documents, within) if scope.prefer_marked else frozenset()
            hits = await self._hits(text, use_vectors, documents, within, limit, marked)
        return SearchResult(
            hits=tuple(hits),
            documents_in_scope=len(within),
            vectors_done=done,
            vectors_total=total,
            degraded=degraded,
        )

    async def coverage(self) -> tuple[int, int]:
        """How many passages have a vector of the searched encoder, and how many there are."""
        return await self._coverage(await self._index.documents())

    async def _coverage(self, documents: Documents) -> tuple[int, int]:
        total = documents.passages
        active = await self._index.active_encoder()
        # Vectors of replaced passages are counted until they are swept.
        return (min(await self._index.vectors_done(active), total) if active else 0), total

    async def _why_degraded(self) -> str:
        """Why vectors cannot be searched; empty when they can."""
        if self._encoder is None:
            return self._why
        active = await self._index.active_encoder()
        if not active or active == self._encoder.encoder_id:
            return ""
        return (
            f"The index holds vectors of {active}, this process embeds with "
            f"{self._encoder.encoder_id}; words alone are searched until new vectors are made."
        )

    async def _hits(
        self,
        text: str,
        use_vectors: bool,
        documents: Documents,
        within: Collection[str],
        limit: int,
        marked: frozenset[str],
    ) -> list[ScoredPassage]:
        depth = max(CANDIDATES, CANDIDATES_PER_HIT * limit)
        encoder = self._encoder if use_vectors else None
        by_words, (query, by_vector) = await asyncio.gather(
            self._index.best_by_words(text, documents=documents, within=within, limit=depth),
            self._best_by_vector(encoder, text, documents, within, depth),
        )
        looked_up = await self._cosines(encoder, query, by_words, by_vector)
        weight = VECTOR_WEIGHT if is_mostly_latin(text) else VECTOR_WEIGHT_ELSEWHERE
        fused = _ranked(
            by_words, by_vector, looked_up, weight, marked=marked, alone=len(within) == 1
        )
        ranked = with_firsts(fused, limit)
        cosines = {(one.passage_id, one.mark): one.score for one in (*looked_up, *by_vector)}
        hits: list[ScoredPassage] = []
        # A vector may belong to a passage that was just replaced; then the next candidates follow.
        while ranked and len(hits) < limit:
            chunk, ranked = ranked[: limit - len(hits)], ranked[limit - len(hits) :]
            passages = await self._index.passages([one.passage_id for one in chunk], documents)
            hits = without_copies([*hits, *_scored(chunk, passages, documents, cosines)])
        return hits

    async def _best_by_vector(
        self,
        encoder: EncoderLanes | None,
        text: str,
        documents: Documents,
        within: Collection[str],
        depth: int,
    ) -> tuple[Sequence[float] | None, list[Found]]:
        """The query's vector and the passages nearest to it; neither without an encoder."""
        if encoder is None:
            return None, []
        query = await encoder.encode_query(text)
        return query, await self._index.best_by_vector(
            query, encoder.encoder_id, documents=documents, within=within, limit=depth
        )

    async def _cosines(
        self,
        encoder: EncoderLanes | None,
        query: Sequence[float] | None,
        by_words: Sequence[Found],
        by_vector: Sequence[Found],
    ) -> list[Found]:
        """The cosines of the passages that only BM25 found, of those that have a vector."""
        missing = {one.passage_id for one in by_words} - {one.passage_id for one in by_vector}
        if encoder is None or query is None or not missing:
            return []
        return await self._index.cosines(query, encoder.encoder_id, missing)


def valid_query(query: str) -> str:
    """The query without surrounding white space; raises InvalidQuery."""
    text = query.strip()
    if not text:
        raise InvalidQuery("The query is empty; say what to look for.")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidQuery(
            f"The query has {len(text)} characters; at most {MAX_QUERY_CHARACTERS} are searched."
        )
    return text


def without_copies(hits: Iterable[ScoredPassage]) -> list[ScoredPassage]:
    """The hits without repeated texts, as of a work that the library holds twice.

    The place is that of the first, the passage that of the record which says most about the work.
    """
    kept: dict[str, ScoredPassage] = {}
    for hit in hits:
        text = " ".join(hit.passage.text.split())
        if text not in kept or _detail(hit.document) > _detail(kept[text].document):
            kept[text] = hit
    return list(kept.values())


def _detail(document: IndexedDocument) -> tuple[bool, int, int]:
    """How much a record says about its work."""
    return bool(document.citation_key), sum(map(len, document.creators)), len(document.title)


def _marked(documents: Documents, within: Collection[str]) -> frozenset[str]:
    """What the person wrote or marked themselves."""
    kinds = (Kind.NOTE, Kind.ANNOTATION)
    return frozenset(one for one in within if documents.by_id[one].kind in kinds)


def _ranked(
    by_words: Sequence[Found],
    by_vector: Sequence[Found],
    looked_up: Sequence[Found],
    vector_weight: float,
    *,
    marked: frozenset[str],
    alone: bool,
) -> list[Fused]:
    """The fused ranking; equal scores are ordered by id, so that a query repeats its reply."""
    documents = {one.passage_id: one.document_id for one in (*by_words, *by_vector)}
    words, vectors, others = (
        {one.passage_id: one.score for one in found} for found in (by_words, by_vector, looked_up)
    )
    ranked = fuse(
        words,
        vectors,
        looked_up=others,
        vector_weight=vector_weight,
        tie=lambda passage_id: (documents[passage_id], passage_id),
    )
    if marked:
        raised = [
            replace(one, score=one.score + MARKED_BONUS)
            if documents[one.passage_id] in marked
            else one
            for one in ranked
        ]
        ranked = sorted(raised, key=lambda one: -one.score)
    if alone:
        return ranked
    return at_most(HITS_PER_DOCUMENT, lambda one: documents[one.passage_id], ranked)


def _scored(
    fused: Sequence[Fused],
    passages: Mapping[str, IndexedPassage],
    documents: Documents,
    cosines: Mapping[tuple[str, str], float],
) -> list[ScoredPassage]:
    """The passages that are still there, with the cosine of their present text."""
    hits = []
    for one in fused:
        passage = passages.get(one.passage_id)
        if passage is None:
            continue
        similarity = cosines.get((passage.passage_id, passage.digest))
        if similarity is None and WORDS not in one.ranks:
            continue
        hits.append(
            ScoredPassage(
                passage=passage,
                document=documents.by_id[passage.document_id],
                score=one.score,
                bm25_rank=one.ranks.get(WORDS),
                vector_rank=one.ranks.get(VECTORS),
                similarity=similarity,
            )
        )
    return hits
