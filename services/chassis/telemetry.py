"""Logs as events with fields, traces through OpenTelemetry, and trace context on any carrier."""

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, DEFAULT_ON

from services.chassis.spans import ChosenIds, SessionOnSpans

EXPORTER_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"


class EventLog:
    """Writes named events with fields: `log.info("run_claimed", run_id=...)`."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def info(self, event: str, **fields: object) -> None:
        """Something expected happened."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Something went wrong and the process deals with it."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, error: BaseException | None = None, **fields: object) -> None:
        """Something failed; the traceback goes to the log only."""
        self._write(logging.ERROR, event, fields, error)

    def _write(
        self,
        level: int,
        event: str,
        fields: Mapping[str, object],
        error: BaseException | None = None,
    ) -> None:
        self._logger.log(level, event, extra={"fields": fields}, exc_info=error)


class EventFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, event, trace_id when there is one, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            line["trace_id"] = trace.format_trace_id(span.trace_id)
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def start_logging(level: str) -> None:
    """Send all logs to standard error as JSON lines; an unknown level raises ValueError."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EventFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)


@contextmanager
def telemetry(process: str, level: str) -> Iterator[None]:
    """Logs and traces of a process; spans leave the process only when an OTLP endpoint is set."""
    start_logging(level)
    is_exported = bool(os.environ.get(EXPORTER_VARIABLE))
    provider = tracer_provider(process, is_recording=is_exported)
    if is_exported:
        # Imported on demand: the exporter costs start-up time and is off by default.
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def tracer_provider(process: str, *, is_recording: bool) -> TracerProvider:
    """What makes the spans of a process; where they go is up to the caller."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"zocrates-{process}"}),
        # Without an exporter spans record nothing, which is cheap, but ids still reach the logs.
        sampler=DEFAULT_ON if is_recording else ALWAYS_OFF,
        id_generator=ChosenIds(),
    )
    if is_recording:
        provider.add_span_processor(SessionOnSpans())
    return provider


def spans_are_recorded() -> bool:
    """Whether spans go anywhere; without, only the ids travel on."""
    return getattr(trace.get_tracer_provider(), "sampler", None) is not ALWAYS_OFF


def trace_metadata() -> tuple[tuple[str, str], ...]:
    """The current trace context for a gRPC call, unless the channel's own tracing adds it."""
    return () if spans_are_recorded() else tuple(trace_headers().items())


def trace_headers(context: Context | None = None) -> dict[str, str]:
    """A trace context, or the current one, as W3C headers; empty when there is none."""
    headers: dict[str, str] = {}
    propagate.inject(headers, context)
    return headers


def context_from(headers: Mapping[str, str] | None) -> Context:
    """The trace context that the headers carry, to be given to a span as its parent."""
    return propagate.extract(dict(headers or {}))
