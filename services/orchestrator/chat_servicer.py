"""ChatService: validate, call the store, answer."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from services.chassis.server import Context, owner_of
from services.chassis.telemetry import trace_headers
from services.orchestrator import ceilings, events
from services.orchestrator.ceilings import Harness
from services.orchestrator.chat_messages import (
    body_hash,
    events_to_proto,
    page_to_proto,
    refuse_nul,
    require_turn,
    session_to_proto,
    summary_to_proto,
    valid_id,
    valid_key,
    valid_limit,
    valid_prompt,
    valid_query,
)
from services.orchestrator.control_messages import (
    answer_from_proto,
    checkpoint_to_proto,
    valid_title,
)
from services.orchestrator.convert import items_from_proto, passage_to_proto, scope_from_proto
from services.orchestrator.run import Stage
from services.orchestrator.store.checkpoints import Checkpoints
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.runs import Runs, Turn
from services.orchestrator.store.sessions import Sessions
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.ChatService"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Hints to this process and, as far as NATS is there, to the others."""

    work: Callable[[], Awaitable[None]]
    """A run can be taken."""
    withdrawal: Callable[[], Awaitable[None]]
    """A run may have been taken from its holder."""


class ChatServicer(rpc.ChatServiceServicer):
    """Sessions and their runs; what belongs to another owner does not exist."""

    def __init__(
        self,
        runs: Runs,
        sessions: Sessions,
        checkpoints: Checkpoints,
        control: Control,
        harness: Harness,
        signals: Signals,
    ) -> None:
        self._runs = runs
        self._sessions = sessions
        self._checkpoints = checkpoints
        self._control = control
        self._harness = harness
        self._signals = signals

    async def StartTurn(
        self, request: pb.StartTurnRequest, context: Context
    ) -> pb.StartTurnResponse:
        """Store a run and say that there is work."""
        started = await self._runs.start_turn(self._turn(request, owner_of(context)))
        await self._signals.work()
        return pb.StartTurnResponse(
            session_id=started.session_id, run_id=started.run_id, replayed=started.replayed
        )

    async def GetSession(
        self, request: pb.GetSessionRequest, context: Context
    ) -> pb.GetSessionResponse:
        """A session with its runs as messages."""
        session_id = valid_id(request.session_id, "session_id")
        return session_to_proto(await self._sessions.get(owner_of(context), session_id))

    async def ListSessions(
        self, request: pb.ListSessionsRequest, context: Context
    ) -> pb.ListSessionsResponse:
        """A page of sessions."""
        page = await self._sessions.list(
            owner_of(context),
            query=valid_query(request.query),
            cursor=request.cursor,
            limit=valid_limit(request.limit, default=20, most=100),
        )
        return page_to_proto(page)

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: Context
    ) -> pb.ListEventsResponse:
        """Events after a position."""
        page = await self._sessions.events(
            owner_of(context),
            valid_id(request.session_id, "session_id"),
            valid_id(request.run_id, "run_id"),
            after=request.after_sequence,
            limit=valid_limit(request.limit, default=500, most=1_000),
        )
        return events_to_proto(page)

    async def GetEvidence(
        self, request: pb.GetEvidenceRequest, context: Context
    ) -> pb.GetEvidenceResponse:
        """A passage as recorded."""
        refuse_nul(request.passage_id, "passage_id")
        session_id, passage = await self._sessions.passage(
            owner_of(context), valid_id(request.run_id, "run_id"), request.passage_id
        )
        return pb.GetEvidenceResponse(passage=passage_to_proto(passage), session_id=session_id)

    async def Decide(self, request: pb.DecideRequest, context: Context) -> pb.DecideResponse:
        """Answer a checkpoint; the run goes on at once."""
        answer = answer_from_proto(request, owner_of(context))
        decided = await self._checkpoints.decide(answer)
        await self._signals.work()
        return pb.DecideResponse(
            session_id=answer.session_id,
            run_id=answer.run_id,
            after_sequence=decided.after_sequence,
            replayed=decided.replayed,
        )

    async def GetCheckpoint(
        self, request: pb.GetCheckpointRequest, context: Context
    ) -> pb.GetCheckpointResponse:
        """The question that a run waits for."""
        one = _target(request, context)
        return checkpoint_to_proto(
            await self._checkpoints.pending(one.owner, one.session_id, one.run_id)
        )

    async def CancelRun(
        self, request: pb.CancelRunRequest, context: Context
    ) -> pb.CancelRunResponse:
        """End a run; its worker is told."""
        await self._control.cancel(_target(request, context))
        await self._signals.withdrawal()
        return pb.CancelRunResponse()

    async def RewindSession(
        self, request: pb.RewindSessionRequest, context: Context
    ) -> pb.RewindSessionResponse:
        """Take runs out of the history; their workers are told."""
        run_ids = await self._control.rewind(_target(request, context))
        await self._signals.withdrawal()
        return pb.RewindSessionResponse(run_ids=run_ids)

    async def RetryRun(self, request: pb.RetryRunRequest, context: Context) -> pb.RetryRunResponse:
        """Let a run go on after its end."""
        retried = await self._control.retry(
            _target(request, context),
            key=valid_key(request.idempotency_key),
            body_hash=body_hash(request),
        )
        await self._signals.work()
        return pb.RetryRunResponse(after_sequence=retried.after_sequence, replayed=retried.replayed)

    async def RenameSession(
        self, request: pb.RenameSessionRequest, context: Context
    ) -> pb.RenameSessionResponse:
        """Give a session another title."""
        session_id = valid_id(request.session_id, "session_id")
        summary = await self._control.rename(
            owner_of(context), session_id, valid_title(request.title)
        )
        return pb.RenameSessionResponse(session=summary_to_proto(summary))

    async def DeleteSession(
        self, request: pb.DeleteSessionRequest, context: Context
    ) -> pb.DeleteSessionResponse:
        """Forget a session; the workers of its runs are told."""
        session_id = valid_id(request.session_id, "session_id")
        await self._control.delete(owner_of(context), session_id)
        await self._signals.withdrawal()
        return pb.DeleteSessionResponse()

    def _turn(self, request: pb.StartTurnRequest, owner: str) -> Turn:
        prompt = valid_prompt(request.prompt)
        session_id = valid_id(request.session_id, "session_id") if request.session_id else ""
        key = valid_key(request.idempotency_key)
        require_turn(request)
        asked = request.options
        options, warnings = ceilings.clamp(
            self._harness,
            max_extensions=asked.max_extensions if asked.HasField("max_extensions") else None,
            hitl_enabled=asked.hitl_enabled if asked.HasField("hitl_enabled") else None,
        )
        return Turn(
            owner=owner,
            session_id=session_id,
            prompt=prompt,
            active_items=items_from_proto(request.active_items),
            scope=scope_from_proto(request.scope),
            options=asdict(options),
            ceilings=asdict(self._harness),
            trace=trace_headers(),
            events=[
                events.run_started(prompt, options, self._harness.ceilings(0), warnings),
                events.stage_entered(Stage.CONVERSE, 0),
            ],
            idempotency_key=key,
            body_hash=body_hash(request),
        )


def _target(
    request: pb.GetCheckpointRequest
    | pb.CancelRunRequest
    | pb.RewindSessionRequest
    | pb.RetryRunRequest,
    context: Context,
) -> Target:
    return Target(
        owner=owner_of(context),
        session_id=valid_id(request.session_id, "session_id"),
        run_id=valid_id(request.run_id, "run_id"),
    )
