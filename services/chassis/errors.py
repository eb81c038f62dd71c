"""The error family of the services and its mapping to and from `google.rpc.Status`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "zocrates"
DETAILS_KEY = "grpc-status-details-bin"
INTERNAL_TEXT = "An internal error occurred; the log of the process has the details."


class ServiceError(Exception):
    """A failure that a caller can understand: a class has a code and a reason, facts are fields."""

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL
    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.facts = {key: str(value) for key, value in facts.items()}


class InvalidRequest(ServiceError):
    """A field is malformed; the message names the field and what to send instead."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"


class Internal(ServiceError):
    """A bug. The text is fixed, so that nothing of the inside leaks."""

    def __init__(self) -> None:
        super().__init__(INTERNAL_TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcFailure:
    """What a failed call said, decoded."""

    code: grpc.StatusCode
    reason: str
    message: str
    facts: Mapping[str, str]


def status_of(error: ServiceError) -> status_pb2.Status:
    """The error as `google.rpc.Status` with one ErrorInfo."""
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=error.facts)
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=error.code.value[0], message=error.message, details=[detail])


def failure_of(error: grpc.aio.AioRpcError) -> RpcFailure:
    """Decode a failed call; `reason` is the status name when the peer sent no ErrorInfo of ours."""
    for key, value in error.trailing_metadata() or ():
        if key != DETAILS_KEY or not isinstance(value, bytes):
            continue
        for detail in status_pb2.Status.FromString(value).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info) and info.domain == DOMAIN:
                return RpcFailure(
                    code=error.code(),
                    reason=info.reason,
                    message=error.details() or "",
                    facts=dict(info.metadata),
                )
    return RpcFailure(
        code=error.code(), reason=error.code().name, message=error.details() or "", facts={}
    )
