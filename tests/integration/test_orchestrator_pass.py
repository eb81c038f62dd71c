"""The pass loop: the orchestrator counts, the agent is told, nothing gets past a ceiling."""

from collections.abc import AsyncIterator

import pytest

from services.chassis.words import count_words
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import Chat, orchestrator
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.synth.v1 import synth_pb2 as synth

SMALL = Harness(
    max_retrieval_tools=4, hard_word_ceiling=100, max_rerank_chunks=3, hitl_enabled=False
)
QUESTION = "Does sleep help memory?"


def search(query: str) -> synth.ToolCall:
    return call("search_corpus", query=query)


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        for number in range(1, 10):
            served.search.hits[f"q{number}"] = [passage(number)]
        yield served


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    async with orchestrator(settings, SMALL) as caller:
        yield caller


async def asked(chat: Chat) -> tuple[pb.ListEventsResponse, list[event_pb2.ToolReturned]]:
    """The finished run's events, and its tool results."""
    page = await chat.finished(await chat.start(QUESTION))
    assert page.state == pb.RUN_STATE_COMPLETED, page
    return page, [one.tool_result for one in page.events if one.HasField("tool_result")]


def report_of(page: pb.ListEventsResponse) -> event_pb2.Reported:
    return next(one.report for one in page.events if one.HasField("report"))


