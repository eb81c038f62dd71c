"""The parts of a question that can be answered apart from each other."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from services.chassis.words import sentences
from services.synth.coordination import (
    BETWEEN,
    COMPARED,
    COMPARING,
    DIFFERING,
    LISTING,
    MULTIWORD,
    QUESTION_WORDS,
    RELATING,
)
from services.synth.generic_words import GENERIC_WORDS
from services.synth.languages import language_of
from services.synth.stop_words import STOP_WORDS
from services.synth.terms import GENERIC_WEIGHT, Term, terms_of, without_stops

MAX_ASPECTS = 4
MAX_OPERAND_WORDS = 3
MAX_QUERY_CHARS = 300
MAX_LABEL_CHARS = 240

_PUNCTUATION = frozenset(",;/、，")
_TOKEN = re.compile(r"[^\W_]+(?:[-‐‑.'’][^\W_]+)*|[,;/、，;⇄]")
_UNSPACED_JOINT = re.compile("和|与|與|或|还是|以及|、|と|や|または|vs\\.?|versus")
_UNSPACED_MEMBER = "[\u3400-\u9fff\u30a0-\u30ffA-Za-z0-9-]{2,8}"
_POINTS_BACK = re.compile(
    r"\b(?:they|them|their|it|its|this|these|those|he|she|his|her|sie|ihre?[rnms]?|diese[rsnm]?|es|"
    r"ils?|elles?|leurs?|ses|ellos|ellas|sus?|essi|loro|eles|elas|seus?|suas?|zij|hun|ze|"
    r"они|их|он|она|его|её)\b|它们?|他们|这些?|其|それら?|これら?|그들?|هم|هي|هو",
    re.IGNORECASE,
)


class _Role(Enum):
    CONTENT = "content"
    GENERIC = "generic"
    STOP = "stop"
    LIST = "list"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    role: _Role
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One part of a question: its name for a person, what to search for, and the words it needs."""

    label: str
    """The part as a question or phrase that stands alone."""
    heading: str
    """The part as the title of its answer beside the others."""
    query: str
    terms: tuple[Term, ...]
    own: tuple[Term, ...]
    """The terms without which nothing is about this aspect; empty for an undivided question."""
    added: tuple[Term, ...] = ()
    """The terms of a later sentence beside those of the topic that it borrows."""

    @property
    def topic(self) -> str:
        """The label without its question mark, to stand inside a sentence."""
        return self.label.rstrip("?？؟ ")

    @property
    def focus(self) -> tuple[Term, ...]:
        """The terms that set this aspect apart from the others."""
        return self.own or self.added

    @property
    def specific(self) -> tuple[Term, ...]:
        """The terms that say something about the topic."""
        return tuple(term for term in self.terms if term.weight > GENERIC_WEIGHT)


def whole(question: str, language: str | None = None) -> Aspect:
    """The question as one aspect."""
    return _aspect(question, language or language_of(question))


def aspects_of(question: str) -> tuple[Aspect, ...]:
    """The aspects of a question, at least one and at most four, in its order."""
    language = language_of(question)
    segments = list(_segments(question, language))
    topic = _aspect(segments[0], language) if segments else _aspect(question, language)
    found: list[Aspect] = []
    for position, segment in enumerate(segments):
        for aspect in _split(segment, language):
            whole_one = completed(segment, aspect, topic) if position else aspect
            if whole_one.specific and whole_one.query not in {one.query for one in found}:
                found.append(whole_one)
    return tuple(found[:MAX_ASPECTS]) or (_aspect(question, language),)


def _segments(question: str, language: str) -> Iterator[str]:
    """Sentences, cut once more where a second question begins; of a long text, its questions."""
    pieces = [question[start:end] for start, end in sentences(question)]
    if len(pieces) > MAX_ASPECTS:
        asked = [piece for piece in pieces if re.search("[?？؟]", piece)]
        pieces = asked[-MAX_ASPECTS:] or [pieces[0], *pieces[-2:]]
    words = "|".join(map(re.escape, sorted(QUESTION_WORDS.get(language, ()))))
    joint = "|".join(map(re.escape, sorted(LISTING.get(language, ()))))
    cut = re.compile(rf"[,;]?\s+(?:{joint})\s+(?=(?:{words})\b)|;\s+", re.IGNORECASE)
    for piece in pieces:
        parts = [part for part in (cut.split(piece) if words and joint else [piece]) if part]
        mark = piece[-1:] if piece[-1:] in "?？؟" else ""
        yield from (part if part.endswith(mark) else part.rstrip(" ,;") + mark for part in parts)


