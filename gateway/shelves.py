"""The library on the command line: its state, what it holds, and where it is read from."""

from collections.abc import Iterable

from gateway import holdings
from gateway.client import Client
from gateway.plain_text import one_line
from gateway.presentation import library_lines

DONE = 0


async def show_library(client: Client, as_json: bool) -> int:
    """Print what was read and what was not."""
    state = await client.library()
    _print([state.model_dump_json()] if as_json else library_lines(state))
    return DONE


async def show_holdings(client: Client, as_json: bool) -> int:
    """Print what a scope can name, with counts."""
    found = await client.held()
    _print([found.model_dump_json()] if as_json else holding_lines(found))
    return DONE


async def choose_source(client: Client, kind: str, folder: str | None, server: str | None) -> int:
    """Have the library read from another place from now on."""
    choice = holdings.SourceChoice.model_validate(
        {"kind": kind, "data_dir": folder, "server": server}
    )
    await client.choose_source(choice)
    _print(["The library is read from there now; `zocrates library` tells how that goes."])
    return DONE


def holding_lines(found: holdings.Holdings) -> Iterable[str]:
    """Libraries, collections as a tree, saved searches and tags, each with its items."""
    yield "Libraries"
    for library in found.libraries:
        yield f"  {library.library:<24} {library.count.items:>6,}  {one_line(library.title, 80)}"
    yield "Collections"
    yield from _tree(found.collections, None, 1)
    yield "Saved searches"
    for search in found.saved_searches:
        told = f"{search.count.items:>6,}"
        if search.unsupported:
            told = f"cannot be used: {', '.join(search.unsupported)}"
        yield f"  {search.saved_search:<24} {told}  {one_line(search.name, 80)}"
    yield "Tags"
    for tag in found.tags:
        automatic = " (automatic)" if tag.automatic else ""
        yield f"  {tag.count.items:>6,}  {one_line(tag.tag, 80)}{automatic}"


def _tree(
    collections: list[holdings.CollectionEntry], parent: str | None, depth: int
) -> Iterable[str]:
    for one in collections:
        if one.parent == parent:
            indent = "  " * depth
            yield f"{indent}{one.collection:<24} {one.count.items:>6,}  {one_line(one.name, 80)}"
            yield from _tree(collections, one.collection, depth + 1)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
