"""Researchers who use a stack in every way that there is, one after the other."""

import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing

from deploy.demo.location import QUESTIONS
from gateway import wire
from gateway.client import Client, RunId
from gateway.sse import ServerEvent

LIST = [one["text"] for one in json.loads(QUESTIONS.read_text("utf-8"))["questions"]]
OUTSIDE_THE_LIBRARY = LIST[-2]
STRAIGHT_ON = wire.TurnOptions(hitl_enabled=False)
PLANNED = wire.TurnOptions(hitl_enabled=False, review_plan=True)


class Researchers:
    """They take turns; what came of it is counted."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = itertools.count()
        self.ends: Counter[str] = Counter()

    async def next_turn(self) -> None:
        """One more turn, of the next kind."""
        number = next(self._turns)
        question = LIST[number % len(LIST)]
        kinds = (self._straight, self._paused, self._extended, self._planned, self._stopped)
        kind = kinds[number % len(kinds)]
        state = await kind(question)
        self.ends[f"{kind.__name__.removeprefix('_')}: {state}"] += 1
        await self._client.sessions()
        await self._client.library()

    async def _straight(self, question: str) -> str:
        """A question and what follows on it in the same session."""
        ended = await last(self._client.ask(question, options=STRAIGHT_ON))
        session_id = str(ended.data["session_id"])
        more = self._client.ask("And how sure is that?", session_id=session_id, options=STRAIGHT_ON)
        ended = await last(more)
        await self._client.session(session_id)
        await self._client.delete(session_id)
        return str(ended.data["state"])

    async def _paused(self, question: str) -> str:
        """What the library cannot answer is asked about; the researcher takes what is there."""
        asked = await last(self._client.ask(OUTSIDE_THE_LIBRARY))
        return await self._decided(asked, "synthesize")

    async def _extended(self, question: str) -> str:
        """The same, but the researcher grants all that there is."""
        asked = await last(self._client.ask(OUTSIDE_THE_LIBRARY))
        while asked.name == "request_input":
            asked = await last(
                self._client.resume(run_of(asked), interrupt_of(asked), action="extend_budget")
            )
        return str(asked.data["state"])

    async def _planned(self, question: str) -> str:
        """A plan is reviewed first."""
        asked = await last(self._client.ask(question, options=PLANNED))
        return await self._decided(asked, "approve")

    async def _stopped(self, question: str) -> str:
        """The researcher thinks better of it."""
        async with aclosing(self._client.ask(question, options=STRAIGHT_ON)) as events:
            async for event in events:
                if event.name == "run_started":
                    await self._client.cancel(run_of(event))
                if event.name == "done":
                    return str(event.data["state"])
        return "no end"

    async def _decided(self, asked: ServerEvent, action: str) -> str:
        if asked.name != "request_input":
            return f"{asked.data['state']} unasked"
        decided = self._client.resume(
            run_of(asked),
            interrupt_of(asked),
            action=action,
            expected_version=int(str(asked.data["version"])),
        )
        return str((await last(decided)).data["state"])


async def last(events: AsyncIterator[ServerEvent]) -> ServerEvent:
    """The question that a run waits with, or its end."""
    seen = [event async for event in events]
    return next((one for one in reversed(seen) if one.name == "request_input"), seen[-1])


def run_of(event: ServerEvent) -> RunId:
    """Which run an event is of."""
    return RunId(
        session_id=str(event.data["session_id"]), invocation_id=str(event.data["invocation_id"])
    )


def interrupt_of(event: ServerEvent) -> str:
    """Which question it is."""
    return str(event.data["interrupt_id"])
