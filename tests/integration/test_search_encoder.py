"""The exported encoder against the original, and queries beside a sync's work."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from deploy.model_folder import models_folder
from deploy.models import export_embedding, packaged_model
from services.search.crossing import bridged, probes
from services.search.encoder import (
    EMBEDDING_FOLDER,
    EncoderUnusable,
    OnnxEncoder,
    SentenceTransformerEncoder,
    load_encoder,
)
from services.search.encoder_lanes import encoder_lanes
from services.search.settings import Settings

# Of two vectors of one text by networks of full and of reduced precision.
LEAST_COSINE = 0.97
TEXTS = ["Sleep helps memory.", "記憶の固定化", "", "word " * 600]


@pytest.fixture(scope="module")
def models() -> Path:
    export_embedding(models_folder())
    return models_folder()


@pytest.fixture(scope="module")
def encoder(models: Path) -> OnnxEncoder:
    return OnnxEncoder(models / EMBEDDING_FOLDER)


def test_vectors_are_units_and_like_texts_are_near(encoder: OnnxEncoder) -> None:
    near, like, far = encoder.encode(
        ["Sleep strengthens memory.", "Memory profits from sleep.", "The price of copper rose."]
    )
    assert np.allclose([np.linalg.norm(one) for one in (near, like, far)], 1, atol=1e-5)
    assert near @ like > near @ far + 0.3


def test_a_batch_gives_what_each_text_gives_alone(encoder: OnnxEncoder) -> None:
    together = encoder.encode(TEXTS)
    alone = np.vstack([encoder.encode([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), encoder.dimensions)
    assert np.array_equal(together, alone)


def test_no_texts_give_no_vectors(encoder: OnnxEncoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_the_export_stays_near_the_model_by_path_and_names_its_precision(
    encoder: OnnxEncoder,
) -> None:
    original = SentenceTransformerEncoder(str(packaged_model()), device="cpu")
    cosines = (original.encode(TEXTS) * encoder.encode(TEXTS)).sum(axis=1)
    assert original.dimensions == encoder.dimensions
    assert original.encoder_id != encoder.encoder_id
    assert cosines.min() > LEAST_COSINE
    assert "/int8/" in encoder.encoder_id


def test_the_exported_encoder_needs_no_torch(models: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from services.search.encoder import OnnxEncoder;"
        f"OnnxEncoder(Path({str(models / EMBEDDING_FOLDER)!r})).encode(['x']);"
        "import services.search.assembly;"
        "sys.exit(bool({'torch', 'transformers', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_folder_without_an_export_is_one_sentence(tmp_path: Path) -> None:
    settings = Settings(index_uri=str(tmp_path), models_dir=tmp_path)
    with pytest.raises(EncoderUnusable, match=r"deploy\.models"):
        load_encoder(settings)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"encoder_id": "x"}'])
def test_a_damaged_manifest_is_one_sentence(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(EncoderUnusable):
        OnnxEncoder(tmp_path)


async def test_rows_come_back_in_the_order_of_the_texts(encoder: OnnxEncoder) -> None:
    texts = [f"{'long ' * (n % 7 * 20)}text number {n}" for n in range(20)]
    async with encoder_lanes(encoder, threads=2) as lanes:
        rows = await lanes.encode_passages(texts)
    assert np.array_equal(np.stack(rows), encoder.encode(texts))


async def test_a_query_does_not_wait_behind_the_passages_of_a_sync(encoder: OnnxEncoder) -> None:
    async with encoder_lanes(encoder) as lanes:
        bulk = asyncio.create_task(lanes.encode_passages(["word " * 300] * 24))
        await asyncio.sleep(0)
        started = time.monotonic()
        await lanes.encode_query("does a query wait?")
        waited = time.monotonic() - started
        assert not bulk.done()
        await bulk
        total = time.monotonic() - started
    # Relative, since the machine may be busy: behind the sync it would be all of it.
    assert waited < total / 4


def test_the_packaged_model_finds_meaning_in_english_only(encoder: OnnxEncoder) -> None:
    assert bridged([encoder.encode(probes())]) == ()
