"""The language model that a person chose: a private file, given to synth and nobody else."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.data_folder import write_lasting
from deploy.failure import CannotStart

OFFLINE = "offline"
KNOWN_PROVIDERS = (OFFLINE, "openai", "anthropic", "google", "ollama", "openai-compatible")
NEED_A_KEY = ("openai", "anthropic", "google")
NEED_AN_ADDRESS = ("openai-compatible",)
LEAVING_TEXT = (
    "your questions, the conversation, your guidance, and the passages, titles and authors found "
    "for them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMind:
    """A provider, the name of a model there, the key that opens it, and where it listens."""

    provider: str = OFFLINE
    model: str = ""
    key: str = ""
    address: str = ""

    def complaint(self) -> str:
        """What is missing to use it, as a sentence; empty when nothing is."""
        if self.provider not in KNOWN_PROVIDERS:
            return f"name a provider with --provider: {', '.join(KNOWN_PROVIDERS)}."
        if self.provider != OFFLINE and not self.model:
            return f"name the model of {self.provider} with --model."
        if self.provider in NEED_A_KEY and not self.key:
            return f"{self.provider} needs a key; type it when asked, or give it on standard input."
        if self.provider in NEED_AN_ADDRESS and not self.address:
            return (
                f"name the address of the {self.provider} server with --address, for example "
                "http://127.0.0.1:8000/v1."
            )
        if self.address and not self.address.startswith(("http://", "https://")):
            return f"the address {self.address!r} must begin with http:// or https://."
        return ""

    def environment(self) -> Mapping[str, str]:
        """What synth is told."""
        if self.provider == OFFLINE:
            return {"SYNTH_MODEL": OFFLINE}
        means = {"SYNTH_API_KEY": self.key, "SYNTH_BASE_URL": self.address}
        given = {name: value for name, value in means.items() if value}
        return {"SYNTH_MODEL": f"{self.provider}:{self.model}", **given}

    def save(self, path: Path) -> None:
        """Keep the choice; only its owner can read the file."""
        write_lasting(path, json.dumps(asdict(self), indent=2) + "\n")

    def explanation(self) -> str:
        """What the choice means: what is used, and which text leaves this machine."""
        if self.provider == OFFLINE:
            return "Answers come from the offline mind; no text leaves this machine."
        where = f"{self.provider} at {self.address}" if self.address else self.provider
        if self.provider == "ollama" and not self.address:
            where = "ollama on this machine"
        return (
            f"Answers come from {self.model}. This text is sent to {where}: {LEAVING_TEXT}. "
            "Files, notes and passages that no search finds are not sent."
        )


def read_mind(path: Path) -> ChosenMind:
    """The choice that was kept, or the offline mind; a damaged file raises CannotStart."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        chosen = ChosenMind(**{name: str(value) for name, value in content.items()})
        if complaint := chosen.complaint():
            raise ValueError(complaint)
        return chosen
    except FileNotFoundError:
        return ChosenMind()
    except (ValueError, TypeError, AttributeError) as error:
        raise CannotStart(
            f"{str(path)!r} is damaged; choose the language model again with: zocrates configure"
        ) from error
