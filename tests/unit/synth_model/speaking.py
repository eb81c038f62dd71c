"""A language model that says what a test wrote down, and remembers what it was told."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry
from pydantic_ai import messages
from pydantic_ai.models.function import (
    AgentInfo,
    DeltaThinkingPart,
    DeltaToolCall,
    FunctionModel,
)

from services.synth.model.mind import LanguageModelMind
from services.synth.model.speech import Speaker
from services.synth.model_metrics import ModelMetrics

Piece = str | Exception | dict[int, DeltaToolCall] | dict[int, DeltaThinkingPart]


@dataclass
class Script:
    """Replies in order; the last one again and again."""

    replies: Sequence[Sequence[Piece]]
    heard: list[list[messages.ModelMessage]] = field(default_factory=list)
    infos: list[AgentInfo] = field(default_factory=list)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        self.counted = ModelMetrics(self.registry)

    async def speak(
        self, transcript: list[messages.ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall] | dict[int, DeltaThinkingPart]]:
        self.heard.append(transcript)
        self.infos.append(info)
        for piece in self.replies[min(len(self.heard), len(self.replies)) - 1]:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def mind(self, *, in_text: bool = False) -> LanguageModelMind:
        return LanguageModelMind(self.speaker(), calls_in_text=in_text)

    def speaker(self, *, waited: list[float] | None = None) -> Speaker:
        """What speaks; it notes how long it would have waited between attempts."""

        async def wait(seconds: float) -> None:
            if waited is not None:
                waited.append(seconds)

        return Speaker(
            FunctionModel(stream_function=self.speak),
            "function:test",
            self.counted,
            sleep=wait,
        )


def calling(*calls: tuple[str, str]) -> dict[int, DeltaToolCall]:
    """Tool calls side by side."""
    return {
        at: DeltaToolCall(name=tool, json_args=arguments, tool_call_id="same-id")
        for at, (tool, arguments) in enumerate(calls)
    }


def thinking(text: str) -> dict[int, DeltaThinkingPart]:
    return {1_000: DeltaThinkingPart(content=text)}


def script(*replies: Sequence[Piece]) -> Script:
    return Script(replies=replies)
