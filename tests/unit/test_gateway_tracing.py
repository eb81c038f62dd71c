"""Which trace a request names that carries none in the usual way."""

import pytest
from starlette.datastructures import Headers

from gateway.tracing import parent_named

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-8448eb211c80319c-01"


@pytest.mark.parametrize(
    ("headers", "parent"),
    [
        ({}, None),
        ({"X-Trace-ID": TRACE}, PARENT),
        ({"X-Trace-ID": f" {TRACE.upper()} "}, PARENT),
        ({"X-Request-ID": "0af76519-16cd-43dd-8448-eb211c80319c"}, PARENT),
        ({"X-Trace-ID": TRACE, "X-Request-ID": "f" * 32}, PARENT),
        ({"X-Trace-ID": "order-17", "X-Request-ID": TRACE}, None),
        ({"X-Trace-ID": TRACE, "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}, None),
        ({"X-Trace-ID": "1" * 16 + "0" * 16}, f"00-{'1' * 16}{'0' * 16}-{'1' * 16}-01"),
        ({"X-Trace-ID": "0" * 32}, None),
        ({"X-Trace-ID": "x" * 32}, None),
        ({"X-Trace-ID": "١" * 32}, None),
    ],
)
def test_a_trace_is_named_by_32_digits(headers: dict[str, str], parent: str | None) -> None:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    assert parent_named(Headers(raw=raw)) == parent
