"""A cross-encoder exported to ONNX: reads query and text together, without torch."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from services.rerank.exported import (
    MODEL_FILE,
    TOKENIZER_FILE,
    load_manifest,
    load_session,
    load_tokenizer,
    threads_or_default,
)
from services.rerank.scoring import Identity, Kind, Pair

# A cross-encoder trained on other texts can be worse than the search; its order never stands alone.
SHARE = 0.5


class ExportedCrossEncoder:
    """Scores pairs with an exported network of one output: its logit ranks, the logistic function
    of it rates support."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        tokenizer: Tokenizer,
        identity: Identity,
        *,
        threads: int,
    ) -> None:
        """`session` runs on the thread that calls it; `threads` of them run side by side."""
        self.identity = identity
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {field.name for field in session.get_inputs()}
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="cross-encoder")

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """The logits of the pairs."""
        encodings = self._tokenizer.encode_batch([(one.claim, one.passage()) for one in pairs])
        # The longest first, so that the threads end together.
        order = sorted(range(len(pairs)), key=lambda place: len(encodings[place]), reverse=True)
        scored = self._workers.map(self._logit, [encodings[place] for place in order])
        logits = dict(zip(order, scored, strict=True))
        return [logits[place] for place in range(len(pairs))]

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """The logistic function of the logits."""
        return [logistic(logit) for logit in self.relevance(pairs)]

    def _logit(self, encoding: Encoding) -> float:
        # One pair a run: nothing is padded, and a score does not depend on the pairs beside it.
        fields = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([fields[name]], dtype=np.int64) for name in self._inputs}
        return float(self._session.run(None, feed)[0].reshape(-1)[0])


def open_exported_cross_encoder(folder: Path, *, threads: int) -> ExportedCrossEncoder:
    """The cross-encoder of a folder that `deploy.models` wrote; raises ModelUnusable."""
    manifest = load_manifest(folder)
    return ExportedCrossEncoder(
        # One thread a run and several runs at once: no run waits for the slowest of its threads.
        load_session(folder / MODEL_FILE, onnxruntime.SessionOptions(), threads=1),
        load_tokenizer(folder / TOKENIZER_FILE, max_tokens=manifest.max_tokens),
        cross_encoder_identity(f"{manifest.model} ({manifest.precision})"),
        threads=threads_or_default(threads),
    )


def cross_encoder_identity(name: str) -> Identity:
    """What a cross-encoder says of itself."""
    return Identity(
        model=name,
        kind=Kind.CROSS_ENCODER,
        description=(
            f"The cross-encoder {name} reads question and text together. It was trained to judge "
            "relevance, not support."
        ),
        calibrated=False,
        share=SHARE,
    )


def logistic(value: float) -> float:
    """The logistic function, without overflow."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return math.exp(value) / (1 + math.exp(value))
