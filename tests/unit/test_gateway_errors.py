"""The published table of errors and the one in the code are the same."""

import re
from pathlib import Path

import grpc
import pytest

from gateway.errors import CODE_OF_STATUS, STATUS_OF_CODE, GatewayError, error_of
from gateway.settings import Settings
from services.chassis.errors import RpcFailure
from services.chassis.settings import environment_names

DOCS = Path(__file__).resolve().parents[2] / "docs" / "http-api.md"
# Variables that every process has, described with the configuration of the whole.
EVERYWHERE = {
    *("HOST", "PORT", "LOG_LEVEL", "DRAIN_S", "ENVIRONMENT", "TLS_FOLDER"),
    *("NATS_URL", "NATS_USER", "NATS_PASSWORD", "NATS_CA_FILE"),
}
TARGETS = {"ORCHESTRATOR_TARGET", "SEARCH_TARGET"}


def failure(code: grpc.StatusCode, reason: str) -> RpcFailure:
    return RpcFailure(code=code, reason=reason, message="Table run: no.", facts={"run_id": "b"})


def test_the_documented_codes_are_the_codes() -> None:
    documented: dict[str, int] = {}
    for row in DOCS.read_text(encoding="utf-8").splitlines():
        found = re.match(r"\| ((?:`[A-Z_]+`(?:, )?)+) \| (\d{3}) \|", row)
        if found:
            documented |= dict.fromkeys(re.findall(r"[A-Z_]+", found[1]), int(found[2]))
    assert documented == STATUS_OF_CODE


def test_the_agreed_codes_have_their_status(shared: Path) -> None:
    agreed = (shared / "design" / "wire-chat.md").read_text(encoding="utf-8")
    pairs = set(re.findall(r"\b([45]\d\d) `([A-Z_]+)`", agreed))
    assert len(pairs) >= 8
    assert {code: STATUS_OF_CODE.get(code) for _, code in pairs} == {
        code: int(status) for status, code in pairs
    }


def test_the_documented_variables_exist_and_none_is_missing() -> None:
    text = DOCS.read_text(encoding="utf-8")
    documented = set(re.findall(r"`GATEWAY_([A-Z_]+)`", text))
    names = {name.removeprefix("GATEWAY_") for name in environment_names(Settings)}
    assert documented == names - EVERYWHERE - TARGETS


@pytest.mark.parametrize("status", [429, 503])
def test_who_should_come_again_is_told_when(status: int) -> None:
    code = next(code for code, number in STATUS_OF_CODE.items() if number == status)
    assert int(GatewayError(code, "No.").headers["Retry-After"]) > 0


def test_every_status_stands_for_a_known_code() -> None:
    assert set(CODE_OF_STATUS.values()) <= set(STATUS_OF_CODE)


@pytest.mark.parametrize("status", list(grpc.StatusCode))
def test_no_failure_without_a_known_reason_leaks_more_than_its_kind(
    status: grpc.StatusCode,
) -> None:
    error = error_of(failure(status, status.name), "search")
    if error.status >= 500:
        assert "Table" not in error.text
    assert error.code == CODE_OF_STATUS.get(status, "INTERNAL")


def test_a_call_that_a_stopping_or_late_peer_gave_up_is_to_be_tried_again() -> None:
    error = error_of(failure(grpc.StatusCode.CANCELLED, "CANCELLED"), "orchestrator")
    assert (error.code, error.status) == ("PEER_DOWN", 503)


def test_a_known_reason_decides_before_the_status() -> None:
    error = error_of(failure(grpc.StatusCode.UNKNOWN, "RUN_ACTIVE"), "orchestrator")
    assert (error.status, error.text, error.detail) == (
        409,
        "Table run: no.",
        {"invocation_id": "b"},
    )
