"""Packed evidence: what a step brought is one compressed row instead of a row a passage.

Orchestrators of the version before cannot write it: stop them first.
"""

import json
import zlib
from itertools import groupby
from typing import Any

from alembic import op
from sqlalchemy import text

revision = "2026_12_04_packed_evidence"
down_revision = "2026_12_03_reviews"

PACKED = """
CREATE TABLE evidence (
    run_id text NOT NULL,
    step_key text NOT NULL,
    ordinal integer NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (run_id, step_key),
    CONSTRAINT fk_evidence_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
)
"""
LOOSE = """
CREATE TABLE evidence (
    run_id text NOT NULL,
    passage_id text NOT NULL,
    ordinal integer NOT NULL,
    step_key text NOT NULL,
    words integer NOT NULL,
    rank integer NOT NULL,
    similarity double precision,
    text text NOT NULL,
    passage jsonb NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (run_id, passage_id),
    CONSTRAINT fk_evidence_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
)
"""
# The content is compressed already.
AS_IT_IS = "ALTER TABLE evidence ALTER COLUMN content SET STORAGE EXTERNAL"
AWAY = (
    "ALTER TABLE evidence RENAME TO evidence_before",
    "ALTER TABLE evidence_before DROP CONSTRAINT pk_evidence",
    "ALTER TABLE evidence_before DROP CONSTRAINT fk_evidence_run_id",
)
RUNS = text("SELECT DISTINCT run_id FROM evidence_before")
READ = text("SELECT * FROM evidence_before WHERE run_id = :run_id ORDER BY ordinal")
WRITE_PACKED = text("INSERT INTO evidence VALUES (:run_id, :step_key, :ordinal, :content)")
WRITE_LOOSE = text("""
    INSERT INTO evidence VALUES (:run_id, :passage_id, :ordinal, :step_key, :words, :rank,
                                 :similarity, :text, CAST(:passage AS jsonb))
""")


def upgrade() -> None:
    for statement in (*AWAY, PACKED, AS_IT_IS):
        op.execute(statement)
    connection = op.get_bind()
    for run in connection.execute(RUNS).all():
        rows = connection.execute(READ, {"run_id": run.run_id}).all()
        for step_key, found in groupby(rows, lambda row: row.step_key):
            passages = list(found)
            packed = {
                "run_id": run.run_id,
                "step_key": step_key,
                "ordinal": passages[0].ordinal,
                "content": zlib.compress(json.dumps(_packed(passages)).encode(), 1),
            }
            connection.execute(WRITE_PACKED, packed)
    op.execute("DROP TABLE evidence_before")


def downgrade() -> None:
    for statement in (*AWAY, LOOSE):
        op.execute(statement)
    connection = op.get_bind()
    for run in connection.execute(RUNS).all():
        for row in connection.execute(READ, {"run_id": run.run_id}).all():
            documents, passages = json.loads(zlib.decompress(row.content))
            for ordinal, passage in enumerate(passages, start=row.ordinal):
                loose = {"run_id": run.run_id, "step_key": row.step_key, "ordinal": ordinal}
                connection.execute(WRITE_LOOSE, {**loose, **_loose(passage, documents)})
    op.execute("DROP TABLE evidence_before")


def _packed(rows: list[Any]) -> list[Any]:  # rows of the table
    documents: list[dict[str, Any]] = []
    passages = []
    for row in rows:
        document = dict(row.passage["document"])
        document["item"] = {"library": document.pop("library"), "key": document.pop("key")}
        if document not in documents:
            documents.append(document)
        spans = [
            {"start": start, "end": end, "page_index": page_index, "page_label": label}
            for start, end, page_index, label in row.passage["page_spans"]
        ]
        where = (row.passage_id, documents.index(document), row.passage["section_path"])
        rest = (row.passage["ordinal"], row.words, row.rank, row.similarity)
        passages.append([*where, row.text, spans, *rest])
    return [documents, passages]


def _loose(passage: list[Any], documents: list[dict[str, Any]]) -> dict[str, Any]:
    passage_id, place, section_path, text_of_it, spans, ordinal, words, rank, similarity = passage
    document = dict(documents[place])
    item = document.pop("item")
    content = {
        "document": {**document, **item},
        "section_path": section_path,
        "page_spans": [list(span.values()) for span in spans],
        "ordinal": ordinal,
    }
    return {
        "passage_id": passage_id,
        "words": words,
        "rank": rank,
        "similarity": similarity,
        "text": text_of_it,
        "passage": json.dumps(content),
    }
