"""Counting what each key asks: in this process, or in NATS for several gateways together."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from nats.errors import Error as NatsError
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from gateway.metrics import Metrics
from gateway.quota import EMPTY, SECONDS, Allowance, Tally, Verdict, count
from services.chassis.bus import Bus, BusDown
from services.chassis.telemetry import EventLog

log = EventLog(__name__)

BUCKET = "zocrates-limits"
# Owners with keys of their own are few; this only bounds what a mistake could fill.
MOST_KEYS = 10_000
# As many gateways may count one key at the same moment; each loser reads again.
ATTEMPTS = 16


class Limiter(Protocol):
    """Counts the requests of keys."""

    async def count(self, key: str, allowance: Allowance) -> Verdict | None:
        """Count one request of a key; None when it cannot be counted now, and so is let in."""


class OwnLimiter:
    """Counts in this process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tallies: OrderedDict[str, Tally] = OrderedDict()

    async def count(self, key: str, allowance: Allowance) -> Verdict:
        """Count one request of a key."""
        tally, verdict = count(self._tallies.pop(key, EMPTY), self._clock(), allowance)
        self._tallies[key] = tally
        while len(self._tallies) > MOST_KEYS:
            self._tallies.popitem(last=False)
        return verdict


class SharedLimiter:
    """Counts in NATS, so that several gateways count together; without NATS nothing is refused."""

    def __init__(self, bus: Bus, clock: Callable[[], float], metrics: Metrics) -> None:
        self._bus = bus
        self._clock = clock
        self._metrics = metrics
        self._bucket: KeyValue | None = None

    async def count(self, key: str, allowance: Allowance) -> Verdict | None:
        """Count one request of a key, each exactly once, whoever else counts at that moment."""
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        try:
            bucket = await self._opened()
            for _ in range(ATTEMPTS):
                if (verdict := await self._attempt(bucket, name, allowance)) is not None:
                    return verdict
            cause = f"{ATTEMPTS} others were faster"
        except (BusDown, NatsError, TimeoutError) as error:
            # The bucket lives in memory and may be gone with the server.
            self._bucket = None
            cause = str(error)
        log.warning("request_not_counted", cause=cause)
        self._metrics.uncounted_requests.add()
        return None

    async def _attempt(self, bucket: KeyValue, name: str, allowance: Allowance) -> Verdict | None:
        try:
            entry = await bucket.get(name)
            before, revision = _tally(entry.value), entry.revision
        except KeyNotFoundError:
            before, revision = EMPTY, 0
        after, verdict = count(before, self._clock(), allowance)
        if verdict.exceeded is not None:
            return verdict
        try:
            await bucket.update(name, _written(after), last=revision)
        except KeyWrongLastSequenceError:
            return None
        return verdict

    async def _opened(self) -> KeyValue:
        if self._bucket is None:
            self._bucket = await self._bus.bucket(BUCKET, life_s=SECONDS["day"])
        return self._bucket


def _tally(value: bytes | None) -> Tally:
    found = json.loads(value or b"{}")
    return Tally(windows={name: (int(begin), int(used)) for name, (begin, used) in found.items()})


def _written(tally: Tally) -> bytes:
    return json.dumps(dict(tally.windows)).encode()
