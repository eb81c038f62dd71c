"""A death before and after each write of a whole run with two extensions, one after the other."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest
from sqlalchemy import text

from services.chassis.channel import open_channel
from services.orchestrator.checkpoint import Choice
from services.orchestrator.events import StoredEvent
from services.orchestrator.ledger import Standing
from services.orchestrator.peers.calls import Deadlines
from services.orchestrator.peers.rerank import RerankPeer
from services.orchestrator.peers.search import SearchPeer
from services.orchestrator.peers.synth import SynthPeer
from services.orchestrator.pipeline import Peers, Pipeline
from services.orchestrator.run import Lease
from services.orchestrator.store.checkpoints import Answer, Checkpoints
from services.orchestrator.store.control import Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, PastTurn, Recorded
from services.orchestrator.store.runs import Runs
from services.orchestrator.store.sessions import Sessions
from tests.fakes.deep_question import QUESTION, set_deep_question
from tests.fakes.research_peers import ResearchPeers, research_peers
from tests.integration.waiting_runs import start_run


class Death(Exception):
    """The process is gone at this point."""


class MortalStore:
    """The store of a process that dies once, before or after one of its writes."""

    def __init__(self, history: History, *, dies_at: int, after_writing: bool) -> None:
        self._history = history
        self._dies_at = dies_at
        self._after_writing = after_writing
        self.writes = 0

    @property
    def has_died(self) -> bool:
        return self.writes >= self._dies_at

    async def record(self, lease: Lease, entry: Entry) -> int:
        self.writes += 1
        dies = self.writes == self._dies_at
        if dies and not self._after_writing:
            raise Death
        sequence = await self._history.record(lease, entry)
        if dies:
            raise Death
        return sequence

    async def load(self, run_id: str) -> Recorded:
        return await self._history.load(run_id)

    async def conversation(self, session_id: str, before: int, *, turns: int) -> list[PastTurn]:
        return await self._history.conversation(session_id, before, turns=turns)


class Silent:
    """Publishes to nobody."""

    async def publish(self, subject: str, body: bytes) -> None:
        return


@pytest.fixture
async def scripts() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        set_deep_question(served)
        yield served


@pytest.fixture
async def peers(scripts: ResearchPeers) -> AsyncIterator[Peers]:
    deadlines = Deadlines(model_s=5, silence_s=5, other_s=5)
    async with (
        open_channel(scripts.target("synth")) as synth,
        open_channel(scripts.target("search")) as search,
        open_channel(scripts.target("rerank")) as rerank,
    ):
        yield Peers(
            mind=SynthPeer(synth, deadlines),
            library=SearchPeer(search, deadlines),
            ranker=RerankPeer(rerank, deadlines),
        )


def pipeline(store: MortalStore, peers: Peers) -> Pipeline:
    return Pipeline(
        store,
        peers,
        Silent(),
        support_threshold=0.5,
        patience_s=5,
        checkpoint_patience=None,
        on_write=lambda told: None,
    )


async def extend(database: Database, target: Target) -> None:
    pending = await Checkpoints(database).pending(target.owner, target.session_id, target.run_id)
    await Checkpoints(database).decide(
        Answer(
            owner=target.owner,
            session_id=target.session_id,
            run_id=target.run_id,
            interrupt_id=pending.payload["interrupt_id"],
            choice=Choice.EXTEND_BUDGET,
            guidance="Naps.",
            expected_version=1,
            idempotency_key="",
            body_hash="",
        )
    )


async def whole_run(database: Database, store: MortalStore, peers: Peers) -> list[StoredEvent]:
    """All events of a run that is taken up again after the death, and extended whenever it asks."""
    target = await start_run(database, prompt=QUESTION)
    runs, sessions = Runs(database), Sessions(database)
    while True:
        page = await sessions.events(
            target.owner, target.session_id, target.run_id, after=0, limit=1_000
        )
        if page.state == "COMPLETED":
            return list(page.events)
        if page.state == "AWAITING_INPUT":
            await extend(database, target)
        # The lease of the dead is over.
        await database.fetch(
            text("UPDATE run SET lease_until = now() - interval '1 s' WHERE state = 'RUNNING'")
        )
        (run,) = await runs.claim("somebody", limit=1, lease_s=60)
        try:
            await pipeline(store, peers).run(run, Standing(asyncio.Event()))
        except Death:
            continue


def story(events: list[StoredEvent]) -> list[tuple[str, Any]]:
    """What a client is told, without times; a new attempt at the text is no other story."""
    told = []
    for event in events:
        payload = dict(event.payload)
        payload.pop("answered_at", None)
        if event.type == "answer":
            payload["usage"] = {**payload["usage"], "seconds": 0}
        if event.type != "answer_reset":
            told.append((event.type, payload))
    return told


@pytest.mark.timeout(240)
@pytest.mark.parametrize("after_writing", [False, True], ids=["before", "after"])
async def test_a_death_at_any_write_changes_nothing_that_is_told(
    database: Database, scripts: ResearchPeers, peers: Peers, after_writing: bool
) -> None:
    unharmed = MortalStore(History(database), dies_at=1_000, after_writing=after_writing)
    expected = story(await whole_run(database, unharmed, peers))
    assert [kind for kind, _ in expected].count("checkpoint_answered") == 2
    for point in count(1):
        scripts.search.calls.clear()
        scripts.synth.investigations.clear()
        store = MortalStore(History(database), dies_at=point, after_writing=after_writing)
        events = await whole_run(database, store, peers)
        if not store.has_died:
            break
        assert story(events) == expected, f"death at write {point}"
        assert [one.sequence for one in events] == list(range(1, len(events) + 1))
        assert sum(scripts.search.calls.values()) <= 3 + 1
        assert len(scripts.synth.investigations) <= 6 + 1
        steps = await database.fetch(text("SELECT state FROM step WHERE state <> 'done'"))
        assert not steps
    assert point > unharmed.writes
