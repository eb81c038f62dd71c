"""What has to hold at the end, asked of the database and of what the researchers saw."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from tests.chaos.researcher import Seen
from tests.chaos.script import right_answer

RUNS = "SELECT id, session_id, state, last_sequence, usage, lease_epoch FROM run"
EVENTS = "SELECT run_id, sequence, type, payload FROM event ORDER BY run_id, sequence"
CHECKPOINTS = "SELECT run_id, interrupt_id, state, decision FROM checkpoint"
STEPS = "SELECT run_id, key, state FROM step"


@dataclass
class Verdict:
    """Counts for the table, and everything that is wrong."""

    counts: dict[str, int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


async def judge(
    dsn: str, researchers: Sequence[Seen], searches: Mapping[str, int], crashes: int
) -> Verdict:
    """Compare what is stored with what was seen and what had to come of it."""
    connection = await asyncpg.connect(dsn)
    try:
        runs = {row["id"]: row for row in await connection.fetch(RUNS)}
        events = _by_run(await connection.fetch(EVENTS))
        checkpoints = _by_run(await connection.fetch(CHECKPOINTS))
        steps = _by_run(await connection.fetch(STEPS))
    finally:
        await connection.close()
    verdict = Verdict()
    if len(runs) != len(researchers):
        verdict.wrong.append(f"{len(researchers)} questions made {len(runs)} runs")
    for seen in researchers:
        verdict.wrong += seen.violations
        if (run := runs.get(seen.run_id)) is None:
            verdict.wrong.append(f"run {seen.plan.number} is not stored")
            continue
        told = events.get(seen.run_id, [])
        problems = [
            *_of_stream(seen, run, told),
            *_of_decisions(seen, told, checkpoints.get(seen.run_id, [])),
            *_of_work(seen, run, told, steps.get(seen.run_id, [])),
        ]
        verdict.wrong += [f"run {seen.plan.number} ({seen.run_id}): {one}" for one in problems]
        _count(verdict.counts, seen, run, told)
    # Each search is of one step of one run.
    verdict.counts["searches that were made again after a crash"] = sum(
        times - 1 for times in searches.values()
    )
    verdict.wrong += [
        f"{query!r} was searched {times} times with {crashes} crashes"
        for query, times in searches.items()
        if times > 1 + crashes
    ]
    return verdict


def _by_run(rows: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row["run_id"], []).append(row)
    return found


def _of_stream(seen: Seen, run: Any, told: Sequence[Any]) -> list[str]:
    problems = []
    recorded = [(row["sequence"], row["type"]) for row in told]
    if [sequence for sequence, _ in recorded] != list(range(1, run["last_sequence"] + 1)):
        problems.append("the stored sequence has a gap")
    if seen.rows != recorded:
        missing = sorted(set(recorded) - set(seen.rows))
        more = sorted((Counter(seen.rows) - Counter(recorded)).elements())
        problems.append(f"the stream lacked {missing} and had {more} besides")
    return problems


def _of_decisions(seen: Seen, told: Sequence[Any], checkpoints: Sequence[Any]) -> list[str]:
    wanted = {one.interrupt_id: (one.action.upper(), one.guidance) for one in seen.plan.decisions}
    stored = {
        row["interrupt_id"]: tuple(json.loads(row["decision"] or "{}").values())
        for row in checkpoints
        if row["state"] == "ANSWERED"
    }
    problems = []
    if {name: set(values) for name, values in stored.items()} != {
        name: set(values) for name, values in wanted.items()
    }:
        problems.append(f"decided was {wanted}, stored is {stored}")
    answered = Counter(
        json.loads(row["payload"])["interrupt_id"]
        for row in told
        if row["type"] == "checkpoint_answered"
    )
    if answered != dict.fromkeys(wanted, 1):
        problems.append(f"the decisions were told {dict(answered)} times")
    return problems


def _of_work(seen: Seen, run: Any, told: Sequence[Any], steps: Sequence[Any]) -> list[str]:
    problems = []
    if run["state"] != "COMPLETED" or seen.state != "COMPLETED":
        problems.append(f"it is {run['state']}, and its researcher was told {seen.state!r}")
    if seen.markdown != right_answer(seen.plan):
        problems.append(f"the answer is {seen.markdown!r}, not {right_answer(seen.plan)!r}")
    for kind in ("tool_call", "tool_result"):
        keys = [json.loads(row["payload"])["step_id"] for row in told if row["type"] == kind]
        if len(keys) != len(set(keys)):
            problems.append(f"a step has more than one {kind}")
    searched = sum(json.loads(row["payload"])["tool"] == "search_corpus" for row in told
                   if row["type"] == "tool_call")  # fmt: skip
    if json.loads(run["usage"])["calls"] != searched:
        problems.append(f"{run['usage']} counts other than {searched} calls")
    if undone := [row["key"] for row in steps if row["state"] != "done"]:
        problems.append(f"steps are not done: {undone}")
    return problems


def _count(counts: dict[str, int], seen: Seen, run: Any, told: Sequence[Any]) -> None:
    counts["runs completed"] += run["state"] == "COMPLETED"
    counts["right answers"] += seen.markdown == right_answer(seen.plan)
    counts["decisions used"] += sum(row["type"] == "checkpoint_answered" for row in told)
    counts["decision requests sent"] += seen.decision_attempts
    counts["row events stored"] += len(told)
    counts["row events seen by clients"] += len(seen.rows)
    counts["streams opened"] += seen.streams
    counts["claims of runs"] += run["lease_epoch"]
    counts["answers whose text also streamed whole"] += seen.markdown in seen.texts.values()
