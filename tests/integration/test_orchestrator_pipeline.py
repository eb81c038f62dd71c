"""A question becomes a checked answer: real Postgres, NATS and gRPC, scripted peers."""

from collections.abc import AsyncIterator

import pytest

from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import Chat, kinds, orchestrator, settings_for
from tests.servers import NatsServer


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
def settings(database_url: str, nats_server: NatsServer, peers: ResearchPeers) -> Settings:
    return settings_for(database_url, nats_server.url, peers)


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    async with orchestrator(settings) as caller:
        yield caller


async def test_a_question_ends_in_a_checked_answer(chat: Chat) -> None:
    page = await chat.finished(await chat.start("Does sleep help memory?"))
    assert kinds(page) == [
        "run_started",
        "stage",
        "thought",
        "stage",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "tool_call",
        "tool_result",
        "report",
        "stage",
        "rerank",
        "stage",
        "stage",
        "answer",
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
