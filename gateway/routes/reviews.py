"""The review of a task's plan, and consent to steps that need it."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, InContext
from gateway.routes.task_calls import (
    IdempotencyKey,
    TaskId,
    request_key,
    run_of,
    tell_replay,
)
from gateway.tasks import wire
from gateway.tasks.convert import INTENTS, review_of
from gateway.tasks.wording import APPROVAL, APPROVE, FEEDBACK, REVIEW, malformed, worded
from zocrates.orchestrator.v1 import review_pb2 as pb

router = APIRouter(prefix="/api/v1", tags=["reviews"])

# No review comes so far: stands for a tag that fits no version.
NEVER = 2**31 - 1

IfMatch = Annotated[
    str | None,
    Header(
        max_length=200,
        description='The version that the person saw, as `1` or `"1"`; `*` or nothing: any.',
    ),
]


@router.get("/tasks/{workflow_id}/review")
async def read_review(
    workflow_id: TaskId, context: InContext, caller: CalledBy, response: Response
) -> wire.Review:
    """Read the plan and the conversation about it."""
    with worded(REVIEW):
        found = await context.reviews.get(run_of(workflow_id), owner=caller.owner)
    response.headers["ETag"] = str(found.version)
    return wire.Review.model_validate(review_of(found))


@router.post("/tasks/{workflow_id}/review")
async def review(
    workflow_id: TaskId,
    body: wire.ReviewRequest,
    context: InContext,
    caller: CalledBy,
    response: Response,
    if_match: IfMatch = None,
) -> wire.Revised | wire.Approved:
    """Send feedback to the planner and get its reply, or approve the plan."""
    version = version_in(if_match)
    match body.action:
        case "feedback":
            with worded(FEEDBACK):
                reply = await context.reviews.send_feedback(
                    run_of(workflow_id), body.message, version, owner=caller.owner
                )
            response.headers["ETag"] = str(reply.review.version)
            return _revised(reply)
        case "approve":
            with worded(APPROVE):
                await context.reviews.approve(run_of(workflow_id), version, owner=caller.owner)
            return wire.Approved()
    raise malformed("action must be 'feedback' or 'approve'", "action")


@router.post("/approvals/decision")
async def decide_approval(
    body: wire.ApprovalRequest,
    context: InContext,
    caller: CalledBy,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> wire.Approval:
    """Give or refuse consent to a step; a decision that comes too late has no success."""
    if not body.workflow_id or not body.approval_id:
        raise malformed("workflow_id and approval_id are required", "workflow_id")
    if body.approved is None:
        raise malformed("approved is required", "approved")
    with worded(APPROVAL):
        request = pb.DecideApprovalRequest(
            run_id=run_of(body.workflow_id),
            approval_id=body.approval_id,
            approved=body.approved,
            feedback=body.feedback,
            modified_action=body.modified_action,
            approved_by=body.approved_by or caller.owner,
            idempotency_key=request_key(idempotency_key, "/approvals/decision", body),
        )
        try:
            reply = await context.reviews.decide_approval(request, owner=caller.owner)
            success, message = True, "The decision is taken."
            tell_replay(response, idempotency_key, reply.replayed)
        except GatewayError as error:
            if error.code != "STALE_INTERRUPT":
                raise
            success, message = False, error.text
    return wire.Approval(
        success=success,
        message=message,
        workflow_id=body.workflow_id,
        run_id=body.run_id or body.workflow_id,
        approval_id=body.approval_id,
    )


def version_in(tag: str | None) -> int | None:
    """The version that a tag means; None for any, and one that never is for a tag of none."""
    if tag is None or tag.strip() == "*":
        return None
    text = tag.strip()
    if len(text) > 2 and text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    if not (text.isascii() and text.isdecimal()) or text != str(int(text)):
        return NEVER
    return min(int(text), NEVER) or NEVER


def _revised(reply: pb.SendFeedbackResponse) -> wire.Revised:
    found = review_of(reply.review)
    plan = {
        "message": reply.message,
        "round": reply.review.round,
        "version": reply.review.version,
        "intent": INTENTS.get(reply.review.intent, "feedback"),
    }
    return wire.Revised.model_validate({**found, "plan": plan})
