"""A caller that outlives the server: it repeats what broke off, with its key where there is one."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import grpc
from sqlalchemy import text

from services.chassis.errors import failure_of
from services.chassis.server import OWNER_KEY
from services.orchestrator.store.database import Database
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc
from zocrates.orchestrator.v1 import review_pb2, review_pb2_grpc, task_pb2, task_pb2_grpc

PATIENCE_S = 30
PAUSE_S = 0.02
OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 50),
]
# What passes when the claim of a dead process lapses.
IN_FLIGHT = "FEEDBACK_IN_PROGRESS"
BROKEN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)
STANDING = text("""
    SELECT run.state, interrupt_id, checkpoint.version
    FROM run LEFT JOIN checkpoint ON checkpoint.run_id = run.id AND checkpoint.state = 'PENDING'
    WHERE run.id = :id
""")


class TooLate(AssertionError):
    """What a run has to come to did not come in time."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The question that a run has to come to."""

    interrupt_id: str
    version: int = 1


class Caller:
    """Asks and decides; what it waits for it reads from the database, which costs little."""

    def __init__(self, channel: grpc.aio.Channel, database: Database, owner: str) -> None:
        self._stub = rpc.ChatServiceStub(channel)
        self._tasks = task_pb2_grpc.TaskServiceStub(channel)
        self._reviews = review_pb2_grpc.ReviewServiceStub(channel)
        self._database = database
        self.owner = owner
        self._turn = pb.StartTurnResponse()

    @property
    def turn(self) -> pb.StartTurnResponse:
        """The run that was started."""
        return self._turn

    async def start(self, prompt: str) -> None:
        """Start the run, once."""
        request = pb.StartTurnRequest(prompt=prompt, idempotency_key=f"{self.owner}.start")
        self._turn = await self._repeated(self._stub.StartTurn, request)

    async def submit(self, query: str, **options: Any) -> None:
        """Start a task in a session of the caller's own name, once."""
        request = task_pb2.SubmitTaskRequest(
            query=query,
            session=self.owner,
            options=pb.TurnOptions(**options),
            idempotency_key=f"{self.owner}.submit",
        )
        reply = await self._repeated(self._tasks.SubmitTask, request)
        self._turn = pb.StartTurnResponse(session_id=reply.session_id, run_id=reply.run_id)

    async def task(self) -> task_pb2.Task:
        """The task as it is now."""
        request = task_pb2.GetTaskRequest(run_id=self._turn.run_id)
        reply = await self._repeated(self._tasks.GetTask, request)
        task: task_pb2.Task = reply.task
        return task

    async def counts(self) -> list[int]:
        """How many tasks and sessions there are, and runs in the session."""
        tasks = await self._repeated(self._tasks.ListTasks, task_pb2.ListTasksRequest())
        sessions = await self._repeated(
            self._tasks.ListTaskSessions, task_pb2.ListTaskSessionsRequest()
        )
        named = task_pb2.GetTaskSessionRequest(session=self.owner)
        session = await self._repeated(self._tasks.GetTaskSession, named)
        return [tasks.total_count, sessions.total_count, session.session.run_count]

    async def comment(self, message: str, version: int) -> None:
        """Comment on this version of the plan; after a broken try the next one may be there."""
        request = review_pb2.SendFeedbackRequest(
            run_id=self._turn.run_id, message=message, expected_version=version
        )
        await self._repeated(self._reviews.SendFeedback, request, done="VERSION_CONFLICT")

    async def comment_by_key(self, message: str, version: int) -> int:
        """Comment as a decision, once; returns the sequence after which the run waits on."""
        request = pb.DecideRequest(
            **self._run,
            interrupt_id="interrupt_plan",
            action=event_pb2.DECISION_ACTION_FEEDBACK,
            message=message,
            expected_version=version,
            idempotency_key=f"{self.owner}.comment",
        )
        reply = await self._repeated(self._stub.Decide, request)
        return int(reply.after_sequence)

    async def review(self) -> review_pb2.Review:
        """The review as it is now."""
        request = review_pb2.GetReviewRequest(run_id=self._turn.run_id)
        reply = await self._repeated(self._reviews.GetReview, request)
        review: review_pb2.Review = reply.review
        return review

    async def approve(self, version: int) -> None:
        """Approve the plan, however often."""
        request = review_pb2.ApproveRequest(run_id=self._turn.run_id, expected_version=version)
        await self._repeated(self._reviews.Approve, request)

    async def cancel_task(self) -> None:
        """Cancel the task, once."""
        request = task_pb2.CancelTaskRequest(
            run_id=self._turn.run_id, reason="Enough.", idempotency_key=f"{self.owner}.cancel"
        )
        await self._repeated(self._tasks.CancelTask, request)

    async def decide(
        self,
        interrupt_id: str,
        action: event_pb2.DecisionAction.ValueType,
        guidance: str = "",
    ) -> int:
        """Answer a question, once; returns the sequence after which the run goes on."""
        request = pb.DecideRequest(
            **self._run,
            interrupt_id=interrupt_id,
            action=action,
            guidance=guidance,
            idempotency_key=f"{self.owner}.{interrupt_id}",
        )
        reply = await self._repeated(self._stub.Decide, request)
        return int(reply.after_sequence)

    async def question(self) -> pb.GetCheckpointResponse:
        """What the run waits for."""
        request = pb.GetCheckpointRequest(**self._run)
        reply: pb.GetCheckpointResponse = await self._repeated(self._stub.GetCheckpoint, request)
        return reply

    async def events(self) -> pb.ListEventsResponse:
        """All that the run told."""
        request = pb.ListEventsRequest(**self._run)
        reply: pb.ListEventsResponse = await self._repeated(self._stub.ListEvents, request)
        return reply

    async def cancel(self) -> None:
        """Cancel the run; after a broken try it may be cancelled already."""
        request = pb.CancelRunRequest(**self._run)
        await self._repeated(self._stub.CancelRun, request, done="WRONG_STATE")

    async def retry(self) -> None:
        """Take the run up again; after a broken try it may be at work already."""
        request = pb.RetryRunRequest(**self._run)
        await self._repeated(self._stub.RetryRun, request, done="WRONG_STATE")

    async def rewind(self) -> None:
        """Take the run out of the history."""
        request = pb.RewindSessionRequest(**self._run)
        await self._repeated(self._stub.RewindSession, request)

    async def rename(self, title: str) -> str:
        """Give the session another title."""
        request = pb.RenameSessionRequest(session_id=self._turn.session_id, title=title)
        reply = await self._repeated(self._stub.RenameSession, request)
        return str(reply.session.title)

    async def titles(self) -> list[str]:
        """All sessions."""
        request = pb.ListSessionsRequest()
        reply = await self._repeated(self._stub.ListSessions, request)
        return [one.title for one in reply.sessions]

    async def session(self) -> pb.GetSessionResponse:
        """The session with its messages."""
        request = pb.GetSessionRequest(session_id=self._turn.session_id)
        reply: pb.GetSessionResponse = await self._repeated(self._stub.GetSession, request)
        return reply

    async def passage(self, passage_id: str) -> str:
        """The text of a piece of evidence."""
        request = pb.GetEvidenceRequest(run_id=self._turn.run_id, passage_id=passage_id)
        reply = await self._repeated(self._stub.GetEvidence, request)
        return str(reply.passage.text)

    async def delete(self) -> None:
        """Forget the session; after a broken try it may be gone already."""
        request = pb.DeleteSessionRequest(session_id=self._turn.session_id)
        await self._repeated(self._stub.DeleteSession, request, done="UNKNOWN_SESSION")

    async def until(self, wanted: str | Waits) -> None:
        """Wait until the run is in the state, or waits for the answer."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            rows = await self._database.fetch(STANDING, {"id": self._turn.run_id})
            (now,) = rows
            if isinstance(wanted, Waits):
                if (now.interrupt_id, now.version) == (wanted.interrupt_id, wanted.version):
                    return
            elif now.state == wanted:
                return
            if time.monotonic() > deadline:
                raise TooLate(f"{wanted} did not come; the run stands at {tuple(now)}")
            await asyncio.sleep(PAUSE_S)

    @property
    def _run(self) -> dict[str, Any]:
        return {"session_id": self._turn.session_id, "run_id": self._turn.run_id}

    async def _repeated(self, method: Any, request: object, *, done: str = "") -> Any:
        """Repeat what broke off. `done` refuses a repetition whose first try had its effect."""
        deadline = time.monotonic() + PATIENCE_S
        has_broken = False
        while True:
            try:
                return await method(request, timeout=10, metadata=((OWNER_KEY, self.owner),))
            except grpc.aio.AioRpcError as error:
                reason = failure_of(error).reason
                if has_broken and done and reason == done:
                    return None
                has_claim = has_broken and reason == IN_FLIGHT
                if not (has_claim or error.code() in BROKEN) or time.monotonic() > deadline:
                    raise
                has_broken = True
            await asyncio.sleep(PAUSE_S)
