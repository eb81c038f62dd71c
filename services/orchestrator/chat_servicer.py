"""ChatService: validate, call the store, answer."""

from services.chassis.server import Context, owner_of
from services.orchestrator.chat_messages import (
    body_hash,
    events_to_proto,
    page_to_proto,
    refuse_nul,
    session_to_proto,
    summary_to_proto,
    valid_id,
    valid_key,
    valid_limit,
    valid_query,
)
from services.orchestrator.checkpoint import PLAN_REVIEW, Choice
from services.orchestrator.control_messages import (
    answer_from_proto,
    checkpoint_to_proto,
    feedback_from_proto,
    valid_title,
)
from services.orchestrator.convert import passage_to_proto
from services.orchestrator.errors import (
    CheckpointExpired,
    FeedbackInProgress,
    ReviewApproved,
    ReviewNotFound,
)
from services.orchestrator.reviewing import Reviewing
from services.orchestrator.signals import Signals
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.checkpoints import Checkpoints, Decided
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.reviews import Feedback
from services.orchestrator.store.runs import Runs, Started
from services.orchestrator.store.sessions import Sessions
from services.orchestrator.turns import Rules, chat_turn
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.ChatService"


# What a review says where a decision has its own words.
IN_THE_WAY = (ReviewNotFound, ReviewApproved, CheckpointExpired, FeedbackInProgress)


class ChatServicer(rpc.ChatServiceServicer):
    """Sessions and their runs; what belongs to another owner does not exist."""

    def __init__(
        self,
        runs: Runs,
        sessions: Sessions,
        checkpoints: Checkpoints,
        control: Control,
        reviewing: Reviewing,
        rules: Rules,
        signals: Signals,
    ) -> None:
        self._runs = runs
        self._sessions = sessions
        self._checkpoints = checkpoints
        self._control = control
        self._reviewing = reviewing
        self._rules = rules
        self._signals = signals

    async def StartTurn(
        self, request: pb.StartTurnRequest, context: Context
    ) -> pb.StartTurnResponse:
        """Store a run, which this process works on if it has room."""
        session_id = valid_id(request.session_id, "session_id") if request.session_id else ""
        turn = chat_turn(request, self._rules, owner=owner_of(context), session_id=session_id)
        with self._signals.place() as claimant:
            started = await self._runs.start_turn(turn, claimant)
            await self._goes_on(started)
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
        owner, run_id = owner_of(context), valid_id(request.run_id, "run_id")
        if request.session_id:
            session_id = valid_id(request.session_id, "session_id")
        else:
            session_id = await self._sessions.session_of(owner, run_id)
        page = await self._sessions.events(
            owner,
            session_id,
            run_id,
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
        """Answer a checkpoint; the run goes on at once, or after feedback waits on."""
        answer = answer_from_proto(request, owner_of(context))
        if answer.choice is Choice.FEEDBACK:
            decided = await self._feedback(feedback_from_proto(request, answer), answer)
        else:
            with self._signals.place() as claimant:
                decided = await self._checkpoints.decide(answer, claimant)
                await self._goes_on(decided)
        return pb.DecideResponse(
            session_id=answer.session_id,
            run_id=answer.run_id,
            after_sequence=decided.after_sequence,
            replayed=decided.replayed,
        )

    async def _goes_on(self, write: Started | Decided) -> None:
        if write.claimed is None or write.told is None:
            await self._signals.work()
        else:
            await self._signals.taken(write.claimed, write.told)

    async def _feedback(self, feedback: Feedback, answer: Answer) -> Decided:
        repeated = await self._reviewing.repeated(feedback)
        if repeated is not None:
            return Decided(after_sequence=repeated, replayed=True)
        if answer.interrupt_id != PLAN_REVIEW:
            raise await self._checkpoints.refusal(answer)
        try:
            replied = await self._reviewing.feedback(feedback)
        except IN_THE_WAY as error:
            # The same, in the words of every other decision.
            raise await self._checkpoints.refusal(answer) from error
        return Decided(after_sequence=replied.after_sequence, replayed=False)

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
