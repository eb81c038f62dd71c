"""What the gateway answers: questions, sessions, library, passages, page, description."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import httpx
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gateway.throttle import is_limited
from tests.fakes.gateway_peers import refusal
from tests.fakes.gateway_stage import BOB, Stage, frames, stage_with_nats
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import models_pb2 as models
from zocrates.search.v1 import search_pb2 as search

# What is only taken note of is done after the reply.
WITHOUT_BODY = ("204", "307")
PAGE = Path(__file__).resolve().parents[2] / "gateway" / "page"


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; none of them changes what another sees."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats")) as lit:
        yield lit


@pytest.fixture(autouse=True)
def empty_library(stage: Stage) -> None:
    stage.library.status.Clear()
    stage.library.progress.clear()
    stage.library.refuses = None
    stage.search.passages.clear()


def document(library: str = "user") -> corpus.Document:
    return corpus.Document(
        document_id=f"{library}/ATTA2222",
        item=corpus.ItemRef(library=library, key="ITEM1111"),
        attachment_key="ATTA2222",
        title="On sleep",
        kind=corpus.DOCUMENT_KIND_PDF,
        reading_state=corpus.READING_STATE_PARTIAL,
    )


def passage(number: int, library: str = "user", text: str = "Text.") -> corpus.Passage:
    return corpus.Passage(
        passage_id=f"{number:08x}",
        document=document(library),
        text=text,
        ordinal=number,
        page_spans=[corpus.PageSpan(start=0, end=len(text), page_index=4, page_label="S1")],
    )


async def test_a_question_becomes_a_run_whose_events_are_the_reply(stage: Stage) -> None:
    body = {
        "prompt": "  Warum schläft man? 😴 ",
        "active_items": [{"library": "user", "key": "ITEM1111"}],
        "scope": {"collections": ["user/COLL1111"], "tags": ["ä"], "years": {"from": 1999}},
        "options": {"max_extensions": 0, "hitl_enabled": False},
    }
    headers = {"Idempotency-Key": "click-1"}
    async with stage.http.stream("POST", "/chat", json=body, headers=headers) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-cache"
        assert reply.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in reply.headers
        first = await anext(frames(reply))
    turn = stage.orchestrator.turns[-1]
    assert first.data["prompt"] == turn.prompt == "Warum schläft man? 😴"
    assert turn.idempotency_key == "click-1"
    assert turn.active_items[0].key == "ITEM1111"
    assert not turn.scope.HasField("libraries")
    assert list(turn.scope.collections.values) == ["user/COLL1111"]
    assert turn.scope.year_from == 1999
    assert not turn.scope.HasField("year_to")
    assert turn.options.HasField("max_extensions")
    assert turn.options.hitl_enabled is False


async def test_a_question_without_a_key_gets_one_so_that_a_repeated_call_is_harmless(
    stage: Stage,
) -> None:
    for _ in range(2):
        async with stage.http.stream("POST", "/chat", json={"prompt": "x"}):
            pass
    one, two = (turn.idempotency_key for turn in stage.orchestrator.turns[-2:])
    assert one != two
    assert min(len(one), len(two)) > 30


async def test_a_session_is_listed_and_read_with_its_messages(stage: Stage) -> None:
    run = stage.orchestrator.add(prompt="Why sleep?")
    call = ev.ToolCalled(step_id="a", tool="search_corpus", arguments='{"query": "sleep"}')
    run.record(tool_call=call)
    run.record(tool_result=ev.ToolReturned(step_id="a", ok=True, words=3))
    run.record(answer=ev.Answered(markdown="So.", answered=True))
    listed = (await stage.http.get("/sessions", params={"limit": 100})).json()
    assert run.session_id in [session["id"] for session in listed["sessions"]]
    assert listed["next_cursor"] is None
    session = (await stage.http.get(f"/sessions/{run.session_id}")).json()
    [message] = session["messages"]
    assert message["prompt"] == "Why sleep?"
    assert message["state"] == "COMPLETED"
    assert message["steps"][0]["arguments"] == {"query": "sleep"}
    assert message["steps"][0]["pass"] == 0
    assert message["steps"][0]["result"]["words"] == 3
    assert message["answer"]["markdown"] == "So."
    assert message["last_event_id"] == "4"
    async with stage.follow(run.path, after=message["last_event_id"]) as stream:
        assert [frame.name async for frame in stream] == ["done"]


async def test_head_answers_like_get_without_a_body(stage: Stage) -> None:
    run = stage.orchestrator.add()
    for path in ("/health", "/sessions", "/", "/openapi.json", run.path):
        reply = await stage.http.head(path)
        assert (reply.status_code, reply.content) == (200, b"")
    assert (await stage.http.head("/nothing")).status_code == 404


async def test_the_library_is_told_whole_to_who_may_see_it_all(stage: Stage) -> None:
    skips = [
        search.Skip(
            item=corpus.ItemRef(library=library, key="ITEM1111"),
            title="Scan",
            reason=search.SKIP_REASON_IMAGE_ONLY,
            detail="No text.",
        )
        for library in ("user", "groups/7")
    ]
    stage.library.status.CopyFrom(
        search.GetStatusResponse(
            source_kind="sqlite",
            source_location="/home/ada/Zotero",
            source_program="Zotero 10.0.1",
            source_notices=["No annotations."],
            unfinished=search.SyncProgress(phase=search.SYNC_PHASE_TEXT, done=1, total=2),
            duplicates=3,
            synced_at=Timestamp(seconds=1),
            counts=search.LibraryCounts(items=2, unreadable=2),
            vectors=search.VectorCoverage(done=1, total=2),
            running=search.SyncProgress(phase=search.SYNC_PHASE_TEXT, done=1, current="Secret"),
            encoder_id="mini",
            skipped=skips,
            libraries=["user", "groups/7"],
        )
    )
    whole = (await stage.http.get("/library")).json()
    assert whole["sources"] == [
        {
            "kind": "sqlite",
            "location": "/home/ada/Zotero",
            "demo": False,
            "program": "Zotero 10.0.1",
            "notices": ["No annotations."],
        }
    ]
    assert (whole["unfinished"]["done"], whole["duplicates"]) == (1, 3)
    assert whole["vectors"] == {"done": 1, "total": 2}
    assert whole["running"]["phase"] == "text"
    assert [skip["reason"] for skip in whole["skipped"]] == ["image_only"] * 2
    part = (await stage.http.get("/library", headers={"X-API-Key": BOB})).json()
    assert part["libraries"] == ["groups/7"]
    assert [skip["library"] for skip in part["skipped"]] == ["groups/7"]
    assert part["sources"][0]["location"] is None
    assert part["running"]["current"] == ""


async def test_the_library_names_the_models_behind_the_answers(stage: Stage) -> None:
    assert (await stage.http.get("/library")).json()["models"] == dict.fromkeys(
        ("embedding", "ranking", "support", "coordinator", "search_agent", "writer")
    )
    scoring = models.ScoringModel(name="tiny", description="A small judge.", calibrated=True)
    stage.orchestrator.models.told = models.DescribeModelsResponse(
        embedding=models.EmbeddingModel(encoder_id="mini", bridged_languages=["en", "de"]),
        ranking=scoring,
        support=scoring,
        minds=models.MindModels(coordinator="offline", search_agent="offline", writer="a:b:c"),
    )
    tiny = {"name": "tiny", "description": "A small judge.", "calibrated": True}
    assert (await stage.http.get("/library")).json()["models"] == {
        "embedding": {"id": "mini", "languages": ["en", "de"]},
        "ranking": tiny,
        "support": tiny,
        "coordinator": "offline",
        "search_agent": "offline",
        "writer": "a:b:c",
    }


async def test_a_library_that_was_never_read_says_so(stage: Stage) -> None:
    told = (await stage.http.get("/library")).json()
    assert told["sources"] == []
    assert told["synced_at"] is told["age_s"] is told["running"] is told["last_error"] is None


async def test_a_sync_streams_its_progress(stage: Stage) -> None:
    stage.library.progress += [
        search.SyncProgress(phase=search.SYNC_PHASE_TEXT, done=1, total=2, current="On sleep"),
        search.SyncProgress(phase=search.SYNC_PHASE_DONE, done=2, total=2),
    ]
    for body in ({}, {"full": True}, None):
        async with stage.http.stream("POST", "/library/sync", json=body) as reply:
            seen = [frame async for frame in frames(reply)]
        assert [frame.name for frame in seen] == ["progress", "progress"]
        assert [frame.data["phase"] for frame in seen] == ["text", "done"]
        assert seen[0].data["current"] == "On sleep"


async def test_a_sync_that_cannot_start_is_an_error_and_one_that_breaks_off_an_event(
    stage: Stage,
) -> None:
    stage.library.refuses = refusal(
        grpc.StatusCode.FAILED_PRECONDITION, "NO_LIBRARY", "No library is set."
    )
    reply = await stage.http.post("/library/sync")
    assert (reply.status_code, reply.json()["code"]) == (409, "NO_LIBRARY")
    stage.library.progress.append(search.SyncProgress(phase=search.SYNC_PHASE_TEXT))
    stage.library.refuses = refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL")
    async with stage.http.stream("POST", "/library/sync") as reply:
        *_, error = [frame async for frame in frames(reply)]
    assert (error.name, error.data["code"]) == ("error", "DISK_FULL")


async def test_a_passage_of_a_run_is_what_the_run_recorded_with_neighbours_of_the_index(
    stage: Stage,
) -> None:
    run = stage.orchestrator.add()
    stage.search.passages += [passage(number, text="New text.") for number in range(1, 6)]
    recorded = passage(3, text="Recorded text.")
    stage.orchestrator.evidence[run.run_id, recorded.passage_id] = recorded
    reply = await stage.http.get(
        f"/passages/{recorded.passage_id}", params={"invocation_id": run.run_id}
    )
    told = reply.json()
    assert (told["origin"], told["text"]) == ("run", "Recorded text.")
    assert [one["passage_id"] for one in told["before"]] == ["00000002"]
    assert [one["passage_id"] for one in told["after"]] == ["00000004"]
    assert told["open_uri"] == "zotero://open-pdf/library/items/ATTA2222?page=5"
    assert told["select_uri"] == "zotero://select/library/items/ITEM1111"
    assert (told["kind"], told["reading_state"]) == ("pdf", "partial")


async def test_a_passage_that_left_the_index_is_still_there_for_its_run(stage: Stage) -> None:
    run = stage.orchestrator.add()
    stage.orchestrator.evidence[run.run_id, "00000003"] = passage(3)
    told = (await stage.http.get(f"/passages/00000003?invocation_id={run.run_id}")).json()
    assert (told["origin"], told["before"], told["after"]) == ("run", [], [])


@pytest.mark.parametrize(
    ("kind", "media_type", "told"),
    [
        ("markdown", "text/markdown", "# Do naps help?"),
        ("note-html", "text/html", "<h1>Do naps help?</h1>"),
        ("bibtex", "application/x-bibtex", "@misc{"),
        ("csl-json", "application/vnd.citationstyles.csl+json", '"title": "On naps"'),
    ],
)
async def test_an_answer_is_exported_by_the_id_of_its_run(
    stage: Stage, kind: str, media_type: str, told: str
) -> None:
    run = stage.orchestrator.add(prompt="Do naps help?")
    run.record(run_started=ev.RunStarted(prompt="Do naps help?"))
    early = await stage.http.get(f"/export/{run.run_id}?format={kind}")
    assert (early.status_code, early.json()["code"]) == (409, "NO_ANSWER")
    cited = ev.Citation(number=1, library="user", item_key="K", title="On naps")
    run.record(answer=ev.Answered(markdown="Yes [1].", citations=[cited], answered=True))
    reply = await stage.http.get(f"/export/{run.run_id}?format={kind}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].split(";")[0] == media_type
    assert told in reply.text


async def test_what_cannot_be_exported_is_said(stage: Stage) -> None:
    unknown = await stage.http.get(f"/export/{32 * '0'}")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "UNKNOWN_RUN")
    run = stage.orchestrator.add()
    wrong = await stage.http.get(f"/export/{run.run_id}?format=word")
    assert wrong.status_code == 400
    assert "markdown" in wrong.json()["error"]
    foreign = await stage.http.get(f"/export/{run.run_id}", headers={"X-API-Key": BOB})
    assert foreign.status_code == 404


async def test_a_passage_without_a_run_comes_from_the_index(stage: Stage) -> None:
    stage.search.passages += [passage(1), passage(2)]
    told = (await stage.http.get("/passages/00000001")).json()
    assert (told["origin"], told["title"], len(told["after"])) == ("index", "On sleep", 1)


async def test_a_passage_of_a_library_that_is_not_the_callers_is_not_there(stage: Stage) -> None:
    stage.search.passages += [passage(1, "user"), passage(9, "groups/7")]
    headers = {"X-API-Key": BOB}
    hidden = await stage.http.get("/passages/00000001", headers=headers)
    absent = await stage.http.get("/passages/0000000f", headers=headers)
    assert hidden.status_code == absent.status_code == 404
    assert hidden.json()["code"] == absent.json()["code"] == "UNKNOWN_PASSAGE"
    told = (await stage.http.get("/passages/00000009", headers=headers)).json()
    assert told["open_uri"] == "zotero://open-pdf/groups/7/items/ATTA2222?page=5"


async def test_a_one_time_address_brings_the_page_its_key(stage: Stage) -> None:
    made = await stage.http.post("/page-links", headers={"X-API-Key": BOB})
    base, token = made.json()["url"].split("#link=")
    assert base == f"{stage.http.base_url}/"
    async with httpx.AsyncClient(base_url=stage.http.base_url) as page:
        key = (await page.post("/page-key", json={"token": token})).json()["key"]
        assert (await page.get("/sessions", headers={"X-API-Key": key})).status_code == 200
        again = await page.post("/page-key", json={"token": token})
    assert key == BOB
    assert (again.status_code, again.json()["code"]) == (410, "LINK_EXPIRED")


async def test_the_pages_files_are_served_with_their_kinds_and_a_strict_policy(
    stage: Stage,
) -> None:
    index = await stage.http.get("/")
    policy = index.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    wanted = re.findall(r'(?:href|src)="(/page/[^"]+)"', index.text)
    assert len(wanted) >= 3
    kinds = {
        ".css": "text/css",
        ".ftl": "text/plain",
        ".html": "text/html",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".xhtml": "application/xhtml+xml",
    }
    files = [file.relative_to(PAGE) for file in PAGE.rglob("*") if file.is_file()]
    for path in [*wanted, *(f"/page/{file.as_posix()}" for file in files)]:
        reply = await stage.http.get(path)
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith(kinds[path[path.rindex(".") :]])
        assert reply.headers["x-content-type-options"] == "nosniff"
        tag = {"If-None-Match": reply.headers["etag"]}
        assert (await stage.http.get(path, headers=tag)).status_code == 304


async def test_the_trace_of_a_request_goes_on_in_the_peers(stage: Stage) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    async with stage.http.stream("POST", "/chat", json={"prompt": "x"}, headers=headers):
        pass
    assert trace in stage.orchestrator.traces[-1]


async def test_metrics_are_prometheus_text(stage: Stage) -> None:
    await stage.http.get("/sessions")
    reply = await stage.http.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    line = re.compile(r'^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? \d+)$')
    assert [row for row in reply.text.splitlines() if not line.match(row)] == []
    labels = 'method="GET",route="/sessions",status="200"'
    assert await stage.metric(f"zocrates_gateway_requests_total{{{labels}}}") > 0


async def test_the_description_is_complete(stage: Stage) -> None:
    described = (await stage.http.get("/openapi.json")).json()
    text = json.dumps(described)
    schemas = described["components"]["schemas"]
    for name in set(re.findall(r'"#/components/schemas/([^"]+)"', text)):
        assert name in schemas, name
    assert "HTTPValidationError" not in text
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["description"], where
            assert operation["responses"]["default"]["content"], where
            success = next(code for code in operation["responses"] if code[0] in "23")
            if success in WITHOUT_BODY:
                continue
            content = operation["responses"][success]["content"]
            assert all(kind["schema"] for kind in content.values()), where
    limited = {path for path in described["paths"] if is_limited("POST", path)}
    assert all("429" in described["paths"][path]["post"]["responses"] for path in limited)
    assert "/api/v1/tasks/{workflow_id}/review" in limited
    for path in ("/chat", "/chat/resume", "/sessions/{session_id}/retry"):
        stream = described["paths"][path]["post"]["responses"]["200"]["content"]
        assert list(stream) == ["text/event-stream"]
    events = {
        schemas[frame["$ref"].rsplit("/", 1)[1]]["properties"]["event"]["const"]
        for frame in schemas["RunStream"]["oneOf"]
    }
    assert {"run_started", "tool_result", "answer_delta", "answer", "done"} <= events
    assert {"request_input", "checkpoint_answered", "run_state"} <= events
