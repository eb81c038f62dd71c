"""Where the gateway is and which key opens it, for programs on this machine."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import site_state_path, user_data_path

URL_VARIABLE = "ZOCRATES_URL"
KEY_VARIABLE = "ZOCRATES_API_KEY"
DATA_VARIABLE = "ZOCRATES_DATA"
RUN_FILE = "run.json"
# A clean stop removes the file: where it lies, a gateway that is away is being started again.
RESTART_S = 8.0
START = "start it with: zocrates up"


class NotFound(Exception):
    """No gateway can be addressed; the text is one sentence that says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """An address and the key for it."""

    base_url: str
    api_key: str
    restart_s: float = 0.0
    """How long nothing may answer there before that is told."""


def find_gateway(environ: Mapping[str, str], data: Path | None = None) -> Location:
    """The gateway of the data folder, if one is named, of the environment, or of a usual folder.

    Raises NotFound.
    """
    if data is None and (url := environ.get(URL_VARIABLE)):
        key = environ.get(KEY_VARIABLE)
        if not key:
            raise NotFound(f"{URL_VARIABLE} is set without {KEY_VARIABLE}; set both or neither.")
        return Location(base_url=url.rstrip("/"), api_key=key)
    for folder in data_folders(environ, data):
        if (location := read_location(folder / RUN_FILE)) is not None:
            return location
    raise NotFound(f"Zocrates does not run; {START}")


def data_folders(environ: Mapping[str, str], data: Path | None) -> Iterator[Path]:
    """The folders in which a run file may lie, the named one only when one is named."""
    if data is not None:
        yield data.expanduser()
    elif value := environ.get(DATA_VARIABLE):
        yield Path(value).expanduser()
    else:
        yield user_data_path("zocrates", appauthor=False)
        # Where a stack that root started keeps its data.
        yield site_state_path("zocrates", appauthor=False)


def read_location(run_file: Path) -> Location | None:
    """What a run file says, or None when there is none; raises NotFound when it cannot be read."""
    try:
        content = json.loads(run_file.read_text(encoding="utf-8"))
        return Location(
            base_url=str(content["base_url"]),
            api_key=str(content["api_key"]),
            restart_s=RESTART_S,
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise NotFound(
            f"{str(run_file)!r} belongs to another user, who started Zocrates; "
            f"ask as that user, or set {URL_VARIABLE} and {KEY_VARIABLE}."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotFound(f"{str(run_file)!r} is damaged; start Zocrates again.") from error
