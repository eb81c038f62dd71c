"""SearchService over gRPC: ranking, scopes, reading and quotes."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from services.chassis.errors import failure_of
from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import Stage, search_stage
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2 as pb


def sentence(topic: str, words: int = 150) -> str:
    return " ".join(f"{topic} {number}" for number in range(words // 2)) + "."


SLEEP = (
    "# Introduction\n\nSleep spindles support memory in older adults.\n\n"
    + sentence("spindle")
    + "\n\n"
    + sentence("night")
    + "\f"
    + "Older nurses take naps on night shifts. The ﬁnal result was −0.5.\n\n"
    + sentence("nap")
    + "\n\n"
    + sentence("shift")
)


def shelf(folder: Path) -> Shelf:
    made = Shelf(folder).collection("OUTER").collection("INNER", "OUTER").collection("EMPTY")
    made.item("SLEEP", "Spindles and age", abstract="A study of spindles.", collections=("INNER",))
    made.file("SLEEPPDF", "SLEEP", SLEEP)
    made.item("TEA", "Tea time", abstract="Tea keeps people awake.", year="1999")
    made.item("CJK", "記憶", abstract="睡眠は記憶の固定化を促進する。", year="")
    made.item("LONG", "Rhythm").file(
        "LONGPDF", "LONG", "\f".join(sentence(f"rhythm page{n}", 400) for n in range(6))
    )
    return made


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("service")
    source = FakeSource(records=shelf(folder).records)
    async with search_stage(folder / "index", source) as made:
        await made.synced()
        yield made


async def refused(call: grpc.aio.UnaryUnaryCall[object, object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    failure = failure_of(raised.value)
    assert failure.message
    return failure.code, failure.reason


def titles(hits: list[pb.Hit]) -> list[str]:
    return [hit.passage.document.title for hit in hits]


async def test_the_best_passage_comes_with_all_a_citation_needs(stage: Stage) -> None:
    hits = await stage.hits("sleep spindles support memory older adults")
    hit = next(one for one in hits if one.passage.document.kind == corpus.DOCUMENT_KIND_PDF)
    document = hit.passage.document
    assert (document.document_id, document.title) == ("user/SLEEPPDF", "Spindles and age")
    assert (document.item.library, document.item.key) == ("user", "SLEEP")
    assert (list(document.creators), document.year) == (["Ada Lovelace"], "2020")
    assert document.reading_state == corpus.READING_STATE_FULL
    assert document.page_count == 2
    span = hit.passage.page_spans[0]
    assert (span.page_index, span.page_label) == (0, "11")
    assert "spindles support memory" in hit.passage.text
    assert hit.bm25_rank >= 1
    assert hit.vector_rank >= 1
    assert -1 <= hit.similarity <= 1


async def test_the_same_query_repeats_its_reply(stage: Stage) -> None:
    first = await stage.hits("rhythm page3", limit=20)
    assert first == await stage.hits("rhythm page3", limit=20)


async def test_the_encoder_is_named_with_the_languages_that_it_brings_together(
    stage: Stage,
) -> None:
    encoder = await stage.search.DescribeEncoder(encoder_pb2.DescribeEncoderRequest(), timeout=20)
    assert encoder.encoder_id
    assert list(encoder.bridged_languages) == []


async def test_scores_fall_and_the_limit_holds(stage: Stage) -> None:
    hits = await stage.hits("spindle nap tea rhythm", limit=4)
    scores = [hit.score for hit in hits]
    assert len(hits) == 4
    assert scores == sorted(scores, reverse=True)


async def test_one_document_gives_three_hits_at_most_unless_it_is_the_scope(stage: Stage) -> None:
    many = await stage.hits("rhythm", limit=50)
    assert titles(many).count("Rhythm") == 3
    scope = corpus.Scope(items=corpus.ItemSelection(items=[item("LONG")]))
    assert len(await stage.hits("rhythm", limit=50, scope=scope)) > 3


async def test_a_language_without_spaces_is_found(stage: Stage) -> None:
    assert titles(await stage.hits("記憶の固定化"))[0] == "記憶"


def item(key: str, library: str = "user") -> corpus.ItemRef:
    return corpus.ItemRef(library=library, key=key)


def choice(*values: str) -> corpus.Selection:
    return corpus.Selection(values=values)


@pytest.mark.parametrize(
    ("scope", "documents"),
    [
        (corpus.Scope(), 5),
        (corpus.Scope(libraries=choice("user")), 5),
        (corpus.Scope(libraries=choice()), 0),
        (corpus.Scope(collections=choice("user/INNER")), 2),
        (corpus.Scope(collections=choice("user/OUTER")), 2),
        (corpus.Scope(collections=choice("user/EMPTY")), 0),
        (corpus.Scope(collections=choice()), 0),
        (corpus.Scope(tags=choice("unheard")), 0),
        (corpus.Scope(tags=choice()), 0),
        (corpus.Scope(year_from=2000), 3),
        (corpus.Scope(year_to=2000), 1),
        (corpus.Scope(items=corpus.ItemSelection(items=[item("TEA"), item("CJK")])), 2),
        (corpus.Scope(items=corpus.ItemSelection(items=[item("TEA", "groups/1")])), 0),
        (corpus.Scope(items=corpus.ItemSelection()), 0),
    ],
)
async def test_a_scope_is_applied_before_ranking(
    stage: Stage, scope: corpus.Scope, documents: int
) -> None:
    request = pb.SearchCorpusRequest(query="spindles tea 記憶 rhythm", scope=scope, limit=50)
    reply = await stage.search.SearchCorpus(request, timeout=30)
    assert reply.documents_in_scope == documents
    assert len({hit.passage.document.document_id for hit in reply.hits}) == documents
    assert reply.vectors.done == reply.vectors.total > 0
    assert reply.degraded == ""


@pytest.mark.parametrize(
    "scope",
    [
        corpus.Scope(libraries=choice("groups/404")),
        corpus.Scope(collections=choice("user/NOWHERE")),
        corpus.Scope(collections=choice("INNER")),
    ],
)
async def test_a_library_or_collection_that_is_not_there_is_said(
    stage: Stage, scope: corpus.Scope
) -> None:
    request = pb.SearchCorpusRequest(query="tea", scope=scope)
    assert await refused(stage.search.SearchCorpus(request, timeout=30)) == (
        grpc.StatusCode.NOT_FOUND,
        "UNKNOWN_SCOPE",
    )


@pytest.mark.parametrize("query", ["", " \n\t ", "x" * 1_001, "sleep " * 1_000])
async def test_an_empty_or_over_long_query_is_refused(stage: Stage, query: str) -> None:
    request = pb.SearchCorpusRequest(query=query)
    assert await refused(stage.search.SearchCorpus(request, timeout=30)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_QUERY",
    )


@pytest.mark.parametrize("limit", [-1, 51])
async def test_a_limit_out_of_range_is_refused(stage: Stage, limit: int) -> None:
    request = pb.SearchCorpusRequest(query="tea", limit=limit)
    assert await refused(stage.search.SearchCorpus(request, timeout=30)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_REQUEST",
    )


@pytest.mark.parametrize("query", ['"tea" AND (', "tea' OR '1'='1", "😀 tea", "x" * 1_000, "???"])
async def test_an_odd_query_is_answered(stage: Stage, query: str) -> None:
    assert len(await stage.hits(query)) > 0  # vectors rank something for any text


async def test_a_table_of_contents_has_sections_with_their_pages(stage: Stage) -> None:
    request = pb.GetDocumentTocRequest(document_id="user/SLEEPPDF")
    reply = await stage.search.GetDocumentToc(request, timeout=30)
    assert reply.document.title == "Spindles and age"
    assert reply.entries
    assert reply.entries[0].first_page_label == "11"
    assert len({entry.section_id for entry in reply.entries}) == len(reply.entries)


async def read(stage: Stage, **request: object) -> pb.ReadDocumentResponse:
    message = pb.ReadDocumentRequest(**request)  # type: ignore[arg-type]
    return await stage.search.ReadDocument(message, timeout=30)


async def test_a_section_is_read_in_order(stage: Stage) -> None:
    toc = await stage.search.GetDocumentToc(
        pb.GetDocumentTocRequest(document_id="user/LONGPDF"), timeout=30
    )
    reply = await read(
        stage, document_id="user/LONGPDF", section_id=toc.entries[0].section_id, max_words=100_000
    )
    assert [one.ordinal for one in reply.passages] == list(range(len(reply.passages)))
    assert not reply.truncated


async def test_pages_give_the_passages_that_stand_on_them(stage: Stage) -> None:
    pages = pb.PageRange(first_page_index=2, last_page_index=3)
    reply = await read(stage, document_id="user/LONGPDF", pages=pages, max_words=100_000)
    assert reply.passages
    assert all(any(2 <= span.page_index <= 3 for span in one.page_spans) for one in reply.passages)


async def test_reading_stops_at_the_passage_that_reaches_the_words(stage: Stage) -> None:
    reply = await read(stage, document_id="user/LONGPDF", max_words=300)
    assert reply.truncated
    assert len(reply.passages) == 2


async def test_a_window_is_a_passage_and_its_neighbours(stage: Stage) -> None:
    whole = await read(stage, document_id="user/LONGPDF", max_words=100_000)
    middle = whole.passages[3]
    around = pb.PassageWindow(passage_id=middle.passage_id, before=1, after=2)
    reply = await read(stage, around=around, max_words=100_000)
    assert [one.ordinal for one in reply.passages] == [2, 3, 4, 5]
    assert reply.document.document_id == "user/LONGPDF"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.ReadDocumentRequest(document_id="user/NONE"), "UNKNOWN_DOCUMENT"),
        (pb.ReadDocumentRequest(document_id="' OR '1'='1"), "UNKNOWN_DOCUMENT"),
        (
            pb.ReadDocumentRequest(document_id="user/SLEEPPDF", section_id="s99"),
            "UNKNOWN_SECTION",
        ),
        (
            pb.ReadDocumentRequest(around=pb.PassageWindow(passage_id="0" * 32)),
            "UNKNOWN_PASSAGE",
        ),
        (
            pb.ReadDocumentRequest(
                document_id="user/SLEEPPDF",
                pages=pb.PageRange(first_page_index=3, last_page_index=2),
            ),
            "INVALID_PAGES",
        ),
        (
            pb.ReadDocumentRequest(
                document_id="user/SLEEPPDF",
                pages=pb.PageRange(first_page_index=2, last_page_index=9),
            ),
            "INVALID_PAGES",
        ),
        (
            pb.ReadDocumentRequest(document_id="user/SLEEPPDF", max_words=-1),
            "INVALID_REQUEST",
        ),
    ],
)
async def test_reading_what_is_not_there_says_what(
    stage: Stage, request_: pb.ReadDocumentRequest, reason: str
) -> None:
    assert (await refused(stage.search.ReadDocument(request_, timeout=30)))[1] == reason


async def test_a_passage_of_another_document_is_unknown(stage: Stage) -> None:
    (hit, *_) = await stage.hits("tea awake")
    around = pb.PassageWindow(passage_id=hit.passage.passage_id)
    request = pb.ReadDocumentRequest(document_id="user/LONGPDF", around=around)
    assert (await refused(stage.search.ReadDocument(request, timeout=30)))[1] == "UNKNOWN_PASSAGE"


async def quoted(stage: Stage, quote: str, **where: object) -> list[pb.QuoteMatch]:
    request = pb.FindQuoteRequest(quote=quote, **where)  # type: ignore[arg-type]
    return list((await stage.search.FindQuote(request, timeout=30)).matches)


async def test_a_quote_is_found_on_its_page(stage: Stage) -> None:
    (match,) = await quoted(
        stage, "Older nurses take naps on night shifts.", document_id="user/SLEEPPDF"
    )
    assert (match.page_index, match.page_label) == (1, "12")
    assert match.kind == pb.QUOTE_MATCH_KIND_EXACT
    assert (match.start, match.end) == (0, len(match.text))


async def test_a_normalised_quote_gives_the_text_as_it_stands(stage: Stage) -> None:
    (match,) = await quoted(stage, "the final result was -0.5", document_id="user/SLEEPPDF")
    assert match.kind == pb.QUOTE_MATCH_KIND_NORMALISED
    assert match.text == "The ﬁnal result was −0.5"


async def test_a_quote_in_given_passages_is_told_with_passage_and_page(stage: Stage) -> None:
    hits = await stage.hits("nurses naps night shifts")
    text = pb.QuoteText(passages=[hit.passage for hit in hits])
    (match,) = await quoted(stage, "nurses take naps", text=text)
    (passage,) = (one.passage for one in hits if one.passage.passage_id == match.passage_id)
    assert passage.text[match.start : match.end] == match.text == "nurses take naps"
    assert (match.document_id, match.page_index) == ("user/SLEEPPDF", 1)


async def test_a_quote_in_a_text_without_pages_has_no_page(stage: Stage) -> None:
    (match,) = await quoted(stage, "keeps people awake", document_id="user/TEA#abstract")
    assert (match.page_index, match.page_label) == (-1, "")


async def test_no_match_is_an_empty_reply(stage: Stage) -> None:
    assert await quoted(stage, "never written", document_id="user/SLEEPPDF") == []


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.FindQuoteRequest(quote="x", document_id="user/NONE"), "UNKNOWN_DOCUMENT"),
        (pb.FindQuoteRequest(quote=" ", document_id="user/SLEEPPDF"), "INVALID_QUOTE"),
        (pb.FindQuoteRequest(quote="…", text=pb.QuoteText()), "INVALID_QUOTE"),
        (pb.FindQuoteRequest(quote="x" * 5_001, text=pb.QuoteText()), "INVALID_QUOTE"),
        (pb.FindQuoteRequest(quote="x"), "INVALID_REQUEST"),
    ],
)
async def test_a_quote_that_cannot_be_looked_for_is_refused(
    stage: Stage, request_: pb.FindQuoteRequest, reason: str
) -> None:
    assert (await refused(stage.search.FindQuote(request_, timeout=30)))[1] == reason
