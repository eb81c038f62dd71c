"""Answers about a judged library, by the whole product: `make bench-answers`.

The claims of SciFact are asked of its abstracts as a Zotero library, and so are questions that it
cannot answer. `MODEL=provider:name` asks a language model instead of the writer without one; its
key and address come from the environment as synth reads them. `SPLIT=train` is for whoever changes
the writer: the test claims are for reporting alone.
"""

import csv
import os
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.running import RunningStack, stack, wait_until
from tests.bench.answer_measures import FIRST, Cited, Outcome, share, verified
from tests.bench.counting_model import Call, counting
from tests.bench.first_answer import vectors_are_done
from tests.bench.machine import machine
from tests.bench.offline_answers import ask
from tests.bench.retrieval_data import DATA, Text, cranfield, scifact
from tests.fixtures.zotero_database import ZoteroDatabase

INDEXING_S = 1_800
COUNTED_QUESTIONS = 20
# Letters and digits of Zotero's keys.
ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"


def library_of(documents: Mapping[str, Text], folder: Path) -> Mapping[str, str]:
    """A Zotero library of these abstracts; the documents by the key of their item."""
    database = ZoteroDatabase(folder)
    keys = {}
    for number, (document, text) in enumerate(documents.items()):
        key = _key(number)
        database.item(key, title=text.title, abstractNote=text.text)
        keys[key] = document
    database.close()
    return keys


def _key(number: int) -> str:
    letters = ""
    for _ in range(8):
        number, place = divmod(number, len(ALPHABET))
        letters = ALPHABET[place] + letters
    return letters


def evidence(split: str) -> Mapping[str, frozenset[str]]:
    """The abstracts that hold the evidence of each claim that has any."""
    found: dict[str, set[str]] = defaultdict(set)
    with (DATA / "scifact" / "evidence.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["split"] == split:
                found[row["query-id"]].add(row["corpus-id"])
    return {claim: frozenset(documents) for claim, documents in found.items()}


def outcome(
    running: RunningStack, question: str, gold: frozenset[str], documents: Mapping[str, str]
) -> Outcome:
    """Ask one question."""
    answer, seconds = ask(running.base_url, running.api_key, question)
    return Outcome(
        question=question,
        gold=gold,
        answered=answer["answered"],
        citations=[_cited(one, documents) for one in answer["citations"]],
        input_tokens=answer["usage"]["input_tokens"],
        seconds=seconds,
    )


def _cited(citation: Mapping[str, Any], documents: Mapping[str, str]) -> Cited:
    return Cited(
        document=documents[citation["item_key"]],
        support=citation["support"],
        judged_by=citation["judged_by"],
    )


def report(
    within: Sequence[Outcome], without: Sequence[Outcome], foreign: Sequence[Outcome]
) -> None:
    """Print the figures."""
    citing = [one for one in within if one.citations]
    print(f"\nclaims with evidence in the library: {len(within)}")
    print(f"  evidence among the first {FIRST} citations   {share(within, lambda o: o.is_found)}")
    print(f"  first citation is evidence, of those   {share(citing, lambda o: o.is_first)}")
    print(f"    that cite; of all                    {share(within, lambda o: o.is_first)}")
    print(f"  wrongly called not in this library     {share(within, lambda o: not o.answered)}")
    print(f"claims without evidence: {len(without)}")
    print(f"  called not in this library             {share(without, lambda o: not o.answered)}")
    print(f"questions of another field: {len(foreign)}")
    print(f"  called not in this library             {share(foreign, lambda o: not o.answered)}")
    everything = [*within, *without, *foreign]
    print("cited sentences that say more than their quote")
    print(f"  verified                               {verified(everything)}")
    seconds = statistics.median(one.seconds for one in everything)
    tokens = statistics.mean(one.input_tokens for one in everything)
    print(
        f"seconds to the answer, median {seconds:.2f}; input tokens, mean {tokens:.0f}", flush=True
    )


def report_tokens(calls: Sequence[Call], questions: int) -> None:
    """Print what a model is told, by role."""
    print(f"\na counting model, {questions} questions with one pass of three turns each")
    for role in dict.fromkeys(call.role for call in calls):
        of_role = [call for call in calls if call.role == role]
        tokens = sum(call.tokens for call in of_role)
        repeated = sum(call.repeated for call in of_role)
        print(
            f"  {role:13} {tokens / questions:7.0f} input tokens an answer, "
            f"{repeated / tokens:.2f} of them a prefix that was sent before"
        )
    print(f"  texts told twice in one call: {sum(call.told_twice for call in calls)}", flush=True)


@contextmanager
def model_of_synth(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment in which a stack's synth takes another model."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def measure(data: Path, place: Path, *, split: str, limit: int, model: str) -> None:
    """Index the library once, ask everything, then count tokens."""
    claims = scifact(split)
    documents = library_of(claims.documents, place)
    gold = evidence(split)
    chosen = {"SYNTH_MODEL": model} if model else {}
    with model_of_synth(chosen), stack(data=data, library=place) as running:
        begun = time.perf_counter()
        wait_until(lambda: vectors_are_done(running), INDEXING_S, running.said)
        print(f"{len(documents)} abstracts indexed in {time.perf_counter() - begun:.0f} s")
        print(f"{split} claims, answered by {model or 'offline'}", flush=True)

        def asked(questions: Mapping[str, str]) -> list[Outcome]:
            return [
                outcome(running, text, gold.get(key, frozenset()), documents)
                for key, text in list(questions.items())[: limit or None]
            ]

        within = asked({key: text for key, text in claims.queries.items() if key in gold})
        without = asked({key: text for key, text in claims.queries.items() if key not in gold})
        report(within, without, asked(cranfield().queries))
    with counting() as (counted, address):
        means = {"SYNTH_MODEL": "openai-compatible:counting", "SYNTH_BASE_URL": address}
        with model_of_synth(means), stack(data=data, library=place) as running:
            questions = list(claims.queries.values())[:COUNTED_QUESTIONS]
            for text in questions:
                outcome(running, text, frozenset(), documents)
        report_tokens(counted.calls, len(questions))


def main() -> None:
    """Measure in folders that go away."""
    print(machine())
    # Of the data itself, so that the account running Postgres can enter it.
    data = Path(tempfile.mkdtemp(prefix="zocrates-bench-"))
    try:
        with tempfile.TemporaryDirectory(prefix="zocrates-bench-") as place:
            measure(
                data,
                Path(place),
                split=os.environ.get("SPLIT") or "test",
                limit=int(os.environ.get("LIMIT") or 0),
                model=os.environ.get("MODEL") or "",
            )
    finally:
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
