"""What a library holds and where it is read from, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import requests
import schemathesis
from hypothesis import given

from services.chassis.errors import ServiceError
from tests.described import BOUNDED, CHECKS
from tests.fakes.gateway_stage import ADA, BOB, Stage, stage_with_nats
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2

AS_BOB = {"X-API-Key": BOB}


class Fixed(ServiceError):
    """The library stays where it is."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "SOURCE_FIXED"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with stage_with_nats(tmp_path_factory.mktemp("gateway")) as made:
        yield made


@pytest.fixture
def stage(gateway: Stage) -> Stage:
    """One gateway for all tests here, with a library that nobody has asked yet."""
    gateway.library.refuses = None
    gateway.library.told.clear()
    return gateway


def count(items: int) -> pb.ScopeCount:
    return pb.ScopeCount(items=items, documents=2 * items)


async def test_the_source_is_chosen_by_who_may_see_everything(stage: Stage) -> None:
    body = {"kind": "local_api", "server": "http://127.0.0.1:23119", "data_dir": "/home/ada/Zotero"}
    reply = await stage.http.put("/library/source", json=body)
    assert (reply.status_code, reply.json()) == (202, {"accepted": True})
    assert stage.library.told == [pb.SetSourceRequest(**body)]
    reply = await stage.http.put("/library/source", json=body, headers=AS_BOB)
    assert (reply.status_code, reply.json()["code"]) == (409, "SOURCE_FIXED")
    assert len(stage.library.told) == 1
    stage.library.refuses = Fixed("It is fixed.")
    reply = await stage.http.put("/library/source", json=body)
    assert (reply.status_code, reply.json()["error"]) == (409, "It is fixed.")


# The gateway in this process draws random pauses, also while an example is made up.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("refusal", [None, Fixed("It is fixed.")])
async def test_every_answer_about_the_source_is_described(
    stage: Stage, refusal: ServiceError | None
) -> None:
    stage.library.refuses = refusal
    description = (await stage.http.get("/openapi.json")).json()
    operation = schemathesis.openapi.from_dict(description)["/library/source"]["PUT"]

    with requests.Session() as session:
        session.trust_env = False
        session.headers["X-API-Key"] = ADA

        @BOUNDED
        @given(case=operation.as_strategy())
        def check(case: Any) -> None:
            case.call_and_validate(
                base_url=str(stage.http.base_url), session=session, checks=CHECKS
            )

        await asyncio.to_thread(check)


async def test_a_sync_is_stopped_by_who_may_see_everything(stage: Stage) -> None:
    reply = await stage.http.post("/library/sync/stop", headers=AS_BOB)
    assert (reply.status_code, reply.json()["code"]) == (409, "SOURCE_FIXED")
    assert stage.library.told == []
    reply = await stage.http.post("/library/sync/stop")
    assert (reply.status_code, reply.json()) == (200, {"stopped": True})
    assert stage.library.told == [sync_control_pb2.StopSyncRequest()]


MALFORMED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("PUT", "/library/source", {"kind": "bibtex"}),
    ("PUT", "/library/source", {"kind": "sqlite", "data_dir": ""}),
    ("PUT", "/library/source", {"kind": "sqlite", "data_dir": "/a\0b"}),
    ("PUT", "/library/source", {"kind": "sqlite", "more": 1}),
    ("POST", "/library/changes", {"events": [{"kind": "item", "library": "feeds/1"}]}),
    ("POST", "/library/changes", {}),
    ("GET", "/library/documents?limit=0", None),
    ("GET", "/library/documents?limit=201", None),
    ("GET", "/library/documents?collection=user", None),
]


async def test_what_is_malformed_is_refused(stage: Stage) -> None:
    for method, path, body in MALFORMED:
        reply = await stage.http.request(method, path, json=body)
        assert (reply.status_code, reply.json()["code"]) == (400, "INVALID_REQUEST"), path
    assert stage.library.told == []


