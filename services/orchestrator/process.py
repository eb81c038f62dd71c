"""The orchestrator put together."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import grpc

from services.chassis.bus import Bus, BusDown, open_bus
from services.chassis.channel import open_channel
from services.chassis.dependencies import Look, serves
from services.chassis.metrics import Metrics, new_registry
from services.chassis.server import serve
from services.chassis.telemetry import EventLog, spans_are_recorded
from services.orchestrator.ceilings import Harness
from services.orchestrator.consent import Consent
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.events import StoredEvent, Told
from services.orchestrator.expiry import expire_regularly
from services.orchestrator.metrics import RunMetrics
from services.orchestrator.peers.calls import Deadlines
from services.orchestrator.peers.models import ModelsPeer
from services.orchestrator.peers.rerank import RerankPeer
from services.orchestrator.peers.search import SearchPeer
from services.orchestrator.peers.synth import SynthPeer
from services.orchestrator.pipeline import Peers, Pipeline
from services.orchestrator.relay import Relay
from services.orchestrator.retention import forget_regularly
from services.orchestrator.reviewing import Reviewing
from services.orchestrator.run import ClaimedRun
from services.orchestrator.run_spans import RunSpans
from services.orchestrator.runner import WITHDRAWAL_SUBJECT, WORK_SUBJECT, Pace, Runner
from services.orchestrator.served import served
from services.orchestrator.settings import Settings
from services.orchestrator.signals import Signals
from services.orchestrator.store.census import Census
from services.orchestrator.store.database import Database, open_database
from services.orchestrator.store.retention import Ages
from services.orchestrator.store.schema import is_reachable, require_schema
from services.orchestrator.store.together import Store, store_on
from services.orchestrator.turns import Rules

log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """All that a process reaches outside itself."""

    store: Store
    peers: Peers
    bus: Bus
    dependencies: Mapping[str, Look]
    census: Census
    models: ModelsPeer


async def run(
    settings: Settings, harness: Harness, stop: asyncio.Event, *, consent: Consent | None = None
) -> None:
    """Serve and work until the event is set: drain calls, hand over runs, flush the relay.

    Raises WrongSchema.
    """
    async with surroundings(settings) as around:
        await work(around, settings, harness, stop, consent=consent)


@asynccontextmanager
async def surroundings(settings: Settings) -> AsyncIterator[Surroundings]:
    """Connections to everything, opened on first use. Raises WrongSchema."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(
            open_database(settings.database_url.get_secret_value(), pool_size=settings.pool_size)
        )
        try:
            await require_schema(database)
        except DatabaseDown as error:
            log.warning("start_without_database", cause=error.cause)
        bus = await stack.enter_async_context(
            open_bus(settings.nats_url, "orchestrator", echo=False, access=settings.bus_access)
        )
        store = store_on(database)
        channels = {
            name: await stack.enter_async_context(open_channel(target, settings.identity))
            for name, target in (
                ("search", settings.search_target),
                ("rerank", settings.rerank_target),
                ("synth", settings.synth_target),
            )
        }
        yield Surroundings(
            store=store,
            peers=_peers(settings, channels),
            models=ModelsPeer(channels["search"], channels["rerank"], channels["synth"]),
            bus=bus,
            dependencies=_dependencies(database, bus, channels),
            census=Census(database),
        )


