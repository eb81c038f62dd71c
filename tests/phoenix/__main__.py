"""`python -m tests.phoenix PYTHON`: what a real Phoenix shows of a turn with two pauses.

PYTHON is the interpreter of an environment with arize-phoenix, which `make test-phoenix` makes. The
whole stack runs with its spans going there, and they are read back from its interface. Exits with 1
when the tree is not the one that docs/operations.md promises.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from deploy.running import RunningStack, stack, wait_until
from gateway.client import Client
from gateway.location import Location
from services.chassis.gen_ai import Kind
from services.chassis.telemetry import EXPORTER_VARIABLE
from tests.bench.first_answer import vectors_are_done
from tests.servers import free_port
from tests.soak.people import OUTSIDE_THE_LIBRARY, interrupt_of, last, run_of

START_S = 180
# Spans leave a process every five seconds.
ARRIVAL_S = 60
ROOT = "POST /chat"
PIPELINE = ("search_library_pipeline_node", "search_library", "coordinator_agent", ROOT)
# Name, kind, and the spans with a kind around it, inside out.
WANTED = [
    ("coordinator_agent", Kind.AGENT, (ROOT,)),
    ("search_library", Kind.TOOL, ("coordinator_agent", ROOT)),
    ("search_library_pipeline_node", Kind.CHAIN, PIPELINE[1:]),
    ("search_initial", Kind.AGENT, PIPELINE),
    ("checkpoint_0", Kind.CHAIN, PIPELINE),
    ("adk_request_input", Kind.TOOL, ("checkpoint_0", *PIPELINE)),
    ("search_extension_1", Kind.AGENT, PIPELINE),
    ("checkpoint_1", Kind.CHAIN, PIPELINE),
    ("search_extension_2", Kind.AGENT, PIPELINE),
    ("rerank_evidence", Kind.RERANKER, PIPELINE),
    ("synthesizer_agent", Kind.AGENT, PIPELINE),
    ("generate_content", Kind.LLM, ("synthesizer_agent", *PIPELINE)),
    ("generate_content", Kind.LLM, ("search_initial", *PIPELINE)),
    ("execute_tool: search_corpus", Kind.TOOL, ("search_initial", *PIPELINE)),
    ("retrieve", Kind.RETRIEVER, ("execute_tool: search_corpus", "search_initial", *PIPELINE)),
]

Span = Mapping[str, Any]


@contextmanager
def phoenix(python: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A Phoenix of our own; gives its address, and where it takes spans."""
    http, grpc = free_port(), free_port()
    environment = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(http),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with (folder / "phoenix.log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "phoenix.server.main", "serve"],
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{http}"
    try:
        wait_until(lambda: answers(address), START_S, (folder / "phoenix.log").read_text)
        yield address, f"http://127.0.0.1:{grpc}"
    finally:
        process.terminate()
        process.wait(30)


def answers(address: str) -> bool:
    """Whether Phoenix is there."""
    try:
        return httpx.get(f"{address}/healthz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


async def turn_with_two_pauses(running: RunningStack) -> str:
    """Grant every extension that is offered; the session."""
    location = Location(base_url=running.base_url, api_key=running.api_key)
    async with Client(location) as client:
        asked = await last(client.ask(OUTSIDE_THE_LIBRARY))
        pauses = 0
        while asked.name == "request_input":
            pauses += 1
            decided = client.resume(run_of(asked), interrupt_of(asked), action="extend_budget")
            asked = await last(decided)
        assert (asked.data["state"], pauses) == ("COMPLETED", 2), asked
    return str(asked.data["session_id"])


def spans_of(address: str, session_id: str) -> list[Span]:
    """Every span of the trace of the session's question."""
    found: list[Span] = []
    cursor: str | None = ""
    while cursor is not None:
        query: dict[str, str | int] = {"limit": 1000, **({"cursor": cursor} if cursor else {})}
        page = httpx.get(
            f"{address}/v1/projects/default/spans", params=query, timeout=30, trust_env=False
        ).json()
        found += page["data"]
        cursor = page.get("next_cursor")
    of_session = [one for one in found if one["attributes"].get("session.id") == session_id]
    traces = {one["context"]["trace_id"] for one in of_session if one["name"] == ROOT}
    return [one for one in found if one["context"]["trace_id"] in traces]


def complaints(spans: Sequence[Span], session_id: str) -> Iterator[str]:
    """What is not as promised, each a sentence."""
    by_id = {one["context"]["span_id"]: one for one in spans}
    if len(by_id) != len(spans):
        yield "a span is there twice"
    for one in spans:
        if one.get("parent_id") and one["parent_id"] not in by_id:
            yield f"{one['name']} has a parent that is not there"
        if one["attributes"].get("session.id") != session_id:
            yield f"{one['name']} does not name its session"
        if one["span_kind"] not in {*Kind, "UNKNOWN"}:
            yield f"{one['name']} is of the kind {one['span_kind']}"
        if one["status_code"] == "ERROR":
            yield f"{one['name']} is an error: {one['status_message']}"
    trees = {(one["name"], one["span_kind"], tuple(around(one, by_id))) for one in spans}
    for wanted in WANTED:
        if wanted not in trees:
            yield f"there is no {wanted}, but {[one for one in trees if one[0] == wanted[0]]}"


def around(span: Span, by_id: Mapping[str, Span]) -> Iterator[str]:
    """The spans with a kind, and the root, that a span stands in."""
    while (parent := by_id.get(str(span.get("parent_id")))) is not None:
        if parent["span_kind"] != "UNKNOWN" or parent["name"] == ROOT:
            yield str(parent["name"])
        span = parent


def show(spans: Sequence[Span]) -> None:
    """Print the tree."""
    beneath: dict[str, list[Span]] = {}
    known = {one["context"]["span_id"] for one in spans}
    for one in sorted(spans, key=lambda one: str(one["start_time"])):
        parent = str(one.get("parent_id"))
        beneath.setdefault(parent if parent in known else "", []).append(one)

    def line(parent: str, depth: int) -> None:
        for one in beneath.get(parent, []):
            print(f"{'  ' * depth}{one['name']} [{one['span_kind']}]")
            line(one["context"]["span_id"], depth + 1)

    line("", 0)


def main() -> int:
    """Run everything; the exit code."""
    folder = Path(tempfile.mkdtemp(prefix="zocrates-phoenix-"))
    folder.chmod(0o755)
    try:
        with phoenix(sys.argv[1], folder) as (address, collector):
            os.environ[EXPORTER_VARIABLE] = collector
            os.environ["OTEL_EXPORTER_OTLP_INSECURE"] = "true"
            with stack(data=folder / "data") as running:
                wait_until(lambda: vectors_are_done(running), 300)
                session_id = asyncio.run(turn_with_two_pauses(running))
                until = time.monotonic() + ARRIVAL_S
                while wrong := list(complaints(spans_of(address, session_id), session_id)):
                    if time.monotonic() > until:
                        break
                    time.sleep(1)
                show(spans_of(address, session_id))
        print("\n".join(["", "What is wrong:", *wrong] if wrong else ["", "As promised."]))
        return 1 if wrong else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
