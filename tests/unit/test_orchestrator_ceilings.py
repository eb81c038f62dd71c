"""Numbers of a run: validated, clamped, counted in the agent's order, told in time."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orchestrator.ceilings import (
    BadNumber,
    Ceilings,
    Harness,
    admit,
    advised,
    block_notice,
    harness_from,
    notice,
    sentences_that_fit,
)
from services.orchestrator.settings import ConfigError, read_config

ROOT = Path(__file__).resolve().parents[2]
TEN = Ceilings(calls=10, words=7_500, passages=15)


@pytest.mark.parametrize(
    ("extensions", "calls", "words", "passages", "tokens"),
    [(0, 10, 7_500, 15, 500_000), (1, 15, 11_250, 20, 750_000), (2, 20, 15_000, 25, 1_000_000)],
)
def test_each_extension_raises_all_ceilings(
    extensions: int, calls: int, words: int, passages: int, tokens: int
) -> None:
    expected = Ceilings(calls=calls, words=words, passages=passages, tokens=tokens)
    assert Harness().ceilings(extensions) == expected


def test_without_a_ceiling_of_tokens_there_is_none_after_an_extension_either() -> None:
    ceilings = Harness(hard_token_ceiling=0).ceilings(2)
    assert ceilings.tokens == 0
    assert not ceilings.leave_no_search(10**9)
    assert not ceilings.leave_no_call(10**9)


def test_the_search_leaves_the_tokens_that_the_answer_needs() -> None:
    ceilings = Harness(hard_token_ceiling=50_000).ceilings(0)
    assert ceilings.tokens_for_answer == 21_000
    assert [ceilings.leave_no_search(used) for used in (28_999, 29_000)] == [False, True]
    assert [ceilings.leave_no_call(used) for used in (49_999, 50_000)] == [False, True]


def test_of_few_tokens_the_answer_gets_half() -> None:
    ceilings = Harness(hard_token_ceiling=10_000).ceilings(0)
    assert [ceilings.leave_no_search(used) for used in (4_999, 5_000)] == [False, True]


def test_the_shipped_configuration_is_the_default() -> None:
    assert harness_from(read_config(ROOT / "zocrates_config.json")["search_harness"]) == Harness()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("max_retrieval_tools", 0, "from 1 to 1000, not 0"),
        ("max_retrieval_tools", True, "whole number"),
        ("max_retrieval_tools", "ten", "not 'ten'"),
        ("max_retrieval_tools", 2.5, "not 2.5"),
        ("hard_word_ceiling", 10**9, "from 100 to 1000000"),
        ("max_extensions", -1, "from 0 to 10"),
        ("soft_word_ratio", 0, "above 0 and at most 1"),
        ("soft_word_ratio", 1.5, "above 0 and at most 1"),
        ("soft_word_ratio", "0.8", "not '0.8'"),
        ("soft_word_ratio", float("nan"), "above 0"),
        ("hitl_enabled", 1, "true or false, not 1"),
        ("max_tools", 3, "has no setting 'max_tools'"),
        ("hard_token_ceiling", -1, "from 0 to 1000000000"),
        ("token_increment", 1.5, "from 0 to 100000000"),
    ],
)
def test_a_bad_number_is_one_sentence_that_names_it(name: str, value: Any, says: str) -> None:
    with pytest.raises(BadNumber) as caught:
        harness_from({name: value})
    assert name in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "is missing; name one in ORCHESTRATOR_CONFIG_FILE."),
        (b"{", "cannot be read: Expecting property name"),
        (b"\xff\xfe", "cannot be read: 'utf-8' codec"),
        (b"[" * 100_000, "cannot be read: maximum recursion depth"),
        (b"", "cannot be read: Expecting value"),
        (b"[]", "has no object 'search_harness'."),
        (b"{}", "has no object 'search_harness'."),
        (b'{"search_harness": 3}', "has no object 'search_harness'."),
    ],
)
def test_an_unusable_configuration_file_is_named(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert f"The configuration file {str(path)!r} {says}" in str(caught.value)
    assert str(caught.value).endswith(".")


def test_sections_that_are_not_the_orchestrator_s_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    content = json.dumps({"search_harness": {"max_extensions": 1}, "others": []})
    path.write_text(content, encoding="utf-8-sig")
    sections = read_config(path)
    assert harness_from(sections["search_harness"]).max_extensions == 1
    assert sections.keys() == {"search_harness", "approval"}


@pytest.mark.parametrize(
    ("counted", "used", "words_spent", "numbers"),
    [
        ([True, True], 0, False, (1, 2)),
        ([True, False, True], 8, False, (9, 0, 10)),
        ([True, True, True], 8, False, (9, 10, 0)),
        ([True], 10, False, (0,)),
        ([True, True], 3, True, (0, 0)),
        ([], 3, False, ()),
    ],
)
def test_calls_are_admitted_in_the_agents_order(
    counted: list[bool], used: int, words_spent: bool, numbers: tuple[int, ...]
) -> None:
    assert admit(counted, used=used, limit=10, words_spent=words_spent) == numbers


@settings(max_examples=40)
@given(st.lists(st.lists(st.booleans(), max_size=30), max_size=10), st.integers(1, 20))
def test_no_order_of_calls_gets_past_the_limit(turns: list[list[bool]], limit: int) -> None:
    given_out: list[int] = []
    for counted in turns:
        numbers = admit(counted, used=len(given_out), limit=limit, words_spent=False)
        assert all(
            number == 0 for number, counts in zip(numbers, counted, strict=True) if not counts
        )
        given_out += [number for number in numbers if number]
    wanted = sum(sum(counted) for counted in turns)
    assert given_out == list(range(1, min(limit, wanted) + 1))


@pytest.mark.parametrize(
    ("call_number", "words", "cut", "says"),
    [
        (1, 0, False, ""),
        (8, 5_999, False, ""),
        (9, 0, False, "Call 9 of 10: one call is left."),
        (10, 0, False, "Call 10 of 10: no call is left."),
        (1, 6_000, False, "6000 of 7500 words are used."),
        (1, 7_400, True, "The text was cut at a sentence: the word ceiling is reached."),
    ],
)
def test_the_agent_is_told_in_time(call_number: int, words: int, cut: bool, says: str) -> None:
    told = notice(
        call_number=call_number, words_used=words, ceilings=TEN, soft_word_ratio=0.8, cut=cut
    )
    assert told == says
    assert ("conclude_search" in advised(told)) == bool(says)


def test_both_warnings_are_told_together() -> None:
    told = notice(call_number=9, words_used=7_000, ceilings=TEN, soft_word_ratio=0.8, cut=False)
    assert "one call is left" in told
    assert "7000 of 7500" in told


def test_a_block_says_which_ceiling_it_is() -> None:
    assert "10 calls" in block_notice(TEN, words_spent=False)
    assert "7500 words" in block_notice(TEN, words_spent=True)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 200))
def test_as_many_sentences_are_kept_as_fit(words: list[int], room: int) -> None:
    kept = sentences_that_fit(words, room)
    assert sum(words[:kept]) <= room
    assert kept == len(words) or sum(words[: kept + 1]) > room
