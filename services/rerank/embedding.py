"""The stand-in for a cross-encoder: cosines of the exported embedding model, without torch."""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.chassis.words import count_words, sentences
from services.rerank.scoring import Identity, Kind, ModelUnusable, Pair

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"

MAX_TOKENS = 256
WINDOW_WORDS = 60
MAX_WINDOWS = 64
REMEMBERED_VECTORS = 4_096

Vector = NDArray[np.float32]


class Embedder:
    """Unit vectors of texts from an exported model; remembers the vectors of recent texts."""

    def __init__(self, folder: Path, *, batch_size: int, threads: int) -> None:
        """Load the model; raises ModelUnusable."""
        self._tokenizer = _load_tokenizer(folder)
        self._session = _load_session(folder / MODEL_FILE, threads)
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
        hidden = np.asarray(self._session.run(None, feed)[0], dtype=np.float32)
        mask = fields["attention_mask"][..., None].astype(np.float32)
        pooled = hidden if hidden.ndim == 2 else (hidden * mask).sum(axis=1) / mask.sum(axis=1)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return list(pooled / np.maximum(norms, 1e-12))


class EmbeddingScorer:
    """Judges by cosine: a whole passage for relevance, its best few sentences for support."""

    def __init__(self, embedder: Embedder, model: str) -> None:
        self._embedder = embedder
        self.identity = Identity(
            model=model,
            kind=Kind.EMBEDDING_STAND_IN,
            description=(
                f"No cross-encoder is installed, so the cosine of the embedding model {model} "
                "takes its place. "
                "It tells whether two texts are about the same thing; it does not read them "
                "against each other "
                "and cannot tell a claim from its denial."
            ),
            calibrated=False,
        )

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """The mean of the cosine of the whole text and that of its best window."""
        windows = {pair.text: windows_of(pair.text) for pair in pairs}
        vectors = self._embedder.vectors(
            [text for pair in pairs for text in (pair.claim, pair.text, *windows[pair.text])]
        )
        return [
            (
                _cosine(vectors, pair.claim, pair.text)
                + max(_cosine(vectors, pair.claim, window) for window in windows[pair.text])
            )
            / 2
            for pair in pairs
        ]

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """The cosine of the claim and the window of the text that is nearest to it, cut to 0 to
        1."""
        windows = {pair.text: windows_of(pair.text) for pair in pairs}
        vectors = self._embedder.vectors(
            [text for pair in pairs for text in (pair.claim, *windows[pair.text])]
        )
        return [
            min(
                1.0,
                max(0.0, *(_cosine(vectors, pair.claim, window) for window in windows[pair.text])),
            )
            for pair in pairs
        ]


def windows_of(text: str) -> list[str]:
    """Runs of whole sentences of up to some sixty words; a long sentence is a window of its own."""
    windows: list[str] = []
    start, end, words = 0, 0, 0
    for left, right in sentences(text):
        length = count_words(text[left:right])
        if words and words + length > WINDOW_WORDS:
            windows.append(text[start:end])
            words = 0
        if not words:
            start = left
        end = right
        words += length
    if end > start:
        windows.append(text[start:end])
    return (windows or [text])[:MAX_WINDOWS]


def _cosine(vectors: dict[str, Vector], left: str, right: str) -> float:
    return float(vectors[left] @ vectors[right])


def embedding_scorer(folder: Path, *, batch_size: int, threads: int) -> EmbeddingScorer:
    """The stand-in from a folder of exported weights; raises ModelUnusable."""
    manifest = _manifest(folder)
    return EmbeddingScorer(
        Embedder(folder, batch_size=batch_size, threads=threads), model=str(manifest["model"])
    )


def _manifest(folder: Path) -> dict[str, object]:
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnusable(
            f"No exported embedding model is at {folder}: run `python -m deploy.models` first "
            f"({error})."
        ) from error
    if not isinstance(manifest, dict) or "model" not in manifest:
        raise ModelUnusable(
            f"{folder / MANIFEST_FILE} names no model; run `python -m deploy.models`."
        )
    return manifest


def _load_tokenizer(folder: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_str((folder / TOKENIZER_FILE).read_text(encoding="utf-8"))
    except Exception as error:  # the library raises bare Exception for a malformed file
        raise ModelUnusable(f"The tokenizer in {folder} cannot be read: {error}.") from error
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def _load_session(file: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or min(4, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    # The arena keeps the memory of the largest batch for ever; a process that idles should be
    # small.
    options.enable_cpu_mem_arena = False
    # Waiting threads sleep instead of spinning: the processor is shared with the other processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors share no public base class
        raise ModelUnusable(
            f"The exported embedding model {file} cannot be loaded: {error}."
        ) from error
