"""How often the writer without a model is right beside its own questions: `make bench-offline`."""

import json
import shutil
import statistics
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from deploy.demo.keys import key_of
from deploy.running import RunningStack, stack, wait_until
from tests.bench.first_answer import vectors_are_done
from tests.bench.machine import machine

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "demo_questions.toml"

# One asked question from its table, and the body of its answer: whether it went right.
Judge = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question, whether it went right by each measure, and how long it took."""

    text: str
    is_right: Mapping[str, bool]
    seconds: float


def cites_the_paper(question: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether something is quoted from the paper that holds the fact."""
    key = key_of("item", question["paper"])
    return any(citation["item_key"] == key for citation in answer["citations"])


def quotes_the_fact(question: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether one of the quotes holds the fact itself."""
    return any(question["fact"] in " ".join(c["quote"].split()) for c in answer["citations"])


def is_brief(question: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether the answer has no more sentences than a question for one fact needs."""
    return 1 <= len(answer["citations"]) <= 4


def declines(question: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether nothing is given out as an answer."""
    return not answer["answered"]


def declines_or_names_it(question: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Whether nothing is answered, or a gap names the thing that is missing."""
    gaps = " ".join(answer["gaps"]).casefold()
    return declines(question, answer) or any(
        word.casefold() in gaps for word in question["missing"]
    )


MEASURES: Mapping[str, Mapping[str, Judge]] = {
    "answered": {
        "answered from the right paper": cites_the_paper,
        "the fact itself quoted": quotes_the_fact,
        "one to four sentences": is_brief,
    },
    "missing": {
        "declined, or the missing thing named": declines_or_names_it,
        "declined": declines,
    },
}


def ask(base_url: str, api_key: str, prompt: str) -> tuple[Mapping[str, Any], float]:
    """The body of the answer, and the seconds until it was there."""
    # Nobody sits at a measurement to answer a checkpoint.
    body = {"prompt": prompt, "options": {"hitl_enabled": False}}
    name, begun = "", time.perf_counter()
    with (
        httpx.Client(base_url=base_url, headers={"X-API-Key": api_key}, timeout=60) as client,
        client.stream("POST", "/chat", json=body) as response,
    ):
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: ") and name == "answer":
                answer: Mapping[str, Any] = json.loads(line.removeprefix("data: "))
                return answer, time.perf_counter() - begun
    raise AssertionError(f"no answer to {prompt!r}")


def outcomes(base_url: str, api_key: str, kind: str) -> list[Outcome]:
    """Ask every question of a kind and judge the answers."""
    found = []
    for question in tomllib.loads(QUESTIONS.read_text("utf-8"))[kind]:
        answer, seconds = ask(base_url, api_key, question["text"])
        right = {name: judge(question, answer) for name, judge in MEASURES[kind].items()}
        found.append(Outcome(text=question["text"], is_right=right, seconds=seconds))
    return found


def report(kind: str, found: Sequence[Outcome]) -> None:
    """Print the rate of each measure, and the questions that missed it."""
    for name in MEASURES[kind]:
        missed = [one.text for one in found if not one.is_right[name]]
        print(f"{name}: {len(found) - len(missed)} of {len(found)}")
        print("".join(f"    not: {text}\n" for text in missed), end="")
    print(f"seconds to the answer, median: {statistics.median(o.seconds for o in found):.2f}")


def measure(running: RunningStack) -> None:
    """Ask both kinds of questions of a stack that is indexed."""
    for kind in MEASURES:
        report(kind, outcomes(running.base_url, running.api_key, kind))


def main() -> None:
    """Start a stack on the demonstration library and print the rates."""
    print(machine())
    # A path that the account running Postgres can reach.
    folder = Path(tempfile.mkdtemp(prefix="zocrates-bench-"))
    try:
        with stack(data=folder) as running:
            wait_until(lambda: vectors_are_done(running), 120, running.said)
            measure(running)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
