"""Spans beyond those that a block of code opens: of a session, and with ids that are derived.

A container of work that lasts longer than any process, such as a run that waits for a person, has
an id that every process can name before the span itself is written, once, at the end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from hashlib import sha256

from opentelemetry import baggage, trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from services.chassis.gen_ai import SESSION, Attributes

_chosen: ContextVar[int | None] = ContextVar("chosen_span_id", default=None)


class ChosenIds(RandomIdGenerator):
    """Random ids, but for a span whose id was derived."""

    def generate_span_id(self) -> int:
        """The derived id where there is one."""
        return _chosen.get() or super().generate_span_id()


class SessionOnSpans(SpanProcessor):
    """Tells each span the session that its context is of, whatever library opened it."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Copy the session from the baggage, which travels from process to process."""
        session_id = baggage.get_baggage(SESSION, parent_context)
        if isinstance(session_id, str):
            span.set_attribute(SESSION, session_id)


def in_session(session_id: str, context: Context | None = None) -> Context:
    """The context, of this session."""
    return baggage.set_baggage(SESSION, session_id, context)


def tell_session(session_id: str) -> None:
    """The span that is open here turned out to be of this session."""
    if session_id:
        trace.get_current_span().set_attribute(SESSION, session_id)


def of_caller() -> Context:
    """The context of whoever made the call that is served here; the call's own if nobody told."""
    span = trace.get_current_span()
    parent = span.parent if isinstance(span, ReadableSpan) else None
    if parent is None:
        return get_current()
    return trace.set_span_in_context(trace.NonRecordingSpan(parent))


@contextmanager
def within(context: Context) -> Iterator[None]:
    """Work in this context."""
    token = attach(context)
    try:
        yield
    finally:
        detach(token)


def derived_id(run_id: str, key: str) -> int:
    """The id of a run's span of this key: the first 8 bytes of their SHA-256."""
    return int.from_bytes(sha256(f"{run_id}/{key}".encode()).digest()[:8]) or 1


def beneath(context: Context, span_id: int) -> Context:
    """Within a span that is not written yet, of the same trace as the context."""
    outer = trace.get_current_span(context).get_span_context()
    inner = SpanContext(
        trace_id=outer.trace_id,
        span_id=span_id,
        is_remote=True,
        trace_flags=TraceFlags(outer.trace_flags),
        trace_state=outer.trace_state,
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(inner), context)


def write_span(
    tracer: trace.Tracer,
    name: str,
    *,
    span_id: int,
    context: Context,
    start: datetime,
    end: datetime,
    attributes: Attributes,
    error: str = "",
) -> None:
    """Write a span that is over, with its derived id."""
    token = _chosen.set(span_id)
    try:
        span = tracer.start_span(name, context, attributes=attributes, start_time=_ns(start))
    finally:
        _chosen.reset(token)
    if error:
        span.set_status(Status(StatusCode.ERROR, error))
    span.end(_ns(max(start, end)))


def _ns(time: datetime) -> int:
    return int(time.timestamp() * 1_000_000) * 1_000
