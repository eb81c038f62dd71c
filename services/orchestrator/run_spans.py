"""Writes the containers of runs when a pause is over or a run has ended.

It follows what is published, which no crash makes forgotten: whoever publishes the event that ends
a container writes its span, and after a death the next who does, under the same id.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from opentelemetry import trace
from opentelemetry.context import Context

from services.chassis.spans import beneath, derived_id, in_session, write_span
from services.chassis.telemetry import EventLog, context_from
from services.orchestrator import span_tree
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.events import StoredEvent
from services.orchestrator.span_tree import Container
from services.orchestrator.store.story import Story

log = EventLog(__name__)


class TellsStories(Protocol):
    """Where what was told of a run is read."""

    async def until(self, run_id: str, sequence: int) -> Story | None:
        """What was told up to an event; raises DatabaseDown."""


class RunSpans:
    """Takes note of published events and writes what is due, one after the other."""

    def __init__(self, stories: TellsStories) -> None:
        self._stories = stories
        self._tracer = trace.get_tracer(__name__)
        self._due: asyncio.Queue[StoredEvent | None] = asyncio.Queue()

    def published(self, events: Sequence[StoredEvent]) -> None:
        """These events are out."""
        for event in events:
            if span_tree.is_boundary(event):
                self._due.put_nowait(event)

    def close(self) -> None:
        """Nothing more will be published."""
        self._due.put_nowait(None)

    async def run(self) -> None:
        """Write what is due until closed."""
        while (event := await self._due.get()) is not None:
            try:
                await self._write(event)
            except DatabaseDown as error:
                log.warning("spans_left_out", run_id=event.run_id, cause=error.cause)
            except Exception as error:  # what a newer version told: no run may suffer for its trace
                log.error("spans_broke", error, run_id=event.run_id)

    async def _write(self, event: StoredEvent) -> None:
        story = await self._stories.until(event.run_id, event.sequence)
        if story is None:
            return
        outer = in_session(story.session_id, context_from(story.trace))
        if not trace.get_current_span(outer).get_span_context().is_valid:
            return
        for one in span_tree.due(story.session_id, story.events, event.sequence):
            self._one(event.run_id, one, outer)

    def _one(self, run_id: str, one: Container, outer: Context) -> None:
        parent = beneath(outer, derived_id(run_id, one.parent)) if one.parent else outer
        write_span(
            self._tracer,
            one.name,
            span_id=derived_id(run_id, one.key),
            context=parent,
            start=one.start,
            end=one.end,
            attributes=one.attributes,
            error=one.error,
        )
