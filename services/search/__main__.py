"""The search process: `python -m services.search`."""

import sys

from services.chassis.server import PortTaken, run
from services.chassis.settings import read_settings
from services.chassis.telemetry import telemetry
from services.search.assembly import serve_search
from services.search.encoder import EncoderUnusable
from services.search.errors import IndexUnusable
from services.search.settings import Settings


def main() -> int:
    """Run until asked to stop; what makes that impossible is one sentence."""
    settings = read_settings(Settings)
    code = 0
    with telemetry("search", settings.log_level):
        try:
            run(lambda stop: serve_search(settings, stop))
        except* (EncoderUnusable, IndexUnusable, PortTaken) as failures:
            print(failures.exceptions[0], file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
