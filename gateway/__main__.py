"""The gateway process: `python -m gateway`."""

import sys

from pydantic import ValidationError
from pydantic_settings import SettingsError

from gateway.serving import serve
from gateway.settings import Settings
from services.chassis.server import run
from services.chassis.telemetry import telemetry


def main() -> int:
    """Run until asked to stop; a setting that cannot be used is one sentence and exit code 2."""
    try:
        settings = Settings()
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name = "_".join(str(part) for part in ("GATEWAY", *problem["loc"])).upper()
            text = str(problem["msg"]).removeprefix("Value error, ")
            print(f"{name}: {text}." if problem["loc"] else f"{text}.", file=sys.stderr)
        return 2
    except SettingsError as error:
        print(f"A setting of the gateway is no valid JSON: {error}.", file=sys.stderr)
        return 2
    with telemetry("gateway", settings.log_level):
        run(lambda stop: serve(settings, stop))
    return 0


if __name__ == "__main__":
    sys.exit(main())
