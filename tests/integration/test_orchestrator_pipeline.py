"""A question becomes a checked answer: real Postgres, NATS and gRPC, scripted peers."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from services.chassis.errors import INTERNAL_TEXT, ServiceError
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import (
    ResearchPeers,
    call,
    conclude,
    passage,
    quoting,
    research_peers,
)
from tests.integration.orchestrator_stage import (
    Chat,
    eventually,
    kinds,
    orchestrator,
)
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.synth.v1 import synth_pb2 as synth


class Broken(ServiceError):
    code, reason = grpc.StatusCode.UNAVAILABLE, "BROKEN"


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1), passage(2)], "memory": [passage(2), passage(3)]}
        served.synth.script = [
            [call("search_corpus", query="sleep"), call("search_corpus", query="memory")],
            [conclude("Sleep and memory.", ["What of age?"])],
        ]
        yield served


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    # The script leaves a gap, and what is asked then is another file's matter.
    async with orchestrator(settings, Harness(hitl_enabled=False)) as caller:
        yield caller


async def test_a_question_ends_in_a_checked_answer(chat: Chat) -> None:
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    assert kinds(page) == [
        *("run_started", "stage", "thought", "stage", "tool_call", "tool_call"),
        *("tool_result", "tool_result", "tool_call", "tool_result", "report"),
        *("stage", "rerank", "stage", "stage", "answer"),
    ]
    assert [event.sequence for event in page.events] == list(range(1, 17))
    answer = page.events[-1].answer
    assert answer.answered
    assert list(answer.gaps) == ["What of age?"]
    assert answer.support.verified == 3
    assert [one.number for one in answer.citations] == [1, 2, 3]
    first = answer.citations[0]
    assert first.quote == "Finding 1 is clear."
    assert (first.page_index, first.page_label) == (3, "iv")
    assert first.open_uri == "zotero://open-pdf/library/items/ATTACH01?page=4"
    assert first.select_uri == "zotero://select/library/items/ITEM0001"
    assert answer.usage.calls == 2
    assert answer.usage.passages == 3
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (10, 7)


async def test_a_direct_answer_ends_the_run_at_once(chat: Chat, peers: ResearchPeers) -> None:
    page = await chat.finished(await chat.start("hello"))
    assert kinds(page) == ["run_started", "stage", "thought", "answer"]
    assert page.events[-1].answer.markdown == "Hello."
    assert not page.events[-1].answer.citations
    assert not peers.synth.investigations


async def test_a_passage_seen_before_comes_back_as_a_reference_without_words(
    chat: Chat, peers: ResearchPeers
) -> None:
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    first, second = [event.tool_result for event in page.events if event.HasField("tool_result")][
        :2
    ]
    assert second.words == first.words / 2
    returned = peers.synth.investigations[1].transcript[0].results[1].passages
    assert [one.seen_before for one in returned] == [True, False]
    assert returned[0].passage.text == ""
    assert returned[0].passage.document.title == "Sleep study 2"


async def test_scope_and_active_items_reach_the_peers(chat: Chat, peers: ResearchPeers) -> None:
    await chat.answer(
        "Does sleep help memory?",
        scope={"libraries": {"values": ["user"]}, "tags": {}, "year_from": 2000},
        active_items=[{"library": "user", "key": "ITEM0001"}],
    )
    scope = peers.search.scopes[0]
    assert list(scope.libraries.values) == ["user"]
    assert scope.HasField("tags")
    assert not scope.HasField("collections")
    assert scope.year_from == 2000
    assert peers.synth.conversations[0].active_items[0].key == "ITEM0001"
    assert peers.synth.investigations[0].active_items[0].key == "ITEM0001"


async def test_a_later_turn_hears_the_conversation_and_nothing_else(
    chat: Chat, peers: ResearchPeers
) -> None:
    long = "word " * 2_000
    peers.synth.answer = lambda request: synth.SynthesizeResult(markdown=long, answered=True)
    turn = await chat.start("Does sleep help memory?")
    await chat.finished(turn)
    peers.synth.answer = quoting
    await chat.answer("And in old age?", session_id=turn.session_id)
    (past,) = peers.synth.conversations[1].history
    assert past.prompt == "Does sleep help memory?"
    assert len(past.answer) == 1_500
    second = next(one for one in peers.synth.investigations if one.question == "And in old age?")
    assert not second.transcript
    assert second.left.calls == 10


async def test_a_tool_error_of_search_goes_to_the_agent(chat: Chat, peers: ResearchPeers) -> None:
    peers.synth.script = [
        [call("read_document", document_id="gone", section_id="s1")],
        [call("search_corpus", query="sleep")],
    ]
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    assert page.state == pb.RUN_STATE_COMPLETED
    result = peers.synth.investigations[1].transcript[0].results[0]
    assert not result.ok
    assert result.error == "There is no document 'gone'."


async def test_a_peer_that_is_away_for_a_moment_does_not_fail_the_run(
    chat: Chat, peers: ResearchPeers
) -> None:
    port = await peers.stop("search")
    turn = await chat.start("Does sleep help memory?")

    async def is_searching() -> bool:
        return "tool_call" in kinds(await chat.page(turn))

    await eventually(is_searching, "the first tool call")
    await peers.start("search", port)
    page = await chat.finished(turn)
    assert page.events[-1].answer.answered


async def test_a_peer_that_stays_away_fails_the_run_in_one_sentence(
    chat: Chat, peers: ResearchPeers
) -> None:
    await peers.stop("search")
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    assert page.state == pb.RUN_STATE_FAILED
    error = page.events[-1].error
    assert (error.code, error.retryable) == ("PEER_UNAVAILABLE", True)
    assert error.message == "The search process cannot be reached; try again in a moment."


async def test_an_error_that_the_mind_explains_is_told_in_its_words(
    chat: Chat, peers: ResearchPeers
) -> None:
    # The channel itself asks an unavailable peer again a few times.
    peers.synth.errors = {"Investigate": [Broken("The model has no credit left.")] * 9}
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    error = page.events[-1].error
    assert (error.code, error.message) == ("BROKEN", "The model has no credit left.")


async def test_citations_are_unchecked_while_search_is_broken_and_the_run_completes(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.find_error = Broken("No index.")
    peers.synth.answer = quoting_loosely
    answer = await chat.answer("Does sleep help memory?")
    assert answer.support == event_pb2.SupportCounts(unchecked=3)
    assert answer.citations[0].judged_by == "nobody: the search process gave no answer"
    assert answer.citations[0].page_label == "iv"


async def test_a_quote_that_stands_there_letter_by_letter_needs_no_search(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.find_error = Broken("No index.")
    answer = await chat.answer("Does sleep help memory?")
    assert answer.support == event_pb2.SupportCounts(verified=3)
    assert answer.citations[0].page_label == "iv"


def quoting_loosely(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
    """Quotes with white space of their own, which only the search process can find."""
    result = quoting(request)
    for one in result.citations:
        one.quote = one.quote.replace(" ", "\n")
    return result


def claiming(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
    """An answer in the writer's own words, with one citation that is not from the evidence."""
    result = quoting(request)
    result.markdown = "Nobody said so [1]. Sleep helps [2]. It surely does [3]."
    for one, statement in zip(
        result.citations, ("Nobody said so.", "Sleep helps.", "It surely does."), strict=True
    ):
        one.statement = statement
    result.citations[0].passage_id = "f" * 32
    return result


