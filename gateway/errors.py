"""What can go wrong towards a client, and the one table from reasons to HTTP."""

from collections.abc import Mapping

import grpc

from services.chassis.errors import INTERNAL_TEXT, RpcFailure

RETRY_AFTER_S = 2

# The stable codes of the wire and their HTTP status; docs/http-api.md publishes the same table.
STATUS_OF_CODE: dict[str, int] = {
    "INVALID_REQUEST": 400,
    "INVALID_SOURCE": 400,
    "INVALID_POSITION": 400,
    "INVALID_CURSOR": 400,
    "INVALID_HOST": 400,
    "MESSAGE_REQUIRED": 400,
    "MESSAGE_TOO_LONG": 400,
    "NO_PLAN": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN_ORIGIN": 403,
    "NOT_FOUND": 404,
    "UNKNOWN_SESSION": 404,
    "UNKNOWN_RUN": 404,
    "UNKNOWN_PASSAGE": 404,
    "UNKNOWN_DOCUMENT": 404,
    "REVIEW_NOT_FOUND": 404,
    "APPROVAL_NOT_FOUND": 404,
    "NO_PENDING_CHECKPOINT": 404,
    "METHOD_NOT_ALLOWED": 405,
    "PENDING_CHECKPOINT": 409,
    "RUN_ACTIVE": 409,
    "NO_ANSWER": 409,
    "STALE_INTERRUPT": 409,
    "VERSION_CONFLICT": 409,
    "WRONG_STATE": 409,
    "REVIEW_APPROVED": 409,
    "FEEDBACK_IN_PROGRESS": 409,
    "ROUNDS_USED": 409,
    "NO_LIBRARY": 409,
    "LIBRARY_LOCKED": 409,
    "LIBRARY_CORRUPT": 409,
    "SOURCE_UNREACHABLE": 409,
    "SOURCE_REFUSED": 409,
    "SOURCE_FIXED": 409,
    "SYNC_STOPPED": 409,
    "UNSUPPORTED_SEARCH": 409,
    "CHECKPOINT_EXPIRED": 410,
    "LINK_EXPIRED": 410,
    "TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "IDEMPOTENCY_MISMATCH": 422,
    "ACTION_NOT_OFFERED": 422,
    "LIMIT_REACHED": 429,
    "INTERNAL": 500,
    "PLANNER_FAILED": 502,
    "PEER_DOWN": 503,
    "PEER_TIMEOUT": 504,
    "DISK_FULL": 507,
}

# For a failure whose reason is not in the table: the code that its gRPC status stands for.
CODE_OF_STATUS: dict[grpc.StatusCode, str] = {
    grpc.StatusCode.INVALID_ARGUMENT: "INVALID_REQUEST",
    grpc.StatusCode.OUT_OF_RANGE: "INVALID_REQUEST",
    grpc.StatusCode.NOT_FOUND: "NOT_FOUND",
    grpc.StatusCode.UNAUTHENTICATED: "UNAUTHENTICATED",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "LIMIT_REACHED",
    grpc.StatusCode.UNAVAILABLE: "PEER_DOWN",
    # A peer that stops gives up the calls in its hands, and so does one whose deadline is over.
    grpc.StatusCode.CANCELLED: "PEER_DOWN",
    grpc.StatusCode.DEADLINE_EXCEEDED: "PEER_TIMEOUT",
}
# Where a client is told what to do in the terms of this wire, whatever words the service found.
TEXTS = {
    "PENDING_CHECKPOINT": (
        "The session waits for a decision: resolve its checkpoint with POST /chat/resume, "
        "or rewind it with POST /sessions/{id}/rewind."
    ),
}
# What the services call differently than the wire does.
PUBLIC_NAMES = {"run_id": "invocation_id"}
PEER_TROUBLE = frozenset({"PEER_DOWN", "PEER_TIMEOUT"})
RETRIED_LATER = frozenset({429, 503})


class GatewayError(Exception):
    """A failure as a client is told it."""

    def __init__(
        self,
        code: str,
        text: str,
        *,
        detail: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """The status is that of the code unless a wire has another; `more` stands in the body."""
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status or STATUS_OF_CODE[code]
        self.more = dict(more or {})
        self.detail = dict(detail or {})
        self.headers = dict(headers or {})
        if self.status in RETRIED_LATER:
            self.headers.setdefault("Retry-After", str(RETRY_AFTER_S))

    def body(self) -> dict[str, object]:
        """The JSON that the client gets."""
        return {"error": self.text, "code": self.code, "detail": self.detail, **self.more}


def internal_error() -> GatewayError:
    """A bug; its text is fixed, so that nothing of the inside leaks."""
    return GatewayError("INTERNAL", INTERNAL_TEXT)


def error_of(failure: RpcFailure, peer: str) -> GatewayError:
    """A peer's failure for the client: by its reason first, by its status second."""
    code = failure.reason
    if code not in STATUS_OF_CODE:
        code = CODE_OF_STATUS.get(failure.code, "INTERNAL")
    match code:
        case "INTERNAL":
            return internal_error()
        case "PEER_DOWN":
            text = (
                f"The {peer} process cannot be reached at the moment; try again in a few seconds."
            )
            return GatewayError(code, text, detail={"peer": peer})
        case "PEER_TIMEOUT":
            text = f"The {peer} process did not answer in time; try again."
            return GatewayError(code, text, detail={"peer": peer})
    detail = {PUBLIC_NAMES.get(name, name): value for name, value in failure.facts.items()}
    return GatewayError(code, TEXTS.get(code, failure.message), detail=detail)
