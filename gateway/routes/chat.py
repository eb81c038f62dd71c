"""Asking: a prompt becomes a run, whose events are the reply."""

import uuid
from collections.abc import Iterable

from fastapi import APIRouter

from gateway import wire
from gateway.auth import Caller
from gateway.cursor import START
from gateway.feed import RunKey
from gateway.follow import Watch
from gateway.routes.context import CalledBy, IdempotencyKey, InContext
from gateway.streaming import EventStream
from services.chassis.spans import tell_session
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as events
from zocrates.orchestrator.v1 import chat_pb2 as pb

router = APIRouter(tags=["chat"])

STRATEGIES = {
    "unspecified": events.STRATEGY_UNSPECIFIED,
    "quick": events.STRATEGY_QUICK,
    "standard": events.STRATEGY_STANDARD,
    "deep": events.STRATEGY_DEEP,
    "academic": events.STRATEGY_ACADEMIC,
}


@router.post("/chat", response_class=EventStream, status_code=200)
async def ask(
    body: wire.ChatRequest,
    context: InContext,
    caller: CalledBy,
    idempotency_key: IdempotencyKey = None,
) -> EventStream:
    """Start a run for a prompt and stream its events; `done` is the last one."""
    # A call that the channel repeats after a lost reply must not start a second run either.
    key = idempotency_key or f"gateway-{uuid.uuid4().hex}"
    turn = await context.orchestrator.start_turn(
        turn_request(body, caller, key), owner=caller.owner
    )
    tell_session(turn.session_id)
    run = RunKey(session_id=turn.session_id, run_id=turn.run_id)
    watch = Watch(owner=caller.owner, run=run, position=START, pauses_end=True)
    return context.stream(context.follower.follow(watch))


def turn_request(body: wire.ChatRequest, caller: Caller, key: str) -> pb.StartTurnRequest:
    """The request to start a run, narrowed to the libraries that the caller may search."""
    options = body.options or wire.TurnOptions()
    return pb.StartTurnRequest(
        session_id=body.session_id or "",
        prompt=body.prompt,
        active_items=_items(body.active_items),
        scope=scope_of(body.scope or wire.Scope(), caller),
        options=options_of(options),
        idempotency_key=key,
    )


def options_of(options: wire.TurnOptions) -> pb.TurnOptions:
    """What the caller chose for the run."""
    chosen = pb.TurnOptions(
        max_extensions=options.max_extensions,
        hitl_enabled=options.hitl_enabled,
        strategy=STRATEGIES[options.strategy or "unspecified"],
        review_plan=options.review_plan,
    )
    if options.review_timeout is not None:
        chosen.review_timeout.FromSeconds(options.review_timeout)
    return chosen


def scope_of(scope: wire.Scope, caller: Caller) -> corpus.Scope:
    """The scope of a request, narrowed to the libraries that the caller may search."""
    years = scope.years or wire.Years()
    items = None if scope.items is None else corpus.ItemSelection(items=_items(scope.items))
    return corpus.Scope(
        libraries=_selection(caller.visible(scope.libraries)),
        collections=_selection(scope.collections),
        tags=_selection(scope.tags),
        year_from=years.first,
        year_to=years.last,
        items=items,
        saved_searches=_selection(scope.saved_searches),
        prefer_marked=scope.prefer_marked,
    )


def _selection(values: Iterable[str] | None) -> corpus.Selection | None:
    return None if values is None else corpus.Selection(values=values)


def _items(items: Iterable[wire.ItemRef]) -> list[corpus.ItemRef]:
    return [corpus.ItemRef(library=item.library, key=item.key) for item in items]
