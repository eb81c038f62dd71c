"""Bring the database's schema up to date: `python -m services.orchestrator.store.migrate`."""

import asyncio
import os
import sys
from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

CONNECT_S = 10
URL_VARIABLE = "ORCHESTRATOR_DATABASE_URL"
# Any number of ours: two migrations at once wait for each other on it.
ADVISORY_LOCK = 5_805_433_001


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, made in code so that no file has to be found."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def move(connection: Connection, revision: str) -> None:
    """Upgrade or downgrade to a revision: `head`, `base` or an id."""
    config = alembic_config(connection)
    (command.downgrade if revision == "base" else command.upgrade)(config, revision)


def is_current(connection: Connection) -> bool:
    """Whether the schema is the one that this code was written for."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == head


async def migrate(url: str, revision: str = "head") -> None:
    """Move the schema of the database; safe to repeat and to run twice at once."""
    dsn = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    engine = create_async_engine(
        # The driver reads the address itself, as it does when serving: with `sslmode` and the like.
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(dsn, timeout=CONNECT_S),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK}
            )
            await connection.run_sync(move, revision)
    finally:
        await engine.dispose()


def main() -> int:
    """Migrate the database that the environment names."""
    url = os.environ.get(URL_VARIABLE)
    if not url:
        print(f"Set {URL_VARIABLE} to the database to migrate.", file=sys.stderr)
        return 2
    try:
        asyncio.run(migrate(url))
    except (OSError, DBAPIError) as error:
        print(f"The database cannot be migrated: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
