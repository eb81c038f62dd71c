"""Following one run for one client: what is recorded, then what happens, each row once."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

from gateway import convert, translate
from gateway.cursor import Cursor, Delta, Position, Row
from gateway.errors import PEER_TROUBLE, GatewayError
from gateway.feed import Feed, Inbox, RunKey
from gateway.metrics import Metrics
from gateway.peers import Orchestrator
from gateway.settings import Settings
from gateway.snapshot import message_from
from gateway.translate import ChatDialect, Dialect
from services.chassis.telemetry import EventLog
from zocrates.orchestrator.v1 import chat_pb2 as chat

log = EventLog(__name__)

# Between two attempts to reach an orchestrator that is away, and between two looks without NATS.
RETRY_S = 0.5
# What a stream ends with whose run is no more; no run is in this state.
DELETED = "DELETED"
# How often a run that waits for a person is looked at, should a message be lost.
WAITING_LOOK_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What a client follows, and how far: with `pauses_end` the stream ends when the run waits."""

    owner: str
    run: RunKey
    position: Position
    pauses_end: bool
    dialect: Dialect = field(default_factory=ChatDialect)


class Follower:
    """Opens streams of runs."""

    def __init__(
        self,
        orchestrator: Orchestrator,
        feed: Feed,
        metrics: Metrics,
        settings: Settings,
        *,
        now: Callable[[], str],
    ) -> None:
        self.orchestrator = orchestrator
        self.feed = feed
        self.metrics = metrics
        self.settings = settings
        self.now = now

    async def open(self, watch: Watch) -> AsyncGenerator[bytes, None]:
        """The frames of a run from a position on; raises now if the run cannot be followed."""
        first = await self.orchestrator.list_events(
            session_id=watch.run.session_id,
            run_id=watch.run.run_id,
            after=watch.position.sequence,
            owner=watch.owner,
        )
        # A position past the end replays nothing; the next row that happens is still new.
        start = min(watch.position.sequence, first.last_sequence)
        return _Stream(self, watch, Cursor(start)).frames(first)

    def follow(self, watch: Watch) -> AsyncGenerator[bytes, None]:
        """The frames of a run that the orchestrator has just named to this caller."""
        return _Stream(self, watch, Cursor(watch.position.sequence)).frames()


