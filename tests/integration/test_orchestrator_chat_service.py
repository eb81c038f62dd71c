"""ChatService on the wire: what is refused, and what a caller gets back."""

from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import pytest

from services.orchestrator.ceilings import Harness
from tests.fakes.research_peers import ResearchPeers, call, passage, research_peers
from tests.integration.orchestrator_stage import (
    Chat,
    orchestrator,
    refusal,
    settings_for,
)
from tests.servers import NatsServer
from zocrates.orchestrator.v1 import chat_pb2 as pb


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1)]}
        served.synth.script = [[call("search_corpus", query="sleep")]]
        yield served


@pytest.fixture
async def chat(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> AsyncIterator[Chat]:
    settings = settings_for(database_url, nats_server.url, peers)
    async with orchestrator(settings, Harness(max_extensions=1)) as caller:
        yield caller


ITEM = {"library": "user", "key": "ITEM0001"}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"prompt": ""}, "prompt is empty"),
        ({"prompt": " \n\t"}, "prompt is empty"),
        ({"prompt": "x" * 20_001}, "prompt has 20001 characters"),
        ({"prompt": "a\x00b"}, "prompt contains a NUL"),
        ({"prompt": "q", "session_id": "nope"}, "session_id must be 32 hexadecimal digits"),
        ({"prompt": "q", "session_id": "A" * 32}, "session_id must be 32 hexadecimal digits"),
        ({"prompt": "q", "idempotency_key": "a b"}, "idempotency_key"),
        ({"prompt": "q", "idempotency_key": "k" * 201}, "idempotency_key"),
        ({"prompt": "q", "options": {"max_extensions": -1}}, "options.max_extensions"),
        ({"prompt": "q", "active_items": [ITEM] * 101}, "active_items has 101"),
        ({"prompt": "q", "active_items": [{"library": "user"}]}, "active_items.key"),
        ({"prompt": "q", "scope": {"tags": {"values": ["a\x00"]}}}, "scope.tags"),
        ({"prompt": "q", "scope": {"items": {"items": [{"key": "k"}]}}}, "scope.items.library"),
    ],
)
async def test_a_malformed_turn_is_refused_in_one_sentence(
    chat: Chat, fields: dict[str, object], names: str
) -> None:
    failure = await refusal(chat.start(**fields))  # type: ignore[arg-type]  # as a table
    assert (failure.code, failure.reason) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
    )
    assert failure.message.startswith(names)


async def test_the_longest_prompt_is_taken(chat: Chat) -> None:
    page = await chat.page(await chat.start("é" * 20_000))
    assert page.events[0].run_started.prompt == "é" * 20_000


async def test_an_unknown_session_is_not_found(chat: Chat) -> None:
    failure = await refusal(chat.start("q", session_id=uuid4().hex))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SESSION")


async def test_a_clamped_option_is_told(chat: Chat) -> None:
    turn = await chat.start("q", options={"max_extensions": 5, "hitl_enabled": False})
    started = (await chat.page(turn)).events[0].run_started
    assert (started.options.max_extensions, started.options.hitl_enabled) == (1, False)
    assert list(started.warnings) == [
        "max_extensions was lowered from 5 to the configured 1.",
    ]
    assert (started.ceilings.calls, started.ceilings.words) == (10, 7_500)


async def test_the_same_request_with_its_key_is_the_same_run(chat: Chat) -> None:
    first = await chat.start("q", idempotency_key="key")
    again = await chat.start("q", idempotency_key="key")
    assert (again.run_id, again.session_id) == (first.run_id, first.session_id)
    assert (first.replayed, again.replayed) == (False, True)
    failure = await refusal(chat.start("other", idempotency_key="key"))
    assert failure.reason == "IDEMPOTENCY_MISMATCH"


async def test_a_second_prompt_waits_for_the_first(chat: Chat, peers: ResearchPeers) -> None:
    await peers.stop("synth")
    turn = await chat.start("q")
    failure = await refusal(chat.start("and?", session_id=turn.session_id))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "RUN_ACTIVE")
    assert failure.facts["run_id"] == turn.run_id


