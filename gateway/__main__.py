"""The gateway process: `python -m gateway`."""

from gateway.serving import serve
from gateway.settings import Settings
from services.chassis.server import run
from services.chassis.settings import read_settings
from services.chassis.telemetry import telemetry


def main() -> None:
    """Run until asked to stop; a setting that cannot be used is one sentence and exit code 2."""
    settings = read_settings(Settings)
    with telemetry("gateway", settings.log_level):
        run(lambda stop: serve(settings, stop))


if __name__ == "__main__":
    main()
