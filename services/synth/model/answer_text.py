"""A model's answer on its way to the reader: only citations of the evidence, and nothing active.

The model marks what it rests on as [2 "exact words of passage 2"]. The marks become the numbers of
citations, in order of appearance; marks of anything but the given evidence vanish. Links, images
and HTML lose what makes them active, whoever talked the model into writing them. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.chassis.words import sentences
from services.synth.citations import one_line
from services.synth.mind import Citation, Evidence
from services.synth.model.quoting import nearest_sentence, verbatim

LONGEST_MARK = 1_200
# Behind its sentence a mark stands near; a paragraph without an end is not looked at as a whole.
LONGEST_SENTENCE, LONGEST_BREAK = 4_000, 40
_QUOTE = re.compile(r"^\s*(\d{1,4})\s*[:,]?\s*[\"“„«‘'](.*)[\"”“»’']\s*$", re.DOTALL)
_NUMBERS = re.compile(r"^\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*$")
_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)]|#{1,6})\s)")
_LINK_LIKE = re.compile(
    r"(?<=[A-Za-z])(:)(?=//)|(?<=\b(?:mailto|zotero))(:)|(?<=\bdata)(:)(?=\w)"
    r"|(?<=www)(\.)|(?<=\w)(@)(?=\w)|(?<=javascript)(:)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\[\s*\d{1,4}\s*[:,]?\s*[\"“„«]")
_ENDING = re.compile(r"[\"”“»]\s*\]")
_BRACKETS = re.compile(r"[\[\]]")
_MARKUP = re.compile(r"[*_#`>]+|^\s*(?:[-+]|\d{1,3}[.)])\s+", re.MULTILINE)


@dataclass(slots=True)
class AnswerText:
    """Takes the pieces as the model writes them, gives them back fit to be shown."""

    evidence: Sequence[Evidence]
    _held: str = ""
    _paragraph: str = ""
    _citations: dict[tuple[str, str, str], Citation] = field(default_factory=dict)
    # What the last mark stood behind, and the stretch of each claim: marks often stand in rows.
    _last: tuple[str, str] = ("", "")
    _spans: dict[tuple[int, str, str], tuple[int, int]] = field(default_factory=dict)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation shown so far, by number."""
        return tuple(self._citations.values())

    def feed(self, piece: str) -> str:
        """What can be shown now; a word or a mark that is not finished waits."""
        self._held += piece.replace("\x00", "")
        return self._shown(is_end=False)

    def finish(self) -> str:
        """What was still waiting."""
        return self._shown(is_end=True)

    def _shown(self, *, is_end: bool) -> str:
        shown: list[str] = []
        while self._held:
            at = self._held.find("[")
            if at < 0:
                cut = len(self._held) if is_end else _last_blank(self._held)
                shown.append(self._plain(self._held[:cut]))
                self._held = self._held[cut:]
                break
            if (bracket := _bracket(self._held, at, is_end=is_end)) is None:
                # An unfinished bracket: what stands before it can go, but for the word beside it.
                cut = _last_blank(self._held[:at])
                shown.append(self._plain(self._held[:cut]))
                self._held = self._held[cut:]
                break
            # A mark behind backslashes is a mark all the same.
            before = self._held[:at].rstrip("\\")
            is_image = before.endswith("!")
            shown.append(self._plain(before[:-1] if is_image and bracket.is_link else before))
            shown.append(self._bracketed(bracket))
            self._held = self._held[bracket.end :]
        return "".join(shown)

    def _bracketed(self, bracket: "_Bracket") -> str:
        # Brackets inside of brackets could pass for citations.
        words = re.sub(r"[\[\]]", r"\\\g<0>", bracket.inside)
        if bracket.is_link:
            return self._plain(words)
        if (quoted := _QUOTE.match(bracket.inside)) is not None:
            return self._mark(int(quoted.group(1)), quoted.group(2))
        if _NUMBERS.match(bracket.inside):
            return "".join(self._mark(int(n), "") for n in re.findall(r"\d+", bracket.inside))
        return self._plain(words) if not bracket.is_closed else f"\\[{self._plain(words)}\\]"

    def _mark(self, position: int, claimed: str) -> str:
        if not 1 <= position <= len(self.evidence):
            return ""
        passage = self.evidence[position - 1].passage
        statement = self._statement()
        claim = (position, claimed, statement)
        if claim not in self._spans:
            self._spans[claim] = verbatim(claimed, passage.text) or nearest_sentence(
                statement or claimed, passage.text
            )
        start, end = self._spans[claim]
        quote = passage.text[start:end]
        if not quote.strip():
            return ""
        key = (passage.passage_id, quote, statement)
        if key not in self._citations:
            self._citations[key] = Citation(
                number=len(self._citations) + 1,
                passage_id=passage.passage_id,
                quote=quote,
                statement=statement or one_line(quote),
            )
        return f"[{self._citations[key].number}]"

    def _statement(self) -> str:
        """The sentence that the mark stands behind, without markup."""
        paragraph = self._paragraph.rstrip()
        if self._last[0] != paragraph:
            text = _MARKUP.sub("", paragraph)
            spans = sentences(text)
            last = one_line(text[spans[-1][0] : spans[-1][1]]) if spans else ""
            self._last = (paragraph, last)
        return self._last[1]

    def _plain(self, text: str) -> str:
        # A break may stand on both sides of where two pieces meet.
        start = max(0, len(self._paragraph) - LONGEST_BREAK)
        self._paragraph += text
        ends = [match.end() for match in _BREAK.finditer(self._paragraph, start)]
        self._paragraph = self._paragraph[ends[-1] if ends else 0 :][-LONGEST_SENTENCE:]
        inert = re.sub(r"(?<!\\)(?=[\]<])", r"\\", text)
        return _LINK_LIKE.sub(lambda match: f"\\{match.group()}", inert)


