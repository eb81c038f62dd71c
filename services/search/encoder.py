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
NETWORK = "model.onnx"
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
    """The exported network, which holds pooling and normalisation itself."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Load the network; raises EncoderUnusable."""
        manifest = _manifest(folder)
        self.encoder_id = str(manifest["encoder_id"])
        self.dimensions = int(str(manifest["dimensions"]))
        self._tokenizer = _tokenizer(folder / TOKENIZER, int(str(manifest["max_tokens"])))
        self._session = _session(folder / NETWORK, threads)
        # Without it the memory of the largest batch is kept for ever.
        self._returning = onnxruntime.RunOptions()
        self._returning.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text, L2-normalised."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(list(texts))
        feed = {
            "input_ids": np.array([one.ids for one in encodings], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encodings], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in encodings], dtype=np.int64),
        }
        options = self._returning if len(texts) > 1 else None
        return np.asarray(self._session.run(None, feed, options)[0], dtype=np.float32)


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
    return OnnxEncoder(folder, threads=settings.encoder_threads or min(4, os.cpu_count() or 1))


def _manifest(folder: Path) -> dict[str, object]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        missing = {"encoder_id", "dimensions", "max_tokens"} - set(manifest)
    except (OSError, ValueError, TypeError) as error:
        raise EncoderUnusable(
            f"No exported embedding model is in {folder}; run `python -m deploy.models` ({error})."
        ) from error
    if missing:
        raise EncoderUnusable(f"{folder / MANIFEST} does not name {', '.join(sorted(missing))}.")
    return dict(manifest)


def _tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception for a malformed file
        raise EncoderUnusable(f"The tokenizer {file} cannot be read: {error}.") from error
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding()
    return tokenizer


def _session(file: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep instead of spinning: the processor is shared with other processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors share no public base class
        raise EncoderUnusable(f"The embedding model {file} cannot be loaded: {error}.") from error
