"""What is counted of answers about a judged library."""

from tests.bench.answer_measures import Cited, Outcome, Share, share, verified


def outcome(*documents: str, gold: str = "g", **changes: object) -> Outcome:
    citations = [Cited(document=one, support="weak", judged_by="judge") for one in documents]
    fields: dict[str, object] = {
        "question": "?",
        "gold": frozenset({gold}),
        "answered": bool(documents),
        "citations": citations,
        "input_tokens": 0,
        "seconds": 1.0,
    }
    return Outcome(**(fields | changes))


def test_evidence_counts_among_the_first_three_citations_only() -> None:
    assert outcome("a", "b", "g").is_found
    assert not outcome("a", "b", "c", "g").is_found
    assert not outcome().is_found


def test_the_first_citation_is_right_or_not() -> None:
    assert outcome("g", "a").is_first
    assert not outcome("a", "g").is_first
    assert not outcome().is_first


def test_a_share_names_its_parts_and_nothing_has_none() -> None:
    assert str(share([outcome("g"), outcome("a")], lambda one: one.is_first)) == "0.500 (1 of 2)"
    assert str(Share(part=0, whole=0)) == "none to count"


def test_whole_quotes_are_not_counted_as_verified_sentences() -> None:
    cited = [
        Cited(document="g", support="verified", judged_by="quote"),
        Cited(document="g", support="verified", judged_by="judge"),
        Cited(document="g", support="unsupported", judged_by="judge"),
    ]
    assert verified([outcome("g", citations=cited)]) == Share(part=1, whole=2)
