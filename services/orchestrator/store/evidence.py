"""Evidence as rows: what one step brought is one row, its passages packed together.

Most of what a run stores is text, which shrinks by half when the passages of a step, with the data
of their documents, are compressed as one. Only the orchestrator reads it.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import orjson

from services.orchestrator.passages import Document, Evidence, Item, PageSpan, Passage
from services.orchestrator.store.database import json_bytes

# The fastest: the best is smaller by a twentieth and takes twice the time.
LEVEL = 1


def parameters(evidence: Iterable[Evidence], first: int) -> dict[str, Any]:
    """The rows of evidence that follows so much other, as arrays for a statement."""
    by_step = [(key, list(found)) for key, found in groupby(evidence, lambda one: one.step_key)]
    ordinals = []
    for _, found in by_step:
        ordinals.append(first)
        first += len(found)
    return {
        "evidence_steps": [key for key, _ in by_step],
        "evidence_ordinals": ordinals,
        "evidence": [packed(found) for _, found in by_step],
    }


def packed(evidence: Sequence[Evidence]) -> bytes:
    """The passages that a step brought, each document once."""
    places: dict[str, int] = {}
    documents: list[Document] = []
    rows = []
    for one in evidence:
        passage = one.passage
        if passage.document.id not in places:
            places[passage.document.id] = len(documents)
            documents.append(passage.document)
        row = (
            *(passage.id, places[passage.document.id], passage.section_path, passage.text),
            *(passage.page_spans, passage.ordinal, one.words, one.rank, one.similarity),
        )
        rows.append(row)
    return zlib.compress(json_bytes([documents, rows]), LEVEL)


def unpacked(step_key: str, content: bytes) -> list[Evidence]:
    """The evidence that `packed` wrote."""
    documents, rows = orjson.loads(zlib.decompress(content))
    known = [_document(one) for one in documents]
    return [
        Evidence(
            passage=Passage(
                id=passage_id,
                document=known[place],
                section_path=tuple(section_path),
                text=text,
                page_spans=tuple(PageSpan(**span) for span in spans),
                ordinal=ordinal,
            ),
            words=words,
            rank=rank,
            similarity=similarity,
            step_key=step_key,
        )
        for passage_id, place, section_path, text, spans, ordinal, words, rank, similarity in rows
    ]


def _document(data: Mapping[str, Any]) -> Document:
    whole = {**data, "item": Item(**data["item"]), "creators": tuple(data["creators"])}
    return Document(**whole)
