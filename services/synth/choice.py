"""Which language model was chosen: a provider and the name of a model there. Pure."""

from dataclasses import dataclass

from services.synth.settings import OFFLINE

OPENAI_COMPATIBLE = "openai-compatible"
# Providers that a person can choose here, and what the library below calls them.
PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "google-gla": "google",
    "ollama": "ollama",
    OPENAI_COMPATIBLE: OPENAI_COMPATIBLE,
}
NEED_A_KEY = frozenset({"openai", "anthropic", "google"})
NEED_AN_ADDRESS = frozenset({OPENAI_COMPATIBLE})


class UnusableChoice(ValueError):
    """The chosen model cannot be used; the message says what to set instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A provider and a model."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


def parse_choice(text: str) -> ModelChoice | None:
    """The choice that `provider:name` makes, None for the offline mind.

    Everything behind the first colon is the model's name, which may hold colons itself.
    """
    if text.strip() == OFFLINE:
        return None
    provider, colon, name = text.strip().partition(":")
    known = ", ".join(provider for provider in PROVIDERS if provider != "google-gla")
    if not colon or not name.strip():
        raise UnusableChoice(
            f"{text!r} names no model; write provider:model, for example ollama:llama3.2:3b, "
            f"or {OFFLINE}. The providers are {known}."
        )
    if provider not in PROVIDERS:
        raise UnusableChoice(f"There is no provider {provider!r}; the providers are {known}.")
    return ModelChoice(provider=PROVIDERS[provider], name=name.strip())


def require_means(choice: ModelChoice, *, has_key: bool, has_address: bool) -> None:
    """Raise UnusableChoice when a key or an address is missing that the provider needs."""
    if choice.provider in NEED_A_KEY and not has_key:
        raise UnusableChoice(
            f"{choice} needs a key; give one with `zocrates configure` or in SYNTH_API_KEY."
        )
    if choice.provider in NEED_AN_ADDRESS and not has_address:
        raise UnusableChoice(
            f"{choice} needs the address of its server; give it in SYNTH_BASE_URL, for example "
            "http://127.0.0.1:8000/v1."
        )
