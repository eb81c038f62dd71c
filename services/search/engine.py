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
from services.search.index_view import View
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
        view = await self._index.view()
        within = (
            view.searchable
            if scope == Scope()
            else searchable_within(scope, view.documents.by_id.values())
        )
        degraded = self._why_degraded(view)
        hits: list[ScoredPassage] = []
        if within:
            encoder = self._encoder if view.vectors_done and not degraded else None
            hits = await self._hits(text, encoder, view, within, scope, limit)
        return SearchResult(
            hits=tuple(hits),
            documents_in_scope=len(within),
            vectors_done=view.vectors_done,
            vectors_total=view.passages_in_all,
            degraded=degraded,
        )

    async def coverage(self) -> tuple[int, int]:
        """How many passages have a vector of the searched encoder, and how many there are."""
        total = (await self._index.documents()).passages
        active = await self._index.active_encoder()
        # Vectors of replaced passages are counted until they are swept.
        return (min(await self._index.vectors_done(active), total) if active else 0), total

    def _why_degraded(self, view: View) -> str:
        """Why vectors cannot be searched; empty when they can."""
        if self._encoder is None:
            return self._why
        active = view.moment.encoder_id
        if not active or active == self._encoder.encoder_id:
            return ""
        return (
            f"The index holds vectors of {active}, this process embeds with "
            f"{self._encoder.encoder_id}; words alone are searched until new vectors are made."
        )

    async def _hits(
        self,
        text: str,
        encoder: EncoderLanes | None,
        view: View,
        within: Collection[str],
        scope: Scope,
        limit: int,
    ) -> list[ScoredPassage]:
        depth = max(CANDIDATES, CANDIDATES_PER_HIT * limit)
        by_words, by_vector, cosines = await _candidates(
            text, encoder, view, within=within, depth=depth
        )
        fused = _ranked(
            by_words,
            by_vector,
            cosines,
            VECTOR_WEIGHT if is_mostly_latin(text) else VECTOR_WEIGHT_ELSEWHERE,
            marked=_marked(view.documents, within) if scope.prefer_marked else frozenset(),
            alone=len(within) == 1,
        )
        ranked = with_firsts(fused, limit)
        places = {one.passage_id: one.place for one in (*by_words, *by_vector)}
        hits: list[ScoredPassage] = []
        # Copies of a text are one hit; then the next candidates follow.
        while ranked and len(hits) < limit:
            chunk, ranked = ranked[: limit - len(hits)], ranked[limit - len(hits) :]
            passages = await view.passages([places[one.passage_id] for one in chunk])
            found = [
                _scored(
                    one,
                    passages[places[one.passage_id]],
                    view.documents,
                    cosines.get(places[one.passage_id]),
                )
                for one in chunk
            ]
            hits = without_copies([*hits, *found])
        return hits


async def _candidates(
    text: str, encoder: EncoderLanes | None, view: View, *, within: Collection[str], depth: int
) -> tuple[list[Found], list[Found], dict[int, float]]:
    """What words found, what vectors found, and the cosines of both by place."""
    if encoder is None:
        return await view.best_by_words(text, within=within, limit=depth), [], {}
    query, words = await asyncio.gather(
        _near(encoder, text, view, within, depth),
        view.best_by_words(text, within=within, limit=depth),
    )
    vector, near = query
    # Cosines of both, whatever led to a passage.
    return words, near, view.cosines(vector, list({one.place for one in (*words, *near)}))


async def _near(
    encoder: EncoderLanes, text: str, view: View, within: Collection[str], depth: int
) -> tuple[list[float], list[Found]]:
    vector = await encoder.encode_query(text)
    return vector, await view.near(vector, within=within, limit=depth)


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
    cosines: Mapping[int, float],
    vector_weight: float,
    *,
    marked: frozenset[str],
    alone: bool,
) -> list[Fused]:
    """The fused ranking; equal scores are ordered by id, so that a query repeats its reply."""
    documents = {one.passage_id: one.document_id for one in (*by_words, *by_vector)}
    ranked = fuse(
        {one.passage_id: one.score for one in by_words},
        {one.passage_id: one.score for one in by_vector},
        looked_up={one.passage_id: cosines[one.place] for one in by_words if one.place in cosines},
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
    fused: Fused, passage: IndexedPassage, documents: Documents, similarity: float | None
) -> ScoredPassage:
    return ScoredPassage(
        passage=passage,
        document=documents.by_id[passage.document_id],
        score=fused.score,
        bm25_rank=fused.ranks.get(WORDS),
        vector_rank=fused.ranks.get(VECTORS),
        similarity=similarity,
    )
