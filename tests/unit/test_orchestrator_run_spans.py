"""The containers of runs are written with their derived ids, and one bad run harms no other."""

from datetime import UTC, datetime

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.chassis.spans import derived_id
from services.chassis.telemetry import tracer_provider
from services.orchestrator.events import StoredEvent
from services.orchestrator.run_spans import RunSpans
from services.orchestrator.store.story import Story

TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


def event(run_id: str, sequence: int, kind: str, **payload: object) -> StoredEvent:
    return StoredEvent(
        session_id="s",
        run_id=run_id,
        sequence=sequence,
        time=datetime(2026, 1, 1, second=sequence, tzinfo=UTC),
        type=kind,
        payload=payload,
    )


def told(run_id: str, stage: str) -> list[StoredEvent]:
    return [
        event(run_id, 1, "run_started", prompt="Naps?"),
        event(run_id, 2, "stage", stage=stage),
        event(run_id, 3, "answer", markdown="Yes."),
    ]


class Stories:
    async def until(self, run_id: str, sequence: int) -> Story | None:
        stage = "STAGE_OF_A_NEWER_VERSION" if run_id == "newer" else "STAGE_CONVERSE"
        return Story(session_id="s", trace=TRACE, events=told(run_id, stage))


async def test_a_run_that_cannot_be_told_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider("test", is_recording=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    spans = RunSpans(Stories())
    for run_id in ("newer", "known"):
        spans.published(told(run_id, "STAGE_CONVERSE"))
    spans.close()
    await spans.run()
    (written,) = exporter.get_finished_spans()
    assert written.name == "coordinator_agent"
    assert written.context.span_id == derived_id("known", "coordinator_agent")
    assert written.attributes is not None
    assert written.attributes["session.id"] == "s"
