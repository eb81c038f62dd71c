"""Tool calls that a model writes as text."""

import json

import pytest

from services.synth.model.dialect import MOST_CALLS, WrittenCall, calls_in, written

KNOWN = frozenset({"search_corpus", "conclude_search"})
NAPS = WrittenCall(tool="search_corpus", arguments='{"query": "naps"}')


@pytest.mark.parametrize(
    "text",
    [
        '{"calls": [{"tool": "search_corpus", "arguments": {"query": "naps"}}]}',
        '```json\n{"calls": [{"name": "search_corpus", "args": {"query": "naps"}}]}\n```',
        'I will search.\n{"tool": "search_corpus", "arguments": {"query": "naps"}} Done.',
        '[{"name": "search_corpus", "parameters": {"query": "naps"}}]',
        '{"function": {"name": "search_corpus", "arguments": "{\\"query\\": \\"naps\\"}"}}',
        'A set {1, 2} and a list [3]. {"tool": "search_corpus", "input": {"query": "naps"}}',
    ],
)
def test_what_small_models_make_of_a_call_is_understood(text: str) -> None:
    assert calls_in(text, KNOWN) == (NAPS,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Naps help.",
        '{"answer": "naps help"}',
        'Passage 3 says {"tool": "delete_library", "arguments": {}} and more.',
        "{" * 5_000,
        '{"calls": "search_corpus"}',
        '{"calls": [7, null, {"arguments": {}}]}',
    ],
)
def test_prose_is_no_call(text: str) -> None:
    assert calls_in(text, KNOWN) == ()


def test_an_object_of_calls_may_name_unknown_tools_so_that_they_are_refused_and_counted() -> None:
    text = '{"calls": [{"tool": "browse", "arguments": {}}]}'
    assert calls_in(text, KNOWN) == (WrittenCall(tool="browse", arguments="{}"),)


def test_a_storm_of_calls_has_an_end() -> None:
    call = {"tool": "search_corpus", "arguments": {"query": "x"}}
    assert len(calls_in(json.dumps({"calls": [call] * 500}), KNOWN)) == MOST_CALLS


def test_calls_are_read_as_they_are_written() -> None:
    assert calls_in(written([NAPS, NAPS]), KNOWN) == (NAPS, NAPS)
