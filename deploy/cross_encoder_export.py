"""A cross-encoder as the rerank process loads it: as saved by its library, and as a network."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deploy.model_export import ExportFailed, replacing
from deploy.networks import EIGHT_BIT, export_network, quantize_network

CROSS_ENCODER_FOLDER = "cross-encoder"
NETWORK = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
LONGEST = 512
# How alike the two models' scores of the probes must be: their correlation.
LEAST_CORRELATION = 0.98
QUESTION = "Does sleep after learning strengthen memory?"
PROBES = (
    "Sleep after learning strengthened the memory of word pairs.",
    "Participants who napped recalled more words than those who stayed awake.",
    "Caffeine shortened the reaction time of older adults.",
    "The pressure on a delta wing at supersonic speed was measured in a tunnel.",
    "Memory did not profit from sleep in this sample. " * 12,
    "The hippocampus replays recent experience during slow-wave sleep. " * 30,
    "Copper prices rose in the last quarter.",
    "記憶の固定化には睡眠が必要である。",
)


def save_cross_encoder(
    name_or_path: str, models: Path, *, least_correlation: float = LEAST_CORRELATION
) -> str:
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
        why_not = _add_network(model, name_or_path, folder, least_correlation)
    line = f"Cross-encoder {name_or_path} saved to {target}"
    return f"{line}; it needs torch to run: {why_not}" if why_not else f"{line}, with its network"


def _add_network(model: Any, name: str, folder: Path, least_correlation: float) -> str:
    """Write the network beside the model, or nothing; returns why it was not written."""
    if model.config.model_type != "bert" or model.num_labels != 1:
        return f"models of type {model.config.model_type!r} are not exported"
    if not (folder / TOKENIZER).is_file():
        return "its tokenizer has no file of its own"
    try:
        _export(model, folder)
        correlation = _correlation(model, folder)
    except (RuntimeError, ValueError, TypeError) as error:
        (folder / NETWORK).unlink(missing_ok=True)
        return f"the export failed ({error})"
    if correlation < least_correlation:
        (folder / NETWORK).unlink()
        return f"the scores of its network differ (correlation {correlation:.3f})"
    manifest = {"model": name, "max_tokens": _max_tokens(model), "precision": EIGHT_BIT}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return ""


def _export(model: Any, folder: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    class Logits(torch.nn.Module):
        def __init__(self, classifier: Any) -> None:
            super().__init__()
            self.classifier = classifier

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return self.classifier(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).logits

    # The eager attention is the one whose traced graph is free of shape checks.
    classifier = AutoModelForSequenceClassification.from_pretrained(
        str(folder), local_files_only=True, attn_implementation="eager"
    )
    whole = folder / "whole.onnx"
    names = ("input_ids", "attention_mask", "token_type_ids")
    export_network(Logits(classifier), names, "logits", whole)
    config = model.config
    quantize_network(
        whole,
        folder / NETWORK,
        heads=config.num_attention_heads,
        width=config.hidden_size,
    )
    whole.unlink()


def _correlation(model: Any, folder: Path) -> float:
    """How the logits of model and network go together over the probes."""
    import numpy as np

    wanted = model.predict(
        [(QUESTION, text) for text in PROBES], activation_fn=_unchanged, show_progress_bar=False
    )
    return float(np.corrcoef(wanted, _logits(folder, _max_tokens(model), PROBES))[0, 1])


def _logits(folder: Path, max_tokens: int, texts: Sequence[str]) -> Any:
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch([(QUESTION, text) for text in texts])
    session = onnxruntime.InferenceSession(
        str(folder / NETWORK), providers=["CPUExecutionProvider"]
    )
    fields = {
        "input_ids": np.array([one.ids for one in encodings], dtype=np.int64),
        "attention_mask": np.array([one.attention_mask for one in encodings], dtype=np.int64),
        "token_type_ids": np.array([one.type_ids for one in encodings], dtype=np.int64),
    }
    return session.run(None, fields)[0].reshape(-1)


def _max_tokens(model: Any) -> int:
    return min(int(model.max_seq_length or LONGEST), LONGEST)


def _unchanged(logits: Any) -> Any:
    return logits
