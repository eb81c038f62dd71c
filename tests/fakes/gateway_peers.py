"""The gateway's peers as scripted servicers: tests say what is recorded, real gRPC carries it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.json_format import MessageToJson
from google.protobuf.timestamp_pb2 import Timestamp

from services.chassis.bus import Bus
from services.chassis.errors import ServiceError
from services.chassis.server import Context, owner_of
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as chat
from zocrates.orchestrator.v1 import chat_pb2_grpc as chat_rpc
from zocrates.search.v1 import search_pb2 as search
from zocrates.search.v1 import search_pb2_grpc as search_rpc

AT = Timestamp(seconds=1_790_000_000)


def refusal(code: grpc.StatusCode, reason: str, message: str = "No.") -> ServiceError:
    """An error of a service, as its own class would be."""
    kind = type(reason, (ServiceError,), {"code": code, "reason": reason})
    error = kind(message, asked="this")
    assert isinstance(error, ServiceError)
    return error


@dataclass
class RecordedRun:
    """A run and its rows."""

    session_id: str = field(default_factory=lambda: uuid4().hex)
    run_id: str = field(default_factory=lambda: uuid4().hex)
    owner: str = "ada"
    prompt: str = "Why?"
    state: chat.RunState.ValueType = chat.RUN_STATE_RUNNING
    events: list[event_pb2.Event] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Where the gateway streams it."""
        return f"/sessions/{self.session_id}/runs/{self.run_id}/events"

    def record(self, **payload: Any) -> event_pb2.Event:
        """Write the next row; an answer or error sets the state too."""
        event = event_pb2.Event(
            session_id=self.session_id,
            run_id=self.run_id,
            sequence=len(self.events) + 1,
            time=AT,
            **payload,
        )
        self.events.append(event)
        if "answer" in payload:
            self.state = chat.RUN_STATE_COMPLETED
        if "error" in payload:
            self.state = chat.RUN_STATE_FAILED
        return event

    async def tell(self, bus: Bus, **payload: Any) -> None:
        """Record a row and publish it, as the relay does."""
        await self.publish(bus, self.record(**payload))

    async def publish(self, bus: Bus, event: event_pb2.Event) -> None:
        """Publish a row again or late."""
        kind = event.WhichOneof("payload")
        body = MessageToJson(event, preserving_proto_field_name=True).encode()
        await bus.publish(f"zocrates.events.{self.session_id}.{self.run_id}.{kind}", body)

    async def write(
        self, bus: Bus, text: str, *, offset: int, attempt: int = 1, after: int | None = None
    ) -> None:
        """Publish a piece of the answer."""
        delta = event_pb2.AnswerDelta(
            session_id=self.session_id,
            run_id=self.run_id,
            after_sequence=len(self.events) if after is None else after,
            attempt=attempt,
            offset=offset,
            text=text,
        )
        body = MessageToJson(delta, preserving_proto_field_name=True).encode()
        await bus.publish(f"zocrates.deltas.{self.session_id}.{self.run_id}", body)