class _Stream:
    """One client's stream of one run."""

    def __init__(self, follower: Follower, watch: Watch, cursor: Cursor) -> None:
        self._with = follower
        self._watch = watch
        self._cursor = cursor
        self._state = "QUEUED"
        self._ended = False
        # Whether the client may have seen text of the answer before.
        self._resumed = False

    async def frames(
        self, first: chat.ListEventsResponse | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The recorded rows, then live ones, until the run ends or waits."""
        if first is not None:
            self._resumed = self._watch.position.sequence > 0
            for frame in self._rows_of(first):
                yield frame
        try:
            if first is not None and self._is_over(first.last_sequence):
                yield self._done()
                return
            async with self._with.feed.following(self._watch.run) as inbox:
                # What happened before the subscription is read before what arrives by it.
                async for frame in self._follow(inbox):
                    yield frame
        except GatewayError as error:
            if error.code == "UNKNOWN_RUN":
                # It was there when the stream began: somebody deleted its session.
                self._state = DELETED
                yield self._done()
                return
            log.warning("stream_interrupted", run_id=self._watch.run.run_id, code=error.code)
            told = self._watch.dialect.interruption(
                error.code, error.text, self._head(), retryable=error.code in PEER_TROUBLE
            )
            if not told:
                raise translate.BrokenOff from error
            yield told
            return
        yield self._done()

    async def _follow(self, inbox: Inbox) -> AsyncIterator[bytes]:
        async for frame in self._catch_up():
            yield frame
        if not self._ended:
            async for frame in self._text_in_progress():
                yield frame
        while not self._ended:
            message = await inbox.take(self._silence_s())
            match message:
                case Row():
                    async for frame in self._live_row(message):
                        yield frame
                case Delta():
                    async for frame in self._live_delta(message):
                        yield frame
                case None:
                    # Silence, a lost connection or an overflow: the record knows what was missed.
                    async for frame in self._catch_up():
                        yield frame

    async def _live_row(self, row: Row) -> AsyncIterator[bytes]:
        if self._cursor.is_old(row.sequence):
            return
        if not self._cursor.is_next(row.sequence):
            async for frame in self._catch_up():
                yield frame
            return
        if frame := self._pass(row):
            yield frame
        self._state = self._watch.dialect.state_after(row, self._state)
        self._ended = self._is_over(row.sequence)

    async def _live_delta(self, delta: Delta) -> AsyncIterator[bytes]:
        # Text overtakes rows, which pass through the database; rows keep their place before it.
        if self._cursor.is_ahead(delta):
            async for frame in self._catch_up():
                yield frame
        if self._ended or self._cursor.is_ahead(delta):
            return
        if (piece := self._cursor.admit(delta)) is not None:
            self._count("answer_delta")
            if frame := self._watch.dialect.delta(piece, self._head()):
                yield frame

    async def _catch_up(self) -> AsyncIterator[bytes]:
        """Rows after the cursor from the record, page by page."""
        await self._with.feed.subscribe(self._watch.run)
        while True:
            page = await self._page()
            self._with.metrics.catch_ups.add()
            for frame in self._rows_of(page):
                yield frame
            if self._cursor.sequence >= page.last_sequence or not page.events:
                self._ended = self._is_over(page.last_sequence)
                return

    async def _page(self) -> chat.ListEventsResponse:
        """The next rows; waits, within bounds, for an orchestrator that is away."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._with.settings.peer_patience_s
        while True:
            try:
                return await self._with.orchestrator.list_events(
                    session_id=self._watch.run.session_id,
                    run_id=self._watch.run.run_id,
                    after=self._cursor.sequence,
                    owner=self._watch.owner,
                )
            except GatewayError as error:
                if error.code not in PEER_TROUBLE or loop.time() > give_up:
                    raise
            await asyncio.sleep(RETRY_S)

    async def _text_in_progress(self) -> AsyncIterator[bytes]:
        """The answer text that was written before this client came, as one piece."""
        if not (self._resumed or self._cursor.is_writing):
            return
        text = await self._with.feed.text_so_far(self._watch.run)
        if text is None:
            return
        # A client that came back may hold some of it.
        may_hold = (
            self._resumed
            and not self._cursor.is_ahead(text)
            and text.attempt >= self._cursor.attempt
        )
        if may_hold and (frame := self._watch.dialect.reset(text.attempt, self._head())):
            yield frame
        async for frame in self._live_delta(text):
            yield frame

    def _rows_of(self, page: chat.ListEventsResponse) -> list[bytes]:
        self._state = convert.state_name(page.state)
        if page.HasField("snapshot"):
            return [frame] if (frame := self._snapshot(page)) else []
        rows = [convert.row(event) for event in page.events]
        fresh = [row for row in rows if not self._cursor.is_old(row.sequence)]
        return [frame for row in fresh if (frame := self._pass(row))]

    def _snapshot(self, page: chat.ListEventsResponse) -> bytes:
        message = message_from(page.snapshot)
        self._cursor.pass_snapshot(page.last_sequence, message.stage)
        self._count("snapshot")
        return self._watch.dialect.snapshot(message.model_dump(mode="json"), self._head())

    def _pass(self, row: Row) -> bytes:
        self._cursor.pass_row(row)
        if row.name:
            self._count(row.name)
        return self._watch.dialect.row(row)

    def _is_over(self, last_sequence: int) -> bool:
        if self._cursor.sequence < last_sequence:
            return False
        if self._state in translate.WAITING:
            return self._watch.pauses_end
        return self._state in translate.ENDED

    def _silence_s(self) -> float:
        if not self._with.feed.is_live:
            return min(RETRY_S, self._with.settings.silence_s)
        if self._state in translate.WAITING:
            return WAITING_LOOK_S
        return self._with.settings.silence_s

    def _done(self) -> bytes:
        return self._watch.dialect.done(self._state, self._head())

    def _head(self) -> dict[str, object]:
        run = self._watch.run
        return translate.head_of(run.session_id, run.run_id, self._cursor, self._with.now())

    def _count(self, event: str) -> None:
        self._with.metrics.events_forwarded.add(event=event)
