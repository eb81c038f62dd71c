"""A name server as a cluster has: the name of a service stands for the addresses of its pods."""

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

A, IN = 1, 1
ANSWER = 0x8580
"""A reply, with authority and recursion, without an error."""
NAME_OF_THE_QUESTION = 0xC00C
SECONDS = 1


class NameServer(asyncio.DatagramProtocol):
    """Answers with what the mapping holds at the moment, whatever domain a name is asked under."""

    def __init__(self, addresses: Mapping[str, Sequence[str]]) -> None:
        self._addresses = addresses
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what to answer through."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one question."""
        identifier, _, _, *_ = struct.unpack("!6H", data[:12])
        labels, end = _labels(data)
        (kind,) = struct.unpack("!H", data[end : end + 2])
        found = self._addresses.get(labels[0], ()) if kind == A else ()
        head = struct.pack("!6H", identifier, ANSWER, 1, len(found), 0, 0)
        answers = b"".join(
            struct.pack("!3HIH", NAME_OF_THE_QUESTION, A, IN, SECONDS, 4)
            + bytes(int(part) for part in address.split("."))
            for address in found
        )
        self._transport.sendto(head + data[12 : end + 4] + answers, addr)


def _labels(data: bytes) -> tuple[list[str], int]:
    """The labels of the name that is asked for, and where it ends."""
    labels, place = [], 12
    while length := data[place]:
        labels.append(data[place + 1 : place + 1 + length].decode("ascii").lower())
        place += 1 + length
    return labels, place + 1


@asynccontextmanager
async def name_server(addresses: Mapping[str, Sequence[str]]) -> AsyncIterator[int]:
    """Serve on loopback; gives the port."""
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(addresses), local_addr=("127.0.0.1", 0)
    )
    try:
        yield transport.get_extra_info("sockname")[1]
    finally:
        transport.close()
