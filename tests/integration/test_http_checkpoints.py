"""Checkpoints as a client meets them over HTTP, with every process real but the peers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from gateway.serving import serve
from gateway.settings import ApiKey
from gateway.settings import Settings as GatewaySettings
from tests.fakes.deep_question import QUESTION, extension, set_deep_question
from tests.fakes.gateway_stage import ADA, Frame, frames, names
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import eventually, orchestrator, settings_for
from tests.servers import NatsServer, free_port


@dataclass
class Wire:
    """A client, and the peers whose moves it sees."""

    http: httpx.AsyncClient
    peers: ResearchPeers

    async def streamed(self, path: str, body: dict[str, Any]) -> list[Frame]:
        """All that the reply to a POST tells."""
        async with self.http.stream("POST", path, json=body) as reply:
            assert reply.status_code == 200, await reply.aread()
            async with asyncio.timeout(20):
                return [frame async for frame in frames(reply) if frame.name != "answer_delta"]

    async def ask(self, prompt: str = QUESTION, **fields: Any) -> list[Frame]:
        return await self.streamed("/chat", {"prompt": prompt, **fields})

    async def resume(self, asked: Frame, action: str, **response: str) -> list[Frame]:
        return await self.streamed("/chat/resume", decision(asked, action, **response))

    async def messages(self, seen: list[Frame]) -> list[dict[str, Any]]:
        reply = await self.http.get(f"/sessions/{seen[0].data['session_id']}")
        found: list[dict[str, Any]] = reply.json()["messages"]
        return found


def decision(asked: Frame, action: str, **response: str) -> dict[str, Any]:
    named = {name: asked.data[name] for name in ("session_id", "invocation_id", "interrupt_id")}
    return {**named, "response": {"action": action, **response}}


def question_of(seen: list[Frame]) -> Frame:
    """The question that a stream ended with."""
    asked, done = seen[-2:]
    assert (asked.name, done.data["state"]) == ("request_input", "AWAITING_INPUT")
    return asked


@pytest.fixture
async def wire(database_url: str, nats_server: NatsServer) -> AsyncIterator[Wire]:
    async with research_peers() as peers:
        set_deep_question(peers)
        settings = settings_for(database_url, nats_server.url, peers)
        gateway = GatewaySettings(
            port=free_port(),
            nats_url=nats_server.url,
            orchestrator_target=f"127.0.0.1:{settings.port}",
            search_target=peers.target("search"),
            keys=(ApiKey.model_validate({"key": ADA, "owner": "ada"}),),
            drain_s=1,
        )
        stop = asyncio.Event()
        base = f"http://127.0.0.1:{gateway.port}"
        async with orchestrator(settings):
            serving = asyncio.create_task(serve(gateway, stop))
            async with httpx.AsyncClient(base_url=base, headers={"X-API-Key": ADA}) as http:

                async def is_there() -> bool:
                    with suppress(httpx.TransportError):
                        return (await http.get("/health")).status_code == 200
                    return False

                await eventually(is_there, "the gateway")
                yield Wire(http=http, peers=peers)
            stop.set()
            await serving


async def test_calls_that_run_out_with_gaps_left_end_in_a_question(wire: Wire) -> None:
    queries = [f"q{number}" for number in range(12)]
    wire.peers.search.hits = {query: [passage(n)] for n, query in enumerate(queries)}
    wire.peers.synth.script = [[call("search_corpus", query=query)] for query in queries]
    seen = await wire.ask()
    asked = question_of(seen).data
    assert asked["interrupt_id"] == "interrupt_ext_1"
    payload = asked["payload"]
    assert (payload["trigger"], payload["gaps"]) == ("gaps", ["q10", "q11"])
    assert (payload["used"]["calls"], payload["limits"]["calls"]) == (10, 10)
    assert payload["next_limits"] == {
        "calls": 15,
        "words": 11_250,
        "passages": 20,
        "tokens": 750_000,
    }
    notices = [one.data.get("notice", "") for one in seen if one.name == "tool_result"]
    assert [number for number, one in enumerate(notices, 1) if one] == [9, 10, 11, 12]
    assert "one call is left" in notices[8]
    assert notices[11].startswith("Blocked")


async def test_an_agent_that_asks_for_more_is_heard(wire: Wire) -> None:
    wire.peers.synth.script = [
        [call("search_corpus", query="sleep"), extension("memory", why="Two aspects are missing.")]
    ]
    payload = question_of(await wire.ask()).data["payload"]
    assert (payload["trigger"], payload["gaps"]) == ("agent", ["memory"])
    assert payload["justification"] == "Two aspects are missing."


async def test_two_extensions_end_hard_and_make_one_message(wire: Wire) -> None:
    first = await wire.ask()
    second = await wire.resume(question_of(first), "extend_budget", guidance="Table 3.")
    assert second[0].name == "checkpoint_answered"
    assert second[0].data["guidance"] == "Table 3."
    third = await wire.resume(question_of(second), "extend_budget")
    assert names(third[-2:]) == ["answer", "done"]
    rows = [frame.data["sequence"] for frame in (*first, *second, *third) if frame.name != "done"]
    assert rows == list(range(1, len(rows) + 1))
    # The resumes are no messages of their own, and nothing waits.
    [message] = await wire.messages(first)
    assert (message["prompt"], message["state"]) == (QUESTION, "COMPLETED")
    assert [one["answered"]["action"] for one in message["checkpoints"]] == ["extend_budget"] * 2
    assert "pending_hitl" not in message


async def test_synthesizing_at_once_searches_no_more_and_admits_the_gaps(wire: Wire) -> None:
    first = await wire.ask()
    rest = await wire.resume(question_of(first), "synthesize")
    assert "tool_call" not in names(rest)
    assert rest[-2].data["gaps"] == ["memory", "age"]


async def test_a_session_that_waits_refuses_another_question_and_another_interrupt(
    wire: Wire,
) -> None:
    asked = question_of(await wire.ask())
    body = {"prompt": "And now?", "session_id": asked.data["session_id"]}
    refused = await wire.http.post("/chat", json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "PENDING_CHECKPOINT")
    assert refused.json()["detail"] == {
        "interrupt_id": "interrupt_ext_1",
        "invocation_id": asked.data["invocation_id"],
    }
    other = {**decision(asked, "synthesize"), "interrupt_id": "interrupt_ext_2"}
    refused = await wire.http.post("/chat/resume", json=other)
    assert (refused.status_code, refused.json()["code"]) == (409, "STALE_INTERRUPT")


async def test_a_late_decision_is_told_who_decided_what_and_when_also_after_the_end(
    wire: Wire,
) -> None:
    asked = question_of(await wire.ask())
    rest = await wire.resume(asked, "synthesize")
    assert rest[-1].data["state"] == "COMPLETED"
    late = await wire.http.post("/chat/resume", json=decision(asked, "extend_budget"))
    assert (late.status_code, late.json()["code"]) == (409, "STALE_INTERRUPT")
    assert late.json()["detail"] == {
        "action": "synthesize",
        "answered_by": "ada",
        "answered_at": late.json()["detail"]["answered_at"],
        "state": "ANSWERED",
        "run_state": "COMPLETED",
    }
    assert late.json()["error"].startswith("'interrupt_ext_1' is answered: 'ada' chose synthesize")


async def test_a_rewind_withdraws_the_question_and_the_next_turn_starts_clean(wire: Wire) -> None:
    asked = question_of(await wire.ask())
    path = f"/sessions/{asked.data['session_id']}/rewind"
    for _ in range(2):
        reply = await wire.http.post(path, json={"invocation_id": asked.data["invocation_id"]})
        assert reply.json()["rewound"] == [asked.data["invocation_id"]]
        assert reply.json()["session"]["messages"] == []
    late = await wire.http.post("/chat/resume", json=decision(asked, "synthesize"))
    assert late.json()["detail"]["state"] == "WITHDRAWN"
    wire.peers.synth.script = [[call("search_corpus", query="sleep"), conclude()]]
    again = await wire.ask(session_id=asked.data["session_id"])
    # Its own first search, under the first ceilings.
    first = next(one for one in again if one.name == "tool_call")
    assert first.data["step_id"].startswith("pass_0")
    assert again[0].data["ceilings"]["calls"] == 10
    assert names(again[-2:]) == ["answer", "done"]


async def test_a_request_that_wants_more_than_is_configured_is_told(wire: Wire) -> None:
    wire.peers.synth.script = [[conclude()]]
    seen = await wire.ask(options={"max_extensions": 9})
    started = seen[0].data
    assert seen[0].name == "run_started"
    assert started["options"]["max_extensions"] == 2
    assert started["warnings"] == ["max_extensions was lowered from 9 to the configured 2."]
