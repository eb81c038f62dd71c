"""Where the tables of the index are, and how they are made when they are missing."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from services.search import index_schema as schema
from services.search.index_upkeep import committed

if TYPE_CHECKING:
    from lancedb.db import AsyncConnection
    from lancedb.index import FTS, BTree
    from lancedb.table import AsyncTable


def local_folder(uri: str) -> Path | None:
    """The folder of a local index; none for object storage."""
    return None if "://" in uri else Path(uri)


async def open_tables(connection: "AsyncConnection") -> "dict[str, AsyncTable]":
    """The tables by name."""
    from lancedb.index import FTS, BTree

    # What is a word was decided by our own analysis: here spaces divide terms, and nothing is lost.
    words = FTS(
        base_tokenizer="whitespace",
        max_token_length=None,
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
    )
    document: dict[str, FTS | BTree] = {"document_id": BTree()}
    passage = {"terms": words, "passage_id": BTree(), **document}
    wanted: list[tuple[str, pa.Schema, dict[str, FTS | BTree]]] = [
        ("documents", schema.DOCUMENTS, document),
        ("passages", schema.PASSAGES, passage),
        ("pages", schema.PAGES, document),
        ("manifest", schema.MANIFEST, {}),
    ]
    tables: dict[str, AsyncTable] = {}

    async def make(name: str, columns: pa.Schema, indices: "Mapping[str, FTS | BTree]") -> None:
        table = await connection.create_table(
            schema.stored_name(name), schema=columns, exist_ok=True
        )
        existing = {column for index in await table.list_indices() for column in index.columns}
        for column, config in indices.items():
            if column not in existing:
                await table.create_index(column, config=config)
        tables[name] = table

    for one in wanted:
        # Replicas that start together on an empty place all make what is missing: who comes too
        # late looks again.
        await committed(partial(make, *one))
    return tables
