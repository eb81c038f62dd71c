"""A call of a model as a span: what it was asked, what it said, its thoughts apart."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode
from pydantic_ai import messages

from services.chassis import gen_ai
from services.chassis.gen_ai import Message, Role, Tokens, ToolCall
from services.synth.mind import Usage


class CallSpans:
    """Opens the spans of one model's calls; cheap where none are recorded."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._tracer = trace.get_tracer(__name__)

    @contextmanager
    def calling(self, transcript: Sequence[messages.ModelMessage]) -> Iterator[trace.Span]:
        """The span of a call that is read piece by piece, hence never the current one."""
        span = self._tracer.start_span(gen_ai.GENERATE)
        if span.is_recording():
            asked = [one for message in transcript for one in told(message)]
            span.set_attributes(gen_ai.model_request(self._model, asked))
        try:
            yield span
        except Exception as error:
            # The class alone: what a provider says may quote what it was sent.
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
        finally:
            span.end()


def tell_reply(span: trace.Span, reply: messages.ModelResponse, usage: Usage) -> None:
    """What the model said, and what that used."""
    if not span.is_recording():
        return
    (said,) = gen_ai.consolidated(told(reply)) or [Message(role=Role.ASSISTANT)]
    tokens = Tokens(
        input=usage.input_tokens,
        cached_input=usage.cached_input_tokens,
        output=usage.output_tokens,
        cost_usd=usage.cost_usd,
    )
    span.set_attributes(gen_ai.model_reply(said, tokens))


def told(message: messages.ModelMessage) -> Iterator[Message]:
    """The parts of a message, each with its speaker."""
    for part in message.parts:
        match part:
            case messages.SystemPromptPart(content=text):
                yield Message(role=Role.SYSTEM, text=text)
            case messages.UserPromptPart(content=str() as text):
                yield Message(role=Role.USER, text=text)
            case messages.ToolReturnPart():
                yield Message(
                    role=Role.TOOL, text=part.model_response_str(), call_id=part.tool_call_id
                )
            case messages.TextPart(content=text):
                yield Message(role=Role.ASSISTANT, text=text)
            case messages.ThinkingPart(content=text):
                yield Message(role=Role.ASSISTANT, thought=text)
            case messages.ToolCallPart():
                call = ToolCall(
                    id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str()
                )
                yield Message(role=Role.ASSISTANT, calls=(call,))
