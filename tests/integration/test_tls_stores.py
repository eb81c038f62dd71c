"""Postgres and NATS over TLS, by settings alone."""

import asyncio
import re
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.chassis.bus import Bus, BusDown, Message, Stream, open_bus
from services.chassis.identity import Identity
from services.chassis.settings import BusAccess
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.database import open_database
from services.orchestrator.store.migrate import migrate
from services.orchestrator.store.schema import require_schema
from tests.certificates import Authority
from tests.servers import NatsServer, free_port
from tests.tls_front import tls_front

STREAM = Stream(
    name="secret", subjects=("secret.>",), in_memory=True, max_age_s=60, max_bytes=1024**2
)


@pytest.fixture
def identity(tmp_path: Path) -> Identity:
    Authority().sign(tmp_path / "identity")
    return Identity(folder=tmp_path / "identity")


def nats_with_tls(folder: Path, identity: Identity) -> NatsServer:
    """A server that speaks TLS only, with those who show a certificate and know the password."""
    config = folder / "nats.conf"
    config.write_text(
        f"""
        tls {{
          cert_file: "{identity.folder}/tls.crt"
          key_file: "{identity.folder}/tls.key"
          ca_file: "{identity.folder}/ca.crt"
          verify: true
        }}
        authorization {{ users: [ {{ user: zocrates, password: a-password }} ] }}
        """
    )
    return NatsServer(folder / "nats", free_port(), options=["-c", str(config)])


def access(identity: Identity, *, password: str = "a-password") -> BusAccess:
    return BusAccess(
        user="zocrates",
        password=SecretStr(password),
        ca_file=identity.folder / "ca.crt",
        identity=identity,
    )


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not holds():  # noqa: ASYNC110 (what is waited for is another process)
            await asyncio.sleep(0.02)


async def stored(bus: Bus, name: str) -> None:
    await bus.publish_stored([Message(subject="secret.a", body=b"", id=name, trace={})])


async def test_nats_is_reached_with_certificate_and_password_also_after_a_renewal(
    tmp_path: Path, identity: Identity
) -> None:
    server = nats_with_tls(tmp_path, identity)
    server.start()
    try:
        async with open_bus(server.url, "known", access=access(identity)) as bus:
            await until(lambda: bus.is_connected)
            await bus.ensure(STREAM)
            await stored(bus, "first")
            server.kill()
            await until(lambda: not bus.is_connected)
            Authority("the next one").sign(identity.folder)
            server.start()
            await until(lambda: bus.is_connected)
            await bus.ensure(STREAM)
            await stored(bus, "second")
    finally:
        server.kill()


@pytest.mark.parametrize("wrong", ["password", "certificate", "authority"])
async def test_nats_does_not_let_in_who_is_unknown(
    tmp_path: Path, identity: Identity, wrong: str
) -> None:
    Authority("somebody else").sign(tmp_path / "other")
    other = Identity(folder=tmp_path / "other")
    given = {
        "password": access(identity, password="another-password"),
        "certificate": BusAccess(ca_file=identity.folder / "ca.crt", identity=other),
        "authority": access(other),
    }[wrong]
    server = nats_with_tls(tmp_path, identity)
    server.start()
    try:
        async with open_bus(server.url, "unknown", access=given) as bus:
            await asyncio.sleep(0.5)  # time to try, which must not succeed
            with pytest.raises(BusDown):
                await stored(bus, "refused")
    finally:
        server.kill()


async def test_postgres_is_migrated_and_served_over_tls(
    database_url: str, identity: Identity, tmp_path: Path
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(identity.folder / "tls.crt", identity.folder / "tls.key")
    context.load_verify_locations(identity.folder / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    port = int(re.search(r":(\d+)/", database_url)[1])  # type: ignore[index]
    async with tls_front(context, port) as front:
        plain = database_url.replace(f":{port}/", f":{front}/")
        files = {"sslrootcert": "ca.crt", "sslcert": "tls.crt", "sslkey": "tls.key"}
        words = "&".join(f"{word}={identity.folder / name}" for word, name in files.items())
        url = f"{plain}?sslmode=verify-full&{words}"
        await migrate(url)
        async with open_database(url, pool_size=2) as database:
            await require_schema(database)
        Authority("somebody else").sign(tmp_path / "other")
        strange = url.replace(f"{identity.folder / 'ca.crt'}", f"{tmp_path / 'other/ca.crt'}")
        for refused in (f"{plain}?sslmode=disable", strange):
            async with open_database(refused, pool_size=2) as database:
                with pytest.raises((DatabaseDown, OSError)):
                    await require_schema(database)
