"""A research plan as text: steps in a Markdown list, written and read back. Pure."""

import re
from collections.abc import Sequence

from services.synth.citations import as_plain_markdown

MAX_STEPS = 8
MAX_STEP_CHARS = 300

_ITEM = re.compile(r"^[ \t]{0,3}(?:[-*+•]|\d{1,2}[.)])[ \t]+(\S.*)$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*\*|__|[*_`])")


def listed(steps: Sequence[str]) -> str:
    """The steps as a numbered list."""
    return "\n".join(f"{number}. {as_plain_markdown(step)}" for number, step in enumerate(steps, 1))


def steps_of(plan: str) -> tuple[str, ...]:
    """The items of the plan's outermost list as plain text; none when it has no list."""
    items = [_ITEM.match(line) for line in plan.splitlines()]
    steps = [_plain(item.group(1)) for item in items if item is not None]
    return tuple(dict.fromkeys(step for step in steps if step))[:MAX_STEPS]


def _plain(item: str) -> str:
    text = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", item)).strip()
    return text[:MAX_STEP_CHARS].strip()
