"""Processes over TLS: who is heard, and certificates that are renewed while they run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.chassis import secure_channel
from services.chassis.channel import open_channel
from services.chassis.identity import Identity, IdentityUnusable, Renewed
from services.chassis.server import Running, serving
from services.chassis.settings import read_settings
from services.synth.settings import Settings
from tests.certificates import Authority


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def identity(authority: Authority, tmp_path: Path) -> Identity:
    authority.sign(tmp_path / "identity")
    return Identity(folder=tmp_path / "identity")


async def ask(channel: grpc.aio.Channel) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    await stub.Check(health_pb2.HealthCheckRequest(), timeout=5)


async def refused(channel: grpc.aio.Channel) -> bool:
    try:
        await ask(channel)
    except grpc.aio.AioRpcError as error:
        return error.code() is grpc.StatusCode.UNAVAILABLE
    return False


@asynccontextmanager
async def between(server: Identity, caller: Identity | None) -> AsyncIterator[grpc.aio.Channel]:
    async with (
        serving({}, identity=server, drain_s=0.1) as running,
        open_channel(at(running), caller) as channel,
    ):
        yield channel


def at(running: Running) -> str:
    return f"127.0.0.1:{running.port}"


async def test_processes_of_one_authority_hear_each_other(identity: Identity) -> None:
    async with between(identity, identity) as channel:
        await ask(channel)
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest(), timeout=5)
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING


async def test_whoever_shows_no_certificate_of_the_authority_is_not_heard(
    identity: Identity, tmp_path: Path
) -> None:
    Authority("somebody else").sign(tmp_path / "other")
    other = Identity(folder=tmp_path / "other")
    async with between(identity, other) as stranger:
        assert await refused(stranger)
    async with between(identity, None) as plain:
        assert await refused(plain)


async def test_renewed_certificates_of_another_authority_are_used_without_a_restart(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secure_channel, "LOOK_EVERY_S", 0.0)
    async with serving({}, identity=identity, drain_s=0.1) as running:
        async with open_channel(at(running), identity) as caller:
            await ask(caller)
            Authority("the next one").sign(identity.folder)

            async def goes_on() -> bool:
                return not await refused(caller)

            await until(goes_on)
        # Who still shows what the former authority signed is a stranger now.
        async with open_channel(at(running), identity) as newcomer:
            await until(lambda: answered(newcomer))


async def answered(channel: grpc.aio.Channel) -> bool:
    return not await refused(channel)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await holds():
            continue


def test_half_renewed_files_are_not_taken(
    identity: Identity, authority: Authority, tmp_path: Path
) -> None:
    renewed = Renewed(identity)
    former = renewed.papers
    authority.sign(tmp_path / "next")
    (identity.folder / "tls.crt").write_bytes((tmp_path / "next/tls.crt").read_bytes())
    assert not renewed.look()
    assert renewed.papers == former
    (identity.folder / "tls.key").write_bytes((tmp_path / "next/tls.key").read_bytes())
    assert renewed.look()
    assert renewed.papers != former
    assert not renewed.look()


def test_a_folder_without_an_identity_is_one_sentence(
    identity: Identity,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SYNTH_TLS_FOLDER", str(identity.folder))
    assert read_settings(Settings).identity == identity
    monkeypatch.setenv("SYNTH_TLS_FOLDER", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit) as ended:
        read_settings(Settings)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("SYNTH_TLS_FOLDER: The folder ")
    assert len(said.splitlines()) == 1
    with pytest.raises(IdentityUnusable):
        Identity(folder=tmp_path).read()
