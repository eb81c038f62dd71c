"""LanceDB without the REST client that it imports and search never uses."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Nine generated modules of 41,000 lines; building their validators is half of the import's time.
UNUSED = "lance_namespace_urllib3_client.api."


class UnusedModules(MetaPathFinder, Loader):
    """Answers the import of a module below `UNUSED` with one whose every name is an empty class."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for the modules that are left out, none for all others."""
        return ModuleSpec(fullname, self) if fullname.startswith(UNUSED) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module that invents the names asked of it."""
        return EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed."""


class EmptyModule(ModuleType):
    """A module that has every public name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def import_lancedb() -> None:
    """Import LanceDB; afterwards `import lancedb` costs nothing."""
    # Statistics of a graph need not list its centres, and need not warn that they do.
    os.environ.setdefault("LANCE_INCLUDE_VECTOR_CENTROIDS", "false")
    finder = UnusedModules()
    sys.meta_path.insert(0, finder)
    try:
        import lancedb  # noqa: F401
    finally:
        sys.meta_path.remove(finder)
