"""A person with grpcurl can look at every gRPC process."""

import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Stack

GRPCURL = Path(sysconfig.get_path("scripts")) / "grpcurl"
SERVICES = {
    "search": ["zocrates.search.v1.SearchService", "zocrates.search.v1.LibraryService"],
    "rerank": ["zocrates.rerank.v1.RerankService"],
    "synth": ["zocrates.synth.v1.SynthService"],
    "orchestrator": ["zocrates.orchestrator.v1.ChatService"],
}


def grpcurl(stack: Stack, process: str, *words: str, data: dict[str, Any] | None = None) -> str:
    body = ["-d", json.dumps(data)] if data is not None else []
    address = f"127.0.0.1:{stack.ports[process]}"
    result = subprocess.run(
        [GRPCURL, "-plaintext", "-max-time", "20", *body, address, *words],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("process", SERVICES)
def test_every_process_lists_describes_and_tells_its_health(stack: Stack, process: str) -> None:
    listed = grpcurl(stack, process, "list").split()
    assert {*SERVICES[process], "grpc.health.v1.Health"} <= set(listed)
    for service in SERVICES[process]:
        assert "rpc " in grpcurl(stack, process, "describe", service)
    assert '"SERVING"' in grpcurl(stack, process, "grpc.health.v1.Health/Check", data={})


def test_a_search_can_be_read_on_and_reranked(stack: Stack) -> None:
    found = json.loads(
        grpcurl(
            stack,
            "search",
            "zocrates.search.v1.SearchService/SearchCorpus",
            data={"query": "memory consolidation during sleep", "limit": 3},
        )
    )
    passages = [hit["passage"] for hit in found["hits"]]
    read = json.loads(
        grpcurl(
            stack,
            "search",
            "zocrates.search.v1.SearchService/ReadDocument",
            data={"around": {"passage_id": passages[0]["passage_id"], "before": 1, "after": 1}},
        )
    )
    assert passages[0]["passage_id"] in [passage["passage_id"] for passage in read["passages"]]
    candidates = [
        {"passage_id": passage["passage_id"], "text": passage["text"], "words": 1}
        for passage in passages
    ]
    ranked = json.loads(
        grpcurl(
            stack,
            "rerank",
            "zocrates.rerank.v1.RerankService/Rerank",
            data={
                "query": "memory consolidation",
                "candidates": candidates,
                "max_passages": 2,
                "max_words": 100,
            },
        )
    )
    assert len(ranked["kept"]) == min(2, len(passages))
