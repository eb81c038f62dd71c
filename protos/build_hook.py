"""Hatch build hook: a wheel or an editable install carries freshly compiled protos."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtoBuildHook(BuildHookInterface[Any]):
    """Compiles the protos and adds them to a wheel as the top-level package `zocrates`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run before the build."""
        if self.target_name != "wheel":
            return
        folder = Path(self.root) / "protos"
        spec = importlib.util.spec_from_file_location("generate", folder / "generate.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.generate()
        if version != "editable":
            build_data["force_include"][str(folder / "gen" / "zocrates")] = "zocrates"
