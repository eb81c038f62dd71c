"""Embedding models behind one Protocol: the exported network without torch, or any by name."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.search.settings import Settings

EMBEDDING_FOLDER = "embedding"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"

Vectors = NDArray[np.float32]


class EncoderUnusable(Exception):
    """The embedding model cannot be loaded; the text is one sentence for a person."""


class Encoder(Protocol):
    """Turns texts into unit vectors; blocks, and may be called from several threads."""

    @property
    def encoder_id(self) -> str:
        """Weights, tokenizer, pooling, normalisation, length and precision: equal ids mean equal
        vectors.
        """

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text, L2-normalised."""


class OnnxEncoder:
    """The exported network, which holds pooling and normalisation itself.

    It runs on the thread that calls it, so that several calls run side by side.
    """

    def __init__(self, folder: Path) -> None:
        """Load the network; raises EncoderUnusable."""
        manifest = _manifest(folder)
        self.encoder_id = str(manifest["encoder_id"])
        self.dimensions = int(str(manifest["dimensions"]))
        self._tokenizer = _tokenizer(folder / TOKENIZER, int(str(manifest["max_tokens"])))
        self._session = _session(folder / str(manifest["network"]))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text, L2-normalised."""
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        # One text a run: nothing is padded, which more than pays for the smaller matrices, and a
        # vector does not depend on the texts that were embedded beside it.
        for place, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            feed = {
                "input_ids": np.array([encoding.ids], dtype=np.int64),
                "attention_mask": np.array([encoding.attention_mask], dtype=np.int64),
                "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
            }
            rows[place] = self._session.run(None, feed)[0][0]
        return rows


class SentenceTransformerEncoder:
    """Any sentence-transformers model by name or path; imports torch when it is made."""

    def __init__(self, name: str, *, device: str) -> None:
        """Load the model; raises EncoderUnusable."""
        # Imported on demand: torch costs seconds and hundreds of megabytes.
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(name, device=None if device == "auto" else device)
        except (OSError, ValueError, RuntimeError) as error:
            raise EncoderUnusable(
                f"The embedding model {name!r} cannot be loaded on {device!r}: {error}"
            ) from error
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.encoder_id = f"{name}/{self.dimensions}/{self._model.max_seq_length}/l2/torch"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text, L2-normalised."""
        return np.asarray(
            self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False),
            dtype=np.float32,
        )


def load_encoder(settings: Settings) -> Encoder:
    """The encoder that the settings name; blocks, raises EncoderUnusable."""
    if settings.model:
        return SentenceTransformerEncoder(settings.model, device=settings.device)
    folder = settings.models_dir / EMBEDDING_FOLDER
    return OnnxEncoder(folder)


def encoder_threads(settings: Settings) -> int:
    """How many texts are embedded side by side: a model that torch runs has threads of its own."""
    if settings.model:
        return 1
    return settings.encoder_threads or min(4, os.cpu_count() or 1)


def _manifest(folder: Path) -> dict[str, object]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        missing = {"encoder_id", "dimensions", "max_tokens", "network"} - set(manifest)
    except (OSError, ValueError, TypeError) as error:
        raise EncoderUnusable(
            f"No exported embedding model is in {folder}; run `python -m deploy.models` ({error})."
        ) from error
    if missing:
        raise EncoderUnusable(
            f"{folder / MANIFEST} does not name {', '.join(sorted(missing))}; "
            "run `python -m deploy.models` again."
        )
    return dict(manifest)


def _tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception for a malformed file
        raise EncoderUnusable(f"The tokenizer {file} cannot be read: {error}.") from error
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer


def _session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors share no public base class
        raise EncoderUnusable(f"The embedding model {file} cannot be loaded: {error}.") from error
