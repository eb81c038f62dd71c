"""The store's promises, races as races, on a real Postgres."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from services.orchestrator.errors import (
    IdempotencyMismatch,
    InvalidCursor,
    InvalidPosition,
    RunActive,
    Stale,
    UnknownPassage,
    UnknownRun,
    UnknownSession,
)
from services.orchestrator.events import NewEvent, stage_entered
from services.orchestrator.passages import Document, Evidence, Item, PageSpan, Passage
from services.orchestrator.run import Action, ClaimedRun, Stage, State, Usage, WrongState
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, Step
from services.orchestrator.store.outbox import Outbox
from services.orchestrator.store.runs import Runs, Started, Turn, title_of
from services.orchestrator.store.sessions import Sessions


def turn(*, owner: str = "ada", session_id: str = "", key: str = "", prompt: str = "Why?") -> Turn:
    return Turn(
        owner=owner,
        session_id=session_id,
        prompt=prompt,
        active_items=(),
        scope={},
        options={},
        ceilings={},
        trace={"traceparent": "00-1-2-01"},
        events=[NewEvent(type="run_started", payload={"prompt": prompt})],
        idempotency_key=key,
        body_hash=f"hash of {prompt}",
    )


def entry(key: str | None = "converse", **changes: Any) -> Entry:
    values: dict[str, Any] = {
        "stage": Stage.SEARCH,
        "pass_number": 0,
        "usage": Usage(calls=1),
        "step": Step(key=key, input={"a": 1}, output={"b": 2}) if key else None,
        "events": [stage_entered(Stage.SEARCH, 0)],
        **changes,
    }
    return Entry(**values)


def evidence(passage_id: str = "p1", text_: str = "Some text.") -> Evidence:
    return Evidence(
        passage=Passage(
            id=passage_id,
            document=Document(
                id="user/A",
                item=Item(library="user", key="I"),
                attachment_key="A",
                title="T",
                creators=("Ada Meyer",),
                year="2019",
                citation_key="",
                kind="DOCUMENT_KIND_PDF",
                reading_state="READING_STATE_FULL",
                reading_reason="",
                page_count=3,
            ),
            section_path=("Results",),
            text=text_,
            page_spans=(PageSpan(start=0, end=len(text_), page_index=2, page_label="iii"),),
            ordinal=4,
        ),
        words=2,
        rank=1,
        similarity=0.25,
        step_key="pass_0/turn_1/call_0",
    )


async def claimed(database: Database, **fields: Any) -> ClaimedRun:
    """A new run in the hands of this test."""
    runs = Runs(database)
    await runs.start_turn(turn(**fields))
    (run,) = await runs.claim("me", limit=10, lease_s=5)
    return run


async def rows(database: Database, table: str) -> int:
    (row,) = await database.fetch(text(f"SELECT count(*) AS n FROM {table}"))
    return int(row.n)


async def expire(database: Database, run_id: str) -> None:
    """Let a lease be over without waiting for it."""
    await database.fetch(
        text("UPDATE run SET lease_until = now() - interval '1 s' WHERE id = :id"), {"id": run_id}
    )


async def test_of_two_claims_one_gets_the_run(database: Database) -> None:
    runs = Runs(database)
    for _ in range(10):
        await runs.start_turn(turn())
    claims = await asyncio.gather(*(runs.claim(f"w{n}", limit=10, lease_s=5) for n in range(8)))
    taken = [run.id for claim in claims for run in claim]
    assert len(taken) == len(set(taken)) == 10
    assert {run.lease.epoch for claim in claims for run in claim} == {1}


async def test_a_held_run_is_claimed_only_after_its_lease_and_with_the_next_epoch(
    database: Database,
) -> None:
    run = await claimed(database)
    runs = Runs(database)
    assert not await runs.claim("other", limit=10, lease_s=5)
    await expire(database, run.id)
    (again,) = await runs.claim("other", limit=10, lease_s=5)
    assert again.lease.epoch == 2
    assert await runs.renew([run.lease], lease_s=5) == frozenset()
    assert await runs.renew([again.lease], lease_s=5) == {run.id}


async def test_a_stale_epoch_writes_nothing(database: Database) -> None:
    run = await claimed(database)
    await expire(database, run.id)
    (again,) = await Runs(database).claim("other", limit=1, lease_s=5)
    history = History(database)
    with pytest.raises(Stale):
        await history.record(run.lease, entry(evidence=[evidence()]))
    with pytest.raises(Stale):
        await history.record(run.lease, entry(None, leaving=Action.FAIL))
    await Runs(database).release(run.lease)
    assert await rows(database, "step") == 0
    assert await rows(database, "evidence") == 0
    assert await rows(database, "event") == 1
    assert (await history.record(again.lease, entry())).last_sequence == 2


async def test_a_holder_that_nobody_replaced_writes_after_its_lease(database: Database) -> None:
    run = await claimed(database)
    await expire(database, run.id)
    assert (await History(database).record(run.lease, entry())).last_sequence == 2


async def test_a_released_run_is_claimed_at_once(database: Database) -> None:
    run = await claimed(database)
    await Runs(database).release(run.lease)
    (again,) = await Runs(database).claim("other", limit=1, lease_s=5)
    assert again.lease.epoch == 2


async def test_a_step_written_twice_is_recorded_once(database: Database) -> None:
    run = await claimed(database)
    history = History(database)
    results = [await history.record(run.lease, entry(evidence=[evidence()])) for _ in range(3)]
    assert [one.last_sequence for one in results] == [2, 2, 2]
    assert await rows(database, "event") == 2
    assert await rows(database, "evidence") == 1


async def test_an_ending_written_twice_is_recorded_once(database: Database) -> None:
    run = await claimed(database)
    history = History(database)
    failing = entry(None, leaving=Action.FAIL)
    assert [(await history.record(run.lease, failing)).last_sequence for _ in range(2)] == [2, 2]
    with pytest.raises(WrongState):
        await history.record(run.lease, entry("late"))


async def test_what_was_recorded_is_loaded_as_it_was(database: Database) -> None:
    run = await claimed(database)
    history = History(database)
    begun = Step(key="synthesize", input={}, output={}, attempt=2, is_done=False)
    found = [evidence("p1"), evidence("p2", "Other text.")]
    await history.record(run.lease, entry(evidence=found))
    await history.record(run.lease, entry(step=begun, events=[]))
    recorded = await history.load(run.id)
    assert recorded.evidence == found
    assert recorded.steps["converse"] == Step(key="converse", input={"a": 1}, output={"b": 2})
    assert recorded.steps["synthesize"] == begun


async def test_text_that_postgres_refuses_is_cleaned(database: Database) -> None:
    run = await claimed(database)
    bad = "nul \x00, surrogate \ud800, backslash \\u0000 kept, both \\\x00"
    step = Step(key="k", input={}, output={"text": bad})
    await History(database).record(run.lease, entry(step=step))
    stored = (await History(database).load(run.id)).steps["k"].output["text"]
    assert stored == "nul \ufffd, surrogate ?, backslash \\u0000 kept, both \\\ufffd"


async def test_two_turns_at_once_in_a_session_start_one_run(database: Database) -> None:
    runs = Runs(database)
    started = await runs.start_turn(turn())
    (run,) = await runs.claim("me", limit=1, lease_s=5)
    await History(database).record(run.lease, entry(None, leaving=Action.FAIL))
    again = [runs.start_turn(turn(session_id=started.session_id)) for _ in range(8)]
    results = await asyncio.gather(*again, return_exceptions=True)
    assert sorted(type(one).__name__ for one in results) == ["RunActive"] * 7 + ["Started"]
    with pytest.raises(RunActive):
        await runs.start_turn(turn(session_id=started.session_id))


async def test_twenty_requests_with_one_key_start_one_run(database: Database) -> None:
    runs = Runs(database)
    results = await asyncio.gather(*(runs.start_turn(turn(key="k")) for _ in range(20)))
    assert len({(one.session_id, one.run_id) for one in results}) == 1
    assert sum(not one.replayed for one in results) == 1
    assert await rows(database, "session") == await rows(database, "run") == 1


async def test_a_key_is_for_one_request_of_one_owner(database: Database) -> None:
    runs = Runs(database)
    first = await runs.start_turn(turn(key="k"))
    with pytest.raises(IdempotencyMismatch):
        await runs.start_turn(turn(key="k", prompt="Another?"))
    other = await runs.start_turn(turn(key="k", owner="bo"))
    assert other.run_id != first.run_id


async def test_a_refused_turn_does_not_use_its_key(database: Database) -> None:
    runs = Runs(database)
    with pytest.raises(UnknownSession):
        await runs.start_turn(turn(key="k", session_id="0" * 32))
    assert not (await runs.start_turn(turn(key="k"))).replayed


async def test_another_owner_finds_nothing(database: Database) -> None:
    run = await claimed(database)
    sessions = Sessions(database)
    with pytest.raises(UnknownSession):
        await Runs(database).start_turn(turn(owner="bo", session_id=run.session_id))
    with pytest.raises(UnknownSession):
        await sessions.get("bo", run.session_id)
    with pytest.raises(UnknownRun):
        await sessions.events("bo", run.session_id, run.id, after=0, limit=10)
    with pytest.raises(UnknownRun):
        await sessions.passage("bo", run.id, "p1")
    assert not (await sessions.list("bo", query="", cursor="", limit=10)).sessions


async def test_a_run_is_found_only_in_its_own_session(database: Database) -> None:
    run = await claimed(database)
    with pytest.raises(UnknownRun):
        await Sessions(database).events("ada", uuid4().hex, run.id, after=0, limit=10)


async def test_events_are_read_after_a_position(database: Database) -> None:
    run = await claimed(database)
    history, sessions = History(database), Sessions(database)
    for number in range(5):
        await history.record(run.lease, entry(f"step {number}"))
    page = await sessions.events("ada", run.session_id, run.id, after=2, limit=3)
    assert [event.sequence for event in page.events] == [3, 4, 5]
    assert (page.last_sequence, page.state) == (6, State.RUNNING)
    past_the_end = await sessions.events("ada", run.session_id, run.id, after=99, limit=3)
    assert not past_the_end.events
    with pytest.raises(InvalidPosition):
        await sessions.events("ada", run.session_id, run.id, after=-1, limit=3)


async def test_evidence_is_given_as_recorded(database: Database) -> None:
    run = await claimed(database)
    await History(database).record(run.lease, entry(evidence=[evidence()]))
    sessions = Sessions(database)
    assert await sessions.passage("ada", run.id, "p1") == (run.session_id, evidence().passage)
    with pytest.raises(UnknownPassage):
        await sessions.passage("ada", run.id, "p2")


async def listed(sessions: Sessions, query: str = "") -> Sequence[str]:
    """All titles, page by page."""
    titles: list[str] = []
    cursor = ""
    while True:
        page = await sessions.list("ada", query=query, cursor=cursor, limit=3)
        titles += [session.title for session in page.sessions]
        cursor = page.next_cursor
        if not cursor:
            return titles


async def test_sessions_are_listed_page_by_page_the_latest_first(database: Database) -> None:
    runs = Runs(database)
    for number in range(8):
        await runs.start_turn(turn(prompt=f"Question {number}"))
    sessions = Sessions(database)
    assert await listed(sessions) == [f"Question {number}" for number in reversed(range(8))]
    assert await listed(sessions, "QUESTION 5") == ["Question 5"]
    assert await listed(sessions, "100%_") == []


@pytest.mark.parametrize("cursor", ["x", "bm9uZQ==", "WzEsMl0=", "é"])
async def test_a_foreign_cursor_is_refused(database: Database, cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        await Sessions(database).list("ada", query="", cursor=cursor, limit=3)


async def test_a_run_of_newer_code_is_left_alone_and_counted(database: Database) -> None:
    runs = Runs(database)
    await runs.start_turn(turn())
    await database.fetch(text("UPDATE run SET schema_version = 99"))
    assert not await runs.claim("me", limit=10, lease_s=5)
    assert await runs.count_unknown_schema() == 1


async def test_a_run_is_published_by_one_relay_at_a_time(database: Database) -> None:
    await claimed(database)
    outbox = Outbox(database)
    claims = await asyncio.gather(
        *(outbox.claim(f"r{n}", held=[], lease_s=5, limit=10) for n in range(6))
    )
    assert sorted(len(claim) for claim in claims) == [0, 0, 0, 0, 0, 1]


async def test_a_published_run_is_due_again_with_its_next_event(database: Database) -> None:
    run = await claimed(database)
    outbox = Outbox(database)
    await outbox.claim("r", held=[], lease_s=5, limit=10)
    kept = await outbox.mark("r", {run.id: 1}, lease_s=5, leaving=(run.id,))
    assert kept == frozenset()
    assert not await outbox.claim("s", held=[], lease_s=5, limit=10)
    await History(database).record(run.lease, entry())
    (parcel,) = await outbox.claim("s", held=[], lease_s=5, limit=10)
    assert parcel.published == 1
    waiting = await outbox.unpublished({run.id: 1}, {run.id: run.session_id}, limit=10)
    assert [event.sequence for event in waiting] == [2]


async def test_a_session_starts_its_runs_in_order(database: Database) -> None:
    runs = Runs(database)
    ordinals = []
    session_id = ""
    for _ in range(3):
        started: Started = await runs.start_turn(turn(session_id=session_id))
        session_id = started.session_id
        (run,) = await runs.claim("me", limit=1, lease_s=5)
        ordinals.append(run.ordinal)
        await History(database).record(run.lease, entry(None, leaving=Action.COMPLETE))
    assert ordinals == [1, 2, 3]


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("  Why\n so? ", "Why so?"),
        ("x" * 80, "x" * 80),
        (f"{'word ' * 15}longer-than-that", f"{('word ' * 15).strip()}…"),
        ("睡" * 81, "睡" * 79 + "…"),
    ],
)
def test_a_session_is_named_by_the_first_words_of_its_prompt(prompt: str, title: str) -> None:
    assert title_of(prompt) == title
