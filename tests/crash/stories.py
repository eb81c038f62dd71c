"""What is done to a run from start to end, and what must be true of it whatever died on the way."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from sqlalchemy import text

from services.orchestrator.ceilings import Harness
from services.orchestrator.store.database import Database
from tests.crash.caller import Caller, Waits
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import passage
from zocrates.events.v1 import event_pb2

# Ids and times differ from run to run; a new attempt at the text adds an event and moves the rest.
INCIDENTAL = frozenset(
    {
        *("session_id", "run_id", "sequence", "last_sequence", "time", "seconds", "by"),
        *("create_time", "update_time", "answered_at", "answered_by", "expires_at"),
    }
)
RUNS = text("""
    SELECT id, state, usage, last_sequence, published_sequence, lease_owner FROM run
    WHERE owner = :owner
""")
ROWS = {
    "steps": text("SELECT key, state, output FROM step WHERE run_id = :id ORDER BY key"),
    "evidence": text(
        "SELECT step_key, ordinal, content FROM evidence WHERE run_id = :id ORDER BY ordinal"
    ),
    "checkpoints": text("""
        SELECT interrupt_id, state, version, decision, answered_at IS NOT NULL AS is_answered
        FROM checkpoint WHERE run_id = :id ORDER BY interrupt_id
    """),
    "rounds": text("""
        SELECT author, message, intent FROM plan_round WHERE run_id = :id ORDER BY number
    """),
    # Each attempt after the first told that the text before it is void.
    "resets": text("""
        SELECT (SELECT count(*) FROM event WHERE run_id = :id AND type = 'answer_reset')
               - (SELECT attempt - 1 FROM step WHERE run_id = :id AND key = 'synthesize') AS missing
    """),
    "keys": text("SELECT route FROM request_key WHERE run_id = :id ORDER BY route"),
}

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A caller's part of a run."""

    name: str
    tell: Callable[[Caller], Awaitable[Told]]
    is_deleted: bool = False


async def extended_twice(caller: Caller) -> Told:
    """Ask, extend twice, with guidance the first time, and get the answer."""
    await caller.start(QUESTION)
    questions, after = [], []
    for interrupt_id, guidance in (("interrupt_ext_1", "Naps."), ("interrupt_ext_2", "")):
        await caller.until(Waits(interrupt_id))
        questions.append(plain(await caller.question()))
        action = event_pb2.DECISION_ACTION_EXTEND_BUDGET
        after.append(await caller.decide(interrupt_id, action, guidance))
    await caller.until("COMPLETED")
    return {"questions": questions, "after": after, "events": told(await caller.events())}


async def controlled(caller: Caller) -> Told:
    """Cancel the run that waits, take it up again, end it, look at it, take it back, forget it."""
    await caller.start(QUESTION)
    await caller.until(Waits("interrupt_ext_1"))
    await caller.cancel()
    await caller.until("CANCELLED")
    await caller.retry()
    await caller.until(Waits("interrupt_ext_1", version=2))
    title = await caller.rename("Sleep")
    await caller.decide("interrupt_ext_1", event_pb2.DECISION_ACTION_SYNTHESIZE)
    await caller.until("COMPLETED")
    seen = {
        "title": title,
        "titles": await caller.titles(),
        "passage": await caller.passage(passage(1).passage_id),
        "events": told(await caller.events()),
        "session": plain(await caller.session()),
    }
    await caller.rewind()
    await caller.until("REWOUND")
    await caller.delete()
    return seen


async def reviewed(caller: Caller) -> Told:
    """Submit a task, refine its plan twice, approve it, and look at what came of it."""
    await caller.submit(QUESTION, review_plan=True, strategy=event_pb2.STRATEGY_QUICK)
    await caller.until(Waits("interrupt_plan"))
    await caller.comment("Naps too.", 1)
    after = await caller.comment_by_key("And age.", 2)
    review = plain(await caller.review())
    await caller.approve(3)
    await caller.until("COMPLETED")
    task = await caller.task()
    return {
        "review": review,
        "after": after,
        "answer": task.answer.markdown,
        "plan": json.loads(task.context)["confirmed_plan"],
        "counts": await caller.counts(),
        "events": told(await caller.events()),
    }


