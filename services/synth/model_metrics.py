"""What the synth process counts: calls of language models, their tokens, and how they fail."""

from prometheus_client import CollectorRegistry, Counter

from services.synth.mind import Usage

OK = "ok"


class ModelMetrics:
    """The numbers of one process, by model."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "zocrates_model_calls_total",
            "Attempts at calls of language models, by how they ended.",
            ("model", "outcome"),
            registry=registry,
        )
        self._tokens = Counter(
            "zocrates_model_call_tokens_total",
            "Tokens that those which ended well used, by direction.",
            ("model", "direction"),
            registry=registry,
        )

    def ended_well(self, model: str, usage: Usage) -> None:
        """A call brought a whole reply."""
        self._calls.labels(model, OK).inc()
        self._tokens.labels(model, "input").inc(usage.input_tokens)
        self._tokens.labels(model, "cached_input").inc(usage.cached_input_tokens)
        self._tokens.labels(model, "output").inc(usage.output_tokens)

    def failed(self, model: str, reason: str) -> None:
        """An attempt failed for a reason of the family, such as `MODEL_AWAY`."""
        self._calls.labels(model, reason.lower()).inc()
