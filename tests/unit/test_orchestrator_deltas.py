"""Pieces of an answer: coalesced, numbered by their offset, and never in the way of the answer."""

import asyncio
import json
from typing import Any

import pytest

from services.chassis.bus import BusDown
from services.orchestrator.deltas import CHARACTERS, Deltas, flowing


class Sent:
    """A publisher that remembers, or is away."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.is_away = False
        self.has_new = asyncio.Event()

    async def publish(self, subject: str, body: bytes) -> None:
        if self.is_away:
            raise BusDown("away")
        self.bodies.append({"subject": subject, **json.loads(body)})
        self.has_new.set()

    @property
    def pieces(self) -> list[tuple[int, str]]:
        return [(body["offset"], body["text"]) for body in self.bodies]


@pytest.fixture
def sent() -> Sent:
    return Sent()


def deltas_to(sent: Sent) -> Deltas:
    return Deltas(sent, session_id="s", run_id="r", attempt=2, after_sequence=lambda: 7)


async def test_small_pieces_travel_together(sent: Sent) -> None:
    async with flowing(deltas_to(sent)) as deltas:
        for word in ("one ", "two ", "three"):
            await deltas.add(word)
    assert sent.pieces == [(0, "one two three")]
    (body,) = sent.bodies
    assert body["subject"] == "zocrates.deltas.s.r"
    assert (body["attempt"], body["after_sequence"]) == (2, "7")


async def test_a_long_piece_leaves_at_once(sent: Sent) -> None:
    async with flowing(deltas_to(sent)) as deltas:
        await deltas.add("x" * CHARACTERS)
        assert sent.pieces == [(0, "x" * CHARACTERS)]
        await deltas.add("é𝄞")
        await deltas.flush()
        await deltas.add("end")
    assert sent.pieces[1:] == [(CHARACTERS, "é𝄞"), (CHARACTERS + 2, "end")]


async def test_a_small_piece_does_not_wait_for_the_next_one(sent: Sent) -> None:
    async with flowing(deltas_to(sent)) as deltas:
        await deltas.add("alone")
        await asyncio.wait_for(sent.has_new.wait(), 5)
        assert sent.pieces == [(0, "alone")]


async def test_what_nats_does_not_take_leaves_a_gap_in_the_offsets(sent: Sent) -> None:
    async with flowing(deltas_to(sent)) as deltas:
        sent.is_away = True
        await deltas.add("lost ")
        await deltas.flush()
        sent.is_away = False
        await deltas.add("kept")
    assert sent.pieces == [(5, "kept")]


async def test_a_broken_publisher_is_not_silent(sent: Sent) -> None:
    async def broken(subject: str, body: bytes) -> None:
        raise ValueError("a bug")

    sent.publish = broken  # type: ignore[method-assign]  # a bug in place of the method
    with pytest.raises(ValueError, match="a bug"):
        async with flowing(deltas_to(sent)) as deltas:
            await deltas.add("x")
