"""What the synth process can be told."""

from typing import Literal

from pydantic import Field, SecretStr

from services.chassis.settings import ServiceSettings

OFFLINE = "offline"


class Settings(ServiceSettings, env_prefix="SYNTH_"):
    """Settings of the synth process, read from `SYNTH_…`."""

    port: int = Field(default=50053, ge=0, le=65535)
    model: str = OFFLINE
    """Which mind thinks and writes: `offline`, or `provider:model`."""
    coordinator_model: str = ""
    """Another one for the dialogue coordinator; empty: the same."""
    search_model: str = ""
    """Another one for the search agent; empty: the same."""
    writer_model: str = ""
    """Another one for the synthesizer; empty: the same."""
    api_key: SecretStr = SecretStr("")
    """The key of `model`'s provider. It is sent nowhere else."""
    api_keys: dict[str, SecretStr] = Field(default_factory=dict)
    """Keys by provider as a JSON object, for roles whose provider is another one."""
    base_url: str = ""
    """Where `model`'s provider listens; empty: its usual address."""
    base_urls: dict[str, str] = Field(default_factory=dict)
    """Addresses by provider as a JSON object."""
    tool_calls: Literal["native", "text"] = "native"
    """How the models call tools: by their own means, or as JSON in text for those without."""
