"""The choice of a scorer, and the cross-encoder: a model that reads query and text together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.rerank.calibration import calibrated, load_calibrations
from services.rerank.cross_encoder import (
    cross_encoder_identity,
    logistic,
    open_exported_cross_encoder,
)
from services.rerank.embedding import open_embedding_scorer
from services.rerank.exported import MANIFEST_FILE, MODEL_FILE
from services.rerank.scoring import ModelUnusable, Pair, Scorer
from services.rerank.settings import Device, Settings

CROSS_ENCODER_FOLDER = "cross-encoder"
EMBEDDING_FOLDER = "embedding"


class CrossEncoderScorer:
    """A sentence-transformers CrossEncoder with one output: its logit ranks, the logistic function
    of it rates support."""

    def __init__(self, name: str, *, device: Device, batch_size: int) -> None:
        """Load the model from a folder or by its hub name; raises ModelUnusable."""
        self._model = _load(name, device)
        self._batch_size = batch_size
        self.identity = cross_encoder_identity(name)

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """The logits of the pairs."""
        scores = self._model.predict(
            [(pair.claim, pair.passage()) for pair in pairs],
            batch_size=self._batch_size,
            activation_fn=_unchanged,
            show_progress_bar=False,
        )
        return [float(score) for score in scores]

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """The logistic function of the logits."""
        return [logistic(logit) for logit in self.relevance(pairs)]


def open_scorer(settings: Settings) -> Scorer:
    """The scorer that the settings ask for, with its calibration if there is one.

    Raises ModelUnusable instead of quietly taking another.
    """
    return calibrated(_open(settings), load_calibrations())


def _open(settings: Settings) -> Scorer:
    installed = settings.models_dir / CROSS_ENCODER_FOLDER
    if settings.model != "auto" or installed.is_dir():
        name = str(installed) if settings.model == "auto" else settings.model
        if settings.device in ("auto", "cpu") and is_exported(Path(name)):
            return open_exported_cross_encoder(Path(name), threads=settings.threads)
        return CrossEncoderScorer(name, device=settings.device, batch_size=settings.batch_size)
    if settings.device in ("cuda", "mps"):
        raise ModelUnusable(
            f"RERANK_DEVICE is {settings.device!r}, but there is no cross-encoder at {installed} "
            "and the embedding "
            "stand-in runs on the CPU only: install a cross-encoder or set RERANK_DEVICE=auto."
        )
    return open_embedding_scorer(
        settings.models_dir / EMBEDDING_FOLDER,
        batch_size=settings.batch_size,
        threads=settings.threads,
    )


def is_exported(folder: Path) -> bool:
    """Whether the folder of a cross-encoder also holds it as a network that needs no torch."""
    return (folder / MANIFEST_FILE).is_file() and (folder / MODEL_FILE).is_file()


def _load(name: str, device: Device) -> Any:  # the library has no type information
    # Imported only here: it takes seconds and hundreds of megabytes, which the stand-in does
    # without.
    from sentence_transformers import CrossEncoder

    if Path(name).is_absolute() and not Path(name).is_dir():
        raise ModelUnusable(
            f"The cross-encoder {name!r} cannot be loaded: there is no such folder."
        )
    try:
        model = CrossEncoder(name, device=None if device == "auto" else device)
    except Exception as error:  # hub, file and device failures share no base class
        raise ModelUnusable(
            f"The cross-encoder {name!r} cannot be loaded on device {device!r}: "
            f"{_first_line(error)}"
        ) from error
    if model.num_labels != 1:
        raise ModelUnusable(
            f"The cross-encoder {name!r} has {model.num_labels} outputs; a model with one "
            "relevance score is needed."
        )
    return model


def _unchanged(logits: Any) -> Any:
    return logits


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
