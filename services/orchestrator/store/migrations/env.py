"""How Alembic runs a migration: on the connection that it is given, in the caller's transaction."""

from alembic import context

from services.orchestrator.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, compare_server_default=True)
with context.begin_transaction():
    context.run_migrations()
