"""What the routes of the task wire share: ids in paths, keys of requests, what replies carry."""

import hashlib
import json
import re
import uuid
from typing import Annotated

from fastapi import Header, Path, Response
from pydantic import BaseModel

from gateway.errors import GatewayError
from gateway.tasks.wire import ID_PATTERN
from gateway.tasks.wording import NO_TASK

RUN_ID = re.compile("[0-9a-f]{32}")

TaskId = Annotated[str, Path(pattern=ID_PATTERN)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[!-~]{1,200}$",
        description="The same request under the same key has one effect and one answer.",
    ),
]


def run_of(task_id: str) -> str:
    """The run that an id names; raises UNKNOWN_RUN for an id that no run can have."""
    if RUN_ID.fullmatch(task_id) is None:
        raise GatewayError("UNKNOWN_RUN", NO_TASK)
    return task_id


def request_key(given: str | None, path: str, body: BaseModel | None) -> str:
    """The key of a request: one that a client chose stands for what it sent where.

    So another body under the same key is another request, as clients of this wire know it.
    """
    if given is None:
        # A call that the channel repeats after a lost reply must not be a conflict with itself.
        return f"gateway-{uuid.uuid4().hex}"
    sent = json.dumps(body.model_dump() if body else None, sort_keys=True)
    return hashlib.sha256(f"{path}\n{given}\n{sent}".encode()).hexdigest()


def tell_replay(response: Response, given: str | None, replayed: bool) -> None:
    """Say on a reply that the key was known."""
    if given is not None and replayed:
        response.headers["X-Idempotency-Cached"] = "true"
        response.headers["X-Idempotency-Key"] = given
