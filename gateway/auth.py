"""Who calls: keys, owners, the libraries they may search, and one-time links for the page."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.errors import GatewayError
from gateway.settings import Settings
from services.chassis.server import LOCAL_OWNER

TASK_WIRE = "/api/v1/"
# Clients of that wire may write a key that begins with the second in the form of the first.
WRITTEN, MEANT = "sk-shannon-", "sk_"
LINK_LIFE = timedelta(minutes=10)
MOST_LINKS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a wire refuses who has no key, or an unknown one."""

    missing: str
    unknown: str
    challenge: str


CHAT_WIRE_WORDS = Words(
    missing="A key is needed, as X-API-Key or as Authorization: Bearer.",
    unknown="This key is not known to the gateway.",
    challenge="Bearer",
)
# Clients of that wire know these.
TASK_WIRE_WORDS = Words(
    missing="Authentication required",
    unknown="Invalid token",
    challenge='Bearer realm="Shannon API"',
)


def is_task_wire(path: str) -> bool:
    """Whether a path belongs to the wire of tasks, whose words differ."""
    return path.startswith(TASK_WIRE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks; `libraries` is None when every library is allowed; `key` is empty without keys."""

    owner: str
    libraries: tuple[str, ...] | None
    key: str

    def may_read(self, library: str) -> bool:
        """Whether the caller may see what this library holds."""
        return self.libraries is None or library in self.libraries

    def visible(self, wanted: Iterable[str] | None) -> list[str] | None:
        """The libraries to search: those wanted and allowed. None: all; an empty list: none."""
        if self.libraries is None:
            return None if wanted is None else list(wanted)
        if wanted is None:
            return list(self.libraries)
        return [library for library in wanted if library in self.libraries]


class Doorkeeper:
    """Knows the keys."""

    def __init__(self, settings: Settings) -> None:
        self._callers = [
            Caller(owner=entry.owner, libraries=entry.libraries, key=entry.key.get_secret_value())
            for entry in settings.keys
        ]
        self._is_open = settings.skip_auth

    def admit(self, key: str | None, path: str) -> Caller:
        """The caller whose key this is; raises UNAUTHENTICATED in the words of the path's wire."""
        if self._is_open:
            return Caller(owner=LOCAL_OWNER, libraries=None, key="")
        words = TASK_WIRE_WORDS if is_task_wire(path) else CHAT_WIRE_WORDS
        if key is None:
            raise _unauthenticated(words.missing, words)
        found: Caller | None = None
        forms = _forms(key)
        # Every key is compared, whole and in constant time, whichever fits.
        for caller in self._callers:
            for form in forms:
                if _same(caller.key, form):
                    found = caller
        if found is None:
            raise _unauthenticated(words.unknown, words)
        return found


class PageLinks:
    """Tokens that give the page its key: each works once, within ten minutes, in this process."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._links: list[tuple[str, str, datetime]] = []

    def make(self, key: str) -> str:
        """A new token for the key."""
        self._drop_old()
        token = secrets.token_urlsafe(32)
        self._links.append((token, key, self._now() + LINK_LIFE))
        # Nobody needs so many at once; the oldest go first.
        del self._links[:-MOST_LINKS]
        return token

    def redeem(self, token: str) -> str:
        """The key behind the token, which is used up by this; raises LINK_EXPIRED."""
        self._drop_old()
        found = [link for link in self._links if _same(link[0], token)]
        if not found:
            raise GatewayError(
                "LINK_EXPIRED",
                "This link was used already or is too old; `zocrates link` prints a new one.",
            )
        self._links.remove(found[0])
        return found[0][1]

    def _drop_old(self) -> None:
        now = self._now()
        self._links = [link for link in self._links if link[2] > now]


def _forms(key: str) -> tuple[str, ...]:
    """The keys that this one can stand for."""
    return (key, MEANT + key.removeprefix(WRITTEN)) if key.startswith(WRITTEN) else (key,)


def _same(known: str, given: str) -> bool:
    # Digests have one length, so the comparison tells nothing about the key's.
    return hmac.compare_digest(_digest(known), _digest(given))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _unauthenticated(text: str, words: Words) -> GatewayError:
    headers = {"WWW-Authenticate": words.challenge}
    return GatewayError("UNAUTHENTICATED", text, headers=headers)