async def test_a_citation_outside_the_evidence_is_dropped_and_the_rest_renumbered(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.answer = claiming
    answer = await chat.answer("Does sleep help memory?")
    assert answer.markdown == "Nobody said so. Sleep helps [1]. It surely does [2]."
    assert [one.number for one in answer.citations] == [1, 2]


@pytest.mark.parametrize(
    ("support", "calibrated", "level"),
    [
        (0.9, False, event_pb2.SUPPORT_LEVEL_WEAK),
        (0.9, True, event_pb2.SUPPORT_LEVEL_VERIFIED),
        (0.1, True, event_pb2.SUPPORT_LEVEL_UNSUPPORTED),
    ],
)
async def test_a_claim_is_judged_by_the_support_model(
    chat: Chat, peers: ResearchPeers, support: float, calibrated: bool, level: int
) -> None:
    peers.synth.answer = claiming
    peers.rerank.support, peers.rerank.calibrated = support, calibrated
    answer = await chat.answer("Does sleep help memory?")
    assert {one.support for one in answer.citations} == {level}
    assert answer.citations[0].judged_by == "scripted"
    assert peers.rerank.pairs[0][0] == "Sleep helps."


async def test_claims_are_unchecked_while_the_judge_is_broken(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.answer = claiming
    peers.rerank.error = Broken("No model.")
    answer = await chat.answer("Does sleep help memory?")
    assert answer.support == event_pb2.SupportCounts(unchecked=2)


async def test_a_quote_that_is_not_in_its_passage_is_unsupported_and_not_shown(
    chat: Chat, peers: ResearchPeers
) -> None:
    def inventing(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
        result = quoting(request)
        result.citations[0].quote = "Nobody wrote this."
        return result

    peers.synth.answer = inventing
    answer = await chat.answer("Does sleep help memory?")
    assert answer.citations[0].support == event_pb2.SUPPORT_LEVEL_UNSUPPORTED
    assert answer.citations[0].quote == ""


async def test_a_bug_ends_its_run_with_a_fixed_text_and_no_other(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.rerank.invented = "f" * 32
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    error = page.events[-1].error
    assert (error.code, error.retryable) == ("INTERNAL", False)
    assert error.message == INTERNAL_TEXT
    peers.rerank.invented = ""
    assert (await chat.answer("Does sleep help memory?")).answered


async def test_a_writer_that_breaks_off_begins_again_and_says_so(
    chat: Chat, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.synth.writing_gate = gate
    turn = await chat.start("Does sleep help memory?")

    async def is_writing() -> bool:
        return len(peers.synth.syntheses) == 1

    await eventually(is_writing, "the first attempt")
    port = await peers.stop("synth")
    gate.set()
    await peers.start("synth", port)
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    resets = [event.answer_reset.attempt for event in page.events if event.HasField("answer_reset")]
    assert resets == [2]
