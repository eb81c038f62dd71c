"""The base of every process's settings: read once from the environment, frozen, passed in."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
"""The largest gRPC message that servers and channels accept."""


class ProcessSettings(BaseSettings):
    """What every process can be told. Subclasses set `env_prefix` to the process's name."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = "127.0.0.1"
    port: int = Field(ge=0, le=65535)
    log_level: str = "INFO"
    drain_s: float = Field(default=10.0, gt=0)
    """How long calls in hand may still run after a stop was asked for."""


def environment_names(settings: type[ProcessSettings]) -> list[str]:
    """The environment variables that a settings class reads, for documentation and tests."""
    prefix = str(settings.model_config.get("env_prefix", ""))
    return [f"{prefix}{name}".upper() for name in settings.model_fields]
