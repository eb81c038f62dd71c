"""The documentation names what the code has."""

import re

import pytest

from gateway.settings import Settings as Gateway
from services.chassis.settings import ProcessSettings
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings as Orchestrator
from services.rerank.settings import Settings as Rerank
from services.search.settings import Settings as Search
from services.synth.settings import Settings as Synth
from tests.architecture.source_tree import ROOT

CONFIGURATION = (ROOT / "docs/configuration.md").read_text("utf-8")
# Said once for all processes.
COMMON = {"HOST", "LOG_LEVEL", "DRAIN_S", "TLS_FOLDER", "STATUS_PORT"}


@pytest.mark.parametrize("settings", [Search, Rerank, Synth, Orchestrator, Gateway])
def test_every_setting_of_a_process_is_documented_and_no_other(
    settings: type[ProcessSettings],
) -> None:
    prefix = str(settings.model_config["env_prefix"])
    names = {
        f"{prefix}{name.upper()}"
        for name, field in settings.model_fields.items()
        if name.upper() not in COMMON and field.validation_alias is None
    }
    said = set(re.findall(rf"\b{prefix}[A-Z_]+\b", CONFIGURATION))
    assert said - {f"{prefix}{name}" for name in COMMON} == names


def test_every_ceiling_is_documented() -> None:
    names = set(Harness.__dataclass_fields__)
    assert not [name for name in names if f"`{name}`" not in CONFIGURATION]
