"""From a request for a run to what is stored of it: valid, and within the configuration."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from services.chassis.spans import of_caller
from services.chassis.telemetry import trace_headers
from services.orchestrator import consent, events, options
from services.orchestrator.ceilings import Harness
from services.orchestrator.chat_messages import body_hash, require_turn, valid_key, valid_prompt
from services.orchestrator.consent import Consent
from services.orchestrator.convert import items_from_proto, scope_from_proto
from services.orchestrator.options import Clamp, ReviewTimes, Strategy, Wishes
from services.orchestrator.run import RunKind, Stage
from services.orchestrator.store.runs import Turn
from zocrates.events.v1 import event_pb2 as events_pb
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import task_pb2

Request = pb.StartTurnRequest | task_pb2.SubmitTaskRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is configured for every run."""

    harness: Harness
    consent: Consent
    longest_review_s: float
    # How long the review of a task's plan waits when nobody says.
    review_s: float


def chat_turn(request: pb.StartTurnRequest, rules: Rules, *, owner: str, session_id: str) -> Turn:
    """A prompt of a chat. Raises InvalidRequest."""
    times = ReviewTimes(longest_s=rules.longest_review_s, default_s=None)
    turn, _ = _turn(request, request.prompt, rules, times, owner=owner)
    return replace(turn, session_id=session_id)


def task_turn(
    request: task_pb2.SubmitTaskRequest, rules: Rules, *, owner: str
) -> tuple[Turn, Sequence[Clamp]]:
    """A task, and what of its options was lowered. Raises InvalidRequest."""
    times = ReviewTimes(longest_s=rules.longest_review_s, default_s=rules.review_s)
    turn, clamps = _turn(request, request.query, rules, times, owner=owner)
    return replace(turn, kind=RunKind.TASK), clamps


def _turn(
    request: Request, prompt: str, rules: Rules, times: ReviewTimes, *, owner: str
) -> tuple[Turn, Sequence[Clamp]]:
    prompt = valid_prompt(prompt)
    key = valid_key(request.idempotency_key)
    require_turn(request)
    wishes = _wishes(request.options)
    if isinstance(request, task_pb2.SubmitTaskRequest) and wishes.hitl_enabled is None:
        # Nobody need watch a task.
        wishes = replace(wishes, hitl_enabled=False)
    applied, clamps = options.clamp(rules.harness, wishes, times)
    complexity, tools = consent.needed(rules.consent, rules.harness, applied)
    applied = replace(applied, complexity=complexity, consent_tools=tools)
    harness = options.harness_for(rules.harness, applied.strategy)
    turn = Turn(
        owner=owner,
        session_id="",
        prompt=prompt,
        active_items=items_from_proto(request.active_items),
        scope=scope_from_proto(request.scope),
        options=asdict(applied),
        ceilings=asdict(harness),
        trace=trace_headers(of_caller()),
        events=[
            events.run_started(
                prompt, applied, harness.ceilings(0), [one.message for one in clamps]
            ),
            events.stage_entered(Stage.CONVERSE, 0),
        ],
        idempotency_key=key,
        body_hash=body_hash(request),
    )
    return turn, clamps


def _wishes(asked: pb.TurnOptions) -> Wishes:
    has_timeout, timeout = asked.HasField("review_timeout"), asked.review_timeout
    return Wishes(
        max_extensions=asked.max_extensions if asked.HasField("max_extensions") else None,
        hitl_enabled=asked.hitl_enabled if asked.HasField("hitl_enabled") else None,
        strategy=_strategy(asked.strategy),
        review_plan=asked.review_plan,
        review_timeout_s=timeout.seconds + timeout.nanos / 1e9 if has_timeout else None,
        force_research=asked.force_research,
    )


def _strategy(value: events_pb.Strategy.ValueType) -> Strategy:
    """Standard for none, and for one that is newer than this code."""
    names = {number: name for name, number in events_pb.Strategy.items()}
    try:
        return Strategy(names.get(value, "").removeprefix("STRATEGY_"))
    except ValueError:
        return Strategy.STANDARD
