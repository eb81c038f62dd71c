"""Starts the synth process: `python -m services.synth`."""

import asyncio
import sys

from services.chassis.server import run, serve
from services.chassis.telemetry import telemetry
from services.synth.offline import OfflineMind
from services.synth.servicer import SynthServicer
from services.synth.settings import OFFLINE, Settings
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1.synth_pb2_grpc import add_SynthServiceServicer_to_server


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Serve until told to stop."""
    servicer = SynthServicer(OfflineMind())
    name = pb.DESCRIPTOR.services_by_name["SynthService"].full_name
    services = {name: lambda server: add_SynthServiceServicer_to_server(servicer, server)}
    await serve(settings, services, until=stop)


if __name__ == "__main__":
    settings = Settings()
    if settings.model != OFFLINE:
        sys.exit(
            f"SYNTH_MODEL is {settings.model!r}, but language models are not in this version: "
            f"set it to {OFFLINE!r} or leave it out."
        )
    with telemetry("synth", settings.log_level):
        run(lambda stop: main(settings, stop))
