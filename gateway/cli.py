"""The command line: questions, the library, sessions and addresses of a running Zocrates.

Exit codes: 0 answered or done, 1 an error (one sentence says what to do), 2 wrong usage, 3 the run
did not end with an answer, 4 the run waits for a decision, 130 interrupted.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.commanding import (
    FAILED,
    AsEvents,
    AsJson,
    Data,
    connected,
    finish,
    print_lines,
    with_client,
)
from gateway.plain_text import complain
from gateway.task_cli import app as task_commands

if TYPE_CHECKING:
    from gateway.client import Client, RunId
    from gateway.deciding import Decision

# Imported inside the commands: httpx, pydantic and rich would make `--help` three times slower.

MOST_SESSIONS = 50

app = typer.Typer(
    name="zocrates",
    help="Questions to your own Zotero library, with checked citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(task_commands, name="task")


def _an_id(value: str | None) -> str | None:
    if value is not None and not re.fullmatch("[0-9a-f]{32}", value):
        raise typer.BadParameter(f"{value!r} is no id; `zocrates sessions` lists the sessions.")
    return value


class SourceKind(Enum):
    """How a library is read."""

    SQLITE = "sqlite"
    LOCAL_API = "local_api"
    WEB_API = "web_api"


class Strategy(Enum):
    """How far a run goes by itself."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"
    ACADEMIC = "academic"


SessionId = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session's id.", callback=_an_id)
]
RunChoice = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN]", help="One of its runs instead of the last one.", callback=_an_id
    ),
]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Go on in this session.", callback=_an_id),
    ] = None,
    review_plan: Annotated[
        bool, typer.Option("--review-plan", help="See a plan first, comment on it, approve it.")
    ] = False,
    strategy: Annotated[
        Strategy | None, typer.Option(help="How far the search goes by itself.")
    ] = None,
    as_json: AsEvents = False,
    data: Data = None,
) -> None:
    """Ask a question, see the search, decide at its checkpoints, and get the checked answer."""
    from gateway import wire
    from gateway.asking import Manner, ask_question

    prompt = sys.stdin.read() if question == "-" else question
    manner = Manner(as_json=as_json, data=data)
    options = None
    if review_plan or strategy:
        options = wire.TurnOptions(
            review_plan=review_plan, strategy=strategy.value if strategy else None
        )
    finish(lambda: ask_question(connected(data), prompt, session, manner, options))


@app.command()
def resume(
    session: SessionId,
    extend: Annotated[bool, typer.Option("--extend", help="Grant the extension.")] = False,
    synthesize: Annotated[
        bool, typer.Option("--synthesize", help="Answer with the evidence that is there.")
    ] = False,
    guidance: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Steering for the extended search.")
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve the plan, or the step that needs consent.")
    ] = False,
    reject: Annotated[
        bool, typer.Option("--reject", help="Refuse the step that needs consent.")
    ] = False,
    feedback: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Comment on the plan.")
    ] = None,
    as_json: AsEvents = False,
    data: Data = None,
) -> None:
    """Decide at the checkpoint of a session, or go on watching its run."""
    from gateway.asking import Manner, take_up

    chosen = {
        "--extend": extend,
        "--synthesize": synthesize,
        "--approve": approve,
        "--reject": reject,
        "--feedback": feedback is not None,
    }
    decision = _chosen(chosen, guidance, feedback)
    manner = Manner(as_json=as_json, data=data)
    finish(lambda: take_up(connected(data), session, decision, manner))


@app.command()
def retry(session: SessionId, as_json: AsEvents = False, data: Data = None) -> None:
    """Let a session's last run go on after it failed or was cancelled; its steps are kept."""
    from gateway.asking import Manner, retry_run

    manner = Manner(as_json=as_json, data=data)
    finish(lambda: retry_run(connected(data), session, manner))


@app.command()
def cancel(
    session: SessionId, run: RunChoice = None, as_json: AsJson = False, data: Data = None
) -> None:
    """Cancel a run at once; its steps stay, and it can be retried."""

    async def do(client: "Client") -> int:
        standing = await client.cancel(await _run_of(client, session, run))
        print_lines([standing.model_dump_json() if as_json else "The run is cancelled."])
        return 0

    with_client(data, do)


