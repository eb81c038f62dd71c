"""The base of every process's settings: read once from the environment, frozen, passed in."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from services.chassis.identity import Identity, IdentityUnusable

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
    tls_folder: Path | None = None
    """A folder with `tls.crt`, `tls.key` and `ca.crt`: with it, processes speak over TLS and each
    shows the other its certificate; the files may be renewed meanwhile."""

    @field_validator("tls_folder")
    @classmethod
    def _holds_an_identity(cls, folder: Path | None) -> Path | None:
        if folder is not None:
            try:
                Identity(folder=folder).read()
            except IdentityUnusable as error:
                raise ValueError(str(error).rstrip(".")) from error
        return folder

    @property
    def identity(self) -> Identity | None:
        """Who the process is to the others, where they speak over TLS."""
        return Identity(folder=self.tls_folder) if self.tls_folder else None


class ServiceSettings(ProcessSettings):
    """What a process that serves gRPC can be told."""

    status_port: int | None = Field(default=None, ge=0, le=65535)
    """Where `/health` and `/metrics` are served over plain HTTP; none: nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusAccess:
    """What opens NATS beside its address."""

    user: str = ""
    password: SecretStr | None = None
    ca_file: Path | None = None
    identity: Identity | None = None


class BusSettings(ProcessSettings):
    """What a process that speaks with NATS can be told."""

    nats_url: str = "nats://127.0.0.1:4223"
    """`tls://` for a server that an authority of this system signed for."""
    nats_user: str = ""
    nats_password: SecretStr = SecretStr("")
    nats_ca_file: Path | None = None
    """Who signed for the server, where no authority of this system did; with it only TLS is
    spoken, and the process shows its own certificate if it has one."""

    @property
    def bus_access(self) -> BusAccess:
        """What opens NATS."""
        return BusAccess(
            user=self.nats_user,
            password=self.nats_password,
            ca_file=self.nats_ca_file,
            identity=self.identity,
        )


def environment_names(settings: type[ProcessSettings]) -> list[str]:
    """The environment variables that a settings class reads, for documentation and tests."""
    prefix = str(settings.model_config.get("env_prefix", ""))
    return [f"{prefix}{name}".upper() for name in settings.model_fields]


Process = TypeVar("Process", bound=ProcessSettings)


def read_settings(settings: type[Process]) -> Process:
    """The settings from the environment; for those that cannot be used a sentence each and exit
    code 2, which a supervisor takes for a refusal and not for a death."""
    prefix = str(settings.model_config.get("env_prefix", "")).rstrip("_")
    try:
        return settings()
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name = "_".join(str(part) for part in (prefix, *problem["loc"])).upper()
            text = str(problem["msg"]).removeprefix("Value error, ")
            print(f"{name}: {text}." if problem["loc"] else f"{text}.", file=sys.stderr)
    except SettingsError as error:
        print(f"A setting {prefix}_… is no valid JSON: {error}.", file=sys.stderr)
    raise SystemExit(2)
