"""What an image installs: `python image_requirements.py search` prints the packages of that extra.

Needs nothing but the standard library and `pyproject.toml` beside it or above it, so that an image
can be built from its packages alone, and is built anew only when these change.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROJECT = "pyproject.toml"
OWN_EXTRA = re.compile(r"zocrates\[(?P<extras>[a-z, -]+)\]")


def requirements(extra: str, extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The packages of an extra and of the extras that it names; raises KeyError for no extra."""
    for requirement in extras[extra]:
        if own := OWN_EXTRA.fullmatch(requirement):
            for name in own["extras"].split(","):
                yield from requirements(name.strip(), extras)
        else:
            yield requirement


def project_extras(start: Path) -> Mapping[str, Sequence[str]]:
    """The extras of the project that the folder is in."""
    found = next(folder / PROJECT for folder in (start, *start.parents) if _has_project(folder))
    project = tomllib.loads(found.read_text(encoding="utf-8"))["project"]
    extras: Mapping[str, Sequence[str]] = project["optional-dependencies"]
    return extras


def _has_project(folder: Path) -> bool:
    return (folder / PROJECT).is_file()


def main(names: Sequence[str]) -> int:
    """Print the packages of the extras, one a line, each once."""
    extras = project_extras(Path(__file__).resolve().parent)
    unknown = [name for name in names if name not in extras]
    if unknown or not names:
        print(f"Name extras of {PROJECT}: {', '.join(extras)}.", file=sys.stderr)
        return 2
    wanted = dict.fromkeys(package for name in names for package in requirements(name, extras))
    print("\n".join(wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
