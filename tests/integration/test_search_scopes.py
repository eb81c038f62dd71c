"""What a person can choose as a scope, how much is in it, and that a search sees just that."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from services.chassis.errors import failure_of
from services.search.library.records import (
    Collection,
    Condition,
    Library,
    Note,
    SavedSearch,
    Tag,
)
from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import Stage, search_stage
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb


def tags(*names: str, automatic: bool = False) -> tuple[Tag, ...]:
    return tuple(Tag(name=name, automatic=automatic) for name in names)


def searching(key: str, name: str, *condition: str) -> SavedSearch:
    asked = Condition(name=condition[0], operator=condition[1], value=condition[2])
    return SavedSearch(library="user", key=key, name=name, conditions=(asked,))


def shelf(folder: Path) -> Shelf:
    made = Shelf(folder).collection("OUTER").collection("INNER", "OUTER").collection("EMPTY")
    made.item("SLEEP", "Sleep one", abstract="On sleep.", collections=("INNER",), tags=tags("a"))
    made.file("SLEEPPDF", "SLEEP", "Sleep at length.")
    made.item("TEA", "Tea", abstract="On sleep and tea.", collections=("OUTER",))
    title = "One work that is recorded twice"
    made.item("TWIN1", title, abstract="A twin on sleep.", citation_key="twin")
    made.item("TWIN2", title, tags=tags("machine", automatic=True), collections=("INNER",))
    made.item("SLEEP", "Group sleep", library="groups/7", abstract="A group on sleep.")
    made.item("NOTHING", "No text at all", tags=tags("a"))
    made.records = replace(
        made.records,
        libraries=(
            Library(name="user", title="My Library"),
            Library(name="groups/7", title="Lab 7"),
        ),
        notes=(
            Note(library="user", key="NOTE", parent_key="TEA", title="N", text="Note on sleep."),
        ),
        collections=(
            *made.records.collections,
            Collection(library="groups/7", key="OUTER", name="Group's", parent_key=None),
        ),
        searches=(
            searching("ONTEA", "On tea", "title", "contains", "tea"),
            searching("TWINS", "Twins", "title", "contains", "twice"),
            searching("TEXTS", "Full text", "fulltextContent", "contains", "x"),
        ),
    )
    return made


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("scopes")
    source = FakeSource(records=shelf(folder).records)
    async with search_stage(folder / "index", source) as made:
        await made.synced()
        yield made


def select(*values: str) -> corpus.Selection:
    return corpus.Selection(values=values)


def items(*paths: str) -> corpus.ItemSelection:
    refs = (path.rpartition("/") for path in paths)
    return corpus.ItemSelection(items=[corpus.ItemRef(library=a, key=b) for a, _, b in refs])


async def found(stage: Stage, scope: corpus.Scope) -> set[str]:
    """The items that a search sees, which the count and the list of documents agree with."""
    request = pb.SearchCorpusRequest(query="sleep", scope=scope, limit=50)
    reply = await stage.search.SearchCorpus(request, timeout=30)
    listed = await stage.library.ListDocuments(pb.ListDocumentsRequest(scope=scope), timeout=30)
    assert reply.documents_in_scope == listed.count.documents == len(listed.documents)
    seen = {
        (hit.passage.document.item.library, hit.passage.document.item.key) for hit in reply.hits
    }
    entries = [one.document.item for one in listed.documents]
    assert seen == {(one.library, one.key) for one in entries}
    assert listed.count.items == len(seen)
    return {f"{library}/{key}" for library, key in seen}


TWIN, GROUP, TEA, TWINS = "user/TWIN2", "groups/7/SLEEP", "user/ONTEA", "user/TWINS"
USER = {"user/SLEEP", "user/TEA", "user/TWIN1"}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (corpus.Scope(), USER | {"groups/7/SLEEP"}),
        (corpus.Scope(libraries=select()), set()),
        (corpus.Scope(collections=select()), set()),
        (corpus.Scope(tags=select()), set()),
        (corpus.Scope(saved_searches=select()), set()),
        (corpus.Scope(items=items()), set()),
        (corpus.Scope(libraries=select("groups/7")), {"groups/7/SLEEP"}),
        (corpus.Scope(collections=select("user/OUTER")), USER),
        (corpus.Scope(collections=select("user/INNER")), {"user/SLEEP", "user/TWIN1"}),
        (corpus.Scope(collections=select("groups/7/OUTER")), set()),
        (corpus.Scope(tags=select("machine")), {"user/TWIN1"}),
        (corpus.Scope(items=items(TWIN, GROUP)), {"user/TWIN1", GROUP}),
        (corpus.Scope(saved_searches=select(TEA)), {"user/TEA"}),
        (corpus.Scope(saved_searches=select(TEA, TWINS)), {"user/TEA", "user/TWIN1"}),
        (corpus.Scope(saved_searches=select(TEA), items=items(TWIN)), set()),
        (corpus.Scope(saved_searches=select(TWINS), items=items(TWIN)), {"user/TWIN1"}),
    ],
)  # fmt: skip
async def test_a_search_sees_just_what_its_scope_says(
    stage: Stage, scope: corpus.Scope, expected: set[str]
) -> None:
    assert await found(stage, scope) == expected


@pytest.mark.parametrize(
    ("scope", "reason", "word"),
    [
        (corpus.Scope(saved_searches=select("user/NONE")), "UNKNOWN_SCOPE", "saved search"),
        (corpus.Scope(collections=select("user/NONE")), "UNKNOWN_SCOPE", "collection"),
        (corpus.Scope(libraries=select("groups/1")), "UNKNOWN_SCOPE", "library"),
        (corpus.Scope(saved_searches=select("user/TEXTS")), "UNSUPPORTED_SEARCH", "fulltext"),
    ],
)
async def test_a_scope_that_means_nothing_here_is_refused(
    stage: Stage, scope: corpus.Scope, reason: str, word: str
) -> None:
    request = pb.SearchCorpusRequest(query="sleep", scope=scope)
    for call in (
        stage.search.SearchCorpus(request, timeout=30),
        stage.library.ListDocuments(pb.ListDocumentsRequest(scope=scope), timeout=30),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call
        failure = failure_of(raised.value)
        assert failure.reason == reason
        assert word in failure.message


async def test_what_can_be_chosen_is_listed_with_exact_counts(stage: Stage) -> None:
    reply = await stage.library.ListCollections(pb.ListCollectionsRequest(), timeout=30)
    libraries = {one.library: (one.title, one.count.items) for one in reply.libraries}
    assert libraries == {"user": ("My Library", 3), "groups/7": ("Lab 7", 1)}
    collections = {
        one.collection: (one.parent, one.count.items, one.count.documents)
        for one in reply.collections
    }
    assert collections == {
        "user/EMPTY": ("", 0, 0),
        "user/INNER": ("user/OUTER", 2, 3),
        "user/OUTER": ("", 3, 5),
        "groups/7/OUTER": ("", 0, 0),
    }
    searches = {
        one.saved_search: (one.count.items, list(one.unsupported)) for one in reply.saved_searches
    }
    assert searches == {
        "user/ONTEA": (1, []),
        "user/TWINS": (1, []),
        "user/TEXTS": (0, ["fulltextContent contains"]),
    }
    named = {one.tag: (one.library, one.automatic, one.count.items) for one in reply.tags}
    # An item without any text is in no search, and so in no count.
    assert named == {"a": ("user", False, 1), "machine": ("user", True, 1)}


async def test_a_list_of_one_library_names_nothing_of_the_others(stage: Stage) -> None:
    for libraries, names in ((select("groups/7"), ["groups/7"]), (select(), [])):
        request = pb.ListCollectionsRequest(libraries=libraries)
        reply = await stage.library.ListCollections(request, timeout=30)
        assert [one.library for one in reply.libraries] == names
        assert {one.collection.rpartition("/")[0] for one in reply.collections} <= set(names)
        assert not reply.saved_searches
        assert not reply.tags


async def test_documents_are_listed_by_pages_and_words_with_their_other_keys(stage: Stage) -> None:
    async def listed(**request: object) -> pb.ListDocumentsResponse:
        return await stage.library.ListDocuments(pb.ListDocumentsRequest(**request), timeout=30)

    everything = await listed()
    seen, cursor = [], ""
    while True:
        page = await listed(limit=2, cursor=cursor)
        assert page.count == everything.count
        seen += page.documents
        cursor = page.next_cursor
        if not cursor:
            break
    assert seen == list(everything.documents)
    twins = await listed(query="TWICE lovelace")
    assert [(one.document.item.key, list(one.alias_keys)) for one in twins.documents] == [
        ("TWIN1", ["TWIN2"])
    ]
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await listed(cursor="user/NOWHERE")
    assert failure_of(raised.value).reason == "INVALID_CURSOR"


async def test_what_the_person_wrote_comes_earlier_if_they_prefer_it(stage: Stage) -> None:
    async def ranked(prefer: bool) -> dict[str, float]:
        scope = corpus.Scope(items=items("user/TEA", "user/SLEEP"), prefer_marked=prefer)
        request = pb.SearchCorpusRequest(query="on sleep", scope=scope)
        reply = await stage.search.SearchCorpus(request, timeout=30)
        scores = {hit.passage.document.document_id: hit.score for hit in reply.hits}
        assert list(scores.values()) == sorted(scores.values(), reverse=True)
        return scores

    plain, preferring = await ranked(False), await ranked(True)
    raised = {key for key in plain if preferring[key] > plain[key]}
    assert raised == {"user/NOTE"}
    assert {key: plain[key] for key in plain if key not in raised}.items() <= preferring.items()
