"""An outage is named by whoever feels it, through the health service of the orchestrator."""

from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc

from deploy.postgres import find_postgres
from services.chassis.channel import open_channel
from services.orchestrator.store.migrate import migrate
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import eventually, orchestrator, settings_for
from tests.servers import (
    NatsServer,
    PostgresServer,
    create_database,
    free_port,
    reachable_folder,
)


async def test_the_orchestrator_names_postgres_and_nats_when_they_are_away(
    nats_server: NatsServer, peers: ResearchPeers
) -> None:
    with reachable_folder() as folder:
        found = find_postgres(folder / "postgres", "test")
        found.ensure_cluster()
        postgres = PostgresServer(found, free_port())
        postgres.start()
        try:
            await create_database(postgres, "own", template="template1")
            await migrate(postgres.url("own"))
            nowhere = f"nats://127.0.0.1:{free_port()}"
            settings = settings_for(postgres.url("own"), nowhere, peers)
            async with (
                orchestrator(settings),
                open_channel(f"127.0.0.1:{settings.port}") as channel,
            ):
                stub: Any = health_pb2_grpc.HealthStub(channel)

                async def away() -> set[str]:
                    told = await stub.List(health_pb2.HealthListRequest(), timeout=5)  # type: ignore[attr-defined]
                    return {
                        name.removeprefix("dependency/")
                        for name, one in told.statuses.items()
                        if one.status != health_pb2.HealthCheckResponse.SERVING
                    }

                async def only_nats() -> bool:
                    return await away() == {"nats"}

                async def postgres_too() -> bool:
                    return await away() == {"nats", "postgres"}

                await eventually(only_nats, "NATS is told to be away", within_s=30)
                postgres.kill()
                await eventually(postgres_too, "Postgres is told to be away", within_s=30)
                postgres.start()
                await eventually(only_nats, "Postgres is told to be back", within_s=30)
        finally:
            postgres.stop()
