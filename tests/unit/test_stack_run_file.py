import json
import stat
from pathlib import Path

import pytest

from deploy.run_file import Recorded, RunFile, read_run_file
from gateway.location import RESTART_S, Location, NotFound, find_gateway

RUN = RunFile(
    version="1.2.3",
    state="ready",
    base_url="http://127.0.0.1:8080",
    api_key="k" * 43,
    data="/data",
    token="t" * 32,
    library="/library",
    ports={"gateway": 8080},
    pids={"search": Recorded(pid=12, started=3.25, command=("python", "-m", "services.search"))},
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    RUN.write(tmp_path / "run.json")
    assert read_run_file(tmp_path / "run.json") == RUN


def test_only_its_owner_can_read_it_also_when_it_was_open_before(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("{}")
    path.chmod(0o644)
    RUN.write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_no_file_is_no_run(tmp_path: Path) -> None:
    assert read_run_file(tmp_path / "run.json") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pids": {}}', '{"pids": {"a": {}}}'])
def test_a_damaged_file_proves_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    assert read_run_file(tmp_path / "run.json") is None


def test_the_command_line_finds_the_gateway_that_the_stack_wrote_down(tmp_path: Path) -> None:
    RUN.write(tmp_path / "run.json")
    found = Location(base_url=RUN.base_url, api_key=RUN.api_key, restart_s=RESTART_S)
    assert find_gateway({}, tmp_path) == found
    assert find_gateway({"ZOCRATES_DATA": str(tmp_path)}) == found


def test_the_environment_names_another_gateway(tmp_path: Path) -> None:
    environ = {"ZOCRATES_URL": "http://host:1/", "ZOCRATES_API_KEY": "key"}
    assert find_gateway(environ) == Location(base_url="http://host:1", api_key="key")
    RUN.write(tmp_path / "run.json")
    assert find_gateway(environ, tmp_path).base_url == RUN.base_url


def test_an_address_without_a_key_is_one_sentence() -> None:
    with pytest.raises(NotFound, match="ZOCRATES_URL is set without ZOCRATES_API_KEY"):
        find_gateway({"ZOCRATES_URL": "http://host:1"})


def test_no_running_stack_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not run; start it with: zocrates up"):
        find_gateway({"ZOCRATES_DATA": str(tmp_path)})


def test_a_damaged_file_is_one_sentence_for_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"base_url": "x"}))
    with pytest.raises(NotFound, match="is damaged; start Zocrates again"):
        find_gateway({}, tmp_path)
