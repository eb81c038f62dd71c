"""A caller of TaskService and ReviewService, which name runs by their id alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc

from services.chassis.channel import open_channel
from services.orchestrator.settings import Settings
from tests.integration.orchestrator_stage import PATIENCE_S, eventually
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2, chat_pb2_grpc, review_pb2, review_pb2_grpc
from zocrates.orchestrator.v1 import task_pb2 as pb
from zocrates.orchestrator.v1 import task_pb2_grpc as rpc

ENDED = frozenset(
    {
        chat_pb2.RUN_STATE_COMPLETED,
        chat_pb2.RUN_STATE_FAILED,
        chat_pb2.RUN_STATE_CANCELLED,
        chat_pb2.RUN_STATE_EXPIRED,
        chat_pb2.RUN_STATE_REWOUND,
    }
)


@dataclass
class TaskCaller:
    """One owner's calls."""

    channel: grpc.aio.Channel
    owner: str = "ada"

    def __post_init__(self) -> None:
        self.tasks = rpc.TaskServiceStub(self.channel)
        self.reviews = review_pb2_grpc.ReviewServiceStub(self.channel)
        self.chat = chat_pb2_grpc.ChatServiceStub(self.channel)

    @property
    def calling(self) -> dict[str, Any]:
        return {"timeout": 10, "metadata": (("x-zocrates-owner", self.owner),)}

    def another(self, owner: str) -> "TaskCaller":
        """Somebody else."""
        return TaskCaller(self.channel, owner)

    async def submit(self, query: str, **fields: object) -> pb.SubmitTaskResponse:
        request = pb.SubmitTaskRequest(query=query, **fields)  # type: ignore[arg-type]
        return await self.tasks.SubmitTask(request, **self.calling)

    async def get(self, run_id: str) -> pb.Task:
        reply = await self.tasks.GetTask(pb.GetTaskRequest(run_id=run_id), **self.calling)
        return reply.task

    async def listed(self, **fields: object) -> pb.ListTasksResponse:
        request = pb.ListTasksRequest(**fields)  # type: ignore[arg-type]
        return await self.tasks.ListTasks(request, **self.calling)

    async def cancel(self, run_id: str, **fields: str) -> pb.CancelTaskResponse:
        request = pb.CancelTaskRequest(run_id=run_id, **fields)
        return await self.tasks.CancelTask(request, **self.calling)

    async def pause(self, run_id: str, **fields: str) -> pb.PauseTaskResponse:
        request = pb.PauseTaskRequest(run_id=run_id, **fields)
        return await self.tasks.PauseTask(request, **self.calling)

    async def resume(self, run_id: str, **fields: str) -> pb.ResumeTaskResponse:
        request = pb.ResumeTaskRequest(run_id=run_id, **fields)
        return await self.tasks.ResumeTask(request, **self.calling)

    async def control(self, run_id: str) -> pb.GetControlStateResponse:
        request = pb.GetControlStateRequest(run_id=run_id)
        return await self.tasks.GetControlState(request, **self.calling)

    async def session(self, session: str) -> pb.TaskSession:
        request = pb.GetTaskSessionRequest(session=session)
        reply = await self.tasks.GetTaskSession(request, **self.calling)
        return reply.session

    async def sessions(self, **fields: int) -> pb.ListTaskSessionsResponse:
        request = pb.ListTaskSessionsRequest(**fields)
        return await self.tasks.ListTaskSessions(request, **self.calling)

    async def review(self, run_id: str) -> review_pb2.Review:
        request = review_pb2.GetReviewRequest(run_id=run_id)
        reply = await self.reviews.GetReview(request, **self.calling)
        return reply.review

    async def comment(
        self, run_id: str, message: str, version: int | None = None
    ) -> review_pb2.SendFeedbackResponse:
        request = review_pb2.SendFeedbackRequest(
            run_id=run_id, message=message, expected_version=version
        )
        return await self.reviews.SendFeedback(request, **self.calling)

    async def approve(self, run_id: str, version: int | None = None) -> review_pb2.ApproveResponse:
        request = review_pb2.ApproveRequest(run_id=run_id, expected_version=version)
        return await self.reviews.Approve(request, **self.calling)

    async def decide_approval(
        self, run_id: str, approval_id: str, *, approved: bool, **fields: str
    ) -> review_pb2.DecideApprovalResponse:
        request = review_pb2.DecideApprovalRequest(
            run_id=run_id, approval_id=approval_id, approved=approved, **fields
        )
        return await self.reviews.DecideApproval(request, **self.calling)

    async def events(self, run_id: str) -> list[event_pb2.Event]:
        session_id = (await self.get(run_id)).session_id
        request = chat_pb2.ListEventsRequest(session_id=session_id, run_id=run_id)
        return list((await self.chat.ListEvents(request, **self.calling)).events)

    async def until(
        self, run_id: str, *states: chat_pb2.RunState.ValueType, within_s: float = PATIENCE_S
    ) -> pb.Task:
        """The task, once it is in one of the states."""

        async def there() -> bool:
            state = (await self.get(run_id)).state
            assert state in states or state not in ENDED, chat_pb2.RunState.Name(state)
            return state in states

        await eventually(there, "the task's state", within_s=within_s)
        return await self.get(run_id)

    async def completed(self, run_id: str) -> pb.Task:
        """The task, once it has its answer."""
        return await self.until(run_id, chat_pb2.RUN_STATE_COMPLETED)

    async def waiting(self, run_id: str) -> event_pb2.RequestInput:
        """What the task asks, once it does."""
        return (await self.until(run_id, chat_pb2.RUN_STATE_AWAITING_INPUT)).pending


@asynccontextmanager
async def task_caller(settings: Settings) -> AsyncIterator[TaskCaller]:
    """A caller of the orchestrator that runs with these settings."""
    async with open_channel(f"127.0.0.1:{settings.port}") as channel:
        yield TaskCaller(channel)
