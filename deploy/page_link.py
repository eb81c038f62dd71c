"""The one-time address of the page."""

import http.client
import json
from urllib.parse import urlsplit

DEADLINE_S = 5.0


def one_time_link(base_url: str, api_key: str) -> str | None:
    """An address that opens the page with its key once, or None when the gateway gives none."""
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=DEADLINE_S)
    try:
        connection.request("POST", "/page-links", headers={"X-API-Key": api_key})
        reply = connection.getresponse()
        content = json.loads(reply.read())
        return str(content["url"]) if reply.status < http.HTTPStatus.MULTIPLE_CHOICES else None
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        # The stack runs without it; `zocrates link` asks again and tells the reason.
        return None
    finally:
        connection.close()
