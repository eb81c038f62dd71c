"""Passages, results and past turns as a model reads them; what is not ours is fenced. Pure."""

from collections.abc import Iterator, Sequence

from services.synth.mind import (
    Evidence,
    FoundPassage,
    Investigation,
    ItemRef,
    Passage,
    PastTurn,
    PlanAuthor,
    PlanRound,
    ToolResult,
    Work,
)
from services.synth.model.fence import fenced, from_the_person

MAX_TURNS = 6
MAX_PROMPT_CHARS, MAX_ANSWER_CHARS = 1_000, 1_500
MAX_CREATORS = 3
MAX_ROUNDS, MAX_MESSAGE_CHARS, MAX_PLAN_CHARS = 20, 2_000, 8_000

_SPEAKERS = {PlanAuthor.PLANNER: "Planner", PlanAuthor.PERSON: "Researcher"}


def evidence_text(evidence: Sequence[Evidence]) -> str:
    """The writer's passages, numbered from 1."""
    return "\n\n".join(
        f"[{number}]\n{fenced(_with_head(one.passage))}" for number, one in enumerate(evidence, 1)
    )


def history_text(history: Sequence[PastTurn]) -> str:
    """The last turns of the session, shortened."""
    turns = history[-MAX_TURNS:]
    return "\n\n".join(fenced(_turn(turn)) for turn in turns)


def result_text(result: ToolResult) -> str:
    """What a call gave back."""
    return "\n\n".join(_result_lines(result)) or "Nothing was found."


def standing_text(investigation: Investigation) -> str:
    """What changes from turn to turn; it comes last so that all before it stays the same."""
    lines = []
    if investigation.pass_number:
        lines.append(f"This is extension {investigation.pass_number} of the search.")
    if investigation.remaining_gaps:
        lines.append(
            "Still open:\n" + "\n".join(f"- {gap}" for gap in investigation.remaining_gaps)
        )
    if investigation.guidance:
        lines.append(f"The researcher steers:\n{from_the_person(investigation.guidance)}")
    lines.append(
        f"Left: {investigation.calls_left} calls, {investigation.words_left} words. "
        "Go on with tool calls."
    )
    return "\n".join(lines)


def plan_text(plan: str, rounds: Sequence[PlanRound]) -> str:
    """The plan that the researcher approved and what was said about it; empty without a plan."""
    if not plan:
        return ""
    parts = [f"The plan that the researcher approved:\n{from_the_person(plan[:MAX_PLAN_CHARS])}"]
    if said := review_text(rounds):
        parts.append(f"What was said about it:\n{said}")
    return "\n\n".join(parts)


def review_text(rounds: Sequence[PlanRound]) -> str:
    """The last messages about a plan, shortened."""
    return "\n".join(
        from_the_person(f"{_SPEAKERS[one.author]}: {one.message[:MAX_MESSAGE_CHARS]}")
        for one in rounds[-MAX_ROUNDS:]
    )


def question_text(question: str, items: Sequence[ItemRef]) -> str:
    """The question, and what the researcher has at hand."""
    if not items:
        return f"Question: {question}"
    listed = ", ".join(f"{item.library}/{item.key}" for item in items)
    return f"Question: {question}\nThe researcher has these items open: {listed}"


def _result_lines(result: ToolResult) -> Iterator[str]:
    if result.error:
        yield f"Failed: {result.error}"
    for found in result.passages:
        yield _found(found)
    if result.sections:
        titles = "\n".join(
            f"{'  ' * max(0, one.level - 1)}{one.section_id}: {one.title}"
            for one in result.sections
        )
        yield f"Sections:\n{fenced(titles)}"
    if result.notice:
        yield f"Notice: {result.notice}"


def _found(found: FoundPassage) -> str:
    place = f"passage_id {found.passage.passage_id}, document_id {found.passage.work.document_id}"
    if found.seen_before:
        return f"{place}: returned before, see above."
    return f"{place}\n{fenced(_with_head(found.passage))}"


def _with_head(passage: Passage) -> str:
    head = _work(passage.work)
    if passage.section_path:
        head = f"{head} — {' > '.join(passage.section_path)}"
    return f"{head}\n{passage.text}"


def _work(work: Work) -> str:
    names = ", ".join(work.creators[:MAX_CREATORS])
    if len(work.creators) > MAX_CREATORS:
        names = f"{names} and others"
    who = " ".join(part for part in (names, f"({work.year})" if work.year else "") if part)
    title = work.title or "Untitled"
    kind = "The researcher's own note on: " if work.is_own_note else ""
    return f"{kind}{title}" + (f" — {who}" if who else "")


def _turn(turn: PastTurn) -> str:
    lines = [
        f"Researcher: {turn.prompt[:MAX_PROMPT_CHARS]}",
        f"Answer: {turn.answer[:MAX_ANSWER_CHARS]}",
    ]
    if turn.cited_titles:
        lines.append(f"Cited: {'; '.join(turn.cited_titles)}")
    return "\n".join(lines)
