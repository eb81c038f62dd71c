"""Examines what is installed and kept on this machine, whether anything runs or not."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from deploy.data_folder import DataFolder, is_root, prepare
from deploy.failure import CannotStart
from deploy.finding import Finding, note, well, wrong
from deploy.mind import OFFLINE, read_mind
from deploy.model_export import ExportFailed
from deploy.model_folder import models_folder
from deploy.models import EMBEDDING_FOLDER, MODEL_NAME, is_current, packaged_model, source_of
from deploy.nats_server import nats_binary
from deploy.ports import USUAL_PORTS, is_answered
from deploy.postgres import find_postgres
from deploy.run_file import RunFile
from deploy.zotero_folder import SQLITE, WEB_KEY_VARIABLE, choose_library

LEAST_PYTHON = (3, 11)
PROGRAM_DEADLINE_S = 10
PRIVATE = 0o077
"""The permission bits that a file with a secret must not have."""


def examine_installation(
    root: Path, run: RunFile | None, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """The findings, from what everything needs to what only some need."""
    yield _python()
    yield _packages()
    try:
        data = prepare(root)
    except CannotStart as error:
        yield wrong("data", str(error))
        return
    yield well("data", str(data.root))
    yield from _secrets(data)
    yield _postgres(data)
    yield _nats()
    yield _models()
    yield _library(run, environ)
    yield _mind(data, environ)
    if run is None:
        yield _ports()


def _python() -> Finding:
    said = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < LEAST_PYTHON:
        return wrong(
            "python", f"{said}; Zocrates needs 3.11 or newer: install one and set up anew."
        )
    return well("python", said)


def _packages() -> Finding:
    try:
        said = f"zocrates {version('zocrates')}"
        # Made from the protos at installation; without it no process starts.
        import_module("zocrates.orchestrator.v1.chat_pb2")
        return well("packages", said)
    except (ImportError, PackageNotFoundError) as error:
        return wrong("packages", f"{error}; install again with: make setup, or pip install .")


def _secrets(data: DataFolder) -> Iterator[Finding]:
    made = (data.api_key, data.postgres_password, data.mind_file, data.run_file)
    open_ones = [path for path in made if path.exists() and _is_open(path)]
    if open_ones:
        names = ", ".join(str(path) for path in open_ones)
        yield wrong("keys", f"others may read {names}; close them with: chmod 600 FILE")
    elif data.api_key.exists():
        yield well("keys", f"{data.api_key.name} is there and private")
    else:
        yield note("keys", "none yet; the first start makes them")


def _is_open(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & PRIVATE)


def _postgres(data: DataFolder) -> Finding:
    try:
        found = find_postgres(data.postgres, "")
        said = _said_by(str(found.binaries / "postgres"), "--version")
    except CannotStart as error:
        return wrong("postgres", str(error))
    account = f", run by {found.account.name!r}" if is_root() and found.account else ""
    return well("postgres", f"{said}{account}")


def _nats() -> Finding:
    try:
        return well("nats", _said_by(str(nats_binary()), "--version"))
    except CannotStart as error:
        return wrong("nats", str(error))


def _said_by(*command: str) -> str:
    """What a program says of itself; raises CannotStart."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROGRAM_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotStart(f"{command[0]} cannot be run: {error}.") from error
    if done.returncode != 0:
        raise CannotStart(
            f"{command[0]} ended with {done.returncode} ({done.stderr.strip() or 'silently'})."
        )
    return done.stdout.strip()


def _models() -> Finding:
    folder = models_folder() / EMBEDDING_FOLDER
    try:
        if is_current(folder, source_of(packaged_model())):
            return well("models", f"{MODEL_NAME} in {folder}")
    except (ExportFailed, OSError) as error:
        return wrong("models", str(error))
    text = f"{MODEL_NAME} is not in {folder} yet; the next start exports it, or: make models"
    return note("models", text)


def _library(run: RunFile | None, environ: Mapping[str, str]) -> Finding:
    if run is not None and run.library:
        return well("library", f"{run.library}, which runs now")
    try:
        library = choose_library(named=None, demo=False, environ=environ, home=Path.home())
    except CannotStart as error:
        return wrong("library", str(error))
    if library.demo:
        return note(
            "library",
            "no Zotero data folder was found, so the demonstration library is searched; "
            "name yours with: zocrates up --library FOLDER",
        )
    key = " and a key for Zotero's server" if environ.get(WEB_KEY_VARIABLE) else ""
    how = "" if library.source == SQLITE else f" by {library.source}"
    return well("library", f"{library.folder}{how} ({library.found}){key}")


def _mind(data: DataFolder, environ: Mapping[str, str]) -> Finding:
    if chosen := environ.get("SYNTH_MODEL"):
        return well("language model", f"{chosen}, from SYNTH_MODEL")
    try:
        mind = read_mind(data.mind_file)
    except CannotStart as error:
        return wrong("language model", str(error))
    if mind.provider == OFFLINE:
        return well("language model", "none: answers quote, and no text leaves this machine")
    return well("language model", f"{mind.model} of {mind.provider}")


def _ports() -> Finding:
    taken = [f"{name} {port}" for name, port in USUAL_PORTS.items() if is_answered(port)]
    if taken:
        return note("ports", f"taken, and replaced at the start: {', '.join(taken)}")
    return well("ports", "the usual ones are free")
