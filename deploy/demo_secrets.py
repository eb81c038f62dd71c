"""Secrets for trying the demo overlay: `python -m deploy.demo_secrets | kubectl apply -f -`.

Each run makes new ones, so that no two installations share any; the key for the gateway is said on
standard error. A running Postgres keeps the password that it was made with: delete its volume, or
keep the secrets.
"""

import json
import secrets
import sys
from collections.abc import Mapping

NAMESPACE = "zocrates"
OWNER = "local"


def demo_secrets(password: str, key: str) -> Mapping[str, Mapping[str, str]]:
    """The environment that each secret of the overlay holds, by its name."""
    url = f"postgresql+asyncpg://zocrates:{password}@postgres:5432/zocrates"
    keys = [{"key": key, "owner": OWNER, "libraries": None}]
    return {
        "postgres-password": {"POSTGRES_PASSWORD": password},
        "orchestrator-database": {"ORCHESTRATOR_DATABASE_URL": url},
        "gateway-keys": {"GATEWAY_KEYS": json.dumps(keys)},
    }


def as_manifest(contents: Mapping[str, Mapping[str, str]]) -> Mapping[str, object]:
    """The secrets as one object that kubectl takes."""
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "stringData": dict(values),
            }
            for name, values in contents.items()
        ],
    }


def main() -> None:
    """Print the manifest, and beside it the key."""
    key = secrets.token_urlsafe(32)
    print(json.dumps(as_manifest(demo_secrets(secrets.token_urlsafe(24), key)), indent=2))
    print(f"The key for the gateway: {key}", file=sys.stderr)


if __name__ == "__main__":
    main()
