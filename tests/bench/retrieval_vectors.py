"""Vectors of the judged texts, kept between measurements: embedding them takes minutes."""

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from services.search.encoder import Encoder, Vectors

FILE = Path(tempfile.gettempdir()) / "zocrates-retrieval-vectors.sqlite"
BATCH = 32
LOCKED_S = 60


def vectors_of(texts: Sequence[str], encoder: Encoder, file: Path = FILE) -> Vectors:
    """One row per text; what this encoder has not embedded before is embedded and kept."""
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    with (
        closing(sqlite3.connect(file, timeout=LOCKED_S)) as store,
        ThreadPoolExecutor(os.cpu_count()) as workers,
    ):
        store.execute(
            "CREATE TABLE IF NOT EXISTS vector"
            " (encoder TEXT, text TEXT, vector BLOB, PRIMARY KEY (encoder, text)) WITHOUT ROWID"
        )
        known = {
            key: np.frombuffer(blob, dtype=np.float32)
            for key, blob in store.execute(
                "SELECT text, vector FROM vector WHERE encoder = ?", (encoder.encoder_id,)
            )
        }
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for batch in _batches(missing.items()):
            rows = np.concatenate(list(workers.map(encoder.encode, [[text] for _, text in batch])))
            found = {key: row for (key, _), row in zip(batch, rows, strict=True)}
            known |= found
            with store:
                store.executemany(
                    "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)",
                    [(encoder.encoder_id, key, row.tobytes()) for key, row in found.items()],
                )
    return np.stack([known[key] for key in keys])


def _batches(
    items: Iterable[tuple[str, str]],
) -> Iterator[list[tuple[str, str]]]:
    source = iter(items)
    while batch := list(islice(source, BATCH)):
        yield batch
