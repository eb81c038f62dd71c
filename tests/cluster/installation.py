"""What an overlay needs from outside: its secrets, its stores, and how many of each process."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from deploy.demo.location import DEMO_LIBRARY
from deploy.demo_secrets import demo_secrets
from tests.object_storage import object_storage

Secrets = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """An overlay with what its installer brings."""

    overlay: str
    secrets: Callable[[str, str], Secrets]
    """From Postgres's password and a key for the gateway."""
    replicas: Mapping[str, int] = field(default_factory=dict)
    """As a scaler would have it, where that is not what the manifest says."""


DEMO = Installation(overlay="demo", secrets=demo_secrets)


@contextmanager
def production(replicas: Mapping[str, int]) -> Iterator[Installation]:
    """The production overlay over an object storage of its own, with the demonstration library."""
    with object_storage() as storage:
        at_storage = {
            "SEARCH_INDEX_URI": f"s3://{storage.bucket()}/index",
            "SEARCH_INDEX_STORAGE": json.dumps(dict(storage.options)),
        }
        # A library on a volume, as docs/operations.md has it: there is no Zotero server here.
        library = {"SEARCH_SOURCE": "sqlite", "SEARCH_LIBRARY_DIR": str(DEMO_LIBRARY)}

        def secrets(password: str, key: str) -> Secrets:
            return {
                **demo_secrets(password, key),
                "search-keys": at_storage,
                "search-writer-keys": library,
            }

        yield Installation(overlay="production", secrets=secrets, replicas=replicas)