async def test_calls_beyond_the_ceiling_are_blocked_recorded_and_not_counted(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [[search(f"q{number}") for number in range(1, 7)]]
    page, results = await asked(chat)
    calls = [one.tool_call for one in page.events if one.HasField("tool_call")]
    assert [one.call_number for one in calls] == [1, 2, 3, 4, 0, 0, 0]
    assert {one.call_limit for one in calls} == {4}
    assert [one.ok for one in results] == [True] * 4 + [False] * 2 + [True]
    assert "one call is left" in results[2].notice
    assert "no call is left" in results[3].notice
    assert results[4].notice.startswith("Blocked: the ceiling of 4 calls")
    assert not peers.search.calls["q5"]
    assert page.events[-1].answer.usage.calls == 4


async def test_the_agent_sees_what_is_left_and_the_notices(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [[search("q1"), search("q2"), search("q3")]]
    await asked(chat)
    first, second = peers.synth.investigations
    assert (first.left.calls, first.left.words) == (4, 100)
    words = 3 * count_words(passage(1).text)
    assert (second.left.calls, second.left.words) == (1, 100 - words)
    notice = second.transcript[0].results[2].notice
    assert "one call is left" in notice
    assert "conclude_search" in notice
    assert {tool.name for tool in first.tools} >= {"search_corpus", "conclude_search"}


async def test_a_result_is_cut_at_a_sentence_at_the_word_ceiling(
    chat: Chat, peers: ResearchPeers
) -> None:
    ten_words = "One two three four five six seven eight nine {0}. "
    long = "".join(ten_words.format(f"n{number}") for number in range(14)).strip()
    peers.search.hits["long"] = [passage(8, long), passage(9)]
    peers.synth.script = [[search("q1"), search("long")], [search("q2")]]
    page, results = await asked(chat)
    cut = results[1]
    used = count_words(passage(1).text)
    assert cut.words == (100 - used) // 10 * 10
    assert cut.words_total <= 100
    assert cut.notice.startswith("The text was cut at a sentence")
    assert [one.passage_id for one in cut.passages] == [f"{8:032x}"]
    returned = peers.synth.investigations[1].transcript[0].results[1].passages[0].passage
    assert returned.text.endswith(".")
    assert long.startswith(returned.text)
    assert returned.page_spans[-1].end == len(returned.text)
    blocked = results[2]
    assert blocked.notice.startswith("Blocked: the ceiling of 100 words")
    assert page.events[-1].answer.usage.words <= 100


async def test_from_four_fifths_of_the_words_on_every_result_says_so(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.hits["big"] = [passage(8, "word " * 79 + "end.")]
    peers.synth.script = [[search("big")], [search("q1")]]
    _, results = await asked(chat)
    assert results[0].notice.startswith("80 of 100 words are used.")
    assert "of 100 words are used." in results[1].notice


async def test_empty_and_failed_calls_count(chat: Chat, peers: ResearchPeers) -> None:
    peers.synth.script = [
        [search("nothing"), call("read_document", document_id="gone", section_id="s")]
    ]
    page, results = await asked(chat)
    assert [one.ok for one in results] == [True, False, True]
    assert page.events[-1].answer.usage.calls == 2
    assert not page.events[-1].answer.answered


async def test_malformed_arguments_are_a_failed_call_that_says_what_to_mend(
    chat: Chat, peers: ResearchPeers
) -> None:
    broken = synth.ToolCall(call_id="c", tool="search_corpus", arguments='{"query": ')
    peers.synth.script = [[broken, search("q1")]]
    page, results = await asked(chat)
    assert [one.ok for one in results] == [False, True, True]
    error = peers.synth.investigations[1].transcript[0].results[0].error
    assert error.startswith("The arguments of search_corpus are not JSON")
    shown = next(one.tool_call for one in page.events if one.HasField("tool_call"))
    assert shown.arguments == '{"malformed": "{\\"query\\": "}'


async def test_an_unknown_tool_is_not_counted_and_the_agent_learns_the_names(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [[call("web_search", query="q1")]]
    page, results = await asked(chat)
    assert not results[0].ok
    assert page.events[-1].answer.usage.calls == 0
    error = peers.synth.investigations[1].transcript[0].results[0].error
    assert error.startswith("There is no tool 'web_search'; there are conclude_search,")


async def test_a_repeated_call_is_answered_from_the_record(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [[search("q1"), search("q1")], [search("q1")]]
    page, results = await asked(chat)
    assert peers.search.calls["q1"] == 1
    assert [one.words > 0 for one in results[:3]] == [True, False, False]
    assert page.events[-1].answer.usage.calls == 3


async def test_two_turns_of_nothing_new_end_the_pass_with_an_automatic_report(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [
        [search("q1"), search("open")],
        [search("q1")],
        [call("web_search", query="q1")],
        [search("q2")],
    ]
    page, _ = await asked(chat)
    report = report_of(page)
    assert report.automatic
    assert "twice in a row" in report.reason
    assert list(report.gaps) == ["open"]
    assert report.covered_summary == "q1"
    assert not peers.search.calls["q2"]


async def test_a_reply_without_calls_ends_the_pass(chat: Chat, peers: ResearchPeers) -> None:
    peers.synth.script = [[]]
    page, _ = await asked(chat)
    report = report_of(page)
    assert report.automatic
    assert list(report.gaps) == [QUESTION]
    assert list(page.events[-1].answer.gaps) == [QUESTION]


async def test_a_request_for_more_ends_the_pass_and_its_gaps_are_shown(
    chat: Chat, peers: ResearchPeers
) -> None:
    asking = call(
        "request_search_extension",
        justification="Two papers are left.",
        covered_summary="One paper.",
        missing_aspects=["The other two"],
    )
    peers.synth.script = [[search("q1"), asking], [search("q2")]]
    page, _ = await asked(chat)
    report = report_of(page)
    assert (report.covered_summary, list(report.gaps)) == ("One paper.", ["The other two"])
    assert list(page.events[-1].answer.gaps) == ["The other two"]
    assert not peers.search.calls["q2"]


async def test_a_pass_ends_after_twice_its_calls_and_three_turns(
    chat: Chat, peers: ResearchPeers
) -> None:
    # Each refusal is a new one, so no two turns are idle.
    peers.synth.script = [
        [call("conclude_search", summary="s", gaps=f"not a list {number}")] for number in range(20)
    ]
    page, results = await asked(chat)
    assert len(results) == 2 * 4 + 3
    assert "limit of turns" in report_of(page).reason


async def test_rerank_gets_the_runs_ceilings_and_everything_found(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [[search("q1"), search("q2"), search("q3"), search("q4")]]
    page, _ = await asked(chat)
    (request,) = peers.rerank.requests
    assert (request.max_passages, request.max_words) == (3, 100)
    assert [one.passage_id for one in request.candidates] == [f"{n:032x}" for n in range(1, 5)]
    assert request.candidates[0].words == count_words(passage(1).text)
    assert request.candidates[0].heading == "Sleep study 1 · Results"
    ranked = next(one.rerank for one in page.events if one.HasField("rerank"))
    assert (ranked.considered, ranked.kept) == (4, 3)
    assert len(peers.synth.syntheses[0].evidence) == 3


async def test_toc_and_reading_are_counted_and_their_text_too(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.hits["user/ATTACH01"] = [passage(1)]
    peers.synth.script = [
        [
            call("get_document_toc", document_id="user/ATTACH01"),
            call("read_document", document_id="user/ATTACH01", first_page=1, last_page=2),
        ],
        [conclude()],
    ]
    page, results = await asked(chat)
    assert results[0].words == count_words("Results of the study")
    assert results[1].words == count_words(passage(1).text)
    assert page.events[-1].answer.usage.calls == 2
    sections = peers.synth.investigations[1].transcript[0].results[0].sections
    assert sections[0].title == "Results of the study"