def _aspect(
    text: str, language: str, own: Sequence[str] = (), label: str = "", heading: str = ""
) -> Aspect:
    terms = tuple(terms_of(text, language))
    owned = {term.stem for term in terms_of(" ".join(own), language)}
    plain = " ".join(text.split())
    label = _phrase(label or plain)
    return Aspect(
        label=label,
        heading=_phrase(heading) or label,
        query=shortened(plain, terms),
        terms=terms,
        own=tuple(term for term in terms if term.stem in owned),
    )


def _phrase(text: str) -> str:
    """The text as it may stand alone: on one line, not too long, with a capital at its start."""
    text = " ".join(text.split()).rstrip(".。 ")
    if len(text) > MAX_LABEL_CHARS:
        text = text[:MAX_LABEL_CHARS].rsplit(" ", 1)[0] + "…"
    return text[:1].upper() + text[1:]


def shortened(text: str, terms: Iterable[Term]) -> str:
    """The text itself, or when it is too long for a query its content words, the telling ones
    first."""
    if len(text) <= MAX_QUERY_CHARS:
        return text
    query = ""
    for term in sorted(terms, key=lambda term: -term.weight):
        if len(query) + len(term.surface) + 1 > MAX_QUERY_CHARS:
            break
        query += f" {term.surface}"
    return query.strip() or text[:MAX_QUERY_CHARS]


def completed(segment: str, aspect: Aspect, topic: Aspect) -> Aspect:
    """A later sentence that names too little, or points back, borrows the topic of the first."""
    if len(aspect.specific) >= 2 and not _POINTS_BACK.search(segment):
        return aspect
    known = {term.stem for term in aspect.terms}
    borrowed = [term for term in topic.specific if term.stem not in known]
    query = " ".join([aspect.query.rstrip("?？؟. "), *(term.surface for term in borrowed)])
    terms = (*aspect.terms, *borrowed)
    query = shortened(query, terms)
    return replace(aspect, query=query, terms=terms, own=(), added=aspect.specific)


def _split(segment: str, language: str) -> list[Aspect]:
    """The aspects of one sentence: one for each member of a comparison or a list."""
    if language in ("zh", "ja"):
        return _split_unspaced(segment, language)
    text = segment
    for phrase, marker in MULTIWORD.get(language, {}).items():
        text = re.sub(rf"\b{phrase}\b", marker, text, flags=re.IGNORECASE)
    tokens = [
        _Token(match.group(), _role(match.group(), language), *match.span())
        for match in _TOKEN.finditer(text)
    ]
    operands = _operands(tokens, language)
    if len(operands) < 2:
        return [_aspect(segment, language)]
    stretches = [text[tokens[one[0]].start : tokens[one[-1]].end] for one in operands]
    before, after = text[: tokens[operands[0][0]].start], text[tokens[operands[-1][-1]].end :]
    aspects = []
    for chosen, stretch in enumerate(stretches):
        # Asked about one member alone; what is asked about their difference cannot be.
        alone = f"{before}{stretch}{after}"
        own = [tokens[at].text for at in operands[chosen]]
        text, label = alone, alone
        if _sets_apart(segment, language):
            text = _without_others(tokens, operands, chosen)
            label = f"{stretch} ({segment})"
        aspects.append(_aspect(text, language, own, label, heading=stretch))
    return aspects


def _sets_apart(segment: str, language: str) -> bool:
    words = {word.lower() for word in _TOKEN.findall(segment)}
    return bool(words & (BETWEEN.get(language, frozenset()) | DIFFERING.get(language, frozenset())))


def _role(word: str, language: str) -> _Role:
    lower = word.lower()
    if lower == COMPARED or lower in COMPARING["all"] or lower in COMPARING.get(language, ()):
        return _Role.COMPARE
    if lower in LISTING.get(language, ()) or lower in _PUNCTUATION:
        return _Role.LIST
    if lower in STOP_WORDS[language]:
        return _Role.STOP
    return _Role.GENERIC if lower in GENERIC_WORDS[language] else _Role.CONTENT


def _operands(tokens: Sequence[_Token], language: str) -> list[range]:
    """The first chain of members that a connecting word joins; empty when there is none."""
    chain: list[range] = []
    compared = False
    for at, token in enumerate(tokens):
        if token.role not in (_Role.LIST, _Role.COMPARE):
            continue
        left, right = _members_around(tokens, at)
        if not left or not right or (token.text == COMPARED and _has_content(tokens[: left.start])):
            # "Does A help B compared with C?" sets C against A, not against the B before it.
            continue
        if chain and not (chain[-1].start <= left.start <= chain[-1].stop):
            break
        if not chain:
            chain.append(left)
        compared = compared or token.role is _Role.COMPARE
        chain.append(right)
    if len(chain) < 2 or not (compared or _is_list(tokens, chain, language)):
        return []
    return chain[:MAX_ASPECTS]


