"""Examines what runs, by asking it."""

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from deploy.data_folder import DataFolder
from deploy.finding import Finding, note, well, wrong
from deploy.orphans import proven
from deploy.ports import is_answered
from deploy.programs import READINESS_PATH
from deploy.run_file import RunFile

DEADLINE_S = 10.0
STACK = "stack"


def examine_running(data: DataFolder, run: RunFile) -> Iterator[Finding]:
    """The findings about the processes, then about what they say of each other and the library."""
    dead = sorted(name for name, one in run.pids.items() if proven(one) is None)
    if STACK in dead:
        yield wrong(
            "stack",
            f"it was killed (run.json of {run.base_url or 'its start'} is left); "
            "start it again with: zocrates up",
        )
        return
    yield from _processes(data, run, dead)
    ready = _asked(run, f"/{READINESS_PATH}")
    if ready is None:
        yield wrong("gateway", f"{run.base_url} does not answer; read {data.log_of('gateway')}")
        return
    yield from _readiness(data, ready)
    library = _asked(run, "/library")
    if library is None or "counts" not in library:
        reason = (library or {}).get("error", "no answer")
        yield wrong("index", f"{reason} Read {data.log_of('search')}")
        return
    yield from _index(library)


def _processes(data: DataFolder, run: RunFile, dead: list[str]) -> Iterator[Finding]:
    silent = sorted(
        name for name, port in run.ports.items() if name not in dead and not is_answered(port)
    )
    for name in dead:
        yield wrong(name, f"it does not run and is started again; read {data.log_of(name)}")
    for name in silent:
        text = f"nothing answers at its port {run.ports[name]}; read {data.log_of(name)}"
        yield wrong(name, text)
    if not dead and not silent:
        yield well("processes", f"{len(run.pids)} run, each answers at its port")


def _readiness(data: DataFolder, ready: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ready.get("missing", ()):
        yield wrong(name, f"others do not reach it; read {data.log_of(name)}")
    if ready.get("status") == "ready":
        yield well("questions", "can be asked")
    else:
        yield wrong("questions", "cannot be asked until the parts named above are back")


def _index(library: Mapping[str, Any]) -> Iterator[Finding]:
    documents = sum(count for count in library["counts"].values() if isinstance(count, int))
    vectors = library["vectors"]
    said = f"{documents} documents, vectors for {vectors['done']} of {vectors['total']} passages"
    if error := library.get("last_error"):
        yield wrong("index", f"{said}; the last sync failed: {error}")
    elif library.get("synced_at") is None:
        yield note(
            "index", f"{said}; the first sync is not over: zocrates library shows how far it is"
        )
    else:
        yield well("index", said)
    if skipped := library.get("skipped"):
        yield note("files", f"{len(skipped)} could not be read; zocrates library names them")
    if not library.get("encoder"):
        yield wrong("search", "it runs without its model, so only words are compared; see models")


def _asked(run: RunFile, path: str) -> Mapping[str, Any] | None:
    """What the gateway answers, whatever its status; None without an answer that is JSON."""
    connection = http.client.HTTPConnection(urlsplit(run.base_url).netloc, timeout=DEADLINE_S)
    try:
        connection.request("GET", path, headers={"X-API-Key": run.api_key})
        content = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return content if isinstance(content, dict) else None
