"""The whole search process over the demonstration library: real reader, model, index and wire."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from deploy.demo.location import DEMO_LIBRARY, QUESTIONS
from deploy.model_folder import models_folder
from deploy.models import export_embedding
from services.chassis.channel import open_channel
from services.chassis.errors import failure_of
from services.chassis.server import serving
from services.search.assembly import assembled
from services.search.encoder import EncoderUnusable
from services.search.settings import Settings
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

QUESTION_LIST: list[dict[str, Any]] = json.loads(QUESTIONS.read_text("utf-8"))["questions"]
ANSWERABLE = [question for question in QUESTION_LIST if question["answerable"]]


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[grpc.aio.Channel]:
    async with (
        assembled(settings) as services,
        serving(services) as running,
        open_channel(f"127.0.0.1:{running.port}") as channel,
    ):
        yield channel


@pytest.fixture(scope="module")
async def channel(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[grpc.aio.Channel]:
    export_embedding(models_folder())
    settings = Settings(
        index_uri=str(tmp_path_factory.mktemp("demo") / "index"),
        library_dir=DEMO_LIBRARY,
        demo=True,
        models_dir=models_folder(),
    )
    async with served(settings) as channel:
        sync = rpc.LibraryServiceStub(channel).Sync(pb.SyncRequest(), timeout=110)
        reports = [report async for report in sync]
        assert reports[-1].phase == pb.SYNC_PHASE_DONE
        yield channel


async def test_the_demo_library_is_read_and_says_what_it_is(channel: grpc.aio.Channel) -> None:
    status = await rpc.LibraryServiceStub(channel).GetStatus(pb.GetStatusRequest(), timeout=10)
    assert status.demo
    assert status.counts.read_in_full >= 14
    assert status.vectors.done == status.vectors.total > 100
    assert status.encoder_id.startswith("all-MiniLM-L6-v2/mean/l2/256/int8/")
    reasons = {skip.reason for skip in status.skipped}
    assert {pb.SKIP_REASON_ENCRYPTED, pb.SKIP_REASON_IMAGE_ONLY} <= reasons
    assert all(skip.detail and skip.title for skip in status.skipped)


def answers() -> Iterator[tuple[str, dict[str, Any]]]:
    for question in ANSWERABLE:
        for answer in question["answers"]:
            yield question["id"], answer


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: str(question["id"]))
async def test_a_question_finds_a_paper_that_answers_it(
    channel: grpc.aio.Channel, question: dict[str, Any]
) -> None:
    request = pb.SearchCorpusRequest(query=question["text"])
    reply = await rpc.SearchServiceStub(channel).SearchCorpus(request, timeout=10)
    found = {hit.passage.document.item.key for hit in reply.hits}
    assert found & {answer["item_key"] for answer in question["answers"]}


@pytest.mark.parametrize(("question", "answer"), list(answers()))
async def test_every_answers_quote_is_found_on_its_page(
    channel: grpc.aio.Channel, question: str, answer: dict[str, Any]
) -> None:
    stub = rpc.SearchServiceStub(channel)
    status = await rpc.LibraryServiceStub(channel).GetStatus(pb.GetStatusRequest(), timeout=10)
    places = set()
    for library in status.libraries:
        document_id = f"{library}/{answer['attachment_key']}"
        request = pb.FindQuoteRequest(quote=answer["quote"], document_id=document_id)
        with suppress(grpc.aio.AioRpcError):  # the attachment is in one library only
            matches = (await stub.FindQuote(request, timeout=10)).matches
            places = {(match.page_index, match.page_label) for match in matches}
    assert (answer["page_index"], answer["page_label"]) in places, question


async def test_without_a_model_words_alone_are_searched_and_it_is_said(tmp_path: Path) -> None:
    settings = Settings(
        index_uri=str(tmp_path / "index"), library_dir=DEMO_LIBRARY, models_dir=tmp_path
    )
    async with served(settings) as channel:
        reports = rpc.LibraryServiceStub(channel).Sync(pb.SyncRequest(), timeout=110)
        assert [report async for report in reports][-1].phase == pb.SYNC_PHASE_DONE
        request = pb.SearchCorpusRequest(query="sleep spindles")
        reply = await rpc.SearchServiceStub(channel).SearchCorpus(request, timeout=10)
    assert reply.hits
    assert "deploy.models" in reply.degraded
    assert reply.vectors.done == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"role": "reader"}, "only reads"), ({"library_dir": None}, "SEARCH_LIBRARY_DIR")],
)
async def test_who_keeps_no_index_says_so_when_asked_to_sync(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    base = {"library_dir": DEMO_LIBRARY, "models_dir": tmp_path, "index_uri": str(tmp_path / "i")}
    async with served(Settings(**{**base, **changes})) as channel:
        stub = rpc.LibraryServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError, match=reason) as raised:
            await stub.Sync(pb.SyncRequest(), timeout=10).read()
        assert failure_of(raised.value).reason == "NO_LIBRARY"
        assert (await stub.GetStatus(pb.GetStatusRequest(), timeout=10)).source_kind == ""


async def test_the_process_serves_answers_health_and_ends_on_a_signal(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "SEARCH_PORT": "0",
        "SEARCH_INDEX_URI": str(tmp_path / "index"),
        "SEARCH_LIBRARY_DIR": str(DEMO_LIBRARY),
        "SEARCH_MODELS_DIR": str(models_folder()),
        "SEARCH_DRAIN_S": "1",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.search", stderr=asyncio.subprocess.PIPE, env=environment
    )
    assert process.stderr is not None
    async with asyncio.timeout(60):
        line = json.loads(await process.stderr.readline())
        while line["event"] != "serving":
            line = json.loads(await process.stderr.readline())
        async with open_channel(f"127.0.0.1:{line['port']}") as channel:
            health = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service="zocrates.search.v1.SearchService")
            reply = await health.Check(request, timeout=10)
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
        # In the middle of its first sync.
        process.send_signal(signal.SIGTERM)
        rest = await process.stderr.read()
        assert await process.wait() == 0
    assert b"Traceback" not in rest


async def test_a_configured_model_that_cannot_be_loaded_is_no_silent_fallback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = Settings(
        index_uri=str(tmp_path / "index"), models_dir=tmp_path, model=str(tmp_path / "no-model")
    )
    with pytest.raises(EncoderUnusable, match="no-model"):
        async with assembled(settings):
            pytest.fail("it started")
