"""The language model that a person chose: a private file, given to synth and nobody else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.data_folder import write_lasting
from deploy.failure import CannotStart

OFFLINE = "offline"
# What synth of this version can think with; the stack never starts it with anything else.
USABLE_PROVIDERS = (OFFLINE,)
KNOWN_PROVIDERS = (OFFLINE, "openai", "anthropic", "google", "ollama", "openai-compatible")
LEAVING_TEXT = (
    "your questions, the conversation, and the passages, titles and authors found for them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMind:
    """A provider, the name of a model there, and the key that opens it."""

    provider: str = OFFLINE
    model: str = ""
    key: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether this version can think with it."""
        return self.provider in USABLE_PROVIDERS

    def environment(self) -> Mapping[str, str]:
        """What synth is told; a choice that it cannot use is not told, nor is its key."""
        if not self.is_usable:
            return {"SYNTH_MODEL": OFFLINE}
        name = f"{self.provider}:{self.model}" if self.model else self.provider
        return {"SYNTH_MODEL": name, **({"SYNTH_API_KEY": self.key} if self.key else {})}

    def save(self, path: Path) -> None:
        """Keep the choice; only its owner can read the file."""
        content = {"provider": self.provider, "model": self.model, "key": self.key}
        write_lasting(path, json.dumps(content, indent=2) + "\n")

    def explanation(self) -> str:
        """What the choice means: what is used, and which text would leave this machine."""
        if self.provider == OFFLINE:
            return "Answers come from the offline mind; no text leaves this machine."
        kept = f"The choice of {self.provider} is kept. "
        leaving = f"With {self.provider}, this text is sent to it: {LEAVING_TEXT}."
        if self.is_usable:
            return f"{kept}{leaving}"
        return (
            f"{kept}This version of Zocrates has the offline mind only, so the choice is not used "
            f"yet and no text leaves this machine. {leaving.replace('is sent', 'would be sent')}"
        )


def read_mind(path: Path) -> ChosenMind:
    """The choice that was kept, or the offline mind; a damaged file raises CannotStart."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return ChosenMind(**{name: str(value) for name, value in content.items()})
    except FileNotFoundError:
        return ChosenMind()
    except (ValueError, TypeError, AttributeError) as error:
        raise CannotStart(
            f"{str(path)!r} is damaged; choose the language model again with: zocrates configure"
        ) from error
