"""Opening the model that was chosen, at its provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from services.synth.choice import ModelChoice
from services.synth.model.speech import Speaker
from services.synth.model_metrics import ModelMetrics

# A local server listens here unless told otherwise.
OLLAMA_ADDRESS = "http://127.0.0.1:11434/v1"
# Research is no place for invention; retries are made in one place, which is not the provider's.
SETTINGS = ModelSettings(temperature=0.0, max_retries=0)


@asynccontextmanager
async def open_speaker(
    choice: ModelChoice, *, key: str, address: str, counted: ModelMetrics
) -> AsyncIterator[Speaker]:
    """What speaks with the chosen model; an empty address is the provider's own."""
    async with _model(choice, key, address or None) as model:
        yield Speaker(model, str(choice), counted)


def _model(choice: ModelChoice, key: str, address: str | None) -> Model:
    match choice.provider:
        case "openai" if address is None:
            openai = OpenAIProvider(api_key=key)
            return OpenAIResponsesModel(choice.name, provider=openai, settings=SETTINGS)
        case "openai":
            proxied = OpenAIProvider(api_key=key, base_url=address)
            return OpenAIChatModel(choice.name, provider=proxied, settings=SETTINGS)
        case "anthropic":
            anthropic = AnthropicProvider(api_key=key, base_url=address)
            return AnthropicModel(choice.name, provider=anthropic, settings=SETTINGS)
        case "google":
            google = GoogleProvider(api_key=key, base_url=address)
            return GoogleModel(choice.name, provider=google, settings=SETTINGS)
        case "ollama":
            ollama = OllamaProvider(base_url=address or OLLAMA_ADDRESS, api_key=key or None)
            return OllamaModel(choice.name, provider=ollama, settings=SETTINGS)
        case _:
            compatible = OpenAICompatibleProvider(
                choice.provider, base_url=address or "", api_key=key or None
            )
            return OpenAIChatModel(choice.name, provider=compatible, settings=SETTINGS)
