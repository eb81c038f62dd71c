"""The parts of a question that can be answered apart from each other."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from services.chassis.words import sentences
from services.synth.coordination import (
    BETWEEN,
    COMPARING,
    LISTING,
    MULTIWORD,
    QUESTION_WORDS,
    RELATING,
)
from services.synth.generic_words import GENERIC_WORDS
from services.synth.languages import language_of
from services.synth.stop_words import STOP_WORDS
from services.synth.terms import GENERIC_WEIGHT, Term, terms_of

MAX_ASPECTS = 4
MAX_OPERAND_WORDS = 3
MAX_QUERY_CHARS = 300

_TOKEN = re.compile(r"[^\W_]+(?:[-‐‑.'’][^\W_]+)*|[,;/、，;]")
_CJK_LIST = re.compile(
    "([\u3400-\u9fff\u30a0-\u30ff]{2,8})(?:和|与|與|或|还是|以及|と|や|、|または)"
    "([\u3400-\u9fff\u30a0-\u30ff]{2,8})"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One part of a question: its name for a person, what to search for, and the words it needs."""

    label: str
    query: str
    terms: tuple[Term, ...]
    own: tuple[Term, ...]
    """The terms that set this aspect apart from the others; empty for an undivided question."""

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
            completed = _completed(aspect, topic) if position else aspect
            if completed.specific and completed.query not in {one.query for one in found}:
                found.append(completed)
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
        yield from (part for part in (cut.split(piece) if words and joint else [piece]) if part)


def _aspect(text: str, language: str, own: Sequence[str] = (), label: str = "") -> Aspect:
    terms = tuple(terms_of(text, language))
    owned = {term.stem for term in terms_of(" ".join(own), language)}
    plain = " ".join(text.split())
    return Aspect(
        label=label or plain.rstrip("?？؟.。!！ ") or plain,
        query=shortened(plain, terms),
        terms=terms,
        own=tuple(term for term in terms if term.stem in owned),
    )


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


def _completed(aspect: Aspect, topic: Aspect) -> Aspect:
    """A later sentence that names too little borrows the topic of the first one."""
    if len(aspect.specific) >= 2:
        return aspect
    known = {term.stem for term in aspect.terms}
    borrowed = [term for term in topic.specific if term.stem not in known]
    query = " ".join([aspect.query.rstrip("?？؟. "), *(term.surface for term in borrowed)])
    terms = (*aspect.terms, *borrowed)
    return Aspect(
        label=aspect.label, query=shortened(query, terms), terms=terms, own=aspect.specific
    )


def _split(segment: str, language: str) -> list[Aspect]:
    """The aspects of one sentence: one for each member of a comparison or a list."""
    if language in ("zh", "ja"):
        return _split_unspaced(segment, language)
    tokens = _tokens(segment, language)
    operands = _operands(tokens, language)
    if len(operands) < 2:
        return [_aspect(segment, language)]
    return [_member(tokens, operands, chosen, language) for chosen in range(len(operands))]


def _tokens(segment: str, language: str) -> list[_Token]:
    text = segment
    for phrase, marker in MULTIWORD.get(language, {}).items():
        text = re.sub(rf"\b{phrase}\b", marker, text, flags=re.IGNORECASE)
    return [_Token(word, _role(word, language)) for word in _TOKEN.findall(text)]


def _role(word: str, language: str) -> _Role:
    lower = word.lower()
    if lower in COMPARING["all"] or lower in COMPARING.get(language, ()):
        return _Role.COMPARE
    if lower in LISTING.get(language, ()) or lower in {",", "/", ";", "、", "，"}:
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
        left, right = _run_before(tokens, at), _run_after(tokens, at)
        if not left or not right:
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
    return bool(shared) and not related


def _run_before(tokens: Sequence[_Token], at: int) -> range:
    start = at
    while start > 0 and at - start < MAX_OPERAND_WORDS and _is_content(tokens[start - 1]):
        start -= 1
    return range(start, at)


def _run_after(tokens: Sequence[_Token], at: int) -> range:
    start = at + 1
    # An article or a second connecting word may stand before the member.
    while start < len(tokens) and start <= at + 2 and not _is_content(tokens[start]):
        if tokens[start].role is _Role.GENERIC:
            return range(0)
        start += 1
    end = start
    while end < len(tokens) and end - start < MAX_OPERAND_WORDS and _is_content(tokens[end]):
        end += 1
    return range(start, end)


def _is_content(token: _Token) -> bool:
    return token.role is _Role.CONTENT


def _member(
    tokens: Sequence[_Token], operands: Sequence[range], chosen: int, language: str
) -> Aspect:
    others = {at for number, one in enumerate(operands) if number != chosen for at in one}
    kept = [
        token.text
        for at, token in enumerate(tokens)
        if at not in others and token.role not in (_Role.LIST, _Role.COMPARE)
    ]
    own = [tokens[at].text for at in operands[chosen]]
    inside = {at for one in operands for at in one}
    shared = [
        token.text for at, token in enumerate(tokens) if at not in inside and _is_content(token)
    ]
    label = " ".join(own) + (f" ({', '.join(shared)})" if shared else "")
    return _aspect(" ".join(kept), language, own, label)


def _split_unspaced(segment: str, language: str) -> list[Aspect]:
    joined = _CJK_LIST.search(segment)
    if joined is None:
        return [_aspect(segment, language)]
    left, right = joined.groups()
    before, after = segment[: joined.start()], segment[joined.end() :]
    if not terms_of(before + " " + after, language):
        return [_aspect(segment, language)]
    return [_aspect(f"{before}{own}{after}", language, [own]) for own in (left, right)]
