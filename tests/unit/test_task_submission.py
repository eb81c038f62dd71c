"""What a submitted task asks for, what of it is refused, and what of it is told as not taken."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.routes.reviews import NEVER, version_in
from gateway.tasks.submission import MOST_WAIT_S, Unacceptable, submission_of
from gateway.tasks.wire import TaskRequest


def submitted(**fields: Any) -> Any:
    return submission_of(TaskRequest.model_validate({"query": "Why?", **fields}))


def warned(**fields: Any) -> list[tuple[str, str, str]]:
    return [(one.code, one.field, one.given) for one in submitted(**fields).warnings]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"query": ""}, "Query is required"),
        ({"query": " \n"}, "Query is required"),
        (
            {"query": "", "context": {"attachments": [{}]}},
            "Query is required: attachments are not read here",
        ),
        (
            {"context": {"attachments": [{"data": "A" * 20_000_000}] * 2}},
            "attachments hold more than 25 MiB together",
        ),
        ({"mode": "fast"}, "Invalid mode (allowed: simple, standard, complex, supervisor)"),
        ({"skill": "poet"}, "Unknown skill: poet"),
        ({"model_tier": "huge"}, "Invalid model_tier (allowed: small, medium, large)"),
        (
            {"research_strategy": "wide"},
            "Invalid research_strategy (allowed: quick, standard, deep, academic)",
        ),
        ({"provider_override": "acme"}, "Invalid provider_override: acme (allowed: openai, "),
        ({"max_iterations": 0}, "max_iterations out of range (1..50)"),
        ({"max_iterations": 51}, "max_iterations out of range (1..50)"),
        ({"max_concurrent_agents": 21}, "max_concurrent_agents out of range (1..20)"),
        ({"session_id": "a b"}, "Invalid session ID format"),
        ({"session_id": "a" * 129}, "Invalid session ID format"),
        (
            {"model_tier": "small", "context": {"disable_ai": True}},
            "disable_ai=true conflicts with model_tier/model_override",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(Unacceptable) as refused:
        submitted(**fields)
    assert refused.value.text.startswith(text)


@pytest.mark.parametrize(
    "body",
    [[], "x", {"query": 5}, {"query": "x", "context": []}, {"query": "x", "max_iterations": "3"}],
)
def test_a_body_of_another_shape_is_no_task(body: Any) -> None:
    with pytest.raises(ValidationError):
        TaskRequest.model_validate(body)


def test_fields_that_are_null_or_not_known_are_passed_over() -> None:
    request = {"query": "Why?", "session_id": None, "context": None, "colour": "red"}
    assert submission_of(TaskRequest.model_validate(request)).session == ""


@pytest.mark.parametrize("value", [True, "true", "1", " TRUE "])
def test_a_review_implies_research_whatever_is_said_of_it(value: object) -> None:
    for review in ({"require_review": value}, {"review_plan": "manual"}):
        submission = submitted(context={**review, "force_research": False})
        assert (submission.is_reviewed, submission.is_forced) == (True, True)


@pytest.mark.parametrize("value", [False, None, "", "yes", 1, 0, [], {"a": 1}])
def test_other_values_ask_for_no_review(value: Any) -> None:
    context = {"require_review": value, "review_plan": "auto"}
    assert not submitted(context=context).is_reviewed


@pytest.mark.parametrize("mode", ["simple", "supervisor"])
def test_a_mode_without_a_plan_cannot_be_reviewed_and_that_is_said(mode: str) -> None:
    assert submitted(mode=mode).mode == mode
    with pytest.raises(Unacceptable, match="makes no plan to review"):
        submitted(mode=mode, context={"require_review": True})


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(1800, 1800), ("1800", 1800), (0.2, 1), ("2.5", 3), (1e300, MOST_WAIT_S), (None, None)],
)
def test_a_review_waits_as_long_as_was_asked_for(given: Any, seconds: int | None) -> None:
    submission = submitted(context={"require_review": True, "review_timeout": given})
    assert submission.review_timeout_s == seconds
    assert submission.warnings == ()


@pytest.mark.parametrize("given", [0, -5, "soon", "", True, [], "nan"])
def test_a_time_that_is_none_is_told_and_the_usual_one_is_taken(given: Any) -> None:
    submission = submitted(context={"require_review": True, "review_timeout": given})
    assert submission.review_timeout_s is None
    [told] = submission.warnings
    assert (told.code, told.field) == ("REVIEW_TIMEOUT_DEFAULTED", "context.review_timeout")


def test_a_field_beats_the_same_key_of_the_context_and_both_are_kept() -> None:
    context = {"research_strategy": "quick", "model_tier": "large", "topic": "sleep"}
    submission = submitted(context=context, research_strategy="Deep", model_tier="small")
    assert submission.strategy == "deep"
    assert submission.context == {
        "research_strategy": "deep",
        "model_tier": "small",
        "topic": "sleep",
    }


def test_an_unknown_strategy_in_the_context_is_told_and_not_refused() -> None:
    assert warned(context={"research_strategy": "wide"}) == [
        ("UNKNOWN_STRATEGY", "context.research_strategy", "wide")
    ]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([{"filename": "a.txt", "data": "A" * 2_000}, "B" * 2_000], [{"filename": "a.txt"}, {}]),
        (
            [{"filename": "a.txt", "url": "file:a"}, 5],
            [{"filename": "a.txt", "url": "file:a"}, {"data": 5}],
        ),
        ("a.txt", "a.txt"),
    ],
)
def test_of_attachments_is_kept_what_they_are(given: Any, kept: Any) -> None:
    context = {"attachments": given}
    assert submitted(context=context).context == {"attachments": kept}
    assert [one[:2] for one in warned(context=context)] == [("NOT_USED", "context.attachments")]


def test_what_nothing_follows_is_told() -> None:
    told = warned(
        model_tier="small",
        max_iterations=3,
        enable_verification=False,
        context={"model_override": "m-1", "attachments": [{}, {}]},
    )
    assert told == [
        ("NOT_USED", "model_tier", "small"),
        ("NOT_USED", "context.model_override", "m-1"),
        ("NOT_USED", "max_iterations", "3"),
        ("NOT_USED", "enable_verification", "false"),
        ("NOT_USED", "context.attachments", "2 attached"),
    ]


# The first text on a new machine makes hypothesis' tables of characters, which takes seconds.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(["review_timeout", "require_review", "research_strategy", "disable_ai"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=4,
        ),
    )
)
def test_no_context_breaks_anything(context: dict[str, Any]) -> None:
    submission = submitted(context=context)
    assert submission.review_timeout_s is None or 1 <= submission.review_timeout_s <= MOST_WAIT_S


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        (None, None),
        ("*", None),
        ("1", 1),
        ('"1"', 1),
        (" 12 ", 12),
        ("0", NEVER),
        ("01", NEVER),
        ('W/"1"', NEVER),
        ("1, 2", NEVER),
        ('"', NEVER),
        ('""', NEVER),
        ("", NEVER),
        ("١", NEVER),
        ("-1", NEVER),
        (str(2**40), NEVER),
    ],
)
def test_a_tag_means_a_version_any_version_or_none_that_ever_is(
    tag: str | None, version: int | None
) -> None:
    assert version_in(tag) == version