@dataclass(frozen=True, slots=True)
class _Bracket:
    """What stands in brackets; a link's target is left out of it."""

    inside: str
    end: int
    is_link: bool
    is_closed: bool = True


def _bracket(text: str, at: int, *, is_end: bool) -> _Bracket | None:
    """The bracket that opens here; None while it cannot be told yet what it will be."""
    close = _close(text, at)
    if close is None:
        is_broken = text.find("\n\n", at, at + LONGEST_MARK) >= 0 or len(text) - at > LONGEST_MARK
        if is_broken or is_end:
            return _Bracket("[", at + 1, is_link=False, is_closed=False)
        return None
    if close + 1 >= len(text) and not is_end:
        return None
    inside = text[at + 1 : close].removesuffix("\\")
    following = text[close + 1 : close + 2]
    if following == "(":
        target = text.find(")", close + 2, close + LONGEST_MARK)
        if target >= 0:
            return _Bracket(inside, target + 1, is_link=True)
        if not is_end and len(text) - close < LONGEST_MARK:
            return None
        return _Bracket(inside, len(text), is_link=True)
    return _Bracket(inside, close + 1, is_link=False)


def _close(text: str, at: int) -> int | None:
    """Where the bracket closes: behind its quote if it has one, else at the first that fits."""
    limit = min(len(text), at + LONGEST_MARK)
    opening = _OPENING.match(text, at)
    if opening is not None:
        end = _ENDING.search(text, opening.end(), limit)
        if end is not None and text.find("\n\n", at, end.start()) < 0:
            return end.end() - 1
        if limit == len(text) and text.find("\n\n", at) < 0:
            return None
    if text.find("]", at, limit) < 0:
        return None
    depth = 0
    for bracket in _BRACKETS.finditer(text, at, limit):
        depth += 1 if bracket.group() == "[" else -1
        if not depth:
            return bracket.start()
    return None


def _last_blank(text: str) -> int:
    """Behind the last white space, so that the word after it can still grow."""
    return max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
