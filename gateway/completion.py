"""Protobuf's JSON made complete, as reading the message and writing it again would make it.

Rows reach the gateway as JSON. Making a message of each, only to write it again with the fields
that were left out, was the largest part of the gateway's work.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

Reader: TypeAlias = Callable[[object], object]

TIMESTAMP = "google.protobuf.Timestamp"
# Nearly every moment comes from a clock of microseconds and is written so already.
AS_WRITTEN = re.compile(
    r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
    r"\.\d{3}(?!000)\d{3}Z",
    re.ASCII,
)
WHOLE_64 = frozenset({FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64})


class Malformed(ValueError):
    """The JSON is not that of the message."""


def completed(values: object, kind: type[Message]) -> dict[str, object]:
    """A message's JSON with its known fields only, and with the defaults of those left out.

    Raises Malformed.
    """
    return _completed(values, kind.DESCRIPTOR)


def _completed(values: object, descriptor: Any) -> dict[str, object]:
    if not isinstance(values, Mapping):
        raise Malformed(f"{descriptor.name} is not an object")
    whole: dict[str, object] = {}
    for name, read, default in _fields(descriptor):
        value = values.get(name)
        if value is not None:
            whole[name] = value if read is None else read(value)
        elif default is not None:
            whole[name] = default()
    return whole


@cache
def _fields(
    descriptor: Any,  # as protobuf makes them, in Python or in C
) -> tuple[tuple[str, Reader | None, Callable[[], object] | None], ...]:
    """Of each field its name, what reads it, and what makes its default; None: as it is, absent."""
    return tuple((field.name, _reader(field), _default(field)) for field in descriptor.fields)


def _reader(field: Any) -> Reader | None:
    one = _one(field)
    if not field.is_repeated:
        return one

    def several(value: object) -> object:
        if not isinstance(value, list):
            raise Malformed(f"{field.name} is not a list")
        return value if one is None else [one(item) for item in value]

    return several


def _one(field: Any) -> Reader | None:
    if field.message_type is not None:
        inner = field.message_type
        return _time if inner.full_name == TIMESTAMP else lambda value: _completed(value, inner)
    if field.enum_type is not None:
        known = frozenset(field.enum_type.values_by_name)
        # A later version writes names that are not known here.
        return lambda value: value if value in known else _first_name(field)
    return str if field.cpp_type in WHOLE_64 else None


def _default(field: Any) -> Callable[[], object] | None:
    if field.is_repeated:
        return list
    if field.has_presence:
        return None
    if field.enum_type is not None:
        return lambda: _first_name(field)
    value = "0" if field.cpp_type in WHOLE_64 else field.default_value
    return lambda: value


def _first_name(field: Any) -> str:
    return str(field.enum_type.values[0].name)


def _time(value: object) -> str:
    """The moment in UTC with no, three, six or nine decimals, as protobuf writes it."""
    if isinstance(value, str) and AS_WRITTEN.fullmatch(value):
        return value
    moment = Timestamp()
    try:
        moment.FromJsonString(str(value))
    except ValueError as error:
        raise Malformed(str(error)) from error
    return str(moment.ToJsonString())
