"""What the published description says holds for whatever fits it: no bug, no undescribed answer."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import given

from gateway.app import build_app
from gateway.settings import Settings
from tests.described import BOUNDED, CHECKS
from tests.e2e.conftest import Stack

# An answer takes longer only while a run is worked on.
PATIENCE_S = 60
# Points the shared stack at another library, which the other tests would notice; the tests of a
# gateway alone ask it.
LEFT_OUT = {("put", "/library/source")}

pytestmark = pytest.mark.timeout(280)


def description() -> dict[str, Any]:
    """As the gateway publishes it."""
    app: Any = build_app(Settings(skip_auth=True, environment="test"), asyncio.Event())
    while not hasattr(app, "openapi"):
        app = app._app
    described: dict[str, Any] = app.openapi()
    return described


OPERATIONS = [
    (method, path)
    for path, operations in description()["paths"].items()
    for method in operations
    if (method, path) not in LEFT_OUT
]


@pytest.fixture(scope="module")
def session(stack: Stack) -> Iterator[requests.Session]:
    with requests.Session() as opened:
        opened.trust_env = False
        opened.headers["X-API-Key"] = stack.api_key
        yield opened


@pytest.fixture(scope="module")
def published(stack: Stack, session: requests.Session) -> Any:
    """The description that the running stack publishes."""
    found = session.get(f"{stack.base_url}/openapi.json", timeout=PATIENCE_S).json()
    assert found == description()
    return schemathesis.openapi.from_dict(found)


def ask(case: Any, stack: Stack, session: requests.Session) -> Any:
    return case.call_and_validate(
        base_url=stack.base_url, session=session, checks=CHECKS, timeout=PATIENCE_S
    )


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_is_described(
    published: Any, stack: Stack, session: requests.Session, method: str, path: str
) -> None:
    operation = published[path][method.upper()]

    @BOUNDED
    @given(case=operation.as_strategy())
    def check(case: Any) -> None:
        ask(case, stack, session)

    check()


def test_every_answer_of_a_sequence_of_requests_is_described(
    published: Any, stack: Stack, session: requests.Session
) -> None:
    linked = published.include(path_regex="^/(api/v1/(tasks|sessions)|sessions)")

    class Sequences(linked.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {
                "base_url": stack.base_url,
                "session": session,
                "timeout": PATIENCE_S,
                "allow_redirects": False,
            }

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    Sequences.run(settings=BOUNDED)
