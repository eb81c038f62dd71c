"""What all commands share: where the gateway is, what they print, how they end."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from gateway.plain_text import complain

if TYPE_CHECKING:
    from gateway.asking import Connected
    from gateway.client import Client

T = TypeVar("T")

# Imported inside the functions: httpx, pydantic and rich would make `--help` three times slower.

FAILED, INTERRUPTED = 1, 130

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The data folder of the Zocrates to talk to."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
AsEvents = Annotated[bool, typer.Option("--json", help="One event a line.")]


def connected(data: Path | None) -> "Connected":
    """What runs work with a client of the gateway that is meant."""
    from gateway.client import Client
    from gateway.location import find_gateway

    def do(work: Callable[["Client"], Coroutine[Any, Any, T]]) -> T:
        async def with_client() -> T:
            async with Client(find_gateway(os.environ, data)) as client:
                return await work(client)

        return asyncio.run(with_client())

    return do


def with_client(data: Path | None, work: Callable[["Client"], Coroutine[Any, Any, int]]) -> None:
    """Do work with a client and leave with the code that it comes to."""
    finish(lambda: connected(data)(work))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        print(line)


def finish(work: Callable[[], int]) -> None:
    """Do the work and leave with its code; an expected failure is one sentence and a code."""
    from gateway.connection import ClientError
    from gateway.location import NotFound

    try:
        code = work()
    except (ClientError, NotFound) as error:
        complain(str(error))
        code = FAILED
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)
