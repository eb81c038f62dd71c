"""Runs that wait for a decision on their plan, written by the store alone."""

from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from services.orchestrator import checkpoint, events, plans
from services.orchestrator.ceilings import Harness
from services.orchestrator.options import Options
from services.orchestrator.plans import Intent, Reply
from services.orchestrator.run import Action, RunKind, Stage, Usage
from services.orchestrator.store.control import Target
from services.orchestrator.store.history import Entry, Step
from services.orchestrator.store.request_keys import Request
from services.orchestrator.store.reviews import Feedback
from services.orchestrator.store.runs import Turn
from services.orchestrator.store.together import Store

FIRST = "1. Look."


async def reviewed_run(
    store: Store, *, intent: Intent = Intent.READY, expires_at: datetime | None = None
) -> Target:
    """A task whose first plan is there, and nobody holds it."""
    plan = plans.first_plan("Why?", Reply(message=FIRST, intent=intent, model="held"))
    options = Options(max_extensions=2, hitl_enabled=False, review_plan=True)
    turn = Turn(
        owner="ada",
        session_id="",
        prompt="Why?",
        active_items=(),
        scope={},
        options=asdict(options),
        ceilings=asdict(Harness()),
        trace={},
        events=[events.stage_entered(Stage.CONVERSE, 0)],
        idempotency_key="",
        body_hash="",
        kind=RunKind.TASK,
    )
    submitted = await store.tasks.submit(turn, "")
    (run,) = await store.runs.claim("test", limit=1, lease_s=60)
    question = checkpoint.plan_question(plan, version=1, expires_at=expires_at)
    await store.history.record(
        run.lease,
        Entry(
            stage=Stage.PLAN,
            pass_number=0,
            usage=Usage(),
            earlier=[Step(key="converse", input={}, output={"question": "Why?", "items": []})],
            step=Step(key="plan", input={}, output=plans.plan_to_json(plan)),
            events=[events.plan_drafted(plan, 1), events.input_requested(question)],
            leaving=Action.ASK,
            question=question,
        ),
    )
    return Target(owner="ada", session_id=submitted.session_id, run_id=submitted.run_id)


def comment_on(
    target: Target, message: str, *, version: int | None = None, key: str = ""
) -> Feedback:
    """A comment on the plan of the run."""
    return Feedback(
        owner=target.owner,
        session_id=target.session_id,
        run_id=target.run_id,
        message=message,
        expected_version=version,
        token=uuid4().hex,
        request=Request(owner=target.owner, route="Decide", key=key, body_hash=message),
    )
