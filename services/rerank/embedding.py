"""The stand-in for a cross-encoder: cosines of the exported embedding model, without torch."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.chassis.words import sentences
from services.rerank.exported import (
    MODEL_FILE,
    TOKENIZER_FILE,
    load_manifest,
    load_session,
    load_tokenizer,
    threads_or_default,
)
from services.rerank.scoring import Identity, Kind, Pair

# A statement seldom runs over more sentences than this.
WINDOW_SENTENCES = 3
MAX_SENTENCES = 64
# Alone its order is worse than that of the search, with this share it is better: measured on the
# training claims of SciFact, see docs/benchmarks.md.
SHARE = 0.3
# How much of a passage's score comes from the titles that it stands under.
HEADING_SHARE = 0.15
DIGITS = 5
REMEMBERED_VECTORS = 4_096

Vector = NDArray[np.float32]


class Embedder:
    """Unit vectors of texts from an exported model; remembers the vectors of recent texts."""

    def __init__(
        self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer, *, batch_size: int
    ) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._wanted = {field.name for field in self._session.get_inputs()}
        self._batch_size = batch_size
        self._known: OrderedDict[str, Vector] = OrderedDict()

    def vectors(self, texts: Iterable[str]) -> dict[str, Vector]:
        """A unit vector for each distinct text."""
        wanted = list(dict.fromkeys(texts))
        found = {text: self._known[text] for text in wanted if text in self._known}
        for text in found:
            self._known.move_to_end(text)
        # Texts of like length together waste the least padding.
        missing = sorted((text for text in wanted if text not in found), key=len)
        for start in range(0, len(missing), self._batch_size):
            batch = missing[start : start + self._batch_size]
            found.update(zip(batch, self._embed(batch), strict=True))
        self._known.update((text, found[text]) for text in missing)
        while len(self._known) > REMEMBERED_VECTORS:
            self._known.popitem(last=False)
        return found

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        encodings = self._tokenizer.encode_batch(list(texts))
        fields = {
            "input_ids": np.array([one.ids for one in encodings], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encodings], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in encodings], dtype=np.int64),
        }
        feed = {name: array for name, array in fields.items() if name in self._wanted}
        # Pooling and normalisation are part of the exported network.
        return list(np.asarray(self._session.run(None, feed)[0], dtype=np.float32))


class EmbeddingScorer:
    """Judges by the cosine of the claim and the sentences of the text that are nearest to it."""

    def __init__(self, embedder: Embedder, model: str) -> None:
        self._embedder = embedder
        self.identity = Identity(
            model=model,
            kind=Kind.EMBEDDING_STAND_IN,
            description=(
                "No cross-encoder is installed, so the cosine of the embedding model "
                f"{model} takes its place. It tells whether two texts are about the same thing; "
                "it does not read them against each other and cannot tell a claim from its denial."
            ),
            calibrated=False,
            share=SHARE,
        )

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """The cosines, -1 to 1."""
        pieces = {pair.text: sentences_of(pair.text) for pair in pairs}
        vectors = self._embedder.vectors(
            [
                text
                for pair in pairs
                for text in (pair.claim, pair.heading, *pieces[pair.text])
                if text
            ]
        )
        # Rounded, because the last digits depend on which texts shared a batch.
        return [round(_score(pair, pieces[pair.text], vectors), DIGITS) for pair in pairs]

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """The cosines, cut to 0 to 1."""
        return [min(1.0, max(0.0, cosine)) for cosine in self.relevance(pairs)]


def _score(pair: Pair, pieces: Sequence[str], vectors: Mapping[str, Vector]) -> float:
    claim = vectors[pair.claim]
    best = max(float(claim @ window) for window in windows_of([vectors[one] for one in pieces]))
    if not pair.heading:
        return best
    return (1 - HEADING_SHARE) * best + HEADING_SHARE * float(claim @ vectors[pair.heading])


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, at least one."""
    pieces = [text[start:end] for start, end in sentences(text)[:MAX_SENTENCES]]
    return pieces or [text]


def windows_of(vectors: Sequence[Vector]) -> list[Vector]:
    """Unit vectors of all runs of up to three neighbours.

    The mean of sentence vectors stands for the vector of their joined text, so that each sentence
    is embedded once, whatever it is asked together with.
    """
    windows = []
    for length in range(1, WINDOW_SENTENCES + 1):
        for start in range(len(vectors) - length + 1):
            total = np.sum(vectors[start : start + length], axis=0)
            norm = float(np.linalg.norm(total))
            if norm > 0:
                windows.append(total / norm)
    return windows


def open_embedding_scorer(folder: Path, *, batch_size: int, threads: int) -> EmbeddingScorer:
    """The stand-in from a folder of exported weights; raises ModelUnusable."""
    manifest = load_manifest(folder)
    tokenizer = load_tokenizer(folder / TOKENIZER_FILE, max_tokens=manifest.max_tokens)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    # The arena keeps the memory of the largest batch for ever; a process that idles should be
    # small.
    options.enable_cpu_mem_arena = False
    # Weights packed a second time for speed would cost another 30 MB for a few per cent.
    options.add_session_config_entry("session.disable_prepacking", "1")
    session = load_session(folder / MODEL_FILE, options, threads=threads_or_default(threads))
    embedder = Embedder(session, tokenizer, batch_size=batch_size)
    return EmbeddingScorer(embedder, manifest.model)
