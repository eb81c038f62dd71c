"""The orchestrator process: `python -m services.orchestrator`."""

import asyncio
import sys

from services.chassis import server
from services.chassis.server import PortTaken
from services.chassis.settings import read_settings
from services.chassis.telemetry import telemetry
from services.orchestrator import process
from services.orchestrator.ceilings import BadNumber, harness_from
from services.orchestrator.consent import consent_from
from services.orchestrator.settings import ConfigError, Settings, read_config
from services.orchestrator.store.schema import WrongSchema


def main() -> int:
    """Run until asked to stop; a setting that cannot be used is one sentence and exit code 2."""
    settings = read_settings(Settings)
    try:
        config = read_config(settings.config_file)
        harness = harness_from(config["search_harness"])
        consent = consent_from(config["approval"])
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except BadNumber as error:
        print(f"In the configuration file {str(settings.config_file)!r}: {error}", file=sys.stderr)
        return 2

    async def work(stop: asyncio.Event) -> None:
        await process.run(settings, harness, stop, consent=consent)

    with telemetry("orchestrator", settings.log_level):
        try:
            server.run(work)
        except WrongSchema as error:
            print(error, file=sys.stderr)
            return 1
        except BaseExceptionGroup as group:
            taken, others = group.split(PortTaken)
            if taken is None or others is not None:
                raise
            print(taken.exceptions[0], file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
