"""`zocrates task`: a task seen through at a terminal, and what helps where it cannot be."""

import asyncio
import os
import subprocess
import sys

import pytest

from tests.integration.task_stage import TaskWire, key_of

COMMAND = [
    sys.executable,
    "-c",
    "from deploy.command import main; raise SystemExit(main())",
    "task",
]


async def task(wire: TaskWire, *words: str) -> subprocess.CompletedProcess[str]:
    where = {"ZOCRATES_URL": str(wire.http.base_url), "ZOCRATES_API_KEY": key_of(wire.owner)}
    return await asyncio.to_thread(
        subprocess.run,
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        env={**os.environ, **where},
        check=False,
    )


async def test_a_task_is_reviewed_and_seen_through(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    shown = await task(wire, "status", task_id)
    assert (shown.returncode, f"zocrates task review {task_id}" in shown.stdout) == (4, True)
    revised = await task(wire, "feedback", task_id, "Dose too.")
    assert "round 2, version 2" in revised.stdout
    approved = await task(wire, "approve", task_id, "--version", "2")
    assert (approved.returncode, approved.stdout) == (0, "Research started\n")
    followed = await task(wire, "follow", task_id)
    assert followed.returncode == 0
    assert "WORKFLOW_COMPLETED" in followed.stdout
    cancelled = await task(wire, "cancel", task_id)
    assert (cancelled.returncode, cancelled.stdout) == (1, "cannot cancel completed task\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("status", "nobody/..s"), "There is no task 'nobody/..s'; `zocrates task list` shows"),
        (("approve", "0" * 32), "No plan is under review there; `zocrates task status 000"),
        (("submit", " "), "Query is required"),
        (("list", "--limit", "0"), "Invalid limit: the field 'limit' should be greater than"),
    ],
)
async def test_what_cannot_be_done_is_one_sentence(
    wire: TaskWire, words: tuple[str, ...], says: str
) -> None:
    done = await task(wire, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"zocrates: {says}")
    assert done.stderr.count("\n") == 1


async def test_a_plan_that_went_on_says_where_to_look(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    await wire.review(task_id, "feedback", message="From elsewhere.")
    stale = await task(wire, "feedback", task_id, "Mine.", "--version", "1")
    assert stale.stderr == (
        f"zocrates: The plan has another version by now: zocrates task review {task_id}\n"
    )
    empty = await task(wire, "feedback", task_id, " ")
    assert empty.stderr.startswith("zocrates: The message is empty; ")
