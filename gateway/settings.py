"""What the gateway can be told by its environment."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator
from pydantic_settings import SettingsConfigDict

from services.chassis.settings import BusSettings

PLACES_WITHOUT_KEYS = frozenset({"development", "dev", "test"})

# Owners travel as gRPC metadata, which holds visible ASCII only.
Owner = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@:+-]{1,100}$")]


class ApiKey(BaseModel):
    """A key, whose it is, and the libraries it may search: null for all, an empty list for none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: SecretStr = Field(min_length=16, max_length=200)
    owner: Owner
    libraries: tuple[str, ...] | None = None


class Settings(BusSettings):
    """The gateway's settings."""

    model_config = SettingsConfigDict(env_prefix="GATEWAY_", populate_by_name=True)

    port: int = Field(default=8080, ge=0, le=65535)
    orchestrator_target: str = "127.0.0.1:50054"
    search_target: str = "127.0.0.1:50051"
    keys: tuple[ApiKey, ...] = ()
    """As JSON: a list of {key, owner, libraries}."""
    skip_auth: bool = False
    """Let everybody in as the local owner; only in a development or test environment."""
    environment: str = Field(default="production", validation_alias="ENVIRONMENT")
    allowed_hosts: tuple[str, ...] = ()
    """Host names, besides the loopback ones, under which the gateway may be addressed."""
    allowed_origins: tuple[str, ...] = ()
    """Origins, besides the gateway's own, whose pages may call it; they get CORS headers."""
    max_body_bytes: int = Field(default=64 * 1024, gt=0)
    max_submission_bytes: int = Field(default=40 * 1024 * 1024, gt=0)
    """The same of a submitted task, which may carry attachments."""
    limit_per_minute: int = Field(default=1_000, gt=0)
    """Limited requests of one key in a minute."""
    limit_per_hour: int = Field(default=100_000, gt=0)
    """The same in an hour."""
    limit_per_day: int = Field(default=1_000_000, gt=0)
    """The same in a day."""
    shared_limits: bool = False
    """Count the requests of keys in NATS: needed where several gateways run."""
    ping_s: float = Field(default=15.0, gt=0)
    """After so long without an event a stream carries a comment, so that proxies keep it open."""
    peer_deadline_s: float = Field(default=20.0, gt=0)
    """How long another process may take for one answer."""
    planner_deadline_s: float = Field(default=75.0, gt=0)
    """How long the reply to feedback on a plan may take."""
    peer_patience_s: float = Field(default=30.0, gt=0)
    """How long an open stream waits for an orchestrator that went away."""
    silence_s: float = Field(default=2.0, gt=0)
    """After so long without a message of a running run its record is read again."""
    inbox_messages: int = Field(default=1024, gt=0)
    """Live messages kept for one slow client before it must catch up from the record."""

    @model_validator(mode="after")
    def _somebody_may_enter(self) -> Self:
        if self.skip_auth and self.environment.lower() not in PLACES_WITHOUT_KEYS:
            raise ValueError(
                "GATEWAY_SKIP_AUTH works only with ENVIRONMENT=development, dev or test; "
                "unset it and give GATEWAY_KEYS instead"
            )
        if not self.skip_auth and not self.keys:
            raise ValueError(
                "GATEWAY_KEYS is empty, so nobody could enter; give a JSON list such as "
                '[{"key": "<16 characters or more>", "owner": "local", "libraries": null}]'
            )
        return self
