"""The orchestrator's tasks and reviews: each call with a deadline, an owner, errors translated."""

import grpc

from gateway.peers import answered, metadata_of
from zocrates.orchestrator.v1 import review_pb2 as review
from zocrates.orchestrator.v1 import review_pb2_grpc as review_rpc
from zocrates.orchestrator.v1 import task_pb2 as task
from zocrates.orchestrator.v1 import task_pb2_grpc as task_rpc

PEER = "orchestrator"


class Tasks:
    """Submitted tasks and their sessions."""

    def __init__(self, channel: grpc.aio.Channel, *, deadline_s: float) -> None:
        self._stub = task_rpc.TaskServiceStub(channel)
        self._deadline_s = deadline_s

    async def submit(
        self, request: task.SubmitTaskRequest, *, owner: str
    ) -> task.SubmitTaskResponse:
        """Start a task, or find the one that the idempotency key already started."""
        call = self._stub.SubmitTask(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, PEER)

    async def get(self, run_id: str, *, owner: str) -> task.Task:
        """A task as it is now."""
        request = task.GetTaskRequest(run_id=run_id)
        call = self._stub.GetTask(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return (await answered(call, PEER)).task

    async def list(self, request: task.ListTasksRequest, *, owner: str) -> task.ListTasksResponse:
        """A page of tasks."""
        call = self._stub.ListTasks(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, PEER)

    async def cancel(self, run_id: str, reason: str, key: str, *, owner: str) -> bool:
        """End a task at once; whether the idempotency key was known."""
        request = task.CancelTaskRequest(run_id=run_id, reason=reason, idempotency_key=key)
        call = self._stub.CancelTask(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return (await answered(call, PEER)).replayed

    async def pause(self, run_id: str, reason: str, key: str, *, owner: str) -> bool:
        """Stop a task before its next step; whether the idempotency key was known."""
        request = task.PauseTaskRequest(run_id=run_id, reason=reason, idempotency_key=key)
        call = self._stub.PauseTask(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return (await answered(call, PEER)).replayed

    async def resume(self, run_id: str, reason: str, key: str, *, owner: str) -> bool:
        """Let a paused task go on; whether the idempotency key was known."""
        request = task.ResumeTaskRequest(run_id=run_id, reason=reason, idempotency_key=key)
        call = self._stub.ResumeTask(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return (await answered(call, PEER)).replayed

    async def control_state(self, run_id: str, *, owner: str) -> task.GetControlStateResponse:
        """What was done to a task from outside."""
        request = task.GetControlStateRequest(run_id=run_id)
        call = self._stub.GetControlState(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, PEER)

    async def list_sessions(
        self, *, limit: int, offset: int, owner: str
    ) -> task.ListTaskSessionsResponse:
        """A page of sessions."""
        request = task.ListTaskSessionsRequest(limit=limit, offset=offset)
        call = self._stub.ListTaskSessions(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, PEER)

    async def get_session(self, session: str, *, owner: str) -> task.TaskSession:
        """A session by its own id, or by the one that the caller chose."""
        request = task.GetTaskSessionRequest(session=session)
        call = self._stub.GetTaskSession(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return (await answered(call, PEER)).session


class Reviews:
    """Plans that wait for a person, and steps that wait for consent."""

    def __init__(self, channel: grpc.aio.Channel, *, deadline_s: float, planner_s: float) -> None:
        self._stub = review_rpc.ReviewServiceStub(channel)
        self._deadline_s = deadline_s
        self._planner_s = planner_s

    async def get(self, run_id: str, *, owner: str) -> review.Review:
        """The review of a run's plan."""
        request = review.GetReviewRequest(run_id=run_id)
        call = self._stub.GetReview(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return (await answered(call, PEER)).review

    async def send_feedback(
        self, run_id: str, message: str, version: int | None, *, owner: str
    ) -> review.SendFeedbackResponse:
        """Let the planner reply to a comment."""
        request = review.SendFeedbackRequest(
            run_id=run_id, message=message, expected_version=version
        )
        call = self._stub.SendFeedback(
            request, timeout=self._planner_s, metadata=metadata_of(owner)
        )
        return await answered(call, PEER)

    async def approve(self, run_id: str, version: int | None, *, owner: str) -> None:
        """Let the research begin."""
        request = review.ApproveRequest(run_id=run_id, expected_version=version)
        call = self._stub.Approve(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        await answered(call, PEER)

    async def decide_approval(
        self, request: review.DecideApprovalRequest, *, owner: str
    ) -> review.DecideApprovalResponse:
        """Give or refuse consent to a step."""
        call = self._stub.DecideApproval(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, PEER)
