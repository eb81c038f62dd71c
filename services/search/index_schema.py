"""The tables of the index and how values become rows."""

import hashlib
import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from services.search.analysis import ANALYSIS_VERSION, terms
from services.search.index_rows import (
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
    IndexedSpan,
    IndexedText,
    Kind,
    Reading,
)

# Arrow rows are dictionaries whose values have the types of the schemas below.
Row = dict[str, Any]

STRINGS = pa.list_(pa.string())

DOCUMENTS = pa.schema(
    [
        ("document_id", pa.string()),
        ("generation", pa.string()),
        ("library", pa.string()),
        ("item_key", pa.string()),
        ("attachment_key", pa.string()),
        ("kind", pa.string()),
        ("title", pa.string()),
        ("creators", STRINGS),
        ("year", pa.string()),
        ("citation_key", pa.string()),
        ("tags", STRINGS),
        ("collections", STRINGS),
        ("page_count", pa.int32()),
        ("reading", pa.string()),
        ("reading_reason", pa.string()),
        ("skip", pa.string()),
        ("fingerprint", pa.string()),
        ("passages", pa.int32()),
        ("words", pa.int32()),
        ("sections", pa.string()),  # JSON: read for one document at a time only
    ]
)
DOCUMENT_COLUMNS = [name for name in DOCUMENTS.names if name != "sections"]

PASSAGES = pa.schema(
    [
        ("passage_id", pa.string()),
        ("document_id", pa.string()),
        ("generation", pa.string()),
        ("ordinal", pa.int32()),
        ("section_id", pa.string()),
        ("section_path", STRINGS),
        ("text", pa.string()),
        ("words", pa.int32()),
        ("spans", pa.string()),  # JSON
        ("digest", pa.string()),
        ("terms", pa.string()),  # of title, section titles and text: what BM25 sees
    ]
)
PASSAGE_COLUMNS = [name for name in PASSAGES.names if name != "terms"]
# How often the words of a title count for each passage under it.
TITLE_WEIGHT = 2

PAGES = pa.schema(
    [
        ("document_id", pa.string()),
        ("generation", pa.string()),
        ("page_index", pa.int32()),
        ("page_label", pa.string()),
        ("text", pa.string()),
    ]
)

MANIFEST = pa.schema([("key", pa.string()), ("value", pa.string())])


def vectors(dimensions: int) -> pa.Schema:
    """The table of one encoder's vectors; they outlive generations, since the digest tells."""
    return pa.schema(
        [
            ("passage_id", pa.string()),
            ("document_id", pa.string()),
            ("digest", pa.string()),
            ("vector", pa.list_(pa.float32(), dimensions)),
        ]
    )


# What a library gives is kept in tables that are made anew when their columns or terms change.
LAYOUT = f"layout{ANALYSIS_VERSION}"
OF_THE_LIBRARY = ("documents", "passages", "pages")


def stored_name(table: str) -> str:
    """The name that a table is stored under."""
    return f"{table}_{LAYOUT}" if table in OF_THE_LIBRARY else table


def is_of_another_layout(name: str) -> bool:
    """Whether this is the name of a table that another version of the program fills."""
    table = name.split("_")[0]
    return table in OF_THE_LIBRARY and name != stored_name(table)


def vectors_table(encoder_id: str) -> str:
    """The name of an encoder's table."""
    return f"vectors_{hashlib.sha256(encoder_id.encode()).hexdigest()[:12]}"


def new_generation() -> str:
    """A generation that no other writer makes; its first twelve digits are the time in ms."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"


def generation_before(age_s: float) -> str:
    """The prefix that generations of this age have: older ones sort before it."""
    return f"{time.time_ns() // 1_000_000 - round(age_s * 1000):012x}"


def embedded_text(title: str, text: str) -> str:
    """What is embedded of a passage: the title gives a passage out of context its topic."""
    return f"{title}\n{text}" if title else text


def digest_of(title: str, text: str) -> str:
    """The digest of a passage's embedded text."""
    return hashlib.sha256(embedded_text(title, text).encode()).hexdigest()[:16]


def document_row(text: IndexedText) -> Row:
    """The row of a document; committed after its passages and pages."""
    document = text.document
    row = {name: getattr(document, name) for name in DOCUMENT_COLUMNS}
    row |= {"kind": document.kind.value, "reading": document.reading.value}
    row["sections"] = json.dumps([asdict(section) for section in text.sections])
    return row


def document_of(row: Row) -> IndexedDocument:
    """The document of a row."""
    lists = {name: tuple(row[name]) for name in ("creators", "tags", "collections")}
    kinds = {"kind": Kind(row["kind"]), "reading": Reading(row["reading"])}
    return IndexedDocument(**{**{name: row[name] for name in DOCUMENT_COLUMNS}, **lists, **kinds})


def documents_of(rows: pa.Table) -> dict[str, IndexedDocument]:
    """The documents of a table's rows by id."""
    return {row["document_id"]: document_of(row) for row in rows.to_pylist()}


def sections_of(row: Row) -> tuple[IndexedSection, ...]:
    """The sections of a document's row."""
    return tuple(
        IndexedSection(**{**section, "path": tuple(section["path"])})
        for section in json.loads(row["sections"])
    )


def passage_rows(text: IndexedText) -> list[Row]:
    """The rows of a document's passages."""
    title = text.document.title
    rows = []
    for passage in text.passages:
        row = {name: getattr(passage, name) for name in PASSAGE_COLUMNS}
        row["spans"] = json.dumps([asdict(span) for span in passage.spans])
        # A section that repeats the title would only make the passage look longer.
        headings = [heading for heading in passage.section_path if heading != title]
        row["terms"] = analysed(title, "\n".join(headings), passage.text)
        rows.append(row)
    return rows


def analysed(title: str, headings: str, text: str) -> str:
    """The terms of a passage, each as often as it counts, with spaces between them."""
    of_title, of_headings, of_text = terms(title, headings, text)
    return " ".join([*of_title * TITLE_WEIGHT, *of_headings, *of_text])


def passage_of(row: Row) -> IndexedPassage:
    """The passage of a row."""
    values = {name: row[name] for name in PASSAGE_COLUMNS}
    values["section_path"] = tuple(row["section_path"])
    values["spans"] = tuple(IndexedSpan(**span) for span in json.loads(row["spans"]))
    return IndexedPassage(**values)


def page_rows(text: IndexedText) -> list[Row]:
    """The rows of a document's pages."""
    key = {"document_id": text.document.document_id, "generation": text.document.generation}
    return [{**key, **asdict(page)} for page in text.pages]


def page_of(row: Row) -> IndexedPage:
    """The page of a row."""
    return IndexedPage(page_index=row["page_index"], page_label=row["page_label"], text=row["text"])


def arrow(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Rows as an Arrow table of exactly this schema."""
    return pa.Table.from_pylist(list(rows), schema=schema)


def quoted(value: str) -> str:
    """A string literal of the filter language."""
    return "'" + value.replace("'", "''") + "'"


def is_in(column: str, values: Iterable[str]) -> str:
    """A filter that a column has one of the values; never an empty list, which is no filter."""
    return f"{column} IN ({', '.join(quoted(value) for value in sorted(values))})"
