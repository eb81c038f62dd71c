"""The orchestrator as a scripted servicer: tests say what is recorded, real gRPC carries it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.json_format import MessageToJson
from google.protobuf.timestamp_pb2 import Timestamp

from services.chassis.bus import Bus
from services.chassis.errors import ServiceError
from services.chassis.server import Context, owner_of
from tests.fakes.gateway_models import ScriptedModels
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as chat
from zocrates.orchestrator.v1 import chat_pb2_grpc as chat_rpc

AT = Timestamp(seconds=1_790_000_000)


def refusal(
    code: grpc.StatusCode, reason: str, message: str = "No.", **facts: object
) -> ServiceError:
    """An error of a service, as its own class would be."""
    kind = type(reason, (ServiceError,), {"code": code, "reason": reason})
    error = kind(message, **(facts or {"asked": "this"}))
    assert isinstance(error, ServiceError)
    return error


def question(extension: int = 1, **fields: Any) -> event_pb2.RequestInput:
    """A budget checkpoint of the usual progression."""
    limits = [
        event_pb2.Ceilings(calls=10 + 5 * n, words=7_500 + 3_750 * n, passages=15 + 5 * n)
        for n in (extension - 1, extension)
    ]
    return event_pb2.RequestInput(
        interrupt_id=f"interrupt_ext_{extension}",
        kind=event_pb2.CHECKPOINT_KIND_BUDGET,
        version=1,
        message="The search left gaps.",
        response_schema='{"type": "object", "required": ["action"]}',
        budget=event_pb2.BudgetCheckpoint(
            extension_number=extension,
            max_extensions=2,
            trigger=event_pb2.EXTENSION_TRIGGER_AGENT,
            covered_summary="Naps help.",
            gaps=["Older adults", "Dose"],
            used=event_pb2.BudgetUsed(
                calls=limits[0].calls, words=6_200, passages_found=31, documents=7
            ),
            limits=limits[0],
            next_limits=limits[1],
            justification="Two aspects have no source yet.",
        ),
        **fields,
    )


@dataclass
class RecordedRun:
    """A run and its rows."""

    session_id: str = field(default_factory=lambda: uuid4().hex)
    run_id: str = field(default_factory=lambda: uuid4().hex)
    owner: str = "ada"
    prompt: str = "Why?"
    state: chat.RunState.ValueType = chat.RUN_STATE_RUNNING
    events: list[event_pb2.Event] = field(default_factory=list)
    pending: event_pb2.RequestInput | None = None
    # How many of the first rows are no longer kept.
    forgotten: int = 0

    @property
    def path(self) -> str:
        """Where the gateway streams it."""
        return f"/sessions/{self.session_id}/runs/{self.run_id}/events"

    def record(self, **payload: Any) -> event_pb2.Event:
        """Write the next row; one that ends, halts or resumes the run sets the state too."""
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
        if "request_input" in payload:
            self.state, self.pending = chat.RUN_STATE_AWAITING_INPUT, payload["request_input"]
        if "checkpoint_answered" in payload:
            self.state, self.pending = chat.RUN_STATE_QUEUED, None
        return event

    def message(self) -> chat.Message:
        """The run as its session tells it."""
        return chat.Message(
            run_id=self.run_id,
            prompt=self.prompt,
            create_time=AT,
            state=self.state,
            events=self.events,
            pending=self.pending,
        )

    def answer(self, action: str, guidance: str | None = None, by: str = "ada") -> None:
        """Record the answer to the pending checkpoint."""
        assert self.pending is not None
        self.record(
            checkpoint_answered=event_pb2.CheckpointAnswered(
                interrupt_id=self.pending.interrupt_id,
                action=f"DECISION_ACTION_{action.upper()}",
                guidance=guidance,
                answered_by=by,
                answered_at=AT,
            )
        )

    def change(self, change: str, state: chat.RunState.ValueType) -> None:
        """Record that somebody changed the run."""
        self.state, self.pending = state, None
        self.record(
            run_state=event_pb2.RunStateChanged(change=f"RUN_STATE_CHANGE_{change}", by=self.owner)
        )

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
        self.decisions: list[chat.DecideRequest] = []
        self.retries: list[chat.RetryRunRequest] = []
        # Where a retried run went on, by idempotency key.
        self.retried: dict[str, int] = {}
        self.titles: dict[str, str] = {}
        self.owners: list[str] = []
        self.traces: list[str] = []
        self.evidence: dict[tuple[str, str], corpus.Passage] = {}
        self.models = ScriptedModels()
        self.listings = 0
        self.page_size = 500
        self.refuses: ServiceError | None = None
        self.hangs = False
        # What the planner makes of feedback: it records the next version of the plan.
        self.plans: Callable[[RecordedRun, str], object] = lambda run, message: None

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
        for earlier in self.runs.values():
            if earlier.session_id == request.session_id and earlier.pending is not None:
                raise refusal(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    "PENDING_CHECKPOINT",
                    "The session waits.",
                    interrupt_id=earlier.pending.interrupt_id,
                    run_id=earlier.run_id,
                )
        run = self.add(owner=owner_of(context), prompt=request.prompt)
        return chat.StartTurnResponse(session_id=run.session_id, run_id=run.run_id)

    async def ListEvents(
        self, request: chat.ListEventsRequest, context: Context
    ) -> chat.ListEventsResponse:
        self._enter(context)
        self.listings += 1
        run = self._run(request.run_id, context)
        if request.after_sequence < run.forgotten:
            return chat.ListEventsResponse(
                last_sequence=len(run.events), state=run.state, snapshot=run.message()
            )
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
                title=self.titles.get(run.session_id, run.prompt),
                create_time=AT,
                update_time=AT,
                state=run.state,
                pending=run.pending is not None,
            )
            for run in mine
            if request.query.lower() in run.prompt.lower()
        ]
        return chat.ListSessionsResponse(sessions=sessions[: request.limit])

    async def GetSession(
        self, request: chat.GetSessionRequest, context: Context
    ) -> chat.GetSessionResponse:
        self._enter(context)
        runs = self._session(request.session_id, context)
        messages = [run.message() for run in runs if run.state != chat.RUN_STATE_REWOUND]
        title = self.titles.get(request.session_id, runs[0].prompt)
        return chat.GetSessionResponse(
            session_id=request.session_id, title=title, messages=messages
        )

    async def Decide(self, request: chat.DecideRequest, context: Context) -> chat.DecideResponse:
        self._enter(context)
        self.decisions.append(request)
        run = self._run(request.run_id, context)
        if run.pending is None or run.pending.interrupt_id != request.interrupt_id:
            raise refusal(
                grpc.StatusCode.FAILED_PRECONDITION,
                "STALE_INTERRUPT",
                "The session is not waiting for this interrupt.",
                action="synthesize",
                answered_by="bob",
                answered_at="2026-01-01T00:00:00Z",
            )
        if request.HasField("expected_version") and request.expected_version != run.pending.version:
            raise refusal(grpc.StatusCode.ABORTED, "VERSION_CONFLICT", "It has changed.")
        after_sequence = len(run.events)
        if request.action == event_pb2.DECISION_ACTION_FEEDBACK:
            self.plans(run, request.message)
            return chat.DecideResponse(
                session_id=run.session_id, run_id=run.run_id, after_sequence=after_sequence
            )
        action = event_pb2.DecisionAction.Name(request.action).removeprefix("DECISION_ACTION_")
        run.answer(action, request.guidance or None, by=run.owner)
        return chat.DecideResponse(
            session_id=run.session_id, run_id=run.run_id, after_sequence=after_sequence
        )

    async def GetCheckpoint(
        self, request: chat.GetCheckpointRequest, context: Context
    ) -> chat.GetCheckpointResponse:
        self._enter(context)
        run = self._run(request.run_id, context)
        if run.pending is None:
            raise refusal(grpc.StatusCode.FAILED_PRECONDITION, "NO_PENDING_CHECKPOINT")
        evidence = [passage for (owner, _), passage in self.evidence.items() if owner == run.run_id]
        snapshot = chat.Snapshot(
            covered_summary="Naps help.",
            gaps=["Older adults"],
            call_count=10,
            extension_requested=True,
            completed_extensions=[1],
            ceilings=run.pending.budget.limits,
            seen_passage_ids=[passage.passage_id for passage in evidence],
            evidence=evidence,
        )
        return chat.GetCheckpointResponse(checkpoint=run.pending, snapshot=snapshot)

    async def CancelRun(
        self, request: chat.CancelRunRequest, context: Context
    ) -> chat.CancelRunResponse:
        self._enter(context)
        run = self._run(request.run_id, context)
        if run.state == chat.RUN_STATE_COMPLETED:
            raise refusal(
                grpc.StatusCode.FAILED_PRECONDITION, "WRONG_STATE", "It is over.", state="COMPLETED"
            )
        run.change("CANCELLED", chat.RUN_STATE_CANCELLED)
        return chat.CancelRunResponse()

    async def RewindSession(
        self, request: chat.RewindSessionRequest, context: Context
    ) -> chat.RewindSessionResponse:
        self._enter(context)
        first = self._run(request.run_id, context)
        runs = self._session(request.session_id, context)
        gone = runs[runs.index(first) :]
        for run in gone:
            run.change("REWOUND", chat.RUN_STATE_REWOUND)
        return chat.RewindSessionResponse(run_ids=[run.run_id for run in gone])

    async def RetryRun(
        self, request: chat.RetryRunRequest, context: Context
    ) -> chat.RetryRunResponse:
        self._enter(context)
        self.retries.append(request)
        run = self._run(request.run_id, context)
        if (known := self.retried.get(request.idempotency_key)) is not None:
            return chat.RetryRunResponse(after_sequence=known, replayed=True)
        if run.state not in (chat.RUN_STATE_FAILED, chat.RUN_STATE_CANCELLED):
            raise refusal(grpc.StatusCode.FAILED_PRECONDITION, "WRONG_STATE", "It has not failed.")
        after_sequence = len(run.events)
        run.change("RETRIED", chat.RUN_STATE_QUEUED)
        self.retried[request.idempotency_key] = after_sequence
        return chat.RetryRunResponse(after_sequence=after_sequence)

    async def RenameSession(
        self, request: chat.RenameSessionRequest, context: Context
    ) -> chat.RenameSessionResponse:
        self._enter(context)
        run = self._session(request.session_id, context)[-1]
        self.titles[request.session_id] = request.title
        session = chat.SessionSummary(
            session_id=run.session_id,
            title=request.title,
            create_time=AT,
            update_time=AT,
            state=run.state,
        )
        return chat.RenameSessionResponse(session=session)

    async def DeleteSession(
        self, request: chat.DeleteSessionRequest, context: Context
    ) -> chat.DeleteSessionResponse:
        self._enter(context)
        for run in self._session(request.session_id, context):
            del self.runs[run.run_id]
        return chat.DeleteSessionResponse()

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

    def _session(self, session_id: str, context: Context) -> list[RecordedRun]:
        owner = owner_of(context)
        runs = [
            run for run in self.runs.values() if (run.session_id, run.owner) == (session_id, owner)
        ]
        if not runs:
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_SESSION", "There is no such session.")
        return runs

    def _run(self, run_id: str, context: Context) -> RecordedRun:
        run = self.runs.get(run_id)
        if run is None or run.owner != owner_of(context):
            raise refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_RUN", "There is no such run.")
        return run
