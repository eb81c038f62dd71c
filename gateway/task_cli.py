"""The commands on tasks: `zocrates task submit`, `review`, `approve` and others."""

import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.commanding import AsEvents, AsJson, Data, print_lines, with_client

if TYPE_CHECKING:
    from pydantic import BaseModel

    from gateway.client import Client
    from gateway.tasks import wire

NOT_ANSWERED, WAITING = 3, 4

app = typer.Typer(
    help="Tasks: questions that nobody need watch, with a plan to review if wanted.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; others can read it.")]
SeenVersion = Annotated[
    int | None,
    typer.Option(
        "--version", metavar="N", help="The version of the plan that you saw; else the current one."
    ),
]


@app.command()
def submit(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    review: Annotated[bool, typer.Option("--review", help="Stop at a plan to review.")] = False,
    timeout: Annotated[
        int | None, typer.Option(metavar="S", help="Seconds that the review may wait.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(metavar="NAME", help="quick, standard, deep or academic.")
    ] = "",
    session: Annotated[
        str, typer.Option(metavar="ID", help="In this session; a new name makes one.")
    ] = "",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Submit a task and print its id."""
    query = sys.stdin.read() if question == "-" else question
    context: dict[str, object] = {"force_research": True}
    if review:
        context["require_review"] = True
    if timeout is not None:
        context["review_timeout"] = timeout

    async def do(client: "Client") -> int:
        from gateway.task_presentation import submitted_lines

        task = await client.tasks.submit(
            query, context=context, session_id=session, strategy=strategy
        )
        _show(task, as_json, submitted_lines)
        return 0

    with_client(data, do)


@app.command()
def status(task: TaskId, as_json: AsJson = False, data: Data = None) -> None:
    """Show a task with its answer, or with what it waits for."""

    async def do(client: "Client") -> int:
        from gateway.task_presentation import task_lines

        found = await client.tasks.get(task)
        _show(found, as_json, task_lines)
        return _code_of(found)

    _on_task(data, task, do)


@app.command("list")
def list_tasks(
    status: Annotated[
        str, typer.Option(metavar="NAME", help="Only those queued, running, completed, …")
    ] = "",
    limit: Annotated[int, typer.Option(metavar="N", help="So many, the latest first.")] = 20,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List tasks, the latest first."""

    async def do(client: "Client") -> int:
        from gateway.task_presentation import list_lines

        _show(await client.tasks.list(limit=limit, status=status), as_json, list_lines)
        return 0

    with_client(data, do)


@app.command()
def review(task: TaskId, as_json: AsJson = False, data: Data = None) -> None:
    """Show the plan of a task and what was said about it."""

    async def do(client: "Client") -> int:
        from gateway.task_presentation import review_lines

        _show(await client.tasks.review(task), as_json, review_lines)
        return 0

    _on_task(data, task, do)


@app.command()
def feedback(
    task: TaskId,
    message: Annotated[str, typer.Argument(help="What should be different.")],
    version: SeenVersion = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Comment on the plan of a task and show the planner's reply."""

    async def do(client: "Client") -> int:
        from gateway.task_client import LAST_SEEN
        from gateway.task_presentation import review_lines

        revised = await client.tasks.feedback(
            task, message, version=LAST_SEEN if version is None else version
        )
        _show(revised, as_json, review_lines)
        return 0

    _on_task(data, task, do)


@app.command()
def approve(
    task: TaskId, version: SeenVersion = None, as_json: AsJson = False, data: Data = None
) -> None:
    """Approve the plan of a task: the research begins."""

    async def do(client: "Client") -> int:
        from gateway.task_client import LAST_SEEN

        approved = await client.tasks.approve(
            task, version=LAST_SEEN if version is None else version
        )
        _show(approved, as_json, lambda one: [one.message])
        return 0

    _on_task(data, task, do)


@app.command()
def follow(
    task: TaskId,
    types: Annotated[
        str, typer.Option(metavar="TYPES", help="Only these types, with commas between.")
    ] = "",
    as_json: AsEvents = False,
    data: Data = None,
) -> None:
    """Show the events of a task as they come, to its end."""

    async def do(client: "Client") -> int:
        from contextlib import aclosing

        from gateway.task_presentation import event_lines

        wanted = [name for name in types.split(",") if name]
        async with aclosing(client.tasks.stream(task, types=wanted)) as events:
            async for event in events:
                print_lines([event.as_line()] if as_json else event_lines(event))
                sys.stdout.flush()
        return _code_of(await client.tasks.get(task))

    _on_task(data, task, do)


@app.command()
def pause(task: TaskId, reason: Reason = "", as_json: AsJson = False, data: Data = None) -> None:
    """Pause a task before its next step."""
    _change(data, task, lambda client: client.tasks.pause(task, reason), as_json)


@app.command()
def resume(task: TaskId, reason: Reason = "", as_json: AsJson = False, data: Data = None) -> None:
    """Let a paused task go on."""
    _change(data, task, lambda client: client.tasks.resume(task, reason), as_json)


@app.command()
def cancel(task: TaskId, reason: Reason = "", as_json: AsJson = False, data: Data = None) -> None:
    """Cancel a task at once."""
    _change(data, task, lambda client: client.tasks.cancel(task, reason), as_json)


def _on_task(
    data: Path | None, task: str, do: Callable[["Client"], Coroutine[Any, Any, int]]
) -> None:
    """Do something with a task; a refusal says what helps."""

    async def told(client: "Client") -> int:
        from gateway.connection import ClientError, Refused
        from gateway.task_presentation import refused_line

        try:
            return await do(client)
        except Refused as error:
            field = error.detail.get("field", "")
            text = refused_line(task, error.code, str(error), field)
            raise ClientError(text) from error

    with_client(data, told)


def _change(
    data: Path | None,
    task: str,
    change: Callable[["Client"], Coroutine[Any, Any, "wire.Controlled"]],
    as_json: bool,
) -> None:
    async def do(client: "Client") -> int:
        changed = await change(client)
        _show(changed, as_json, lambda one: [one.message])
        return 0 if changed.success else 1

    _on_task(data, task, do)


def _show(body: "BaseModel", as_json: bool, lines: Callable[[Any], Any]) -> None:
    # One function shows bodies of any kind with lines that fit it, hence Any.
    print_lines([body.model_dump_json()] if as_json else lines(body))


def _code_of(task: "wire.Task") -> int:
    if task.waiting_for is not None:
        return WAITING
    is_good = task.result is not None or task.status.removeprefix("TASK_STATUS_") in (
        "QUEUED",
        "RUNNING",
        "PAUSED",
    )
    return 0 if is_good else NOT_ANSWERED
