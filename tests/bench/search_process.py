"""The real search process over an index that stands already."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc

from deploy.model_folder import models_folder
from tests.servers import free_port

START_S = 60


@contextmanager
def serving_search(folder: Path) -> Iterator[tuple[str, int]]:
    """Its address and its pid."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "services.search"],
        env={
            **os.environ,
            "SEARCH_INDEX_URI": str(folder),
            "SEARCH_MODELS_DIR": str(models_folder()),
            "SEARCH_PORT": str(port),
            "SEARCH_ROLE": "reader",
            "SEARCH_LOG_LEVEL": "WARNING",
        },
    )
    target = f"127.0.0.1:{port}"
    try:
        with grpc.insecure_channel(target) as channel:
            grpc.channel_ready_future(channel).result(timeout=START_S)
        yield target, process.pid
    finally:
        process.terminate()
        process.wait(START_S)