@app.command()
def rewind(
    session: SessionId, run: RunChoice = None, as_json: AsJson = False, data: Data = None
) -> None:
    """Take a question and everything after it out of a session."""

    async def do(client: "Client") -> int:
        from gateway.plain_text import counted

        rewound = await client.rewind(await _run_of(client, session, run))
        told = f"{counted(len(rewound.rewound), 'question')} taken back."
        print_lines([rewound.model_dump_json() if as_json else told])
        return 0

    with_client(data, do)


@app.command()
def sync(
    full: Annotated[
        bool, typer.Option("--full", help="Read unchanged documents again too.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Read again what could not be read.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Bring the index up to date with the library."""
    from gateway.syncing import sync_library

    with_client(
        data,
        lambda client: sync_library(client, full=full, retry_failed=retry_failed, as_json=as_json),
    )


@app.command()
def library(
    source: Annotated[
        SourceKind | None,
        typer.Option(help="Read the library in this way from now on."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--library", metavar="FOLDER", help="Read this Zotero data folder."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the API of Zotero answers.")
    ] = None,
    holds: Annotated[
        bool, typer.Option("--holds", help="List collections, saved searches and tags.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Show what was read of the library and what was not, or say where it is read from."""
    from gateway.shelves import choose_source, show_holdings, show_library

    if source or folder or server:
        kind = source or (SourceKind.LOCAL_API if server else SourceKind.SQLITE)
        where = str(folder.expanduser().resolve()) if folder is not None else None
        with_client(data, lambda client: choose_source(client, kind.value, where, server))
    elif holds:
        with_client(data, lambda client: show_holdings(client, as_json))
    else:
        with_client(data, lambda client: show_library(client, as_json))


@app.command()
def sessions(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Show this session whole.", callback=_an_id),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List the sessions, the latest first, or show one."""
    from gateway.presentation import session_lines, session_list_lines

    async def show(client: "Client") -> int:
        if session is None:
            page = await client.sessions(limit=MOST_SESSIONS)
            print_lines([page.model_dump_json()] if as_json else session_list_lines(page))
        else:
            whole = await client.session(session)
            print_lines([whole.model_dump_json()] if as_json else session_lines(whole))
        return 0

    with_client(data, show)


@app.command()
def link(data: Data = None) -> None:
    """Print a new address that opens the page once."""

    async def show(client: "Client") -> int:
        print_lines([await client.page_link()])
        return 0

    with_client(data, show)


@app.command()
def env(data: Data = None) -> None:
    """Print variables for scripts: eval "$(zocrates env)"."""
    from gateway.location import KEY_VARIABLE, URL_VARIABLE, NotFound, find_gateway

    try:
        found = find_gateway(os.environ, data)
    except NotFound as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    print_lines(
        [
            f"export {URL_VARIABLE}={shlex.quote(found.base_url)}",
            f"export {KEY_VARIABLE}={shlex.quote(found.api_key)}",
        ]
    )


def _chosen(
    flags: Mapping[str, bool], guidance: str | None, feedback: str | None
) -> "Decision | None":
    from gateway.deciding import APPROVE, EXTEND, FEEDBACK, REJECT, SYNTHESIZE, Decision

    given = [flag for flag, is_given in flags.items() if is_given]
    if len(given) > 1:
        raise typer.BadParameter(f"choose one of {' and '.join(given)}")
    if guidance is not None and given != ["--extend"]:
        raise typer.BadParameter("--guidance steers an extended search; give --extend too")
    if not given:
        return None
    actions = {
        "--extend": EXTEND,
        "--synthesize": SYNTHESIZE,
        "--approve": APPROVE,
        "--reject": REJECT,
        "--feedback": FEEDBACK,
    }
    return Decision(action=actions[given[0]], guidance=guidance, message=feedback)


async def _run_of(client: "Client", session: str, run: str | None) -> "RunId":
    """The run that is meant: the named one, else the session's last."""
    from gateway.asking import last_run
    from gateway.client import RunId

    named = run or (await last_run(client, session)).invocation_id
    return RunId(session_id=session, invocation_id=named)


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
