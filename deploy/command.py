"""The `zocrates` command: what runs on this machine here, everything else in gateway.cli."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from deploy.console import refuse
from deploy.data_folder import chosen_root, prepare
from deploy.failure import CannotStart
from deploy.mind import KNOWN_PROVIDERS, OFFLINE, ChosenMind
from gateway import cli

# The stack reads its own arguments, so that `python -m deploy.stack` takes the same.
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def main() -> int:
    """Run the command line; returns the exit code."""
    if sys.argv[1:2] == ["up"]:
        return up(sys.argv[2:])
    cli.app.command("up", context_settings=PASSED_ON)(listed_up)
    cli.app.command()(configure)
    return cli.main()


def up(arguments: list[str]) -> int:
    """Start the stack; imported here because no other command needs it."""
    from deploy import stack

    return stack.main(arguments)


def listed_up(context: typer.Context) -> None:
    """Start everything on this machine; see: zocrates up --help."""
    raise typer.Exit(up(context.args))


def configure(
    provider: Annotated[str, typer.Option(help=f"One of: {', '.join(KNOWN_PROVIDERS)}.")] = "",
    model: Annotated[str, typer.Option(help="The model's name at the provider.")] = "",
    data: cli.Data = None,
) -> None:
    """Choose the language model; only synth gets its key."""
    raise typer.Exit(_configure(provider, model, data))


def _configure(provider: str, model: str, data: Path | None) -> int:
    asks = sys.stdin.isatty()
    if not provider and asks:
        provider = typer.prompt(f"Provider ({', '.join(KNOWN_PROVIDERS)})", default=OFFLINE)
    if provider not in KNOWN_PROVIDERS:
        return refuse(f"name a provider with --provider: {', '.join(KNOWN_PROVIDERS)}.")
    key = ""
    if provider != OFFLINE:
        if not model and asks:
            model = typer.prompt("Model")
        if not model:
            return refuse(f"name the model of {provider} with --model.")
        # Never as an argument, which every user of this machine could see.
        if asks:
            key = typer.prompt("Key (nothing is shown)", hide_input=True, default="")
        else:
            key = sys.stdin.readline().strip()
    mind = ChosenMind(provider=provider, model=model, key=key)
    try:
        folder = prepare(chosen_root(data, os.environ))
        mind.save(folder.mind_file)
    except CannotStart as error:
        return refuse(str(error))
    print(f"{mind.explanation()} Kept in {folder.mind_file}, which only this user can read.")
    return 0
