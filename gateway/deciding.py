"""Asking the person at a terminal what to do at a checkpoint."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway import events
from gateway.checkpoint_card import choices
from gateway.control import MOST_GUIDANCE

EXTEND, SYNTHESIZE = "extend_budget", "synthesize"
# Whole words only: who types "exit" grants nothing, and "stop" is no decision either.
ACTIONS = {"e": EXTEND, "extend": EXTEND, "s": SYNTHESIZE, "synthesize": SYNTHESIZE}
LATER = ("l", "later")

# Asks with a prompt and gives the line that was typed; raises EOFError at the end of the input.
Ask = Callable[[str], str]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the person decided."""

    action: str
    guidance: str | None = None


def decide(payload: events.BudgetCheckpoint, ask: Ask, tell: Tell) -> Decision | None:
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
            if (action := ACTIONS.get(typed)) is not None:
                guidance = _guidance(ask, tell) if action == EXTEND else None
                return Decision(action=action, guidance=guidance)
        except EOFError:
            tell("")
            return None
        tell(f"Type one of {keys}.")


def _guidance(ask: Ask, tell: Tell) -> str | None:
    while True:
        typed = ask("Guidance for the search (Enter for none): ")
        # A terminal may hand on bytes that are no text in its encoding.
        text = typed.encode("utf-8", errors="replace").decode().replace("\0", "").strip()
        if len(text) <= MOST_GUIDANCE:
            return text or None
        tell(f"That has {len(text):,} characters; {MOST_GUIDANCE:,} are the most.")