async def test_a_session_is_given_with_its_messages(chat: Chat) -> None:
    turn = await chat.start("  First   question? ")
    page = await chat.finished(turn)
    await chat.answer("hello", session_id=turn.session_id)
    request = pb.GetSessionRequest(session_id=turn.session_id)
    session = await chat.stub.GetSession(request, timeout=10, metadata=chat.metadata)
    assert session.title == "First question?"
    assert [one.prompt for one in session.messages] == ["First   question?", "hello"]
    assert list(session.messages[0].events) == list(page.events)
    assert session.messages[1].state == pb.RUN_STATE_COMPLETED


async def test_a_passage_of_a_run_stays_readable(chat: Chat) -> None:
    turn = await chat.start("Does sleep help memory?")
    await chat.finished(turn)
    request = pb.GetEvidenceRequest(run_id=turn.run_id, passage_id=f"{1:032x}")
    reply = await chat.stub.GetEvidence(request, timeout=10, metadata=chat.metadata)
    assert reply.session_id == turn.session_id
    assert reply.passage == passage(1)
    request.passage_id = "f" * 32
    failure = await refusal(chat.stub.GetEvidence(request, timeout=10, metadata=chat.metadata))
    assert failure.reason == "UNKNOWN_PASSAGE"


async def test_another_owner_sees_nothing(chat: Chat) -> None:
    turn = await chat.start("q")
    other = Chat(stub=chat.stub, owner="bo")
    assert (await refusal(other.page(turn))).reason == "UNKNOWN_RUN"
    assert (await refusal(other.start("q", session_id=turn.session_id))).reason == "UNKNOWN_SESSION"
    listed = await chat.stub.ListSessions(
        pb.ListSessionsRequest(), timeout=10, metadata=other.metadata
    )
    assert not listed.sessions


async def test_sessions_are_listed_with_the_state_of_their_last_run(chat: Chat) -> None:
    turn = await chat.start("hello")
    await chat.finished(turn)
    reply = await chat.stub.ListSessions(
        pb.ListSessionsRequest(query="HELL"), timeout=10, metadata=chat.metadata
    )
    (session,) = reply.sessions
    assert (session.session_id, session.title) == (turn.session_id, "hello")
    assert (session.state, session.pending) == (pb.RUN_STATE_COMPLETED, False)
    assert session.update_time.seconds >= session.create_time.seconds > 0


@pytest.mark.parametrize(("limit", "reason"), [(-1, "INVALID_REQUEST"), (101, "INVALID_REQUEST")])
async def test_a_page_size_out_of_bounds_is_refused(chat: Chat, limit: int, reason: str) -> None:
    failure = await refusal(
        chat.stub.ListSessions(
            pb.ListSessionsRequest(limit=limit), timeout=10, metadata=chat.metadata
        )
    )
    assert failure.reason == reason


async def test_an_endless_query_is_refused(chat: Chat) -> None:
    request = pb.ListSessionsRequest(query="q" * 501)
    failure = await refusal(chat.stub.ListSessions(request, timeout=10, metadata=chat.metadata))
    assert failure.message == "query has 501 characters; it may have 500."


async def test_a_negative_position_is_refused(chat: Chat) -> None:
    turn = await chat.start("q")
    assert (await refusal(chat.page(turn, after=-1))).reason == "INVALID_POSITION"
    assert not (await chat.page(turn, after=10_000)).events


async def test_events_of_a_run_are_found_without_its_session_by_its_owner_alone(
    chat: Chat,
) -> None:
    turn = await chat.start("Does sleep help memory?")
    await chat.finished(turn)
    request = pb.ListEventsRequest(run_id=turn.run_id)
    reply = await chat.stub.ListEvents(request, timeout=10, metadata=chat.metadata)
    assert list(reply.events) == list((await chat.page(turn)).events)
    foreign = (("x-zocrates-owner", "bob"),)
    failure = await refusal(chat.stub.ListEvents(request, timeout=10, metadata=foreign))
    assert failure.reason == "UNKNOWN_RUN"
