"""What the rerank process counts: how much waits for its models, and how much they take at once."""

from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Gauge, Histogram

from services.rerank.batching import Batcher, Score
from services.rerank.scoring import Pair

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class RerankMetrics:
    """The numbers of the models, each by what it is asked for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._waiting = Gauge(
            "zocrates_rerank_waiting_pairs",
            "Pairs of question and text that wait for the model.",
            ("use",),
            registry=registry,
        )
        self._batches = Histogram(
            "zocrates_rerank_batch_pairs",
            "Pairs that went through the model at once.",
            ("use",),
            buckets=SIZES,
            registry=registry,
        )
        self._batchers: Mapping[str, Batcher] = {}

    def counting(self, use: str, score: Score) -> Score:
        """The same scores, and each batch counted."""
        batches = self._batches.labels(use)

        def counted(pairs: Sequence[Pair]) -> list[float]:
            batches.observe(len(pairs))
            return score(pairs)

        return counted

    def watch(self, batchers: Mapping[str, Batcher]) -> None:
        """Look at these from now on."""
        self._batchers = batchers

    async def look_up(self) -> None:
        """See what waits."""
        for use, batcher in self._batchers.items():
            self._waiting.labels(use).set(batcher.waiting)
