"""One call of a language model: pieces while it speaks, and all that it said at the end."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from pydantic_ai import exceptions, messages
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from services.chassis.telemetry import EventLog
from services.synth.mind import Tool, Usage
from services.synth.model import call_spans
from services.synth.model.call_spans import CallSpans
from services.synth.model.errors import PASSING, ModelError, named
from services.synth.model_metrics import ModelMetrics

log = EventLog(__name__)

ATTEMPTS = 4
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
# The orchestrator takes a minute of silence for a dead call; waiting must end well before.
PATIENCE_S = 40.0


@dataclass(frozen=True, slots=True)
class Musing:
    """A piece of the model's reasoning, kept apart from what it says."""

    text: str


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of what the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class Pulse:
    """The model is at work on something that is no text, such as a tool call."""


@dataclass(frozen=True, slots=True)
class SpokenCall:
    """A tool call; the arguments are as the model wrote them."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """All of one reply."""

    text: str
    calls: tuple[SpokenCall, ...]
    usage: Usage


class Speaker:
    """Calls one model, and again when it fails for the moment."""

    def __init__(
        self,
        model: Model,
        name: str,
        counted: ModelMetrics,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`sleep` waits between attempts."""
        self._model = model
        self.name = name
        self._sleep = sleep
        self._counted = counted
        self._spans = CallSpans(name)

    async def speak(
        self,
        transcript: Sequence[messages.ModelMessage],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int,
        may_restart: bool = True,
    ) -> AsyncGenerator[Musing | Utterance | Pulse | Said, None]:
        """The reply, ending with exactly one Said, which alone is sure. Raises ModelError.

        A reply that breaks off is begun again, unless `may_restart` is false and some of it was
        said: then what was shown could not be taken back.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_S
        pause = FIRST_PAUSE_S
        for attempt in range(1, ATTEMPTS + 1):
            has_spoken = False
            try:
                async with aclosing(self._attempt(transcript, tools, max_tokens)) as pieces:
                    async for piece in pieces:
                        has_spoken |= isinstance(piece, Utterance)
                        yield piece
                return
            except exceptions.AgentRunError as error:
                failure = named(error, self.name)
                self._counted.failed(self.name, failure.reason)
                wait = getattr(error, "retry_after", None)
                if wait is None:
                    wait = pause * random.uniform(0.5, 1.0)
                log.warning(
                    "model_call_failed",
                    model=self.name,
                    attempt=attempt,
                    reason=failure.reason,
                    kind=type(error).__name__,
                )
                is_last = attempt == ATTEMPTS or loop.time() + wait > until
                is_shown = has_spoken and not may_restart
                if is_shown or is_last or not isinstance(failure, PASSING):
                    raise _with_wait(failure, getattr(error, "retry_after", None)) from error
            await self._sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _attempt(
        self,
        transcript: Sequence[messages.ModelMessage],
        tools: Sequence[Tool],
        max_tokens: int,
    ) -> AsyncGenerator[Musing | Utterance | Pulse | Said, None]:
        with self._spans.calling(transcript) as span:
            async with model_request_stream(
                self._model,
                list(transcript),
                model_settings=ModelSettings(max_tokens=max_tokens),
                model_request_parameters=ModelRequestParameters(
                    function_tools=[_definition(tool) for tool in tools], allow_text_output=True
                ),
            ) as stream:
                async for event in stream:
                    yield _piece(event)
                reply = stream.get()
                said = _said(reply, stream.usage)
            call_spans.tell_reply(span, reply, said.usage)
            self._counted.ended_well(self.name, said.usage)
        yield said


def _said(reply: messages.ModelResponse, used: RequestUsage) -> Said:
    return Said(
        text="".join(part.content for part in reply.parts if isinstance(part, messages.TextPart)),
        calls=tuple(
            SpokenCall(part.tool_name, part.args_as_json_str())
            for part in reply.parts
            if isinstance(part, messages.ToolCallPart)
        ),
        usage=Usage(
            input_tokens=used.input_tokens,
            cached_input_tokens=used.cache_read_tokens,
            output_tokens=used.output_tokens,
            cost_usd=_cost(reply),
        ),
    )


def _piece(event: messages.ModelResponseStreamEvent) -> Musing | Utterance | Pulse:
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
            return Utterance(text)
        case messages.PartStartEvent(part=messages.ThinkingPart(content=text)) if text:
            return Musing(text)
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
            return Utterance(text)
        case messages.PartDeltaEvent(delta=messages.ThinkingPartDelta(content_delta=piece)):
            return Musing(piece or "")
    return Pulse()


def _definition(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=json.loads(tool.parameters_schema),
    )


def _cost(reply: messages.ModelResponse) -> float | None:
    """US dollars at the list price; None for a model without a known price."""
    try:
        return float(reply.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def _with_wait(failure: ModelError, wait: float | None) -> ModelError:
    if wait is not None:
        failure.facts["retry_after_s"] = f"{wait:.0f}"
    return failure