async def work(
    around: Surroundings,
    settings: Settings,
    harness: Harness,
    stop: asyncio.Event,
    *,
    consent: Consent | None = None,
) -> None:
    """What `run` does, with these surroundings."""
    name = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    store, bus = around.store, around.bus
    registry = new_registry()
    counted = RunMetrics(registry, around.census)
    spans = RunSpans(store.stories) if spans_are_recorded() else None

    def published(events: Sequence[StoredEvent]) -> None:
        counted.published(events)
        if spans is not None:
            spans.published(events)

    relay = Relay(name, store.outbox, bus, poll_s=settings.poll_s, on_published=published)
    pipeline = _pipeline(around, settings, relay)
    runner = Runner(name, store.runs, pipeline, bus, _pace(settings))
    counted.hold(lambda: runner.in_hand)
    signals = _signals(runner, relay, bus)
    reviewing = Reviewing(
        store.reviews,
        around.peers.mind,
        deadline_s=settings.planner_deadline_s,
        window_s=settings.feedback_window_s,
        on_write=relay.wake,
    )
    rules = Rules(
        harness=harness,
        consent=consent or Consent(),
        longest_review_s=settings.longest_review_s,
        review_s=settings.review_timeout_s,
    )
    relay_stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        relaying = group.create_task(relay.run(relay_stop))
        if spans is not None:
            relaying.add_done_callback(lambda _: spans.close())
            group.create_task(spans.run())
        group.create_task(forget_regularly(store.retention, stop, _ages(settings)))
        group.create_task(
            expire_regularly(
                (store.checkpoints, store.review_expiry),
                stop,
                announce=signals.decided,
                every_s=settings.poll_s,
            )
        )
        working = group.create_task(runner.run(stop))
        await serve(
            settings,
            served(store, reviewing, rules, signals, around.models),
            until=stop,
            dependencies=around.dependencies,
            metrics=Metrics(registry=registry, look_up=counted.look_up),
        )
        # What was written last is published before the relay goes.
        await reviewing.close()
        await working
        relay_stop.set()


def _pipeline(around: Surroundings, settings: Settings, relay: Relay) -> Pipeline:
    checkpoint_hours, approval_s = settings.checkpoint_hours, settings.approval_timeout_s
    return Pipeline(
        around.store.history,
        around.peers,
        around.bus,
        support_threshold=settings.support_threshold,
        patience_s=settings.peer_deadline_s,
        checkpoint_patience=timedelta(hours=checkpoint_hours) if checkpoint_hours else None,
        approval_patience=timedelta(seconds=approval_s) if approval_s else None,
        on_write=relay.tell,
    )


def _dependencies(
    database: Database, bus: Bus, channels: Mapping[str, grpc.aio.Channel]
) -> Mapping[str, Look]:
    async def postgres() -> bool:
        return await is_reachable(database)

    async def nats() -> bool:
        return bus.is_connected

    peers = {name: serves(channel) for name, channel in channels.items()}
    return {"postgres": postgres, "nats": nats, **peers}


def _peers(settings: Settings, channels: Mapping[str, grpc.aio.Channel]) -> Peers:
    deadlines = Deadlines(
        model_s=settings.model_deadline_s,
        silence_s=settings.model_silence_s,
        other_s=settings.peer_deadline_s,
    )
    return Peers(
        mind=SynthPeer(channels["synth"], deadlines),
        library=SearchPeer(channels["search"], deadlines),
        ranker=RerankPeer(channels["rerank"], deadlines),
    )


def _pace(settings: Settings) -> Pace:
    return Pace(
        lease_s=settings.lease_s,
        renew_s=settings.renew_s,
        poll_s=settings.poll_s,
        max_runs=settings.max_runs,
        drain_s=settings.drain_s,
    )


def _ages(settings: Settings) -> Ages:
    return Ages(
        request_keys=timedelta(hours=settings.request_key_hours),
        steps=timedelta(days=settings.step_days),
        events=timedelta(days=settings.event_days),
    )


def _signals(runner: Runner, relay: Relay, bus: Bus) -> Signals:
    async def hint(subject: str) -> None:
        try:
            await bus.publish(subject, b"")
        except BusDown:
            return  # everybody polls

    async def taken(run: ClaimedRun, told: Told) -> None:
        relay.tell(told)
        await runner.take(run)

    async def work() -> None:
        runner.wake()
        await hint(WORK_SUBJECT)

    async def withdrawal() -> None:
        runner.check()
        relay.wake()
        await hint(WITHDRAWAL_SUBJECT)

    async def decided() -> None:
        relay.wake()
        await work()

    return Signals(
        place=runner.place,
        taken=taken,
        work=work,
        withdrawal=withdrawal,
        decided=decided,
    )
