"""TaskService: validate, call the store, answer."""

from dataclasses import replace

from services.chassis.server import Context, owner_of
from services.orchestrator.chat_messages import valid_id, valid_key, valid_limit
from services.orchestrator.control_messages import steering
from services.orchestrator.signals import Signals
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.task_sessions import TaskSessionStore
from services.orchestrator.store.tasks import TaskStore
from services.orchestrator.task_messages import (
    control_to_proto,
    filter_from_proto,
    session_to_proto,
    submitted,
    task_to_proto,
    valid_offset,
    valid_session,
    warnings_to_proto,
)
from services.orchestrator.turns import Rules, task_turn
from zocrates.orchestrator.v1 import task_pb2 as pb
from zocrates.orchestrator.v1 import task_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.TaskService"


class TaskServicer(rpc.TaskServiceServicer):
    """Tasks by run id alone; what belongs to another owner does not exist."""

    def __init__(
        self,
        tasks: TaskStore,
        sessions: TaskSessionStore,
        control: Control,
        pausing: Pausing,
        rules: Rules,
        signals: Signals,
    ) -> None:
        self._tasks = tasks
        self._sessions = sessions
        self._control = control
        self._pausing = pausing
        self._rules = rules
        self._signals = signals

    async def SubmitTask(
        self, request: pb.SubmitTaskRequest, context: Context
    ) -> pb.SubmitTaskResponse:
        """Store a task and say that there is work."""
        turn, clamps = task_turn(request, self._rules, owner=owner_of(context))
        turn = replace(turn, task=submitted(request))
        done = await self._tasks.submit(turn, valid_session(request.session))
        await self._signals.work()
        reply = pb.SubmitTaskResponse(
            run_id=done.run_id,
            session_id=done.session_id,
            external_session_id=done.external_id,
            replayed=done.replayed,
            warnings=warnings_to_proto(clamps),
        )
        reply.create_time.FromDatetime(done.create_time)
        return reply

    async def GetTask(self, request: pb.GetTaskRequest, context: Context) -> pb.GetTaskResponse:
        """A task as it is now."""
        task = await self._tasks.get(owner_of(context), valid_id(request.run_id, "run_id"))
        return pb.GetTaskResponse(task=task_to_proto(task))

    async def ListTasks(
        self, request: pb.ListTasksRequest, context: Context
    ) -> pb.ListTasksResponse:
        """A page of tasks."""
        page = await self._tasks.list(filter_from_proto(request, owner_of(context)))
        return pb.ListTasksResponse(
            tasks=[task_to_proto(task) for task in page.tasks], total_count=page.total
        )

    async def CancelTask(
        self, request: pb.CancelTaskRequest, context: Context
    ) -> pb.CancelTaskResponse:
        """End a task; its worker is told."""
        replayed = await self._control.cancel(
            await self._target(request, context),
            reason=steering(request.reason, "reason"),
            key=valid_key(request.idempotency_key),
        )
        await self._signals.withdrawal()
        return pb.CancelTaskResponse(replayed=replayed)

    async def PauseTask(
        self, request: pb.PauseTaskRequest, context: Context
    ) -> pb.PauseTaskResponse:
        """Let a task stop before its next step."""
        replayed = await self._pausing.pause(
            await self._target(request, context),
            reason=steering(request.reason, "reason"),
            key=valid_key(request.idempotency_key),
        )
        await self._signals.decided()
        return pb.PauseTaskResponse(replayed=replayed)

    async def ResumeTask(
        self, request: pb.ResumeTaskRequest, context: Context
    ) -> pb.ResumeTaskResponse:
        """Let a task go on."""
        replayed = await self._pausing.resume(
            await self._target(request, context),
            reason=steering(request.reason, "reason"),
            key=valid_key(request.idempotency_key),
        )
        await self._signals.decided()
        return pb.ResumeTaskResponse(replayed=replayed)

    async def GetControlState(
        self, request: pb.GetControlStateRequest, context: Context
    ) -> pb.GetControlStateResponse:
        """What was wished for a task from outside."""
        task = await self._tasks.get(owner_of(context), valid_id(request.run_id, "run_id"))
        return control_to_proto(task)

    async def ListTaskSessions(
        self, request: pb.ListTaskSessionsRequest, context: Context
    ) -> pb.ListTaskSessionsResponse:
        """A page of sessions."""
        page = await self._sessions.list(
            owner_of(context),
            limit=valid_limit(request.limit, default=20, most=100),
            offset=valid_offset(request.offset),
        )
        return pb.ListTaskSessionsResponse(
            sessions=[session_to_proto(one) for one in page.sessions], total_count=page.total
        )

    async def GetTaskSession(
        self, request: pb.GetTaskSessionRequest, context: Context
    ) -> pb.GetTaskSessionResponse:
        """A session by either id."""
        session = await self._sessions.get(owner_of(context), valid_session(request.session))
        return pb.GetTaskSessionResponse(session=session_to_proto(session))

    async def _target(
        self,
        request: pb.CancelTaskRequest | pb.PauseTaskRequest | pb.ResumeTaskRequest,
        context: Context,
    ) -> Target:
        """The task with its session, which never changes. Raises UnknownRun."""
        owner, run_id = owner_of(context), valid_id(request.run_id, "run_id")
        session_id = (await self._tasks.get(owner, run_id)).session_id
        return Target(owner=owner, session_id=session_id, run_id=run_id)
