"""Settings that cannot be used are a sentence each, whatever the process."""

import subprocess
import sys

import pytest

PROCESSES = (
    "services.search",
    "services.rerank",
    "services.synth",
    "services.orchestrator",
    "gateway",
)


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_refuses_a_setting_in_one_sentence_and_with_exit_code_2(process: str) -> None:
    prefix = process.rpartition(".")[2].upper()
    result = subprocess.run(
        [sys.executable, "-m", process],
        env={f"{prefix}_PORT": "many", f"{prefix}_DATABASE_URL": "postgresql+asyncpg://h/d"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    (sentence,) = [line for line in result.stderr.splitlines() if "PORT" in line]
    assert sentence.startswith(f"{prefix}_PORT: Input should be a valid integer")
    assert "Traceback" not in result.stderr
