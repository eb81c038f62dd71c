"""Starts the synth process: `python -m services.synth`."""

import asyncio
import sys

from services.chassis.metrics import Metrics, new_registry
from services.chassis.server import run, serve
from services.chassis.settings import read_settings
from services.chassis.telemetry import telemetry
from services.synth.assembly import Appointments, appoint, open_minds
from services.synth.choice import UnusableChoice
from services.synth.model_metrics import ModelMetrics
from services.synth.servicer import SynthServicer
from services.synth.settings import Settings
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1.synth_pb2_grpc import add_SynthServiceServicer_to_server


async def main(settings: Settings, appointed: Appointments, stop: asyncio.Event) -> None:
    """Serve until told to stop."""
    registry = new_registry()
    async with open_minds(appointed, ModelMetrics(registry)) as minds:
        servicer = SynthServicer(minds)
        name = pb.DESCRIPTOR.services_by_name["SynthService"].full_name
        services = {name: lambda server: add_SynthServiceServicer_to_server(servicer, server)}
        await serve(settings, services, until=stop, metrics=Metrics(registry=registry))


if __name__ == "__main__":
    settings = read_settings(Settings)
    try:
        appointed = appoint(settings)
    except UnusableChoice as unusable:
        print(f"SYNTH_MODEL: {unusable}", file=sys.stderr)
        sys.exit(2)
    with telemetry("synth", settings.log_level):
        run(lambda stop: main(settings, appointed, stop))
