"""What the search process counts: how large the index is, and how far behind."""

import time

from prometheus_client import CollectorRegistry, Gauge

from services.chassis.errors import ServiceError
from services.chassis.telemetry import EventLog
from services.search.engine import Engine
from services.search.index import Index

log = EventLog(__name__)


class IndexMetrics:
    """The numbers of the index, the same at every process that reads it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"zocrates_index_{name}", text, registry=registry)

        self._documents = gauge("documents", "Documents that the index knows.")
        self._passages = gauge("passages", "Passages that can be searched.")
        self._vectors = gauge("vectors", "Passages with a vector of the present model.")
        self._age = gauge("sync_age_seconds", "Time since the last complete sync.")
        self._failed = gauge("sync_failed", "Whether the last sync ended with an error.")
        self._parts: tuple[Index, Engine] | None = None

    def watch(self, index: Index, engine: Engine) -> None:
        """Look at this index from now on."""
        self._parts = index, engine

    async def look_up(self) -> None:
        """See how the index stands."""
        if self._parts is None:
            return
        index, engine = self._parts
        try:
            documents = await index.documents()
            state = await index.state()
            done, total = await engine.coverage()
        except ServiceError as error:
            log.warning("index_not_counted", reason=error.reason)
            return
        self._documents.set(len(documents.by_id))
        self._passages.set(total)
        self._vectors.set(done)
        self._failed.set(bool(state.last_error))
        if state.synced_at_ms:
            self._age.set(time.time() - state.synced_at_ms / 1000)
