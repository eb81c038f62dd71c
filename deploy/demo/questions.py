"""The questions to the demo library, with the pages on which their answers are printed."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.demo.content import ContentError
from deploy.demo.keys import key_of
from deploy.demo.typeset import Printed


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlace:
    """A sentence that answers a part of a question, and where it is printed.

    A question is answered when every part of it has one of its places; several places of one part
    are alternatives.
    """

    part: int
    item_key: str
    attachment_key: str
    page_index: int
    page_label: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question; without answers it cannot be answered from the library."""

    id: str
    text: str
    answerable: bool
    answers: tuple[AnswerPlace, ...]


def load_questions(path: Path, printed: Mapping[str, Printed]) -> tuple[Question, ...]:
    """Read the questions and look up the pages of their marked answers."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Question(
            id=one["id"],
            text=one["text"],
            answerable=bool(one["answers"]),
            answers=tuple(
                _locate(part, answer, printed)
                for part, alternatives in enumerate(one["answers"], start=1)
                for answer in alternatives
            ),
        )
        for one in table["questions"]
    )


def _locate(part: int, answer: str, printed: Mapping[str, Printed]) -> AnswerPlace:
    slug, mark = answer.split("/")
    source = printed[slug]
    pages = {place.page for place in source.marks.get(mark, ())}
    if len(pages) != 1:
        raise ContentError(f"the answer {answer!r} is on the pages {sorted(pages)}, not on one")
    (page,) = pages
    return AnswerPlace(
        part=part,
        item_key=key_of("item", slug),
        attachment_key=key_of("attachment", slug),
        page_index=page,
        page_label=source.labels[page],
        quote=source.paper.marks[mark],
    )


def questions_json(questions: tuple[Question, ...]) -> str:
    """Return the questions as the committed file holds them."""
    rows = [asdict(question) for question in questions]
    return json.dumps({"questions": rows}, ensure_ascii=False, indent=2) + "\n"
