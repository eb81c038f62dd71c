"""The command line: questions, the library, sessions and addresses of a running Zocrates.

Exit codes: 0 answered or done, 1 an error (one sentence says what to do), 2 wrong usage, 3 the run
did not end with an answer, 130 interrupted.
"""

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.plain_text import complain

if TYPE_CHECKING:
    from gateway.client import Client

# Imported inside the commands: httpx, pydantic and rich would make `--help` three times slower.

FAILED, INTERRUPTED = 1, 130
MOST_SESSIONS = 50

app = typer.Typer(
    name="zocrates",
    help="Questions to your own Zotero library, with checked citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The data folder of the Zocrates to talk to."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Go on in this session.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One event a line.")] = False,
    data: Data = None,
) -> None:
    """Ask a question and see the search and the checked answer."""
    from gateway.asking import ask_question

    prompt = sys.stdin.read() if question == "-" else question
    _finish(_with_client(data, lambda client: ask_question(client, prompt, session, as_json)))


@app.command()
def sync(
    full: Annotated[
        bool, typer.Option("--full", help="Read unchanged documents again too.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Bring the index up to date with the library."""
    from gateway.asking import sync_library

    _finish(_with_client(data, lambda client: sync_library(client, full, as_json)))


@app.command()
def library(as_json: AsJson = False, data: Data = None) -> None:
    """Show what was read of the library and what was not."""
    from gateway.presentation import library_lines

    async def show(client: "Client") -> int:
        state = await client.library()
        _print([state.model_dump_json()] if as_json else library_lines(state))
        return 0

    _finish(_with_client(data, show))


@app.command()
def sessions(
    session: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show this session whole.")
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List the sessions, the latest first, or show one."""
    from gateway.presentation import session_lines, session_list_lines

    async def show(client: "Client") -> int:
        if session is None:
            page = await client.sessions(limit=MOST_SESSIONS)
            _print([page.model_dump_json()] if as_json else session_list_lines(page))
        else:
            whole = await client.session(session)
            _print([whole.model_dump_json()] if as_json else session_lines(whole))
        return 0

    _finish(_with_client(data, show))


@app.command()
def link(data: Data = None) -> None:
    """Print a new address that opens the page once."""

    async def show(client: "Client") -> int:
        _print([await client.page_link()])
        return 0

    _finish(_with_client(data, show))


@app.command()
def env(data: Data = None) -> None:
    """Print variables for scripts: eval "$(zocrates env)"."""
    from gateway.location import KEY_VARIABLE, URL_VARIABLE, NotFound, find_gateway

    try:
        found = find_gateway(os.environ, data)
    except NotFound as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    _print(
        [
            f"export {URL_VARIABLE}={shlex.quote(found.base_url)}",
            f"export {KEY_VARIABLE}={shlex.quote(found.api_key)}",
        ]
    )


def _with_client(data: Path | None, work: Callable[["Client"], Coroutine[Any, Any, int]]) -> int:
    """Do the work with a client of the gateway; an expected failure is one sentence and a code."""
    from gateway.client import Client, ClientError
    from gateway.location import NotFound, find_gateway

    async def do() -> int:
        async with Client(find_gateway(os.environ, data)) as client:
            return await work(client)

    try:
        return asyncio.run(do())
    except (ClientError, NotFound) as error:
        complain(str(error))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _finish(code: int) -> None:
    raise typer.Exit(code)


def main() -> int:
    """Run the command line; a reader that went away, as in `zocrates ask … | head`, ends it."""
    try:
        app()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else FAILED
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0
