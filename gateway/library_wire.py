"""Bodies that tell of the library, its index and the models that work on it."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from gateway.wire import Reply


class Source(Reply):
    """Where the library is read from."""

    kind: str
    location: str | None
    demo: bool
    program: str | None = None
    """What answered at the last reading."""
    notices: list[str] = Field(default_factory=list)
    """What this source cannot give."""


class LibraryCounts(Reply):
    """What the index holds, by how much of it could be read."""

    items: int
    documents: int
    passages: int
    read_in_full: int
    read_in_part: int
    abstract_only: int
    unreadable: int


class Vectors(Reply):
    """How many passages have a vector."""

    done: int
    total: int


class Skip(Reply):
    """Something that gave no text, or not all of it, and why."""

    library: str
    item_key: str
    attachment_key: str
    title: str
    reason: str
    detail: str


class SyncProgress(Reply):
    """How far a sync is; the last one has phase `done` or `failed`."""

    phase: Literal["snapshot", "text", "vectors", "done", "failed"]
    done: int
    total: int
    current: str
    failed: list[Skip]
    error: str | None = None


class SyncStopped(Reply):
    """Whether there was a sync to stop."""

    stopped: bool


class EmbeddingModel(Reply):
    """The model that makes vectors."""

    id: str
    languages: list[str]
    """Languages between which a question finds texts, as measured; empty: its own only."""


class ScoringModel(Reply):
    """A model that scores, and whether it passed its calibration as a judge of support."""

    name: str
    description: str
    calibrated: bool


class Models(Reply):
    """Which models work behind the answers; None for those that are not to be learned now."""

    embedding: EmbeddingModel | None
    ranking: ScoringModel | None
    support: ScoringModel | None
    coordinator: str | None
    search_agent: str | None
    writer: str | None


class Library(Reply):
    """The library as the index knows it."""

    sources: list[Source]
    libraries: list[str]
    counts: LibraryCounts
    vectors: Vectors
    synced_at: datetime | None
    age_s: float | None
    running: SyncProgress | None
    unfinished: SyncProgress | None = None
    """A sync that a stop cut short; the next one goes on there."""
    duplicates: int = 0
    """Records of a work that another record stands for."""
    encoder: str
    models: Models | None = None
    skipped: list[Skip]
    last_error: str | None
