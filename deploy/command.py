"""The `zocrates` command: what runs on this machine here, everything else in gateway.cli."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from deploy.console import refuse
from deploy.data_folder import chosen_root, prepare
from deploy.failure import CannotStart
from deploy.mind import KNOWN_PROVIDERS, NEED_AN_ADDRESS, OFFLINE, ChosenMind
from gateway import cli
from gateway.commanding import Data

# The stack reads its own arguments, so that `python -m deploy.stack` takes the same.
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def main() -> int:
    """Run the command line; returns the exit code."""
    if sys.argv[1:2] == ["up"]:
        return up(sys.argv[2:])
    cli.app.command("up", context_settings=PASSED_ON)(listed_up)
    cli.app.command()(configure)
    cli.app.command()(doctor)
    return cli.main()


def up(arguments: list[str]) -> int:
    """Start the stack; imported here because no other command needs it."""
    from deploy import stack

    return stack.main(arguments)


def listed_up(context: typer.Context) -> None:
    """Start everything on this machine; see: zocrates up --help."""
    raise typer.Exit(up(context.args))


def doctor(data: Data = None) -> None:
    """Look at every part, and say what is wrong and what to do; exit code 1 when something is."""
    from deploy.doctor import report

    raise typer.Exit(report(chosen_root(data, os.environ), os.environ))


def configure(
    provider: Annotated[str, typer.Option(help=f"One of: {', '.join(KNOWN_PROVIDERS)}.")] = "",
    model: Annotated[str, typer.Option(help="The model's name at the provider.")] = "",
    address: Annotated[
        str, typer.Option(help="Where the model listens, for example http://127.0.0.1:8000/v1.")
    ] = "",
    data: Data = None,
) -> None:
    """Choose the language model; only synth gets its key."""
    raise typer.Exit(_configure(provider, model, address, data))


def _configure(provider: str, model: str, address: str, data: Path | None) -> int:
    asks = sys.stdin.isatty()
    if not provider and asks:
        provider = typer.prompt(f"Provider ({', '.join(KNOWN_PROVIDERS)})", default=OFFLINE)
    key = ""
    if provider not in ("", OFFLINE):
        if not model and asks:
            model = typer.prompt("Model")
        if not address and asks and provider in NEED_AN_ADDRESS:
            address = typer.prompt("Address")
        # Never as an argument, which every user of this machine could see.
        if asks:
            key = typer.prompt("Key (nothing is shown)", hide_input=True, default="")
        else:
            key = sys.stdin.readline().strip()
    mind = ChosenMind(provider=provider, model=model, key=key, address=address)
    if complaint := mind.complaint():
        return refuse(complaint)
    try:
        folder = prepare(chosen_root(data, os.environ))
        mind.save(folder.mind_file)
    except CannotStart as error:
        return refuse(str(error))
    print(f"{mind.explanation()} Kept in {folder.mind_file}, which only this user can read.")
    return 0
