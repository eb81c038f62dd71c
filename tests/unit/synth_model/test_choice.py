"""Which model a setting names."""

import pytest

from services.synth.choice import ModelChoice, UnusableChoice, parse_choice, require_means


@pytest.mark.parametrize(
    ("text", "provider", "name"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini"),
        ("ollama:llama3.2:3b-instruct", "ollama", "llama3.2:3b-instruct"),
        ("google-gla:gemini-3-flash", "google", "gemini-3-flash"),
        ("openai-compatible:org/model:free", "openai-compatible", "org/model:free"),
        (" anthropic: claude-haiku-4-5 ", "anthropic", "claude-haiku-4-5"),
    ],
)
def test_everything_behind_the_first_colon_is_the_name(text: str, provider: str, name: str) -> None:
    assert parse_choice(text) == ModelChoice(provider=provider, name=name)


def test_the_offline_mind_is_no_choice_of_a_model() -> None:
    assert parse_choice("offline") is None


@pytest.mark.parametrize("text", ["", "gpt-5", "openai:", "openai: ", "nowhere:gpt-5", ":x"])
def test_what_names_no_model_is_refused_with_the_providers(text: str) -> None:
    with pytest.raises(UnusableChoice, match=r"providers are openai, anthropic, google, ollama"):
        parse_choice(text)


@pytest.mark.parametrize(
    ("choice", "has_key", "has_address", "complaint"),
    [
        ("openai:gpt-5", False, True, "needs a key"),
        ("anthropic:claude", False, False, "needs a key"),
        ("openai-compatible:m", True, False, "needs the address"),
    ],
)
def test_missing_means_are_named(
    choice: str, has_key: bool, has_address: bool, complaint: str
) -> None:
    parsed = parse_choice(choice)
    assert parsed is not None
    with pytest.raises(UnusableChoice, match=complaint):
        require_means(parsed, has_key=has_key, has_address=has_address)


@pytest.mark.parametrize("choice", ["ollama:llama3:8b", "openai-compatible:m"])
def test_a_model_on_the_own_machine_needs_no_key(choice: str) -> None:
    parsed = parse_choice(choice)
    assert parsed is not None
    require_means(parsed, has_key=False, has_address=True)
