"""A library of any size: real texts recombined, and their real vectors with seeded noise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from services.search.encoder import Encoder, Vectors
from services.search.index_rows import IndexedDocument, IndexedPassage, IndexedText, Kind, Reading
from services.search.index_schema import digest_of, embedded_text, new_generation
from services.search.index_writer import Unembedded
from tests.bench.retrieval_data import Text, cisi, cranfield, scifact
from tests.bench.retrieval_vectors import vectors_of

REAL_TEXTS = 2_000
PASSAGES_PER_DOCUMENT = 12
PASSAGE_WORDS = 186
# A passage's vector keeps about this cosine to the real one that it was made of.
LIKENESS = 0.85
SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The real texts and their vectors."""

    texts: Sequence[Text]
    vectors: Vectors


def sources(encoder: Encoder) -> Sources:
    """A seeded sample of the judged collections."""
    texts = [
        one
        for collection in (scifact("test"), cranfield(), cisi())
        for one in collection.documents.values()
        if len(one.text.split()) > 40
    ]
    order = np.random.default_rng(SEED).permutation(len(texts))[:REAL_TEXTS]
    chosen = [texts[place] for place in order]
    return Sources(
        texts=chosen,
        vectors=vectors_of([embedded_text(one.title, one.text) for one in chosen], encoder),
    )


def documents(real: Sources, count: int) -> Iterator[IndexedText]:
    """Documents that hold `count` passages together; fewer are the first of more."""
    for start in range(0, count, PASSAGES_PER_DOCUMENT):
        size = min(PASSAGES_PER_DOCUMENT, count - start)
        title = real.texts[start % len(real.texts)].title
        key = f"{start:08d}"
        generation = new_generation()
        passages = tuple(
            _passage(real, title, key, generation, start, place) for place in range(size)
        )
        yield IndexedText(
            document=_document(title, key, generation, passages),
            sections=(),
            passages=passages,
            pages=(),
        )


def vectors(real: Sources, start: int, count: int) -> Vectors:
    """The vectors of the passages from `start` on, always the same ones."""
    random = np.random.default_rng([SEED, start])
    base = real.vectors[np.arange(start, start + count) % len(real.vectors)]
    noise = random.standard_normal(base.shape).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    rows = base + noise * np.float32(np.sqrt(1 / LIKENESS**2 - 1))
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def marks(text: IndexedText) -> list[Unembedded]:
    """What says whose vector is whose."""
    return [
        Unembedded(passage_id=one.passage_id, document_id=one.document_id, digest=one.digest)
        for one in text.passages
    ]


def _passage(
    real: Sources, title: str, key: str, generation: str, start: int, place: int
) -> IndexedPassage:
    number = start + place
    # Half of the text is that whose vector it has, half is of another, which differs each time.
    own = real.texts[number % len(real.texts)].text.split()
    other = real.texts[(number * 31 + number // len(real.texts)) % len(real.texts)].text.split()
    half = PASSAGE_WORDS // 2
    text = " ".join([*islice(own, half), *islice(other, PASSAGE_WORDS - min(half, len(own)))])
    return IndexedPassage(
        passage_id=f"p{number:08d}",
        document_id=f"user/{key}",
        generation=generation,
        ordinal=place,
        section_id="",
        section_path=(),
        text=text,
        words=len(text.split()),
        spans=(),
        digest=digest_of(title, text),
    )


def _document(
    title: str, key: str, generation: str, passages: Sequence[IndexedPassage]
) -> IndexedDocument:
    return IndexedDocument(
        document_id=f"user/{key}",
        generation=generation,
        library="user",
        item_key=key,
        attachment_key="",
        kind=Kind.PDF,
        title=title,
        creators=(),
        year="2020",
        citation_key="",
        tags=(),
        collections=(),
        page_count=len(passages),
        reading=Reading.FULL,
        reading_reason="",
        skip="",
        fingerprint=key,
        passages=len(passages),
        words=sum(one.words for one in passages),
    )
