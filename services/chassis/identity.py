"""Who a process is to the others where they speak over TLS: files that may be renewed meanwhile."""

import ssl
from dataclasses import dataclass
from pathlib import Path

CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"


class IdentityUnusable(Exception):
    """The files are not there or do not belong together; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Papers:
    """What the files hold: a certificate, its key, and who signs for every process."""

    certificate: bytes
    key: bytes
    authority: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A folder with `tls.crt`, `tls.key` and `ca.crt`, as a mounted secret has them."""

    folder: Path

    def read(self) -> Papers:
        """What the files hold now; raises IdentityUnusable."""
        try:
            papers = Papers(
                certificate=(self.folder / CERTIFICATE).read_bytes(),
                key=(self.folder / KEY).read_bytes(),
                authority=(self.folder / AUTHORITY).read_bytes(),
            )
            # Both files may be half renewed; gRPC would only fail at the next connection.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.folder / CERTIFICATE, self.folder / KEY)
            context.load_verify_locations(cadata=papers.authority.decode("ascii"))
        except (OSError, ValueError) as error:
            # An ssl.SSLError is an OSError.
            raise IdentityUnusable(
                f"The folder {str(self.folder)!r} has to hold {CERTIFICATE}, {KEY} and {AUTHORITY} "
                f"that belong together: {error}."
            ) from error
        return papers

    def stamp(self) -> tuple[int, ...]:
        """Something that is another one when a file was renewed; cheap, and empty without files."""
        try:
            return tuple(
                (self.folder / name).stat().st_mtime_ns for name in (CERTIFICATE, KEY, AUTHORITY)
            )
        except OSError:
            return ()


class Renewed:
    """The papers of an identity as they are renewed; the last good ones stay in use."""

    def __init__(self, identity: Identity) -> None:
        """Raises IdentityUnusable."""
        self._identity = identity
        self._stamp = identity.stamp()
        self.papers = identity.read()

    def look(self) -> bool:
        """Whether there are other papers than before, which are then the current ones."""
        stamp = self._identity.stamp()
        if stamp == self._stamp:
            return False
        try:
            papers = self._identity.read()
        except IdentityUnusable:
            # Half renewed: looked at again the next time.
            return False
        self._stamp = stamp
        is_other = papers != self.papers
        self.papers = papers
        return is_other
