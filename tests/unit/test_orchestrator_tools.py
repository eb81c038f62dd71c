"""A call's arguments are taken as they are meant, or refused with a sentence for the agent."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orchestrator.tools import (
    KNOWN,
    TOOLS,
    BadArguments,
    Conclude,
    GetToc,
    ReadDocument,
    Request,
    RequestExtension,
    SearchCorpus,
    parse,
    same_call,
)

# Objects of any shape, as a model may write them.
ARGUMENTS = st.dictionaries(
    st.sampled_from(["query", "document_id", "first_page", "gaps", "summary", "x"]),
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()),
).map(json.dumps)


@pytest.mark.parametrize(
    ("tool", "arguments", "request_"),
    [
        ("search_corpus", {"query": " sleep "}, SearchCorpus(query="sleep", limit=0)),
        ("search_corpus", {"query": "s", "limit": 5}, SearchCorpus(query="s", limit=5)),
        ("search_corpus", {"query": "s", "limit": None}, SearchCorpus(query="s", limit=0)),
        ("get_document_toc", {"document_id": "d"}, GetToc(document_id="d")),
        (
            "read_document",
            {"document_id": "d", "section_id": "s"},
            ReadDocument(document_id="d", section_id="s"),
        ),
        (
            "read_document",
            {"document_id": "d", "first_page": 2, "last_page": 4},
            ReadDocument(document_id="d", pages=(1, 3)),
        ),
        (
            "read_document",
            {"document_id": "d", "first_page": 2},
            ReadDocument(document_id="d", pages=(1, 1)),
        ),
        ("read_document", {"passage_id": "p"}, ReadDocument(document_id="", around=("p", 1, 1))),
        ("conclude_search", {"summary": "", "gaps": ["a", " "]}, Conclude(summary="", gaps=("a",))),
        (
            "request_search_extension",
            {"justification": "j", "covered_summary": "c", "missing_aspects": ["m"]},
            RequestExtension(justification="j", covered_summary="c", missing_aspects=("m",)),
        ),
    ],
)
def test_arguments_say_what_to_do(tool: str, arguments: dict[str, Any], request_: Request) -> None:
    assert parse(tool, json.dumps(arguments)) == request_


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("search_corpus", "{", "are not JSON"),
        ("search_corpus", "[1]", "must be a JSON object"),
        ("search_corpus", "{}", "needs 'query' as a text"),
        ("search_corpus", '{"query": "  "}', "needs 'query' as a text"),
        ("search_corpus", '{"query": 3}', "needs 'query' as a text"),
        ("search_corpus", json.dumps({"query": "x" * 1_001}), "more than 1000 characters"),
        ("search_corpus", '{"query": "q", "limit": 51}', "from 1 to 50"),
        ("search_corpus", '{"query": "q", "limit": true}', "whole number"),
        ("search_corpus", '{"query": "q", "depth": 1}', "does not take 'depth'"),
        ("read_document", '{"document_id": "d"}', "exactly one of"),
        (
            "read_document",
            '{"document_id": "d", "section_id": "s", "first_page": 1}',
            "exactly one of",
        ),
        (
            "read_document",
            '{"document_id": "d", "first_page": 3, "last_page": 2}',
            "from 3 to",
        ),
        ("read_document", '{"section_id": "s"}', "needs 'document_id'"),
        ("conclude_search", '{"summary": "s", "gaps": "g"}', "as a list of texts"),
        ("conclude_search", json.dumps({"summary": "s", "gaps": ["g"] * 21}), "more than 20"),
        ("web_search", "{}", "There is no tool 'web_search'"),
    ],
)
def test_a_call_that_cannot_be_made_is_explained(tool: str, arguments: str, says: str) -> None:
    with pytest.raises(BadArguments) as caught:
        parse(tool, arguments)
    assert says in str(caught.value)


def test_what_json_can_smuggle_in_is_cleaned() -> None:
    request = parse("search_corpus", '{"query": "a\\u0000b\\ud800c"}')
    assert request == SearchCorpus(query="a b?c", limit=0)


@settings(max_examples=40)
@given(st.sampled_from(sorted(KNOWN)), st.text() | ARGUMENTS)
def test_no_text_breaks_the_parser(tool: str, arguments: str) -> None:
    with suppress(BadArguments):
        parse(tool, arguments)


def test_deep_nesting_is_refused_like_any_malformed_text() -> None:
    deep = "[" * 100_000
    with pytest.raises(BadArguments):
        parse("search_corpus", deep)
    assert same_call("search_corpus", deep)


def test_calls_are_the_same_whatever_the_order_of_their_fields() -> None:
    one = same_call("search_corpus", '{"query": "q", "limit": 3}')
    assert one == same_call("search_corpus", '{ "limit":3, "query":"q" }')
    assert one != same_call("search_corpus", '{"query": "q"}')
    assert one != same_call("read_document", '{"query": "q", "limit": 3}')


def test_every_tool_has_a_schema_of_an_object() -> None:
    for tool in TOOLS:
        schema = json.loads(tool.schema_json)
        assert schema["type"] == "object"
        assert set(schema["required"]) <= set(schema["properties"])
