"""What the synth process can be told."""

from pydantic import Field

from services.chassis.settings import ProcessSettings

OFFLINE = "offline"


class Settings(ProcessSettings, env_prefix="SYNTH_"):
    """Settings of the synth process, read from `SYNTH_…`."""

    port: int = Field(default=50053, ge=0, le=65535)
    model: str = OFFLINE
    """Which mind thinks and writes; this version has the offline one only."""
