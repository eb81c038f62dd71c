"""The planner without a model: the aspects of a question as steps, revised by what is said."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.chassis.words import count_words
from services.synth.aspects import Aspect, aspects_of, completed, whole
from services.synth.citations import as_plain_markdown, one_line
from services.synth.gaps import alike
from services.synth.languages import language_of
from services.synth.mind import PlanAuthor, PlanIntent, PlanMessage, Planning
from services.synth.plan_phrases import PlanPhrases, plan_phrases_for
from services.synth.plan_text import MAX_STEPS, listed, steps_of
from services.synth.revision import Change, Wish, changes_in
from services.synth.terms import GENERIC_WEIGHT, stems_of, terms_of, vocabulary_of

FEWEST_WORDS = 3
# A step is meant when it holds this share of the words that name it.
MEANT = 0.5


def planned_aspects(question: str, plan: str) -> tuple[Aspect, ...]:
    """The steps of a plan as aspects; without a plan, or one without a list, the question's own."""
    own = aspects_of(question)
    steps = steps_of(plan)
    if not steps:
        return own
    language = language_of(question)
    known = {one_line(aspect.label): aspect for aspect in own}
    topic = whole(question, language)
    return tuple(known.get(step) or completed(step, whole(step, language), topic) for step in steps)


def draft(planning: Planning) -> PlanMessage:
    """The first plan, its revision, or a question back."""
    phrases = plan_phrases_for(language_of(planning.question))
    if planning.current_plan.strip():
        return _revised(planning, phrases)
    said = [r.message for r in planning.rounds if r.author is PlanAuthor.PERSON]
    request = one_line(": ".join([planning.question.rstrip(" .?!"), *said]) if said else "")
    request = request or one_line(planning.question)
    if count_words(request) < FEWEST_WORDS and not planning.is_definitive:
        return _question(phrases.asks.format(topic=as_plain_markdown(request)))
    return _plan([aspect.label for aspect in aspects_of(request)], phrases)


@dataclass(frozen=True, slots=True)
class _Draft:
    """Steps on their way to a new plan, and what could not be done."""

    steps: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def _revised(planning: Planning, phrases: PlanPhrases) -> PlanMessage:
    # A plan without a list was written by a model; its question still has aspects.
    before = steps_of(planning.current_plan) or tuple(
        aspect.label for aspect in aspects_of(planning.question)
    )
    newest = planning.rounds[-1] if planning.rounds else None
    if newest is None or newest.author is not PlanAuthor.PERSON:
        return _plan(before, phrases)
    language = language_of(planning.question)
    after = _Draft(before)
    for change in changes_in(newest.message, (language,)):
        after = _changed(after, change, before, language)
    if after.unknown and after.steps == before and not planning.is_definitive:
        things = ", ".join(map(as_plain_markdown, after.unknown))
        return _question(phrases.no_such_step.format(things=things), before)
    if not after.steps and not planning.is_definitive:
        return _question(phrases.nothing_left)
    return _plan(after.steps or before, phrases)


def _changed(draft: _Draft, change: Change, before: Sequence[str], language: str) -> _Draft:
    telling = [one for one in terms_of(change.topic, language) if one.weight > GENERIC_WEIGHT]
    if not telling and not change.numbers:
        return draft
    if change.wish is Wish.ADD:
        new = [aspect.label for aspect in aspects_of(change.topic)]
        return replace(draft, steps=_joined(draft.steps, new, language))
    meant = _meant(change, before, language)
    if change.wish is Wish.REMOVE:
        unknown = () if meant else (change.topic or ", ".join(map(str, change.numbers)),)
        kept = tuple(step for step in draft.steps if step not in meant)
        return _Draft(kept, draft.unknown + unknown)
    if change.topic and not meant:
        return replace(draft, steps=tuple(aspect.label for aspect in aspects_of(change.topic)))
    return replace(draft, steps=tuple(step for step in draft.steps if step in meant))


def _joined(steps: Sequence[str], new: Sequence[str], language: str) -> tuple[str, ...]:
    joined = list(steps)
    for step in new:
        if not any(alike(step, known, language) for known in joined):
            joined.append(step)
    return tuple(joined)


def _meant(change: Change, steps: Sequence[str], language: str) -> frozenset[str]:
    """The steps that the change names: by number, else those that share most of its words."""
    if change.numbers:
        return frozenset(steps[n - 1] for n in change.numbers if 1 <= n <= len(steps))
    words = stems_of(change.topic, language)
    shares = {
        step: sum(word in vocabulary_of(step, language) for word in words) / len(words)
        for step in steps
    }
    most = max(shares.values(), default=0.0)
    return frozenset(step for step, share in shares.items() if share == most >= MEANT)


def _plan(steps: Sequence[str], phrases: PlanPhrases) -> PlanMessage:
    blocks = [phrases.opening, listed(steps[:MAX_STEPS])]
    if beyond := steps[MAX_STEPS:]:
        left_out = "; ".join(map(as_plain_markdown, beyond))
        blocks.append(phrases.no_room.format(count=MAX_STEPS, steps=left_out))
    return PlanMessage(text="\n\n".join(blocks) + "\n", intent=PlanIntent.READY)


def _question(text: str, steps: Sequence[str] = ()) -> PlanMessage:
    blocks = [text, *([listed(steps)] if steps else [])]
    return PlanMessage(text="\n\n".join(blocks) + "\n", intent=PlanIntent.FEEDBACK)
