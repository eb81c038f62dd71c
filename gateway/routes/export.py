"""An answer with its sources, for other programs."""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from gateway import wire
from gateway.convert import row
from gateway.errors import GatewayError
from gateway.events import Answer
from gateway.export import bibtex_of, csl_of, markdown_of, note_of
from gateway.message import message_of
from gateway.routes.context import CalledBy, InContext

router = APIRouter(tags=["chat"])

Format = Literal["markdown", "note-html", "bibtex", "csl-json"]
# Writes a question with its answer, and what that is.
FORMATS: Mapping[Format, tuple[Callable[[str, Answer], str], str]] = {
    "markdown": (markdown_of, "text/markdown; charset=utf-8"),
    "note-html": (note_of, "text/html; charset=utf-8"),
    "bibtex": (lambda _, told: bibtex_of(told.citations), "application/x-bibtex; charset=utf-8"),
    "csl-json": (lambda _, told: csl_of(told.citations), "application/vnd.citationstyles.csl+json"),
}


@router.get(
    "/export/{invocation_id}",
    response_class=Response,
    responses={
        200: {
            "content": {
                kind.split(";")[0]: {"schema": {"type": "string"}} for _, kind in FORMATS.values()
            }
        }
    },
)
async def export(
    invocation_id: wire.Id,
    context: InContext,
    caller: CalledBy,
    kind: Annotated[Format, Query(alias="format")] = "markdown",
) -> Response:
    """Write a run's answer with its sources; 409 while there is none."""
    told = await context.orchestrator.all_events(
        session_id="", run_id=invocation_id, owner=caller.owner
    )
    message = message_of(row(event) for event in told)
    if not message.get("answer"):
        raise GatewayError(
            "NO_ANSWER", f"Run {invocation_id!r} has no answer yet; export it when it is completed."
        )
    write, media_type = FORMATS[kind]
    answer = Answer.model_validate(message["answer"])
    prompt = next((one.run_started.prompt for one in told if one.HasField("run_started")), "")
    # A page of its own it is not: what a note holds must not run here.
    headers = {"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"}
    return Response(write(prompt, answer), media_type=media_type, headers=headers)