def _is_list(tokens: Sequence[_Token], chain: Sequence[range], language: str) -> bool:
    """Whether the members stand beside a shared topic, and not for a relation between them."""
    inside = {at for member in chain for at in member}
    shared = [at for at, one in enumerate(tokens) if one.role is _Role.CONTENT and at not in inside]
    words = {one.text.lower() for one in tokens}
    before = tokens[chain[0].start - 1].text.lower() if chain[0].start else ""
    related = before in BETWEEN.get(language, ()) or words & set(RELATING.get(language, ()))
    compared = words & set(DIFFERING.get(language, ()))
    return bool(shared) and (bool(compared) or not related)


def _members_around(tokens: Sequence[_Token], at: int) -> tuple[range, range]:
    """What the connecting word at this place joins."""
    after = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
    if tokens[at + 1 : at + 2] and tokens[at + 1].role is _Role.STOP:
        # "in nurses and in operators": the repeated small word tells where the first member begins.
        for start in range(at - 1, -1, -1):
            if tokens[start].text.lower() == after:
                left, right = range(start + 1, at), _clause_after(tokens, at + 2)
                if any(_is_content(tokens[one]) for one in left) and right:
                    return left, right
                break
    left, right = _run_before(tokens, at), _run_after(tokens, at)
    before = tokens[left.start - 1].role if left.start else _Role.STOP
    if before in (_Role.CONTENT, _Role.GENERIC) and len(left) > len(right) > 0:
        # "people keep names or occupations": no small word shows where the first member begins.
        left = left[-len(right) :]
    return left, right


def _clause_after(tokens: Sequence[_Token], start: int) -> range:
    """The tokens up to the next connecting word; empty when they hold no content."""
    end = start
    while end < len(tokens) and tokens[end].role not in (_Role.LIST, _Role.COMPARE):
        end += 1
    return range(start, end) if _has_content(tokens[start:end]) else range(0)


def _run_before(tokens: Sequence[_Token], at: int) -> range:
    start = at
    while start > 0 and at - start < MAX_OPERAND_WORDS and _is_content(tokens[start - 1]):
        start -= 1
    return range(start, at)


def _run_after(tokens: Sequence[_Token], at: int) -> range:
    start = at + 1
    # An article or a second connecting word may stand before the member, but not after a comma.
    if (
        tokens[at].text in _PUNCTUATION
        and at + 1 < len(tokens)
        and not (_is_content(tokens[start]) or tokens[start].role is _Role.LIST)
    ):
        return range(0)
    while start < len(tokens) and start <= at + 2 and not _is_content(tokens[start]):
        if tokens[start].role is _Role.GENERIC:
            return range(0)
        start += 1
    end = start
    while end < len(tokens) and end - start < MAX_OPERAND_WORDS and _is_content(tokens[end]):
        end += 1
    return range(start, end)


def _has_content(tokens: Iterable[_Token]) -> bool:
    return any(_is_content(token) for token in tokens)


def _is_content(token: _Token) -> bool:
    return token.role is _Role.CONTENT


def _without_others(tokens: Sequence[_Token], operands: Sequence[range], chosen: int) -> str:
    others = {at for number, one in enumerate(operands) if number != chosen for at in one}
    return " ".join(
        token.text
        for at, token in enumerate(tokens)
        if at not in others and token.role not in (_Role.LIST, _Role.COMPARE)
    )


def _split_unspaced(segment: str, language: str) -> list[Aspect]:
    stops = without_stops(segment, language)
    for joint in _UNSPACED_JOINT.finditer(segment):
        left = re.search(f"{_UNSPACED_MEMBER}$", stops[: joint.start()])
        right = re.match(_UNSPACED_MEMBER, stops[joint.end() :])
        if left is None or right is None:
            continue
        before, after = segment[: left.start()], segment[joint.end() + right.end() :]
        if any(term.weight > GENERIC_WEIGHT for term in terms_of(before + " " + after, language)):
            members = (left.group(), right.group())
            return [
                _aspect(f"{before}{own}{after}", language, [own], heading=own) for own in members
            ]
    return [_aspect(segment, language)]
