"""Asking the person at a terminal what to do at a checkpoint."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway import events
from gateway.checkpoint_card import Payload, choices
from gateway.control import MOST_GUIDANCE

EXTEND, SYNTHESIZE = "extend_budget", "synthesize"
FEEDBACK, APPROVE, REJECT = "feedback", "approve", "reject"
MOST_FEEDBACK = 10_240
# Whole words only: who types "exit" grants nothing, and "stop" is no decision either.
ACTIONS = {
    "e": EXTEND,
    "extend": EXTEND,
    "s": SYNTHESIZE,
    "synthesize": SYNTHESIZE,
    "f": FEEDBACK,
    "feedback": FEEDBACK,
    "a": APPROVE,
    "approve": APPROVE,
    "r": REJECT,
    "reject": REJECT,
}
LATER = ("l", "later")

# Asks with a prompt and gives the line that was typed; raises EOFError at the end of the input.
Ask = Callable[[str], str]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the person decided."""

    action: str
    guidance: str | None = None
    message: str | None = None


def decide(payload: Payload, ask: Ask, tell: Tell) -> Decision | None:
    """The person's decision, None when it is put off."""
    tell("")
    offered = choices(payload)
    for key, text in offered:
        tell(f"  {key}  {text}")
    keys = "/".join(key for key, _ in offered)
    while True:
        try:
            typed = ask(f"Your decision [{keys}]: ").strip().lower()
            if typed in LATER:
                return None
            action = ACTIONS.get(typed)
            if action is not None and action[0] in keys:
                if (decision := _decision(action, payload, ask, tell)) is not None:
                    return decision
                # Nothing was said, so nothing is decided yet.
                continue
        except EOFError:
            tell("")
            return None
        tell(f"Type one of {keys}.")


def _decision(action: str, payload: Payload, ask: Ask, tell: Tell) -> Decision | None:
    if action == FEEDBACK:
        message = _line("What should be different: ", _too_many_bytes, ask, tell)
        return Decision(action=action, message=message) if message else None
    if action == EXTEND and isinstance(payload, events.BudgetCheckpoint):
        prompt = "Guidance for the search (Enter for none): "
        return Decision(action=action, guidance=_line(prompt, _too_many_characters, ask, tell))
    return Decision(action=action)


def _line(prompt: str, problem: Callable[[str], str], ask: Ask, tell: Tell) -> str | None:
    while True:
        # A terminal may hand on bytes that are no text in its encoding.
        typed = ask(prompt).encode("utf-8", errors="replace").decode().replace("\0", "").strip()
        if not (told := problem(typed)):
            return typed or None
        tell(told)


def _too_many_characters(text: str) -> str:
    if len(text) <= MOST_GUIDANCE:
        return ""
    return f"That has {len(text):,} characters; {MOST_GUIDANCE:,} are the most."


def _too_many_bytes(text: str) -> str:
    if (size := len(text.encode())) <= MOST_FEEDBACK:
        return ""
    return f"That has {size:,} bytes; {MOST_FEEDBACK:,} are the most."
