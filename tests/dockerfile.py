"""The Dockerfile as data: its targets, and what each would hold and run."""

import fnmatch
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = ROOT / "deploy/Dockerfile"
IGNORED = ROOT / "deploy/Dockerfile.dockerignore"
TARGETS = ("search", "search-demo", "rerank", "synth", "orchestrator", "gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Files that an image gets from the context or from another stage."""

    stage: str
    """Empty for the context."""
    sources: tuple[str, ...]
    place: str


@dataclass(frozen=True, kw_only=True)
class Image:
    """One target with everything that it inherits, from the first stage to its own."""

    instructions: tuple[tuple[str, str], ...]

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """What a container finds in its environment."""
        words = (word for text in self._all("ENV") for word in shlex.split(text))
        parts = (word.partition("=") for word in words)
        return {name: value for name, _, value in parts}

    @cached_property
    def command(self) -> tuple[str, ...]:
        """What a container runs unless it is told something else."""
        return tuple(json.loads(self._all("CMD")[-1]))

    @cached_property
    def user(self) -> str:
        """Who runs it."""
        return self._all("USER")[-1]

    @cached_property
    def folder(self) -> str:
        """Where it runs."""
        return self._all("WORKDIR")[-1]

    @cached_property
    def ports(self) -> tuple[int, ...]:
        """What it says that it listens on."""
        return tuple(int(port) for text in self._all("EXPOSE") for port in text.split())

    def copies(self) -> Iterator[Copy]:
        """What is copied into it, in order."""
        folder = ""
        for keyword, text in self.instructions:
            if keyword == "WORKDIR":
                folder = text
            elif keyword == "COPY":
                *sources, place = [word for word in text.split() if not word.startswith("--")]
                stage = re.search(r"--from=(\S+)", text)
                yield Copy(
                    stage=stage[1] if stage else "",
                    sources=tuple(sources),
                    place=place if place.startswith("/") else f"{folder}/{place}",
                )

    def _all(self, keyword: str) -> list[str]:
        return [text for found, text in self.instructions if found == keyword]


def instructions() -> Iterator[tuple[str, str]]:
    """Each instruction with its text on one line."""
    lines = [
        line for line in DOCKERFILE.read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        if line.strip():
            keyword, text = line.split(maxsplit=1)
            yield keyword, text


def images() -> Mapping[str, Image]:
    """Every stage by its name, with what it inherits."""
    stages: dict[str, list[tuple[str, str]]] = {}
    current: list[tuple[str, str]] = []
    for keyword, text in instructions():
        if keyword == "FROM":
            base, _, name = text.split()
            current = stages[name] = list(stages.get(base, ()))
        else:
            current.append((keyword, text))
    return {name: Image(instructions=tuple(stage)) for name, stage in stages.items()}


def context_files(pattern: str) -> Sequence[Path]:
    """The files and folders of the context that a source of COPY names."""
    return sorted(ROOT.glob(pattern))


def is_in_context(path: Path) -> bool:
    """Whether the ignore file lets a path through; as in Docker, the last rule that fits wins."""
    name = str(path.relative_to(ROOT))
    is_ignored = False
    for rule in IGNORED.read_text("utf-8").splitlines():
        if rule and not rule.startswith("#") and _fits(name, rule.removeprefix("!")):
            is_ignored = not rule.startswith("!")
    return not is_ignored


def _fits(name: str, pattern: str) -> bool:
    """Whether a rule names the path or a folder above it."""
    parts = name.split("/")
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    if pattern.startswith("**/"):
        return any(fnmatch.fnmatch(part, pattern.removeprefix("**/")) for part in parts)
    depth = pattern.count("/")
    return any(fnmatch.fnmatch(one, pattern) for one in above if one.count("/") == depth)
