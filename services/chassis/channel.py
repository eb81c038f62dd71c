"""Client channels: balanced, kept alive, retried on UNAVAILABLE only, traced."""

import json

import grpc
from opentelemetry.instrumentation.grpc import aio_client_interceptors, filters

from services.chassis.identity import Identity
from services.chassis.secure_channel import SecureChannel
from services.chassis.settings import MAX_MESSAGE_BYTES
from services.chassis.telemetry import spans_are_recorded

SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    # A replica that says that it stops gets no new call.
    "healthCheckConfig": {"serviceName": ""},
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}

OPTIONS = [
    ("grpc.service_config", json.dumps(SERVICE_CONFIG)),
    ("grpc.enable_retries", 1),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # A dead peer is noticed during a long silent call; the server's options allow these pings.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # A restarted peer is found again within a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A peer that came back under another address too.
    ("grpc.dns_min_time_between_resolutions_ms", 1_000),
]


def open_channel(
    target: str, identity: Identity | None = None, *, has_spans: bool = True
) -> grpc.aio.Channel:
    """A channel to `host:port` or any gRPC target; every call on it must be given a timeout.

    With an identity it speaks over TLS; raises IdentityUnusable. A caller without spans of
    its own hands on its trace by `trace_headers`.
    """
    # Interceptors double the cost of a call; without an exporter `trace_metadata` does their work.
    tracing = (
        aio_client_interceptors(  # type: ignore[no-untyped-call]
            filter_=filters.negate(filters.health_check())
        )
        if has_spans and spans_are_recorded()
        else None
    )
    if identity is None:
        return grpc.aio.insecure_channel(target, options=OPTIONS, interceptors=tracing)

    def open_with(credentials: grpc.ChannelCredentials) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(target, credentials, options=OPTIONS, interceptors=tracing)

    return SecureChannel(identity, open_with)
