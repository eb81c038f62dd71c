"""A typed client of the task wire; what is said of a plan is for the version seen last."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Final, Literal
from urllib.parse import quote

from gateway.connection import Connection, GatewayAway, NothingThere, Refused, Reply, decoded
from gateway.patience import Patience
from gateway.sse import ServerEvent
from gateway.tasks import session_wire, wire

API = "/api/v1"
# A reply to feedback takes as long as the planner thinks.
FEEDBACK_S = 90.0
LOOK_S = 1.0
AWAY = frozenset({502, 503})
# The feedback was taken and came to nothing: who repeats it pays the planner again.
NOT_REPEATED = "PLANNER_FAILED"
OVER = frozenset(
    {
        "TASK_STATUS_COMPLETED",
        "TASK_STATUS_FAILED",
        "TASK_STATUS_CANCELLED",
        "TASK_STATUS_TIMEOUT",
    }
)
LAST_SEEN: Final = "last seen"
ANY: Final = "*"

# A version, whichever this client saw last, or whichever there is.
Version = int | Literal["last seen", "*"]


class Tasks:
    """Tasks of the gateway at the other end of a connection."""

    def __init__(self, connection: Connection, *, patience_s: float) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self._seen: dict[str, int] = {}

    async def submit(
        self,
        query: str,
        *,
        context: Mapping[str, Any] | None = None,
        session_id: str = "",
        strategy: str = "",
        key: str | None = None,
    ) -> wire.Submitted:
        """Submit a task, once, however often the connection breaks."""
        # The context is JSON of the caller, hence Any.
        body: dict[str, Any] = {"query": query, "context": dict(context or {})}
        if session_id:
            body["session_id"] = session_id
        if strategy:
            body["research_strategy"] = strategy
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return await self._repeated("POST", "/tasks", wire.Submitted, json=body, headers=headers)

    async def get(self, task_id: str) -> wire.Task:
        """A task as it is now."""
        return await self._repeated("GET", _path(task_id), wire.Task)

    async def list(
        self, *, limit: int = 20, offset: int = 0, status: str = "", session_id: str = ""
    ) -> wire.TaskList:
        """A page of tasks, the latest first."""
        given = {"limit": limit, "offset": offset, "status": status, "session_id": session_id}
        params = {name: str(value) for name, value in given.items() if value != ""}
        return await self._repeated("GET", "/tasks", wire.TaskList, params=params)

    async def wait(self, task_id: str) -> wire.Task:
        """The task once it has ended; a caller with less time sets a limit of its own."""
        while True:
            if (task := await self.get(task_id)).status in OVER:
                return task
            await asyncio.sleep(LOOK_S)

    async def events(self, task_id: str, *, limit: int = 200, offset: int = 0) -> wire.TaskEvents:
        """A page of a task's events."""
        params = {"limit": str(limit), "offset": str(offset)}
        path = f"{_path(task_id)}/events"
        return await self._repeated("GET", path, wire.TaskEvents, params=params)

    async def cancel(self, task_id: str, reason: str = "") -> wire.Controlled:
        """Cancel a task; no success means that it had ended."""
        return await self._change(task_id, "cancel", reason)

    async def pause(self, task_id: str, reason: str = "") -> wire.Controlled:
        """Pause a task before its next step."""
        return await self._change(task_id, "pause", reason)

    async def resume(self, task_id: str, reason: str = "") -> wire.Controlled:
        """Let a paused task go on."""
        return await self._change(task_id, "resume", reason)

    async def control_state(self, task_id: str) -> wire.ControlState:
        """Whether a task is paused or cancelled, by whom and why."""
        return await self._repeated("GET", f"{_path(task_id)}/control-state", wire.ControlState)

    async def review(self, task_id: str) -> wire.Review:
        """The plan and the conversation about it; its version is remembered."""
        found = await self._repeated("GET", f"{_path(task_id)}/review", wire.Review)
        self._seen[task_id] = found.version
        return found

    async def feedback(
        self, task_id: str, message: str, *, version: Version = LAST_SEEN
    ) -> wire.Revised:
        """Comment on the plan and get the planner's reply, whose version is remembered."""
        body = {"action": "feedback", "message": message}
        headers = {"If-Match": await self._tag(task_id, version)}
        path = f"{API}{_path(task_id)}/review"
        sending = self._connection.sent(
            "POST", path, json=body, headers=headers, timeout=FEEDBACK_S
        )
        async with sending as response:
            revised = await decoded(response, wire.Revised)
        self._seen[task_id] = revised.version
        return revised

    async def approve(self, task_id: str, *, version: Version = LAST_SEEN) -> wire.Approved:
        """Approve the plan; approving again changes nothing."""
        headers = {"If-Match": await self._tag(task_id, version)}
        return await self._repeated(
            "POST",
            f"{_path(task_id)}/review",
            wire.Approved,
            json={"action": "approve"},
            headers=headers,
        )

    async def decide_approval(
        self, task_id: str, approval_id: str, *, approved: bool, feedback: str = ""
    ) -> wire.Approval:
        """Give or refuse consent to a step of a task."""
        body = {
            "workflow_id": task_id,
            "approval_id": approval_id,
            "approved": approved,
            "feedback": feedback,
        }
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return await self._repeated(
            "POST", "/approvals/decision", wire.Approval, json=body, headers=headers
        )

    async def stream(
        self, task_id: str, *, types: Iterable[str] = (), last_id: str = ""
    ) -> AsyncGenerator[ServerEvent, None]:
        """A task's events from a position on, over as many connections as it takes, to its end."""
        patience = Patience(self._patience_s)
        params = {"workflow_id": task_id, **({"types": ",".join(types)} if types else {})}
        while True:
            try:
                headers = {"Last-Event-ID": last_id} if last_id else {}
                stream = self._connection.stream(
                    "GET", f"{API}/stream/sse", params=params, headers=headers
                )
                async with aclosing(stream) as events:
                    async for event in events:
                        patience.renew()
                        last_id = event.id or last_id
                        yield event
                # A stream that is cut short breaks its connection, so this is the end.
                return
            except NothingThere:
                if not last_id:
                    raise
                await patience.pause(GatewayAway("The gateway went away."))
            except GatewayAway as error:
                await patience.pause(error)
            except Refused as error:
                if error.status not in AWAY:
                    raise
                await patience.pause(error, at_least_s=error.retry_after_s)

    async def sessions(self, *, limit: int = 20, offset: int = 0) -> session_wire.SessionPage:
        """A page of sessions, the latest first."""
        params = {"limit": str(limit), "offset": str(offset)}
        return await self._repeated("GET", "/sessions", session_wire.SessionPage, params=params)

    async def history(self, session_id: str) -> session_wire.SessionHistory:
        """The tasks of a session, the oldest first."""
        path = f"/sessions/{quote(session_id, safe='')}/history"
        return await self._repeated("GET", path, session_wire.SessionHistory)

    async def _change(self, task_id: str, verb: str, reason: str) -> wire.Controlled:
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return await self._repeated(
            "POST",
            f"{_path(task_id)}/{verb}",
            wire.Controlled,
            json={"reason": reason},
            headers=headers,
        )

    async def _tag(self, task_id: str, version: Version) -> str:
        if version == LAST_SEEN:
            seen = self._seen.get(task_id)
            return str(seen if seen is not None else (await self.review(task_id)).version)
        return str(version)

    async def _repeated(self, method: str, path: str, kind: type[Reply], **parts: Any) -> Reply:
        """The reply to a request that has one effect however often it is sent.

        Waits while the gateway or a process behind it is away.
        """
        # Parts of a request as the HTTP library takes them, hence Any.
        patience = Patience(self._patience_s)
        while True:
            try:
                async with self._connection.sent(method, f"{API}{path}", **parts) as response:
                    return await decoded(response, kind)
            except NothingThere:
                raise
            except GatewayAway as error:
                await patience.pause(error)
            except Refused as error:
                if error.status not in AWAY or error.code == NOT_REPEATED:
                    raise
                await patience.pause(error, at_least_s=error.retry_after_s)


def _path(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}"
