"""The processes that the gateway calls: each call with a deadline, an owner, errors translated."""

from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from typing import Literal, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway.errors import error_of
from services.chassis.dependencies import PREFIX
from services.chassis.errors import failure_of
from services.chassis.server import OWNER_KEY
from services.chassis.telemetry import EventLog, trace_headers
from zocrates.events.v1 import event_pb2 as events
from zocrates.orchestrator.v1 import chat_pb2 as chat
from zocrates.orchestrator.v1 import chat_pb2_grpc as chat_rpc
from zocrates.search.v1 import search_pb2 as search
from zocrates.search.v1 import search_pb2_grpc as search_rpc
from zocrates.search.v1 import sync_control_pb2

log = EventLog(__name__)

PROBE_S = 1.0
FEEDBACK = events.DECISION_ACTION_FEEDBACK
MOST_EVENTS = 1000
# A first sync of a large library takes hours; who still listens then may join it again.
SYNC_DEADLINE_S = 12 * 3600.0

T = TypeVar("T")
PeerState = Literal["serving", "not_serving", "unreachable"]


async def answered(call: Awaitable[T], peer: str) -> T:
    """The reply to a call; raises what its failure means to a client."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        told = error_of(failure_of(error), peer)
        if told.code == "INTERNAL":
            log.warning("peer_failed", peer=peer, status=error.code().name, text=error.details())
        raise told from error


def metadata_of(owner: str) -> tuple[tuple[str, str], ...]:
    """What travels with a call: for whom it is made, and in which trace."""
    return ((OWNER_KEY, owner), *trace_headers().items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a process is, and what it misses."""

    state: PeerState
    missing: frozenset[str] = frozenset()


async def standing_of(channel: grpc.aio.Channel) -> Standing:
    """What the process behind the channel says about its health and about what it depends on."""
    stub = health_pb2_grpc.HealthStub(channel)
    try:
        reply = await stub.List(health_pb2.HealthListRequest(), timeout=PROBE_S)  # type: ignore[attr-defined]  # made at run time
    except grpc.aio.AioRpcError:
        return Standing(state="unreachable")
    serving = health_pb2.HealthCheckResponse.SERVING
    away = {name for name, told in reply.statuses.items() if told.status != serving}
    return Standing(
        state="not_serving" if "" in away else "serving",
        missing=frozenset(name.removeprefix(PREFIX) for name in away if name.startswith(PREFIX)),
    )


