"""A gateway that cannot start says why in one sentence and exits with 2."""

import pytest

from gateway.__main__ import main


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "GATEWAY_KEYS is empty, so nobody could enter"),
        ({"GATEWAY_KEYS": "nope"}, "no valid JSON"),
        ({"GATEWAY_KEYS": '[{"key": "short", "owner": "a"}]'}, "GATEWAY_KEYS_0_KEY: "),
        ({"GATEWAY_SKIP_AUTH": "1"}, "GATEWAY_SKIP_AUTH works only with ENVIRONMENT="),
        ({"GATEWAY_SKIP_AUTH": "1", "ENVIRONMENT": "dev", "GATEWAY_PORT": "x"}, "GATEWAY_PORT: "),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    variables: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert said in line
