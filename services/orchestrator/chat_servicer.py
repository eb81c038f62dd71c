"""ChatService: validate, call the store, answer."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict

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
    valid_id,
    valid_key,
    valid_limit,
    valid_prompt,
    valid_query,
)
from services.orchestrator.convert import items_from_proto, passage_to_proto, scope_from_proto
from services.orchestrator.run import Stage
from services.orchestrator.store.runs import Runs, Turn
from services.orchestrator.store.sessions import Sessions
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.ChatService"


class ChatServicer(rpc.ChatServiceServicer):
    """Sessions and their runs; what belongs to another owner does not exist."""

    def __init__(
        self,
        runs: Runs,
        sessions: Sessions,
        harness: Harness,
        announce: Callable[[], Awaitable[None]],
    ) -> None:
        self._runs = runs
        self._sessions = sessions
        self._harness = harness
        self._announce = announce

    async def StartTurn(
        self, request: pb.StartTurnRequest, context: Context
    ) -> pb.StartTurnResponse:
        """Store a run and say that there is work."""
        started = await self._runs.start_turn(self._turn(request, owner_of(context)))
        await self._announce()
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
