"""Idempotency keys: taken in the transaction of the effect, so that both are there or neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from services.orchestrator.errors import IdempotencyMismatch
from services.orchestrator.store.database import Transaction, as_json

TAKE = text("""
    INSERT INTO request_key (owner, route, key, body_hash, run_id, reply)
    VALUES (:owner, :route, :key, :body_hash, :run_id, '{}')
    ON CONFLICT DO NOTHING RETURNING key
""")
READ = text("""
    SELECT request_key.body_hash, request_key.reply, run.id AS run_id, run.session_id
    FROM request_key JOIN run ON run.id = request_key.run_id
    WHERE request_key.owner = :owner AND route = :route AND key = :key
""")
KEEP_REPLY = text("""
    UPDATE request_key SET reply = CAST(:reply AS jsonb)
    WHERE owner = :owner AND route = :route AND key = :key
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that may be repeated; without a key it is never the same as another."""

    owner: str
    route: str
    key: str
    body_hash: str

    @property
    def place(self) -> dict[str, str]:
        """Where the key is kept."""
        return {"owner": self.owner, "route": self.route, "key": self.key}


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the key did before."""

    session_id: str
    run_id: str
    reply: Mapping[str, Any]


async def take(connection: Transaction, request: Request, run_id: str) -> Earlier | None:
    """What the key did before; None after taking it for this request. Raises IdempotencyMismatch.

    The run may be written later in the same transaction.
    """
    if not request.key:
        return None
    # A second request waits here until the first has committed, then finds its row.
    taken = await connection.execute(
        TAKE, {**request.place, "body_hash": request.body_hash, "run_id": run_id}
    )
    if taken.first() is not None:
        return None
    row = (await connection.execute(READ, request.place)).one()
    if row.body_hash != request.body_hash:
        raise IdempotencyMismatch(
            f"The idempotency key {request.key!r} was used for another request; use a new key.",
            run_id=row.run_id,
        )
    return Earlier(session_id=row.session_id, run_id=row.run_id, reply=row.reply)


async def keep_reply(connection: Transaction, request: Request, reply: Mapping[str, Any]) -> None:
    """Keep what a repetition of the request is answered with."""
    if request.key:
        await connection.execute(KEEP_REPLY, {**request.place, "reply": as_json(reply)})
