import json
from pathlib import Path

import pytest

from deploy.log_file import KEPT_FILES, LogFile
from deploy.log_lines import SHORT_CHARACTERS, Severity, read_line


def event(level: str, **fields: object) -> str:
    return json.dumps({"time": "now", "level": level, "logger": "services.x", **fields})


@pytest.mark.parametrize(
    ("raw", "severity", "text"),
    [
        (event("info", event="serving", port=1), Severity.INFO, "serving port=1"),
        (event("warning", event="bus_lost"), Severity.WARNING, "bus_lost"),
        (
            event("error", event="call_failed", method="/a", traceback="Trace\nKeyError: 'x'"),
            Severity.ERROR,
            "call_failed method=/a KeyError: 'x'",
        ),
        ("[7] 2026/01/01 10:00:00.1 [WRN] slow consumer", Severity.WARNING, "slow consumer"),
        ("[7] 2026/01/01 10:00:00.1 [INF] Server is ready", Severity.INFO, "Server is ready"),
        ("PANIC:  could not write", Severity.ERROR, "could not write"),
        ("LOG:  checkpoint starting", Severity.INFO, "checkpoint starting"),
        ('ERROR:  duplicate key value "x"', Severity.INFO, 'duplicate key value "x"'),
        ("Traceback (most recent call last):", Severity.INFO, "Traceback (most recent call last):"),
        ("{not json", Severity.INFO, "{not json"),
        ('{"json": "but no event"}', Severity.INFO, '{"json": "but no event"}'),
        ("", Severity.INFO, ""),
    ],
)
def test_a_line_is_read_with_its_severity(raw: str, severity: Severity, text: str) -> None:
    line = read_line(raw)
    assert (line.severity, line.text) == (severity, text)


def test_a_long_line_is_shortened_and_obeyed_by_no_terminal() -> None:
    text = read_line("\x1b[31m" + "x" * 1000).text
    assert len(text) == SHORT_CHARACTERS
    assert "\x1b" not in text


def test_a_log_keeps_its_last_files_only(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "search.log", most_bytes=100)
    for number in range(60):
        log.write(f"line {number:04}")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == KEPT_FILES
    assert "search.log.1" in names
    kept = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "line 0059" in kept
    assert "line 0000" not in kept


def test_a_log_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "missing" / "search.log")
    assert [log.write("a"), log.write("b"), log.write("c")] == [True, False, False]
