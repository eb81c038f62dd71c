"""Keys, owners, libraries, one-time links, and settings that nobody can get wrong silently."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from gateway.auth import LINK_LIFE, MOST_LINKS, Doorkeeper, PageLinks
from gateway.errors import GatewayError
from gateway.settings import ApiKey, Settings

ADA = "key-of-ada-0123456789"
BOB = "key-of-bob-0123456789"


def settings(**values: Any) -> Settings:
    keys = (
        ApiKey(key=SecretStr(ADA), owner="ada"),
        ApiKey(key=SecretStr(BOB), owner="bob", libraries=("groups/7",)),
    )
    return Settings(**{"keys": keys, **values})


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_a_key_names_its_owner_and_libraries() -> None:
    caller = Doorkeeper(settings()).admit(BOB, "/chat")
    assert (caller.owner, caller.libraries) == ("bob", ("groups/7",))
    assert caller.may_read("groups/7")
    assert not caller.may_read("user")


@pytest.mark.parametrize("key", [None, "", "x", ADA[:-1], ADA + " ", ADA.upper(), "\ud800", "ä"])
def test_any_other_key_is_refused(key: str | None) -> None:
    with pytest.raises(GatewayError) as refused:
        Doorkeeper(settings()).admit(key, "/chat")
    assert refused.value.status == 401
    assert ADA not in refused.value.text


def test_a_key_may_be_written_as_clients_of_the_task_wire_write_it() -> None:
    short, whole = "sk_0123456789abcdef", "sk-shannon-fedcba9876543210"
    keys = [ApiKey(key=SecretStr(key), owner=key[:9]) for key in (short, whole)]
    keeper = Doorkeeper(settings(keys=tuple(keys)))
    written = short.replace("sk_", "sk-shannon-")
    for key, owner in ((short, "sk_012345"), (written, "sk_012345"), (whole, "sk-shanno")):
        assert keeper.admit(key, "/api/v1/tasks").owner == owner
    with pytest.raises(GatewayError):
        keeper.admit(whole.replace("sk-shannon-", "sk_"), "/api/v1/tasks")


def test_a_link_works_once() -> None:
    links = PageLinks(Clock())
    token = links.make(ADA)
    assert links.redeem(token) == ADA
    with pytest.raises(GatewayError) as refused:
        links.redeem(token)
    assert refused.value.code == "LINK_EXPIRED"


def test_a_link_works_for_ten_minutes() -> None:
    clock = Clock()
    links = PageLinks(clock)
    early, late = links.make(ADA), links.make(ADA)
    clock.now += LINK_LIFE - timedelta(seconds=1)
    assert links.redeem(early) == ADA
    clock.now += timedelta(seconds=1)
    with pytest.raises(GatewayError):
        links.redeem(late)


def test_a_link_cannot_be_guessed_and_old_ones_give_way() -> None:
    links = PageLinks(Clock())
    tokens = [links.make(ADA) for _ in range(MOST_LINKS + 1)]
    assert len(set(tokens)) == len(tokens)
    assert min(len(token) for token in tokens) >= 40
    with pytest.raises(GatewayError):
        links.redeem(tokens[0])
    assert links.redeem(tokens[1]) == ADA


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEYS", f'[{{"key": "{ADA}", "owner": "ada", "libraries": []}}]')
    monkeypatch.setenv("GATEWAY_ALLOWED_HOSTS", '["lab.example"]')
    read = Settings()
    assert read.keys[0].libraries == ()
    assert read.allowed_hosts == ("lab.example",)
    assert ADA not in repr(read)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"keys": ()}, "GATEWAY_KEYS is empty"),
        ({"keys": (), "skip_auth": True}, "GATEWAY_SKIP_AUTH works only with"),
        ({"skip_auth": True, "environment": "production"}, "GATEWAY_SKIP_AUTH works only with"),
        ({"keys": ({"key": "short", "owner": "ada"},)}, "at least 16"),
        ({"keys": ({"key": ADA, "owner": "a b"},)}, "pattern"),
        ({"keys": ({"key": ADA, "owner": "ada", "admin": True},)}, "admin"),
    ],
)
def test_settings_that_let_in_nobody_or_everybody_are_refused(
    values: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(**values)


@pytest.mark.parametrize("place", ["development", "dev", "test", "Dev"])
def test_keys_may_be_skipped_in_development_only(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVIRONMENT", place)
    caller = Doorkeeper(Settings(skip_auth=True)).admit(None, "/chat")
    assert (caller.owner, caller.libraries) == ("local", None)
