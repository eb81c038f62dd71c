"""One query through both retrievers and their fusion."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from services.search.encoder_lanes import EncoderLanes
from services.search.errors import InvalidQuery, UnknownScope
from services.search.fusion import Fused, at_most, fuse
from services.search.index import Index
from services.search.index_rows import Documents, Found, IndexedDocument, IndexedPassage
from services.search.scope import Scope, searchable_within

MAX_QUERY_CHARACTERS = 1_000
# How deep each retriever's list goes: deep enough that the cap per document still fills a reply.
CANDIDATES = 80
CANDIDATES_PER_HIT = 4
# One paper must not fill a reply, unless the scope is that paper.
HITS_PER_DOCUMENT = 3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """How vectors can be used now."""

    query: Sequence[float] | None
    """The query's vector; None when `degraded` has a reason, or there is nothing to compare."""
    degraded: str


class Engine:
    """Ranks passages; without an encoder it searches words alone and says `why`."""

    def __init__(self, index: Index, encoder: EncoderLanes | None, why: str = "") -> None:
        self._index = index
        self._encoder = encoder
        self._why = why

    async def search(self, query: str, scope: Scope, limit: int) -> SearchResult:
        """The best passages for a query within a scope; raises InvalidQuery, UnknownScope."""
        text = valid_query(query)
        await self._require_known(scope)
        documents = await self._index.documents()
        within = searchable_within(scope, documents.by_id.values())
        done, total = await self._coverage(documents)
        vectors = await self._vectors(text, bool(within))
        hits: list[ScoredPassage] = []
        if within:
            hits = await self._hits(text, vectors.query, documents, within, limit)
        return SearchResult(
            hits=tuple(hits),
            documents_in_scope=len(within),
            vectors_done=done,
            vectors_total=total,
            degraded=vectors.degraded,
        )

    async def coverage(self) -> tuple[int, int]:
        """How many passages have a vector of the searched encoder, and how many there are."""
        return await self._coverage(await self._index.documents())

    async def _coverage(self, documents: Documents) -> tuple[int, int]:
        total = documents.passages
        active = await self._index.active_encoder()
        # Vectors of replaced passages are counted until they are swept.
        return (min(await self._index.vectors_done(active), total) if active else 0), total

    async def _require_known(self, scope: Scope) -> None:
        if not scope.libraries and not scope.collections:
            return
        state = await self._index.state()
        for kind, wanted, known in (
            ("library", scope.libraries, state.libraries),
            ("collection", scope.collections, state.collections),
        ):
            unknown = sorted((wanted or frozenset()).difference(known))
            if unknown:
                raise UnknownScope(f"The index knows no {kind} {unknown[0]!r}.", unknown=unknown[0])

    async def _vectors(self, text: str, needed: bool) -> Vectors:
        if self._encoder is None:
            return Vectors(query=None, degraded=self._why)
        active = await self._index.active_encoder()
        if active and active != self._encoder.encoder_id:
            return Vectors(
                query=None,
                degraded=(
                    f"The index holds vectors of {active}, this process embeds with "
                    f"{self._encoder.encoder_id}; words alone are searched until new vectors "
                    "are made."
                ),
            )
        query = await self._encoder.encode_query(text) if needed and active else None
        return Vectors(query=query, degraded="")

    async def _hits(
        self,
        text: str,
        vector: Sequence[float] | None,
        documents: Documents,
        within: Collection[str],
        limit: int,
    ) -> list[ScoredPassage]:
        depth = max(CANDIDATES, CANDIDATES_PER_HIT * limit)
        by_words, by_vector = await asyncio.gather(
            self._index.best_by_words(text, documents=documents, within=within, limit=depth),
            self._nearest(vector, documents, within, depth),
        )
        ids = {found.passage_id for found in (*by_words, *by_vector)}
        passages = await self._index.passages(ids, documents)
        current = [one for one in by_vector if _has_digest(passages.get(one.passage_id), one.mark)]
        words = [one for one in by_words if one.passage_id in passages]

        def tie(passage_id: str) -> tuple[str, int]:
            return passages[passage_id].document_id, passages[passage_id].ordinal

        lists = {"bm25": _in_order(words, tie), "vector": _in_order(current, tie)}
        ranked = fuse(lists, tie=tie)
        if len(within) > 1:
            ranked = at_most(
                HITS_PER_DOCUMENT, lambda one: passages[one.passage_id].document_id, ranked
            )
        best = ranked[:limit]
        cosines = {one.passage_id: one.score for one in current}
        cosines |= await self._cosines(vector, best, cosines, passages)
        return [
            _scored(one, passages[one.passage_id], documents, cosines.get(one.passage_id))
            for one in best
        ]

    async def _nearest(
        self,
        vector: Sequence[float] | None,
        documents: Documents,
        within: Collection[str],
        depth: int,
    ) -> list[Found]:
        if vector is None or self._encoder is None:
            return []
        return await self._index.best_by_vector(
            vector, self._encoder.encoder_id, documents=documents, within=within, limit=depth
        )

    async def _cosines(
        self,
        vector: Sequence[float] | None,
        hits: Sequence[Fused],
        known: Collection[str],
        passages: Mapping[str, IndexedPassage],
    ) -> dict[str, float]:
        """The cosines of the hits that only BM25 found."""
        wanted = [one.passage_id for one in hits if one.passage_id not in known]
        if vector is None or self._encoder is None or not wanted:
            return {}
        stored = await self._index.vectors_of(wanted, self._encoder.encoder_id)
        return {
            passage_id: sum(left * right for left, right in zip(vector, other, strict=True))
            for (passage_id, digest), other in stored.items()
            if passages[passage_id].digest == digest
        }


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


def _has_digest(passage: IndexedPassage | None, digest: str) -> bool:
    return passage is not None and passage.digest == digest


def _in_order(found: Sequence[Found], tie: Callable[[str], tuple[str, int]]) -> list[str]:
    """Ids best first; the retrievers leave the order of equal scores to chance."""
    ranked = sorted(found, key=lambda one: (-one.score, tie(one.passage_id)))
    return [one.passage_id for one in ranked]


def _scored(
    fused: Fused, passage: IndexedPassage, documents: Documents, similarity: float | None
) -> ScoredPassage:
    return ScoredPassage(
        passage=passage,
        document=documents.by_id[passage.document_id],
        score=fused.score,
        bm25_rank=fused.ranks.get("bm25"),
        vector_rank=fused.ranks.get("vector"),
        similarity=similarity,
    )
