"""The published package of another product, unmodified and in its own environment, as a client."""

import json
import os
import subprocess
import sys
import venv
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.blocking import BlockingClient
from gateway.location import Location
from tests.e2e.conftest import Stack
from tests.e2e.test_questions import QUESTION_LIST

PACKAGE = "shannon-sdk==0.7.0"
SCRIPTS = Path(__file__).parent / "shannon"
INSTALL_S = 120
RUN_S = 120
QUESTION = QUESTION_LIST[0]["text"]

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of an environment that has the package and nothing else."""
    folder = tmp_path_factory.mktemp("shannon") / "env"
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    command = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install"]
    installed = subprocess.run(
        [*command, "--quiet", "--disable-pip-version-check", PACKAGE],
        capture_output=True,
        text=True,
        timeout=INSTALL_S,
        check=False,
    )
    if installed.returncode != 0:
        pytest.skip(
            f"{PACKAGE} CANNOT BE INSTALLED, SO NOTHING IS PROVEN: {installed.stderr[-400:]}"
        )
    return programs


@pytest.fixture
def environment(stack: Stack) -> dict[str, str]:
    """Where the stack is, as the package's command line reads it; no proxy between."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    kept.pop("PYTHONPATH", None)
    return {**kept, "SHANNON_BASE_URL": stack.base_url, "SHANNON_API_KEY": stack.api_key}


def told_by(script: str, package: Path, environment: dict[str, str], *more: str) -> dict[str, Any]:
    """What a script found out, with warnings as errors."""
    where = (environment["SHANNON_BASE_URL"], environment["SHANNON_API_KEY"])
    ran = subprocess.run(
        [str(package / "python"), "-W", "error", str(SCRIPTS / script), *where, *more],
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def test_the_whole_example_of_the_page_runs(package: Path, environment: dict[str, str]) -> None:
    told = told_by("page_example.py", package, environment)
    assert (told["first"]["round"], told["first"]["version"]) == (1, 1)
    assert (told["second"]["round"], told["second"]["version"]) == (2, 2)
    assert told["first"]["plan"]
    assert told["second"]["plan"]
    assert told["approved"] == {"status": "approved", "message": "Research started"}
    assert told["status"] == "COMPLETED"
    assert told["result"]


def test_the_asynchronous_example_runs(package: Path, environment: dict[str, str]) -> None:
    told = told_by("page_example_async.py", package, environment)
    assert told["versions"] == [1, 2]
    assert told["approved"]["status"] == "approved"
    assert told["status"] == "COMPLETED"


def test_each_call_gets_what_it_reads(package: Path, environment: dict[str, str]) -> None:
    told = told_by("every_call.py", package, environment, QUESTION)
    _the_review(told)
    _the_events(told)
    _the_rest(told)


def _the_review(told: dict[str, Any]) -> None:
    assert told["same_task"]
    assert told["session"]
    assert (told["rounds"], told["query"]) == (["assistant"], QUESTION)
    modified = "Conflict: state has been modified"
    assert told["stale"] == ["ValidationError", "409", modified]
    assert told["empty"] == ["ValidationError", "400", "message is required for feedback"]
    missing = "Review session not found or expired"
    assert told["unknown"] == ["TaskNotFoundError", "404", missing]
    assert told["updated"] == [1, True]
    newer = "Conflict: plan has been updated. Please review the latest version."
    assert told["stale_approval"] == ["ValidationError", "409", newer]
    assert told["approvals"] == [{"status": "approved", "message": "Research started"}] * 2
    assert told["late_feedback"] == ["ValidationError", "409", "Review already approved"]
    assert told["final"] == ["COMPLETED", True, ""]
    assert {"confirmed_plan", "require_review", "review_conversation"} <= set(told["context"])


def _the_events(told: dict[str, Any]) -> None:
    review = [
        "RESEARCH_PLAN_READY",
        "REVIEW_USER_FEEDBACK",
        "RESEARCH_PLAN_UPDATED",
        "RESEARCH_PLAN_APPROVED",
    ]
    assert [kind for kind in told["streamed"] if kind in review] == review
    assert told["streamed"][0] == "WORKFLOW_STARTED"
    assert told["streamed"][-3:] == ["thread.message.completed", "WORKFLOW_COMPLETED", "done"]
    assert told["some"] == review
    assert told["rest"] == told["by_sequence"] == review[2:]
    assert told["no_stream"] == []
    assert told["history"] == [True, True]


def _the_rest(told: dict[str, Any]) -> None:
    assert told["listed"] == [1, True, "TASK_STATUS_COMPLETED"]
    assert told["status"] == "COMPLETED"
    assert told["session_found"] == [True, 1]
    assert told["sessions"]
    assert told["past"] == [[True, "COMPLETED"]]
    assert told["turns"] == [1, True]
    assert told["renamed"]
    assert told["stream_url"]
    assert (told["pause"], told["paused"]) == (True, [True, "Lunch", True])
    assert told["pause_again"] == ["ConnectionError", "409", "HTTP 409: task is already paused"]
    assert told["resume"]
    assert told["resume_again"] == ["ConnectionError", "409", "HTTP 409: task is not paused"]
    assert told["cancel"] == [True, False]
    assert told["cancelled"]
    assert told["control"] == "Enough"
    assert told["approve"] == ["ShannonError", "404", "Workflow or approval not found"]
    assert told["timeline"][:2] == ["TaskNotFoundError", "404"]
    assert told["deleted"] == ["SessionNotFoundError", "404", "Session not found"]
    assert told["probes"] == ["healthy", "ready", True]
    assert told["bearer"] == "CANCELLED"
    assert told["nobody"] == ["AuthenticationError", "401", "Authentication required"]
    assert told["stranger"] == ["AuthenticationError", "401", "Invalid token"]


def test_the_command_line_reviews_a_task_and_sees_it_through(
    package: Path, environment: dict[str, str], stack: Stack
) -> None:
    def shannon(*words: str, code: int = 0) -> str:
        ran = subprocess.run(
            [str(package / "shannon"), *words],
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
            env=environment,
        )
        assert ran.returncode == code, (words, ran.stdout, ran.stderr)
        return ran.stdout + ran.stderr

    quick = shannon(
        "submit", QUESTION, "--wait", "--force-research", "--research-strategy", "quick"
    )
    assert "✓ Result: " in quick
    # Its own command to submit has no word for a review.
    task = submitted_with_review(stack)
    shannon("review-feedback", task, "Add the dose.", "--version", "1")
    assert "Version: 2" in shannon("review-get", task)
    assert "[409] Conflict" in shannon("review-approve", task, "--version", "1", code=1)
    assert "Review approved" in shannon("review-approve", task, "--version", "2")
    followed = shannon("stream", task)
    assert "RESEARCH_PLAN_APPROVED" in followed
    assert "WORKFLOW_COMPLETED" in followed
    assert "Status: COMPLETED" in shannon("status", task)
    assert "Cancelled: False" in shannon("control-state", task)
    assert task in shannon("session-list") or "Total" in shannon("session-list")


def submitted_with_review(stack: Stack) -> str:
    """A task that waits for its review, submitted by our own client."""
    location = Location(base_url=stack.base_url, api_key=stack.api_key)
    context = {"force_research": True, "require_review": True}
    with BlockingClient(location) as client:
        task = client.call(lambda it: it.tasks.submit(QUESTION, context=context)).task_id
        events = client.each(lambda it: it.tasks.stream(task, types=["RESEARCH_PLAN_READY"]))
        with closing(events):
            assert next(events).data["workflow_id"] == task
    return task