async def test_changes_are_passed_on_as_far_as_the_caller_may_read(stage: Stage) -> None:
    events = [
        {"kind": "item", "library": "user", "keys": ["ABCD2345", "odd key / ü"]},
        {"kind": "file", "library": "groups/7", "keys": ["EFGH2345"]},
    ]
    for headers, libraries in (({}, ["user", "user", "groups/7"]), (AS_BOB, ["groups/7"])):
        reply = await stage.http.post("/library/changes", json={"events": events}, headers=headers)
        assert reply.status_code == 202
        told = stage.library.told[-1]
        assert isinstance(told, sync_control_pb2.NotifyChangeRequest)
        assert [one.library for one in told.items] == libraries


async def test_what_a_scope_can_name_is_listed(stage: Stage) -> None:
    outer, inner = "user/AAAA2345", "user/BBBB2345"
    stage.library.holdings.CopyFrom(
        pb.ListCollectionsResponse(
            libraries=[pb.LibraryEntry(library="user", title="My Library", count=count(3))],
            collections=[
                pb.CollectionEntry(collection=outer, name="Outer", count=count(2)),
                pb.CollectionEntry(collection=inner, name="Inner", parent=outer, count=count(1)),
            ],
            saved_searches=[
                pb.SavedSearchEntry(saved_search="user/SSSS2345", name="S", unsupported=["x is"])
            ],
            tags=[pb.TagEntry(library="user", tag="a", automatic=True, count=count(1))],
        )
    )
    held = (await stage.http.get("/library/collections")).json()
    assert held["libraries"][0]["count"] == {"items": 3, "documents": 6}
    assert [one["parent"] for one in held["collections"]] == [None, outer]
    assert held["saved_searches"][0]["unsupported"] == ["x is"]
    assert held["tags"][0]["automatic"] is True
    assert stage.library.told[-1] == pb.ListCollectionsRequest()
    await stage.http.get("/library/collections", headers=AS_BOB)
    told = stage.library.told[-1]
    assert isinstance(told, pb.ListCollectionsRequest)
    assert list(told.libraries.values) == ["groups/7"]


async def test_documents_of_a_scope_are_listed(stage: Stage) -> None:
    document = corpus.Document(
        document_id="user/FFFF2345",
        item=corpus.ItemRef(library="user", key="AAAA2345"),
        attachment_key="FFFF2345",
        title="On sleep",
        kind=corpus.DOCUMENT_KIND_PDF,
        reading_state=corpus.READING_STATE_PARTIAL,
        reading_reason="3 pages are pictures.",
    )
    stage.library.documents.CopyFrom(
        pb.ListDocumentsResponse(
            documents=[pb.DocumentEntry(document=document, alias_keys=["OLDD2345"])],
            count=count(1),
            next_cursor="user/FFFF2345",
        )
    )
    params = {
        "query": "sleep",
        "collection": "user/CCCC2345",
        "saved_search": "user/SSSS2345",
        "tag": ["a", "b"],
        "limit": "1",
        "cursor": "x",
    }
    page = (await stage.http.get("/library/documents", params=params)).json()
    (listed,) = page["documents"]
    assert (listed["kind"], listed["reading"]) == ("pdf", "partial")
    assert listed["alias_keys"] == ["OLDD2345"]
    assert (page["count"]["items"], page["next_cursor"]) == (1, "user/FFFF2345")
    told = stage.library.told[-1]
    assert isinstance(told, pb.ListDocumentsRequest)
    assert (told.query, told.limit, told.cursor) == ("sleep", 1, "x")
    assert list(told.scope.tags.values) == ["a", "b"]
    assert list(told.scope.saved_searches.values) == ["user/SSSS2345"]
    assert not told.scope.HasField("libraries")
    await stage.http.get("/library/documents", params={"library": "user"}, headers=AS_BOB)
    told = stage.library.told[-1]
    assert isinstance(told, pb.ListDocumentsRequest)
    # Nothing of what was asked for may be seen: that is nothing, not everything.
    assert told.scope.HasField("libraries")
    assert list(told.scope.libraries.values) == []


async def test_a_sync_may_retry_what_could_not_be_read(stage: Stage) -> None:
    async with stage.http.stream("POST", "/library/sync", json={"retry_failed": True}) as reply:
        await reply.aread()
    assert stage.library.told == [pb.SyncRequest(retry_failed=True)]
