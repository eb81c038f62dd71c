"""The schema that this code was written for."""

import asyncpg
from sqlalchemy import text

from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.database import Database

# Revisions begin with their date, so they are ordered. A later one is fine: migrations are safe
# under the code before them, unless they say otherwise. A test compares this with the migrations,
# which a serving process does not load.
REVISION = "2026_12_04_packed_evidence"
CURRENT = text("SELECT version_num FROM alembic_version")


class WrongSchema(Exception):
    """The database was not migrated to this code's schema."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"The database has the schema {found!r} and this program needs {REVISION!r}; "
            "run: python -m services.orchestrator.store.migrate"
        )


async def is_reachable(database: Database) -> bool:
    """Whether the database answers at this moment."""
    try:
        await database.fetch(CURRENT)
    except DatabaseDown:
        return False
    return True


async def require_schema(database: Database) -> None:
    """Raise WrongSchema for a schema that is too old; DatabaseDown when it cannot be asked."""
    try:
        rows = await database.fetch(CURRENT)
    except asyncpg.UndefinedTableError:
        raise WrongSchema("none") from None
    found = rows[0].version_num if rows else "none"
    if found == "none" or found < REVISION:
        raise WrongSchema(found)
