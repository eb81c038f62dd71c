"""A folder that holds what an image would hold, and what runs its command there.

There may be no container engine, so that the images themselves are not built here. What can go
wrong in a Dockerfile of this kind is seen all the same: a file that is not copied, a package that
the process's extra forgets, a write to where nothing can be written, a command that does not start.
"""

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from deploy.image_requirements import project_extras, requirements
from deploy.model_folder import models_folder
from tests.dockerfile import ROOT, Image, context_files, is_in_context

INSTALLED = Path(sysconfig.get_path("purelib"))
LINKED_WHOLE = (".dist-info", ".libs", ".data")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFolder:
    """The files of one image below a folder of this machine."""

    image: Image
    root: Path
    site: Path

    @property
    def folder(self) -> Path:
        """Where its command runs."""
        return self.root / self.image.folder.removeprefix("/")

    def command(self, words: tuple[str, ...] = ()) -> list[str]:
        """Its command or another one, by this machine's Python without what is installed here."""
        program, *arguments = words or self.image.command
        assert program == "python", f"an image has no program {program!r}"
        return [sys.executable, "-S", *arguments]

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Its environment and what a cluster adds, and nothing of this shell's."""
        own = {name: self.rooted(value) for name, value in self.image.environment.items()}
        path = f"{own['PYTHONPATH']}:{self.site}"
        return {**own, **more, "PATH": os.defpath, "PYTHONPATH": path}

    def rooted(self, value: str) -> str:
        """A path of the image as it is found here; anything else as it is."""
        here = self.root / value.removeprefix("/")
        return str(here) if value.startswith("/") and here.exists() else value


def lay_out(image: Image, folder: Path) -> ImageFolder:
    """Put into the folder what the image copies and installs."""
    site = folder / "site-packages"
    site.mkdir(parents=True)
    laid = ImageFolder(image=image, root=folder / "root", site=site)
    for copy in image.copies():
        if copy.stage.startswith("packages-"):
            _link_packages(copy.stage.removeprefix("packages-"), site)
            continue
        for source, found in _found(copy.stage, copy.sources):
            place = laid.root / copy.place.removeprefix("/")
            is_into = copy.place.endswith("/") and found.is_file()
            _put(found, place / source if is_into else place)
    for path in (laid.root, *laid.root.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o555)
    return laid


def _found(stage: str, sources: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    if stage == "models":
        yield "", models_folder()
        return
    for source in sources:
        # What the stage made is what `make proto` made here.
        found = context_files(source.removeprefix("/build/") if stage else source)
        assert found, f"{source!r} is copied and is not there"
        for path in found:
            assert stage or is_in_context(path), f"{source!r} is copied and ignored"
            yield path.name, path


def _put(source: Path, place: Path) -> None:
    """The file here, or every file of the folder that the context lets through."""
    if source.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_relative_to(ROOT) and not source.is_relative_to(models_folder()):
            # A copy, so that who edits the source meanwhile changes nothing here.
            shutil.copyfile(source, place)
        else:
            place.symlink_to(source)
        return
    place.mkdir(parents=True, exist_ok=True)
    is_made = source.is_relative_to(ROOT / "protos/gen") or not source.is_relative_to(ROOT)
    for path in sorted(source.rglob("*")):
        if path.is_file() and (is_made or source == models_folder() or is_in_context(path)):
            _put(path, place / path.relative_to(source))


def _link_packages(extra: str, site: Path) -> None:
    """Every distribution that pip would install for the extra, and no other."""
    wanted = [Requirement(text) for text in requirements(extra, project_extras(ROOT))]
    seen: set[tuple[str, str]] = set()
    while wanted:
        requirement = wanted.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        for chosen in ("", *requirement.extras):
            if (key := (_plain(requirement.name), chosen)) in seen:
                continue
            seen.add(key)
            wanted += _required(requirement.name, chosen)
    for name in {name for name, _ in seen}:
        for file in metadata.distribution(name).files or ():
            _link_package_file(file.parts, site)


def _required(name: str, extra: str) -> Iterator[Requirement]:
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None and not extra:
            yield requirement
        elif requirement.marker is not None and requirement.marker.evaluate({"extra": extra}):
            requirement.marker = None
            yield requirement


def _link_package_file(parts: tuple[str, ...], site: Path) -> None:
    """Link the file, or the whole package that it is in; packages share plain folders."""
    place, source = site, INSTALLED
    for part in parts:
        place, source = place / part, source / part
        if ".." in parts or place.is_symlink():
            return
        is_package = (source / "__init__.py").is_file()
        if source.is_file() or is_package or part.endswith(LINKED_WHOLE):
            place.symlink_to(source)
            return
        if not source.is_dir():
            return
        place.mkdir(exist_ok=True)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
