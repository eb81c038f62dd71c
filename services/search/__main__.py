"""The search process: `python -m services.search`."""

import sys

from pydantic import ValidationError

from services.chassis.server import PortTaken, run
from services.chassis.telemetry import telemetry
from services.search.assembly import serve_search
from services.search.encoder import EncoderUnusable
from services.search.errors import IndexUnusable
from services.search.settings import Settings


def main() -> int:
    """Run until asked to stop; what makes that impossible is one sentence."""
    try:
        settings = Settings()
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name = "_".join(str(part) for part in problem["loc"]).upper()
            print(f"SEARCH_{name}: {problem['msg']}.", file=sys.stderr)
        return 2
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