async def given_up(caller: Caller) -> Told:
    """Submit a task and cancel it while its plan waits."""
    await caller.submit(QUESTION, review_plan=True)
    await caller.until(Waits("interrupt_plan"))
    await caller.cancel_task()
    await caller.until("CANCELLED")
    return {"events": told(await caller.events())}


async def expired(caller: Caller) -> Told:
    """Submit a task whose plan nobody decides on in time."""
    soon = Duration(nanos=300_000_000)
    await caller.submit(QUESTION, review_plan=True, review_timeout=soon)
    await caller.until("EXPIRED")
    task = await caller.task()
    return {"error": plain(task.error), "events": told(await caller.events())}


STORIES = (
    Story(name="extended twice", tell=extended_twice),
    Story(name="controlled", tell=controlled, is_deleted=True),
    Story(name="reviewed", tell=reviewed),
    Story(name="given up", tell=given_up),
    Story(name="expired", tell=expired),
)


def plain(value: object) -> Any:  # JSON, without what is incidental
    """A message as it would be in any other run of the same story."""
    if isinstance(value, Message):
        value = MessageToDict(value, preserving_proto_field_name=True)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items() if key not in INCIDENTAL}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [plain(one) for one in value if not _is_reset(one)]


def _is_reset(value: object) -> bool:
    return isinstance(value, Mapping) and "answer_reset" in value


def told(page: Any) -> list[Any]:  # a ListEventsResponse
    """The run's events in order; the sequence has no gap, and each step was told once."""
    sequences = [one.sequence for one in page.events]
    assert sequences == list(range(1, page.last_sequence + 1)), (sequences, page.last_sequence)
    for kind in ("tool_call", "tool_result"):
        steps = [getattr(one, kind).step_id for one in page.events if one.HasField(kind)]
        assert len(steps) == len(set(steps)), steps
    resets = [one.answer_reset.attempt for one in page.events if one.HasField("answer_reset")]
    assert resets == list(range(2, 2 + len(resets))), resets
    return [plain(one) for one in page.events if not one.HasField("answer_reset")]


async def recorded(database: Database, owner: str, story: Story) -> Told:
    """What the database holds of the owner's one run."""
    runs = await database.fetch(RUNS, {"owner": owner})
    if story.is_deleted:
        assert not runs, "a deleted run is still there"
        return {}
    (run,) = runs
    most = Harness().ceilings(2)
    assert run.usage["calls"] <= most.calls
    assert run.usage["words"] <= most.words
    assert run.lease_owner is None
    rows: dict[str, list[Any]] = {
        name: [tuple(row) for row in await database.fetch(statement, {"id": run.id})]
        for name, statement in ROWS.items()
    }
    assert all(state == "done" for _, state, _ in rows["steps"])
    return {"state": run.state, "usage": run.usage, **rows}


def assert_same(now: Told, expected: Told) -> None:
    """Nothing differs; what does is named."""
    differing = {
        name: (now.get(name), expected.get(name))
        for name in {*now, *expected}
        if now.get(name) != expected.get(name)
    }
    assert not differing, f"now and expected: {differing}"


def assert_frugal(made: Counter[str], needed: Counter[str], deaths: int) -> None:
    """No call but those that the story needs, and each lost reply costs one more at most."""
    wasted = {
        step: (times, needed[step])
        for step, times in made.items()
        if times > needed[step] + deaths or step not in needed
    }
    assert not wasted, f"calls made and needed: {wasted}"
    left_out = set(needed) - set(made)
    assert not left_out, f"calls not made: {left_out}"
