"""What the rerank process can be told."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from services.chassis.settings import ServiceSettings

Device = Literal["auto", "cpu", "cuda", "mps"]


class Settings(ServiceSettings, env_prefix="RERANK_"):
    """Settings of the rerank process, read from `RERANK_…`."""

    port: int = Field(default=50052, ge=0, le=65535)
    models_dir: Path
    """The folder that the exported embedding model, and perhaps a cross-encoder, live in."""
    model: str = "auto"
    """`auto` takes `<models_dir>/cross-encoder` when it exists, else the embedding stand-in.

    Anything else is the folder or hub name of a cross-encoder; one that cannot be loaded stops the
    process."""
    device: Device = "auto"
    """Where a cross-encoder runs; the stand-in always runs on the CPU."""
    batch_size: int = Field(default=16, ge=1, le=512)
    """Texts that go through the model at once."""
    threads: int = Field(default=0, ge=0, le=256)
    """Threads of an exported model; 0 takes one per processor, at most four."""
    budget_s: float = Field(default=8.0, gt=0)
    """How long one request may be scored; then the order of the retrieval is returned."""
