"""The synth process over real gRPC."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from services.chassis.channel import open_channel
from services.chassis.errors import failure_of
from services.chassis.server import serving
from services.synth.minds import Minds
from services.synth.offline import OfflineMind
from services.synth.servicer import MAX_PROMPT_CHARS, SynthServicer
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1 import synth_pb2_grpc as rpc

QUESTION = "Does a nap lower vigilance lapses in night-shift nurses?"
TEXT = "A nap of thirty minutes lowered vigilance lapses in night-shift nurses by 2.9."


@pytest.fixture
async def stub() -> AsyncIterator[rpc.SynthServiceStub]:
    mind = OfflineMind()
    servicer = SynthServicer(Minds(coordinator=mind, search_agent=mind, writer=mind))
    services = {
        "zocrates.synth.v1.SynthService": lambda server: rpc.add_SynthServiceServicer_to_server(
            servicer, server
        )
    }
    async with (
        serving(services) as running,
        open_channel(f"127.0.0.1:{running.port}") as channel,
    ):
        yield rpc.SynthServiceStub(channel)


def nap_passage() -> corpus.Passage:
    return corpus.Passage(
        passage_id="0a",
        document=corpus.Document(
            document_id="user/NAPS2345",
            item=corpus.ItemRef(library="user", key="ITEM2345"),
            title="Nap length in night-shift nurses",
            creators=["Giulia Castellano", "Simon Brook"],
            year="2014",
        ),
        text=TEXT,
        page_spans=[corpus.PageSpan(start=0, end=len(TEXT), page_index=3, page_label="301")],
    )


async def replies_of(call: Any) -> list[Any]:  # the stub's calls are not typed
    return [reply async for reply in call]


async def test_a_question_becomes_a_research_request_with_its_active_items(
    stub: rpc.SynthServiceStub,
) -> None:
    item = corpus.ItemRef(library="groups/7", key="ABCD2345")
    request = pb.ConverseRequest(prompt=f" {QUESTION}\n", active_items=[item])
    *_, last = await replies_of(stub.Converse(request, timeout=20))
    assert last.result.research.question == QUESTION
    assert list(last.result.research.active_items) == [item]
    assert last.result.model == "offline"


async def test_a_greeting_is_streamed_and_its_pieces_are_the_answer(
    stub: rpc.SynthServiceStub,
) -> None:
    *pieces, last = await replies_of(stub.Converse(pb.ConverseRequest(prompt="Hello"), timeout=20))
    assert "".join(piece.answer_delta for piece in pieces) == last.result.answer.markdown != ""


async def test_a_follow_up_is_made_self_contained(stub: rpc.SynthServiceStub) -> None:
    past = pb.PastTurn(prompt=QUESTION, answer="…", cited_titles=["Nap length"])
    request = pb.ConverseRequest(prompt="And in pilots?", history=[past])
    *_, last = await replies_of(stub.Converse(request, timeout=20))
    assert "vigilance" in last.result.research.question


async def test_an_investigation_searches_then_concludes(stub: rpc.SynthServiceStub) -> None:
    tools = [
        pb.Tool(name="search_corpus", parameters_schema='{"properties": {"query": {}}}'),
        pb.Tool(name="conclude_search", parameters_schema='{"properties": {"summary": {}}}'),
    ]
    request = pb.InvestigateRequest(
        question=QUESTION, tools=tools, left=pb.CeilingsLeft(calls=10, words=7_500)
    )
    *thoughts, last = await replies_of(stub.Investigate(request, timeout=20))
    assert thoughts
    assert thoughts[0].thought
    (call,) = last.result.calls
    assert (call.tool, json.loads(call.arguments)["query"]) == ("search_corpus", QUESTION)
    found = pb.FoundPassage(passage=nap_passage(), similarity=0.8)
    turn = pb.InvestigationTurn(
        calls=[call], results=[pb.ToolResult(call_id=call.call_id, ok=True, passages=[found])]
    )
    request.transcript.append(turn)
    *_, last = await replies_of(stub.Investigate(request, timeout=20))
    (call,) = last.result.calls
    assert call.tool == "conclude_search"
    assert json.loads(call.arguments)["gaps"] == []


async def test_an_answer_is_streamed_and_cited(stub: rpc.SynthServiceStub) -> None:
    evidence = pb.EvidencePassage(passage=nap_passage(), score=0.9)
    request = pb.SynthesizeRequest(question=QUESTION, evidence=[evidence], gaps=["Costs of naps"])
    *pieces, last = await replies_of(stub.Synthesize(request, timeout=20))
    result = last.result
    assert "".join(piece.answer_delta for piece in pieces) == result.markdown
    assert len([piece for piece in pieces if piece.answer_delta]) > 1
    (citation,) = result.citations
    assert citation == pb.DraftCitation(
        number=1,
        passage_id="0a",
        quote=TEXT,
        statement=f"Castellano and Brook (2014) report: “{TEXT}”",
    )
    assert list(result.gaps) == ["Costs of naps"]
    assert result.answered


async def test_a_plan_is_drafted_revised_and_searched_by(stub: rpc.SynthServiceStub) -> None:
    request = pb.DraftPlanRequest(question="Naps?")
    *_, last = await replies_of(stub.DraftPlan(request, timeout=20))
    assert last.result.intent == pb.PLAN_INTENT_FEEDBACK
    request.question = QUESTION
    *_, last = await replies_of(stub.DraftPlan(request, timeout=20))
    assert (last.result.intent, last.result.model) == (pb.PLAN_INTENT_READY, "offline")
    request.current_plan = last.result.message
    request.rounds.add(
        author=pb.PLAN_AUTHOR_PLANNER, message=last.result.message, intent=last.result.intent
    )
    request.rounds.add(author=pb.PLAN_AUTHOR_PERSON, message="Add sleep inertia after waking")
    *_, last = await replies_of(stub.DraftPlan(request, timeout=20))
    assert "2. Sleep inertia after waking" in last.result.message
    search = pb.InvestigateRequest(
        question=QUESTION,
        tools=[pb.Tool(name="search_corpus", parameters_schema='{"properties": {"query": {}}}')],
        left=pb.CeilingsLeft(calls=10, words=7_500),
        confirmed_plan=last.result.message,
        review_conversation=request.rounds,
    )
    *_, last = await replies_of(stub.Investigate(search, timeout=20))
    queries = [json.loads(call.arguments)["query"] for call in last.result.calls]
    assert len(queries) == 2
    assert "inertia" in queries[1]


async def test_a_mind_that_cannot_write_repairs_nothing(stub: rpc.SynthServiceStub) -> None:
    citation = pb.DraftCitation(number=1, passage_id="0a", quote=TEXT, statement="Naps cure.")
    request = pb.RepairRequest(
        question=QUESTION,
        markdown="Naps cure [1].\n",
        citations=[citation],
        unsupported=[1],
        evidence=[pb.EvidencePassage(passage=nap_passage(), score=0.9)],
    )
    *_, last = await replies_of(stub.Repair(request, timeout=20))
    assert last.result == pb.RepairResult(
        markdown=request.markdown,
        citations=[citation],
        usage=pb.TokenUsage(),
        model="offline",
    )


async def test_the_minds_of_all_roles_are_named(stub: rpc.SynthServiceStub) -> None:
    minds = await stub.DescribeMinds(pb.DescribeMindsRequest(), timeout=20)
    assert {minds.coordinator, minds.search_agent, minds.writer} == {"offline"}


@pytest.mark.parametrize("text", ["", " \n ", "x" * 100_000, "x" * (MAX_PROMPT_CHARS + 1)])
async def test_an_empty_or_overlong_text_is_an_invalid_prompt_everywhere(
    stub: rpc.SynthServiceStub, text: str
) -> None:
    calls = [
        stub.Converse(pb.ConverseRequest(prompt=text), timeout=20),
        stub.Investigate(pb.InvestigateRequest(question=text), timeout=20),
        stub.DraftPlan(pb.DraftPlanRequest(question=text), timeout=20),
        stub.Synthesize(pb.SynthesizeRequest(question=text), timeout=20),
        stub.Repair(pb.RepairRequest(question=text), timeout=20),
    ]
    for call in calls:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await replies_of(call)
        failure = failure_of(caught.value)
        assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
        assert failure.reason == "INVALID_PROMPT"


async def test_the_longest_prompt_is_worked_on(stub: rpc.SynthServiceStub) -> None:
    prompt = ("Does a nap help nurses? " * 1_000)[:MAX_PROMPT_CHARS]
    *_, last = await replies_of(stub.Converse(pb.ConverseRequest(prompt=prompt), timeout=20))
    request = pb.InvestigateRequest(
        question=last.result.research.question,
        tools=[pb.Tool(name="search_corpus")],
        left=pb.CeilingsLeft(calls=10, words=7_500),
    )
    *_, last = await replies_of(stub.Investigate(request, timeout=20))
    for call in last.result.calls:
        assert 0 < len(json.loads(call.arguments)["query"]) <= 1_000


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ("gpt", "SYNTH_MODEL: 'gpt' names no model; write provider:model, for example "),
        ("openai:gpt", "SYNTH_MODEL: openai:gpt needs a key; give one with `zocrates configure` "),
        ("openai-compatible:m", "SYNTH_MODEL: openai-compatible:m needs the address of its "),
    ],
)
def test_a_choice_that_cannot_be_used_is_refused_with_one_sentence(
    model: str, complaint: str
) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "services.synth"],
        env={"SYNTH_MODEL": model, "SYNTH_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith(complaint)
