"""What a folder with an exported model holds: a network, its tokenizer and a manifest."""

import os
from pathlib import Path

import onnxruntime
from pydantic import BaseModel, ValidationError
from tokenizers import Tokenizer

from services.rerank.scoring import ModelUnusable

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"


class Manifest(BaseModel, frozen=True, protected_namespaces=()):
    """What the export says about itself."""

    model: str
    max_tokens: int
    precision: str = "fp32"


def load_manifest(folder: Path) -> Manifest:
    """The manifest of an export; raises ModelUnusable."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
    except OSError as error:
        raise ModelUnusable(
            f"There is no exported embedding model in {folder}; "
            "make it with `python -m deploy.models`."
        ) from error
    except ValidationError as error:
        raise ModelUnusable(
            f"{folder / MANIFEST_FILE} is damaged; remove it and run `python -m deploy.models`."
        ) from error


def load_tokenizer(file: Path, *, max_tokens: int) -> Tokenizer:
    """The tokenizer, which cuts texts to the model's length; raises ModelUnusable."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception
        raise ModelUnusable(f"The tokenizer {file} cannot be loaded: {error}.") from error
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer


def threads_or_default(threads: int) -> int:
    """The threads asked for; 0 is one per processor, at most four."""
    return threads or min(4, os.cpu_count() or 1)


def load_session(
    file: Path, options: onnxruntime.SessionOptions, *, threads: int
) -> onnxruntime.InferenceSession:
    """The network, ready to run; raises ModelUnusable."""
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep instead of spinning: the processor is shared with the other processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors share no public base class
        raise ModelUnusable(f"The exported model {file} cannot be loaded: {error}.") from error
