"""The review of a task's plan over HTTP: tags, payloads, the order of checks, expiry."""

import asyncio

import grpc
import httpx
import pytest

from services.chassis.errors import ServiceError
from tests.integration.orchestrator_stage import eventually
from tests.integration.task_stage import API, REVIEWED, TaskWire


class PlannerBroke(ServiceError):
    """The planner's model wrote nothing that is a plan."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_BROKEN"


STALE = "Conflict: state has been modified"
NEWER = "Conflict: plan has been updated. Please review the latest version."
MISSING = "Review session not found or expired"


def told(reply: httpx.Response) -> tuple[int, str, str]:
    body = reply.json()
    return reply.status_code, body["code"], body["error"]


async def read(wire: TaskWire, task_id: str) -> httpx.Response:
    return await wire.http.get(f"{API}/tasks/{task_id}/review")


async def test_a_review_is_read_with_its_version_as_a_bare_tag(wire: TaskWire) -> None:
    reply = await read(wire, await wire.under_review("Does sleep help?"))
    assert reply.headers["ETag"] == "1"
    body = reply.json()
    plan = "1. Look for it. (plan 1)"
    assert body == {
        "status": "reviewing",
        "round": 1,
        "version": 1,
        "current_plan": plan,
        "rounds": [
            {"role": "assistant", "message": plan, "timestamp": body["rounds"][0]["timestamp"]}
        ],
        "query": "Does sleep help?",
        "intent": "ready",
    }
    assert body["rounds"][0]["timestamp"].endswith("Z")
    assert "." not in body["rounds"][0]["timestamp"]


async def test_feedback_answers_for_every_reader_and_raises_the_version(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    reply = await wire.review(task_id, "feedback", "1", message="Dose too.")
    assert (reply.status_code, reply.headers["ETag"]) == (200, "2")
    body = reply.json()
    assert body["plan"] == {
        "message": "1. Look for it. (plan 2)",
        "round": 2,
        "version": 2,
        "intent": "ready",
    }
    again = (await read(wire, task_id)).json()
    assert {**again, "plan": body["plan"]} == body
    assert [one["role"] for one in again["rounds"]] == ["assistant", "user", "assistant"]
    assert wire.peers.synth.plans[-1].rounds[-1].message == "Dose too."


async def test_a_question_back_leaves_the_plan_that_can_be_approved(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    body = (await wire.review(task_id, "feedback", message="Hm?")).json()
    assert (body["plan"]["intent"], body["version"]) == ("feedback", 2)
    assert body["current_plan"] == "1. Look for it. (plan 1)"


async def test_an_empty_plan_cannot_be_approved(wire: TaskWire) -> None:
    task_id = await wire.under_review("Hm?")
    assert (await read(wire, task_id)).json()["current_plan"] == ""
    reply = await wire.review(task_id, "approve", "1")
    assert told(reply)[:2] == (400, "NO_PLAN")
    assert reply.json()["error"].startswith("No research plan to approve.")


async def test_an_approved_plan_steers_the_task_and_is_seen_in_it(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    await wire.review(task_id, "feedback", "1", message="Dose too.")
    reply = await wire.review(task_id, "approve", '"2"')
    assert reply.json() == {"status": "approved", "message": "Research started"}
    assert "ETag" not in reply.headers
    task = await wire.ended(task_id)
    plan = "1. Look for it. (plan 2)"
    assert task["context"]["confirmed_plan"] == plan
    assert [one["role"] for one in task["context"]["review_conversation"]] == [
        "assistant",
        "user",
        "assistant",
    ]
    assert wire.peers.synth.investigations[0].confirmed_plan == plan
    # The review stays readable, and approving again changes nothing, whatever tag it has.
    assert (await read(wire, task_id)).json()["status"] == "approved"
    assert (await wire.review(task_id, "approve", "9")).status_code == 200
    late = await wire.review(task_id, "feedback", "9", message="")
    assert told(late) == (409, "REVIEW_APPROVED", "Review already approved")


@pytest.mark.parametrize("tag", [None, "*", "1", '"1"'])
async def test_a_tag_that_fits_is_taken(wire: TaskWire, tag: str | None) -> None:
    task_id = await wire.under_review()
    assert (await wire.review(task_id, "feedback", tag, message="More.")).status_code == 200


@pytest.mark.parametrize("tag", ["2", "01", 'W/"1"', "1, 2", "one", "-1", "99999999999"])
async def test_a_tag_that_does_not_fit_is_a_conflict_whatever_else_is_wrong(
    wire: TaskWire, tag: str
) -> None:
    task_id = await wire.under_review()
    reply = await wire.review(task_id, "feedback", tag, message="x" * 10_241)
    assert told(reply) == (409, "VERSION_CONFLICT", STALE)
    reply = await wire.review(task_id, "approve", tag)
    assert told(reply) == (409, "VERSION_CONFLICT", NEWER)


async def test_the_checks_come_in_their_order(wire: TaskWire) -> None:
    anonymous = httpx.AsyncClient(base_url=wire.http.base_url)
    path = f"{API}/tasks/nobody-knows/review"
    async with anonymous:
        assert told(await anonymous.post(path, content=b"{"))[2] == "Authentication required"
    json_type = {"Content-Type": "application/json"}
    broken = await wire.http.post(path, content=b"{", headers=json_type)
    assert told(broken) == (400, "INVALID_REQUEST", "Invalid request body")
    unknown = await wire.http.post(path, json={"action": "reject"})
    assert told(unknown)[2] == "action must be 'feedback' or 'approve'"
    missing = await wire.http.post(path, json={"action": "feedback"}, headers={"If-Match": "7"})
    assert told(missing) == (404, "UNKNOWN_RUN", MISSING)
    malformed = await wire.http.get(f"{API}/tasks/a%20b/review")
    assert told(malformed) == (400, "INVALID_REQUEST", "Invalid workflow ID format")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", "message is required for feedback"),
        ("é" * 5_121, "message exceeds maximum length (10KB)"),
    ],
)
async def test_a_message_is_measured_in_bytes(wire: TaskWire, message: str, text: str) -> None:
    task_id = await wire.under_review()
    reply = await wire.review(task_id, "feedback", "1", message=message)
    assert (reply.status_code, reply.json()["error"]) == (400, text)
    fits = await wire.review(task_id, "feedback", "1", message="é" * 5_120)
    assert fits.status_code == 200


async def test_of_fifty_comments_on_one_version_one_is_taken(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    replies = await asyncio.gather(
        *(wire.review(task_id, "feedback", "1", message=f"{number}.") for number in range(50))
    )
    assert sorted({reply.status_code for reply in replies}) == [200, 409]
    assert sum(reply.status_code == 200 for reply in replies) == 1
    texts = {reply.json()["error"] for reply in replies if reply.status_code == 409}
    assert texts <= {STALE, "Another feedback request is in progress. Please wait."}
    assert (await read(wire, task_id)).json()["version"] == 2


async def test_while_the_planner_thinks_nothing_else_is_decided(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    gate = wire.peers.synth.planning_gate = asyncio.Event()
    before = len(wire.peers.synth.plans)
    first = asyncio.create_task(wire.review(task_id, "feedback", "1", message="Slowly."))

    async def is_planning() -> bool:
        return len(wire.peers.synth.plans) > before

    await eventually(is_planning, "the planner's turn")
    busy = await wire.review(task_id, "feedback", "1", message="")
    assert told(busy)[1:] == (
        "FEEDBACK_IN_PROGRESS",
        "Another feedback request is in progress. Please wait.",
    )
    approval = await wire.review(task_id, "approve", "1")
    assert told(approval)[2] == "A feedback request is in progress. Please wait and try again."
    gate.set()
    assert (await first).status_code == 200


async def test_a_client_that_goes_away_finds_the_reply_later(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    gate = wire.peers.synth.planning_gate = asyncio.Event()
    before = len(wire.peers.synth.plans)
    leaving = asyncio.create_task(wire.review(task_id, "feedback", "1", message="Bye."))

    async def is_planning() -> bool:
        return len(wire.peers.synth.plans) > before

    await eventually(is_planning, "the planner's turn")
    leaving.cancel()
    await asyncio.wait([leaving])
    gate.set()

    async def is_there() -> bool:
        return bool((await read(wire, task_id)).json()["version"] == 2)

    await eventually(is_there, "the reply that nobody waited for")
    assert (await wire.review(task_id, "approve", "2")).status_code == 200


async def test_ten_rounds_are_the_most_and_the_last_is_definitive(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    for number in range(2, 11):
        reply = await wire.review(task_id, "feedback", message="Hm?")
        assert reply.json()["round"] == number
    assert reply.json()["plan"]["intent"] == "ready"
    used = await wire.review(task_id, "feedback", "10", message="Once more.")
    assert told(used) == (
        409,
        "ROUNDS_USED",
        "Maximum review rounds reached. Please approve the plan.",
    )
    assert (await wire.review(task_id, "approve", "10")).status_code == 200


async def test_a_planner_that_fails_changes_nothing(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    before = (await read(wire, task_id)).json()
    wire.peers.synth.errors["DraftPlan"] = [PlannerBroke("No plan.")]
    reply = await wire.review(task_id, "feedback", "1", message="More.")
    assert told(reply) == (502, "PLANNER_FAILED", "Failed to generate updated plan")
    assert (await read(wire, task_id)).json() == before
    assert (await wire.review(task_id, "feedback", "1", message="More.")).status_code == 200


async def test_a_review_that_nobody_answers_ends_the_task_and_is_readable_for_a_while(
    wire: TaskWire,
) -> None:
    task_id = await wire.under_review(review_timeout=1)
    task = await wire.ended(task_id)
    assert task["status"] == "TASK_STATUS_COMPLETED"
    assert task["error"] == task["error_message"] == "research plan review timed out"
    assert "result" not in task
    assert (await read(wire, task_id)).json()["status"] == "reviewing"
    reply = await wire.review(task_id, "approve", "1")
    assert told(reply)[:2] == (409, "CHECKPOINT_EXPIRED")
    kinds = [frame.kind for frame in await wire.stream(task_id)]
    assert kinds[-3:] == ["ERROR_OCCURRED", "WORKFLOW_COMPLETED", "done"]


async def test_a_wait_that_is_too_long_is_shortened_and_told(wire: TaskWire) -> None:
    context = {**REVIEWED, "review_timeout": "999999999"}
    reply = await wire.http.post(f"{API}/tasks", json={"query": "Why?", "context": context})
    [warning] = reply.json()["warnings"]
    assert (warning["field"], warning["given"]) == ("context.review_timeout", "999999999")
    assert warning["used"] == str(7 * 86_400)


async def test_a_cancelled_review_cancels_the_task(wire: TaskWire) -> None:
    task_id = await wire.under_review()
    reply = await wire.http.post(f"{API}/tasks/{task_id}/cancel", json={"reason": "Enough."})
    assert (reply.status_code, reply.json()["success"]) == (202, True)
    assert (await wire.ended(task_id))["status"] == "TASK_STATUS_CANCELLED"
    assert told(await read(wire, task_id)) == (404, "REVIEW_NOT_FOUND", MISSING)


async def test_the_review_of_somebody_else_is_not_there(wire: TaskWire, other: TaskWire) -> None:
    task_id = await wire.under_review()
    assert told(await read(other, task_id))[::2] == (404, MISSING)
    assert told(await other.review(task_id, "approve"))[::2] == (404, MISSING)
