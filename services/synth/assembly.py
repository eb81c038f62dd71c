"""From settings to the minds that they name."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from services.chassis.telemetry import spans_are_recorded
from services.synth.choice import ModelChoice, parse_choice, require_means
from services.synth.mind import Mind
from services.synth.minds import Minds
from services.synth.model_metrics import ModelMetrics
from services.synth.offline import OfflineMind
from services.synth.settings import Settings
from services.synth.told_mind import ToldMind


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What opens a model: the key, which no one else gets to see, and the address."""

    key: SecretStr
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appointments:
    """Who has which role, None being the offline mind, and how each model is reached."""

    coordinator: ModelChoice | None
    search_agent: ModelChoice | None
    writer: ModelChoice | None
    access: Mapping[ModelChoice, Access]
    calls_in_text: bool


def appoint(settings: Settings) -> Appointments:
    """The models that the settings name. Raises UnusableChoice with what to set instead."""
    main = parse_choice(settings.model)

    def chosen(role: str) -> ModelChoice | None:
        return parse_choice(role) if role.strip() else main

    roles = {
        "coordinator": chosen(settings.coordinator_model),
        "search_agent": chosen(settings.search_model),
        "writer": chosen(settings.writer_model),
    }
    choices = {choice for choice in roles.values() if choice is not None}
    access = {choice: _access(choice, main, settings) for choice in choices}
    return Appointments(**roles, access=access, calls_in_text=settings.tool_calls == "text")


def _access(choice: ModelChoice, main: ModelChoice | None, settings: Settings) -> Access:
    # A key or an address given for one provider is never shown to another.
    is_main = main is not None and choice.provider == main.provider
    key = settings.api_keys.get(choice.provider) or (settings.api_key if is_main else SecretStr(""))
    address = settings.base_urls.get(choice.provider) or (settings.base_url if is_main else "")
    require_means(choice, has_key=bool(key.get_secret_value()), has_address=bool(address))
    return Access(key=key, address=address)


def _offline() -> Mind:
    return ToldMind(OfflineMind()) if spans_are_recorded() else OfflineMind()


@asynccontextmanager
async def open_minds(appointed: Appointments, counted: ModelMetrics) -> AsyncIterator[Minds]:
    """The minds of the three roles, their connections closed at the end."""
    async with AsyncExitStack() as stack:
        minds: dict[ModelChoice | None, Mind] = {None: _offline()}
        for choice, access in appointed.access.items():
            # Only now: the libraries of the providers take a second and 100 MB.
            from services.synth.model.connection import open_speaker
            from services.synth.model.mind import LanguageModelMind

            key = access.key.get_secret_value()
            opened = open_speaker(choice, key=key, address=access.address, counted=counted)
            speaker = await stack.enter_async_context(opened)
            minds[choice] = LanguageModelMind(speaker, calls_in_text=appointed.calls_in_text)
        yield Minds(
            coordinator=minds[appointed.coordinator],
            search_agent=minds[appointed.search_agent],
            writer=minds[appointed.writer],
        )