class Orchestrator:
    """Sessions and runs."""

    def __init__(self, channel: grpc.aio.Channel, *, deadline_s: float, planner_s: float) -> None:
        self._stub = chat_rpc.ChatServiceStub(channel)
        self._deadline_s = deadline_s
        self._planner_s = planner_s

    async def start_turn(
        self, request: chat.StartTurnRequest, *, owner: str
    ) -> chat.StartTurnResponse:
        """Start a run, or find the one that the idempotency key already started."""
        call = self._stub.StartTurn(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, "orchestrator")

    async def list_events(
        self, *, session_id: str, run_id: str, after: int, owner: str
    ) -> chat.ListEventsResponse:
        """The next page of a run's rows after a sequence."""
        request = chat.ListEventsRequest(
            session_id=session_id, run_id=run_id, after_sequence=after, limit=MOST_EVENTS
        )
        call = self._stub.ListEvents(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, "orchestrator")

    async def all_events(self, *, session_id: str, run_id: str, owner: str) -> list[events.Event]:
        """All of a run's rows that are kept."""
        found: list[events.Event] = []
        after = 0
        while True:
            page = await self.list_events(
                session_id=session_id, run_id=run_id, after=after, owner=owner
            )
            if page.HasField("snapshot"):
                return list(page.snapshot.events)
            found += page.events
            if not page.events or found[-1].sequence >= page.last_sequence:
                return found
            after = found[-1].sequence

    async def list_sessions(
        self, *, limit: int, cursor: str, query: str, owner: str
    ) -> chat.ListSessionsResponse:
        """A page of the owner's sessions."""
        request = chat.ListSessionsRequest(limit=limit, cursor=cursor, query=query)
        call = self._stub.ListSessions(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "orchestrator")

    async def get_session(self, session_id: str, *, owner: str) -> chat.GetSessionResponse:
        """A session with the events of its runs."""
        request = chat.GetSessionRequest(session_id=session_id)
        call = self._stub.GetSession(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, "orchestrator")

    async def get_evidence(
        self, *, run_id: str, passage_id: str, owner: str
    ) -> chat.GetEvidenceResponse:
        """A passage as the run recorded it."""
        request = chat.GetEvidenceRequest(run_id=run_id, passage_id=passage_id)
        call = self._stub.GetEvidence(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "orchestrator")

    async def decide(self, request: chat.DecideRequest, *, owner: str) -> chat.DecideResponse:
        """Answer the checkpoint that a run waits at."""
        # Feedback on a plan returns when the planner has replied.
        deadline_s = self._planner_s if request.action == FEEDBACK else self._deadline_s
        call = self._stub.Decide(request, timeout=deadline_s, metadata=metadata_of(owner))
        return await answered(call, "orchestrator")

    async def get_checkpoint(
        self, *, session_id: str, run_id: str, owner: str
    ) -> chat.GetCheckpointResponse:
        """The checkpoint that a run waits at, with its snapshot."""
        request = chat.GetCheckpointRequest(session_id=session_id, run_id=run_id)
        call = self._stub.GetCheckpoint(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "orchestrator")

    async def cancel_run(self, *, session_id: str, run_id: str, owner: str) -> None:
        """Cancel a run, at once."""
        request = chat.CancelRunRequest(session_id=session_id, run_id=run_id)
        call = self._stub.CancelRun(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        await answered(call, "orchestrator")

    async def rewind_session(
        self, *, session_id: str, run_id: str, owner: str
    ) -> chat.RewindSessionResponse:
        """Take a run and all later ones out of the session."""
        request = chat.RewindSessionRequest(session_id=session_id, run_id=run_id)
        call = self._stub.RewindSession(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "orchestrator")

    async def retry_run(
        self, *, session_id: str, run_id: str, key: str, owner: str
    ) -> chat.RetryRunResponse:
        """Let a failed or cancelled run go on, or find that the idempotency key already did."""
        request = chat.RetryRunRequest(session_id=session_id, run_id=run_id, idempotency_key=key)
        call = self._stub.RetryRun(request, timeout=self._deadline_s, metadata=metadata_of(owner))
        return await answered(call, "orchestrator")

    async def rename_session(
        self, *, session_id: str, title: str, owner: str
    ) -> chat.RenameSessionResponse:
        """Give a session another title."""
        request = chat.RenameSessionRequest(session_id=session_id, title=title)
        call = self._stub.RenameSession(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "orchestrator")

    async def delete_session(self, session_id: str, *, owner: str) -> None:
        """Delete a session with its runs."""
        request = chat.DeleteSessionRequest(session_id=session_id)
        call = self._stub.DeleteSession(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        await answered(call, "orchestrator")


class Search:
    """The library index."""

    def __init__(self, channel: grpc.aio.Channel, *, deadline_s: float) -> None:
        self._search = search_rpc.SearchServiceStub(channel)
        self._library = search_rpc.LibraryServiceStub(channel)
        self._deadline_s = deadline_s

    async def read_around(
        self, passage_id: str, *, each_side: int, owner: str
    ) -> search.ReadDocumentResponse:
        """A passage with its neighbours in the document."""
        window = search.PassageWindow(passage_id=passage_id, before=each_side, after=each_side)
        request = search.ReadDocumentRequest(around=window)
        call = self._search.ReadDocument(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "search")

    async def get_status(self, *, owner: str) -> search.GetStatusResponse:
        """The library as the index knows it."""
        call = self._library.GetStatus(
            search.GetStatusRequest(), timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "search")

    async def set_source(self, request: search.SetSourceRequest, *, owner: str) -> None:
        """Read the library from another place from now on."""
        call = self._library.SetSource(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        await answered(call, "search")

    async def stop_sync(self, *, owner: str) -> sync_control_pb2.StopSyncResponse:
        """End the running sync where it is."""
        call = self._library.StopSync(
            sync_control_pb2.StopSyncRequest(),
            timeout=self._deadline_s,
            metadata=metadata_of(owner),
        )
        return await answered(call, "search")

    async def notify_change(
        self, request: sync_control_pb2.NotifyChangeRequest, *, owner: str
    ) -> None:
        """Say that the library changed."""
        call = self._library.NotifyChange(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        await answered(call, "search")

    async def list_collections(
        self, request: search.ListCollectionsRequest, *, owner: str
    ) -> search.ListCollectionsResponse:
        """What a scope can name, with counts."""
        call = self._library.ListCollections(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "search")

    async def list_documents(
        self, request: search.ListDocumentsRequest, *, owner: str
    ) -> search.ListDocumentsResponse:
        """A page of a scope's documents."""
        call = self._library.ListDocuments(
            request, timeout=self._deadline_s, metadata=metadata_of(owner)
        )
        return await answered(call, "search")

    async def sync(
        self, request: search.SyncRequest, *, owner: str
    ) -> AsyncGenerator[search.SyncProgress, None]:
        """Progress of a sync, of the running one if there is; who goes away does not stop it."""
        call = self._library.Sync(request, timeout=SYNC_DEADLINE_S, metadata=metadata_of(owner))
        try:
            async for progress in call:
                yield progress
        except grpc.aio.AioRpcError as error:
            raise error_of(failure_of(error), "search") from error
        finally:
            call.cancel()
