"""NATS as the services use it: a hint that something happened, never the truth."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import KeyValueConfig, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError
from nats.js.kv import KeyValue

from services.chassis.identity import CERTIFICATE, KEY
from services.chassis.settings import BusAccess
from services.chassis.telemetry import EventLog, trace_headers

MESSAGE_ID_HEADER = "Nats-Msg-Id"

log = EventLog(__name__)

Handler = Callable[[Msg], Awaitable[None]]


class BusDown(Exception):
    """NATS cannot be reached now, or did not acknowledge in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A JetStream stream that a process needs."""

    name: str
    subjects: tuple[str, ...]
    in_memory: bool
    max_age_s: float
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is sent to a stream, which stores one id once."""

    subject: str
    body: bytes
    id: str
    trace: Mapping[str, str]


class Bus:
    """One connection that reconnects for ever; calls fail with BusDown while it is away."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lost: set[Callable[[], None]] = set()

    @property
    def is_connected(self) -> bool:
        """Whether the server can be reached at this moment."""
        return self._client.is_connected

    def on_lost(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back at each loss of the connection; returns what takes the callback off again."""
        self._lost.add(callback)
        return lambda: self._lost.discard(callback)

    async def publish(self, subject: str, body: bytes) -> None:
        """Send to whoever listens now, with the trace context; nothing is acknowledged."""
        self._require_connection()
        try:
            await self._client.publish(subject, body, headers=trace_headers() or None)
        except NatsError as error:
            raise BusDown(f"NATS refused a message: {error}") from error

    async def publish_stored(self, messages: Sequence[Message], *, timeout_s: float = 5) -> None:
        """Send messages to one stream and wait until all are stored.

        A stream stores what one connection sends in the order in which it was sent, so the
        acknowledgement of the last message is that of them all.
        """
        self._require_connection()
        try:
            for message in messages[:-1]:
                await self._client.publish(message.subject, message.body, headers=_headers(message))
            for last in messages[-1:]:
                await self._client.jetstream(timeout=timeout_s).publish(
                    last.subject, last.body, headers=_headers(last)
                )
        except (NatsError, TimeoutError) as error:
            raise BusDown(f"NATS did not store a message: {error}") from error

    async def ensure(self, stream: Stream) -> None:
        """Create the stream, or bring an existing one to these settings."""
        self._require_connection()
        wanted = StreamConfig(
            name=stream.name,
            subjects=list(stream.subjects),
            storage=StorageType.MEMORY if stream.in_memory else StorageType.FILE,
            retention=RetentionPolicy.LIMITS,
            max_age=stream.max_age_s,
            max_bytes=stream.max_bytes,
            duplicate_window=min(120.0, stream.max_age_s),
        )
        manager = self._client.jetstream(timeout=5)
        try:
            try:
                await manager.stream_info(stream.name)
                await manager.update_stream(wanted)
            except NotFoundError:
                await manager.add_stream(wanted)
        except (NatsError, TimeoutError) as error:
            raise BusDown(f"NATS stream {stream.name!r} cannot be made: {error}") from error

    async def bucket(self, name: str, *, life_s: float) -> KeyValue:
        """The shared values of this name, in memory; each is forgotten so long after its change."""
        self._require_connection()
        context = self._client.jetstream(timeout=5)
        config = KeyValueConfig(bucket=name, ttl=life_s, storage=StorageType.MEMORY)
        try:
            # Made again with the same settings it is the one that is there.
            return await context.create_key_value(config)
        except (NatsError, TimeoutError) as error:
            raise BusDown(f"NATS bucket {name!r} cannot be made: {error}") from error

    async def subscribe(self, subject: str, handler: Handler) -> Subscription:
        """Hand each message that arrives from now on to the handler, in order."""
        try:
            return await self._client.subscribe(subject, cb=handler)
        except NatsError as error:
            raise BusDown(f"NATS subscription to {subject!r} failed: {error}") from error

    async def settled(self) -> None:
        """Wait until the server has taken all that was sent, subscriptions among it."""
        self._require_connection()
        try:
            await self._client.flush(timeout=2)
        except (NatsError, TimeoutError) as error:
            raise BusDown(f"NATS does not answer: {error}") from error

    async def retained(self, subject: str, *, limit: int = 10_000) -> list[bytes]:
        """The messages of a subject that a stream still holds, oldest first."""
        self._require_connection()
        context = self._client.jetstream(timeout=5)
        bodies: list[bytes] = []
        try:
            stream = await context.find_stream_name_by_subject(subject)
            last = (await context.get_last_msg(stream, subject)).seq or 0
            consumer = await context.subscribe(subject, ordered_consumer=True)
            try:
                reached = 0
                while reached < last and len(bodies) < limit:
                    message = await consumer.next_msg(timeout=2)
                    reached = message.metadata.sequence.stream
                    bodies.append(message.data)
            finally:
                await consumer.unsubscribe()
        except NotFoundError:
            return []
        except (NatsError, TimeoutError) as error:
            raise BusDown(f"NATS could not replay {subject!r}: {error}") from error
        return bodies

    def _require_connection(self) -> None:
        if not self._client.is_connected:
            raise BusDown("NATS is not connected")

    async def _tell_lost(self) -> None:
        log.warning("bus_lost")
        for callback in list(self._lost):
            callback()


def _load(context: ssl.SSLContext, access: BusAccess) -> None:
    """Read who signs for the server, and who this process is, into the context."""
    try:
        context.load_verify_locations(access.ca_file)
        if access.identity is not None:
            folder = access.identity.folder
            context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    except OSError as error:
        # What was there before is used; the server tells whether that is enough.
        log.warning("bus_certificates_unreadable", error=str(error))


def _headers(message: Message) -> dict[str, str]:
    return {**message.trace, MESSAGE_ID_HEADER: message.id}


@asynccontextmanager
async def open_bus(
    url: str, name: str, *, echo: bool = True, access: BusAccess | None = None
) -> AsyncIterator[Bus]:
    """A bus that connects in the background, so that a process starts and works with NATS down.

    Without `echo` its own subscriptions do not get what it publishes itself.
    """
    client = Client()
    bus = Bus(client)
    access = access or BusAccess()
    context = ssl.create_default_context() if access.ca_file else None
    if context is not None:
        _load(context, access)

    async def connected() -> None:
        log.info("bus_connected")

    async def failed(error: BaseException) -> None:
        log.warning("bus_error", error=repr(error))
        if context is not None:
            # They may have been renewed, here or at the server, which fails an attempt.
            _load(context, access)

    async def connect() -> None:
        await client.connect(
            servers=[url],
            name=name,
            no_echo=not echo,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.25,  # type: ignore[arg-type]  # slept on; a fraction works
            connect_timeout=2,
            allow_reconnect=True,
            # Publishing while away fails at once instead of filling a buffer that may be lost.
            pending_size=8 * 1024 * 1024,
            disconnected_cb=bus._tell_lost,
            user=access.user or None,
            password=access.password.get_secret_value() if access.password else None,
            tls=context,
            reconnected_cb=connected,
            error_cb=failed,
        )
        await connected()

    connecting = asyncio.create_task(connect())
    try:
        yield bus
    finally:
        # The client swallows a cancellation that meets the end of one of its attempts.
        while not connecting.done():
            connecting.cancel()
            await asyncio.wait([connecting], timeout=0.05)
        if not connecting.cancelled() and (error := connecting.exception()) is not None:
            await failed(error)
        if client.is_connected:
            with suppress(NatsError, TimeoutError):
                await client.flush(timeout=2)
        with suppress(NatsError):
            await client.close()