class ScriptedOrchestrator(chat_rpc.ChatServiceServicer):
    """Tells what the tests recorded."""

    def __init__(self) -> None:
        self.runs: dict[str, RecordedRun] = {}
        self.turns: list[chat.StartTurnRequest] = []
        self.owners: list[str] = []
        self.traces: list[str] = []
        self.evidence: dict[tuple[str, str], corpus.Passage] = {}
        self.listings = 0
        self.page_size = 500
        self.refuses: ServiceError | None = None
        self.hangs = False

    def add(self, **fields: Any) -> RecordedRun:
        """A run that exists."""
        run = RecordedRun(**fields)
        run.record(run_started=event_pb2.RunStarted(prompt=run.prompt))
        self.runs[run.run_id] = run
        return run

    async def StartTurn(
        self, request: chat.StartTurnRequest, context: Context
    ) -> chat.StartTurnResponse:
        self._enter(context)
        self.turns.append(request)
        run = self.add(owner=owner_of(context), prompt=request.prompt)
        return chat.StartTurnResponse(session_id=run.session_id, run_id=run.run_id)

    async def ListEvents(
        self, request: chat.ListEventsRequest, context: Context
    ) -> chat.ListEventsResponse:
        self._enter(context)
        self.listings += 1
        run = self._run(request.run_id, context)
        rows = run.events[request.after_sequence :][: min(request.limit, self.page_size)]
        return chat.ListEventsResponse(events=rows, last_sequence=len(run.events), state=run.state)

    async def ListSessions(
        self, request: chat.ListSessionsRequest, context: Context
    ) -> chat.ListSessionsResponse:
        self._enter(context)
        if self.hangs:
            await asyncio.Event().wait()
        mine = [run for run in self.runs.values() if run.owner == owner_of(context)]
        sessions = [
            chat.SessionSummary(
                session_id=run.session_id,
                title=run.prompt,
                create_time=AT,
                update_time=AT,
                state=run.state,
            )
            for run in mine
        ]
        return chat.ListSessionsResponse(sessions=sessions[: request.limit])

    async def GetSession(
        self, request: chat.GetSessionRequest, context: Context
    ) -> chat.GetSessionResponse:
        self._enter(context)
        for run in self.runs.values():
            if run.session_id == request.session_id and run.owner == owner_of(context):
                message = chat.Message(
                    run_id=run.run_id,
                    prompt=run.prompt,
                    create_time=AT,
                    state=run.state,
                    events=run.events,
                )
                return chat.GetSessionResponse(
                    session_id=run.session_id, title=run.prompt, messages=[message]
                )
        raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_SESSION", "There is no such session.")

    async def GetEvidence(
        self, request: chat.GetEvidenceRequest, context: Context
    ) -> chat.GetEvidenceResponse:
        self._enter(context)
        self._run(request.run_id, context)
        passage = self.evidence.get((request.run_id, request.passage_id))
        if passage is None:
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_PASSAGE")
        return chat.GetEvidenceResponse(passage=passage)

    def _enter(self, context: Context) -> None:
        self.owners.append(owner_of(context))
        sent = dict(context.invocation_metadata() or ())
        self.traces.append(str(sent.get("traceparent", "")))
        if self.refuses is not None:
            raise self.refuses

    def _run(self, run_id: str, context: Context) -> RecordedRun:
        run = self.runs.get(run_id)
        if run is None or run.owner != owner_of(context):
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_RUN", "There is no such run.")
        return run


class ScriptedSearch(search_rpc.SearchServiceServicer):
    """An index of a few passages."""

    def __init__(self) -> None:
        self.passages: list[corpus.Passage] = []

    async def ReadDocument(
        self, request: search.ReadDocumentRequest, context: Context
    ) -> search.ReadDocumentResponse:
        window = request.around
        middle = next((p for p in self.passages if p.passage_id == window.passage_id), None)
        if middle is None:
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_PASSAGE")
        near = [
            passage
            for passage in self.passages
            if -window.before <= passage.ordinal - middle.ordinal <= window.after
        ]
        return search.ReadDocumentResponse(document=middle.document, passages=near)

    async def SearchCorpus(
        self, request: search.SearchCorpusRequest, context: Context
    ) -> search.SearchCorpusResponse:
        raise AssertionError("the gateway does not search")

    async def GetDocumentToc(
        self, request: search.GetDocumentTocRequest, context: Context
    ) -> search.GetDocumentTocResponse:
        raise AssertionError("the gateway reads no tables of contents")

    async def FindQuote(
        self, request: search.FindQuoteRequest, context: Context
    ) -> search.FindQuoteResponse:
        raise AssertionError("the gateway finds no quotes")


class ScriptedLibrary(search_rpc.LibraryServiceServicer):
    """A library whose state the tests set."""

    def __init__(self) -> None:
        self.status = search.GetStatusResponse()
        self.progress: list[search.SyncProgress] = []
        self.refuses: ServiceError | None = None

    async def GetStatus(
        self, request: search.GetStatusRequest, context: Context
    ) -> search.GetStatusResponse:
        return self.status

    async def Sync(
        self, request: search.SyncRequest, context: Context
    ) -> AsyncIterator[search.SyncProgress]:
        for progress in self.progress:
            yield progress
        if self.refuses is not None:
            raise self.refuses
