"""What the orchestrator can be told."""

import json
from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from services.chassis.settings import BusSettings, ServiceSettings

SECTIONS = ("search_harness", "approval")
# What stands for a section that is left out.
OPTIONAL: dict[str, dict[str, Any]] = {"approval": {}}


class ConfigError(Exception):
    """The configuration file cannot be used; the message says what to change."""


class Settings(BusSettings, ServiceSettings):
    """The orchestrator's environment."""

    model_config = SettingsConfigDict(env_prefix="ORCHESTRATOR_")

    port: int = Field(default=50054, ge=0, le=65535)
    database_url: SecretStr
    search_target: str = "127.0.0.1:50051"
    rerank_target: str = "127.0.0.1:50052"
    synth_target: str = "127.0.0.1:50053"
    config_file: Path = Path("zocrates_config.json")

    model_deadline_s: float = Field(default=300, gt=0)
    """A model call in all."""
    model_silence_s: float = Field(default=60, gt=0)
    """A model call without a sign of life."""
    peer_deadline_s: float = Field(default=20, gt=0)
    """Any other call, its retries included; also how long an absent peer is waited for."""

    lease_s: float = Field(default=5, gt=0)
    renew_s: float = Field(default=0.75, gt=0)
    """Also how soon a worker notices that its run was cancelled elsewhere, without any hint."""
    poll_s: float = Field(default=1.0, gt=0)
    max_runs: int = Field(default=32, ge=1)
    """Runs that this process works on at a time."""
    pool_size: int = Field(default=10, ge=2)

    support_threshold: float = Field(default=0.5, ge=0, le=1)
    """A claim whose passage scores below this is unsupported."""
    checkpoint_hours: float | None = Field(default=None, gt=0)
    """How long a checkpoint waits before it is answered by the system; none: for ever."""
    review_timeout_s: float = Field(default=900, gt=0)
    """How long the plan of a task waits for a decision when its request does not say."""
    longest_review_s: float = Field(default=7 * 24 * 3600, gt=0)
    """The most that a request may let a plan wait."""
    approval_timeout_s: float | None = Field(default=1_800, gt=0)
    """How long a question for consent waits before it counts as refused."""
    planner_deadline_s: float = Field(default=60, gt=0)
    """A reply to a comment on a plan."""
    feedback_window_s: float = Field(default=90, gt=0)
    """How long a comment keeps others out, should the process that works on it die; more than a
    reply may take."""
    request_key_hours: int = Field(default=24, ge=1)
    step_days: int = Field(default=30, ge=1)
    """How long the steps of a completed run are kept; its evidence and answer stay."""
    event_days: int = Field(default=90, ge=1)
    """How long the events of a finished run can be replayed; its message stays."""

    @model_validator(mode="after")
    def _outlasts_a_reply(self) -> Self:
        if self.feedback_window_s <= self.planner_deadline_s:
            raise ValueError(
                "ORCHESTRATOR_FEEDBACK_WINDOW_S must be more than ORCHESTRATOR_PLANNER_DEADLINE_S"
            )
        return self


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """The file's sections, not yet validated; raises ConfigError."""
    try:
        # Some editors begin a file with a byte order mark.
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(
            f"The configuration file {str(path)!r} is missing; "
            "name one in ORCHESTRATOR_CONFIG_FILE."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The configuration file {str(path)!r} cannot be read: {error}."
        ) from error
    sections = content if isinstance(content, dict) else {}
    for name in SECTIONS:
        if not isinstance(sections.setdefault(name, OPTIONAL.get(name)), dict):
            raise ConfigError(f"The configuration file {str(path)!r} has no object {name!r}.")
    return {name: sections[name] for name in SECTIONS}
