"""The search agent with a language model: one turn of a pass, from structured input only."""

import json
from collections.abc import AsyncGenerator, Sequence

from pydantic_ai import messages

from services.synth.mind import Investigation, InvestigationTurn, Move, Thought, Tool, ToolCall
from services.synth.model import dialect
from services.synth.model.dialect import WrittenCall
from services.synth.model.material import (
    plan_text,
    question_text,
    result_text,
    standing_text,
)
from services.synth.model.prompts import SEARCH_AGENT
from services.synth.model.speech import Musing, Pulse, Said, Speaker, SpokenCall, Utterance
from services.synth.trail import pass_mark

MAX_TOKENS = 2_000
MOST_CALLS = 32


async def investigate(
    speaker: Speaker, investigation: Investigation, *, in_text: bool
) -> AsyncGenerator[Thought | Move, None]:
    """The next calls. A reply without any ends the pass. Raises ModelError."""
    transcript = _in_text(investigation) if in_text else _native(investigation)
    tools = () if in_text else investigation.tools
    async for piece in speaker.speak(transcript, tools=tools, max_tokens=MAX_TOKENS):
        match piece:
            case Musing(text=text):
                yield Thought(text=text)
            case Utterance() | Pulse():
                # Nobody is talked to; an empty thought shows the orchestrator that work goes on.
                yield Thought(text="")
            case Said() as said:
                calls = said.calls or _written(said, investigation.tools)
                yield Move(
                    calls=_numbered(calls[:MOST_CALLS], investigation),
                    text="" if calls and not said.calls else said.text,
                    usage=said.usage,
                )


def _written(said: Said, tools: Sequence[Tool]) -> tuple[SpokenCall, ...]:
    """Calls that stand in the text: the dialect, or what a small model takes for a call."""
    known = frozenset(tool.name for tool in tools)
    return tuple(SpokenCall(one.tool, one.arguments) for one in dialect.calls_in(said.text, known))


def _numbered(calls: Sequence[SpokenCall], investigation: Investigation) -> tuple[ToolCall, ...]:
    """Ids of our own: those of some providers repeat from turn to turn."""
    turn = f"{pass_mark(investigation)}{len(investigation.transcript)}"
    return tuple(
        ToolCall(call_id=f"{turn}-{number}", tool=call.tool, arguments=call.arguments)
        for number, call in enumerate(calls)
    )


def _native(investigation: Investigation) -> list[messages.ModelMessage]:
    opening = _opening(investigation)
    parts: list[messages.ModelRequestPart] = [messages.UserPromptPart(content=opening)]
    transcript: list[messages.ModelMessage] = []
    for turn in investigation.transcript:
        transcript.append(messages.ModelRequest(parts=parts, instructions=SEARCH_AGENT))
        transcript.append(
            messages.ModelResponse(
                parts=[
                    messages.ToolCallPart(
                        tool_name=call.tool,
                        # A provider takes back only JSON, whatever its model once wrote.
                        args=call.arguments if _is_object(call.arguments) else "{}",
                        tool_call_id=call.call_id,
                    )
                    for call in turn.calls
                ]
            )
        )
        parts = list(_returns(turn))
    parts.append(messages.UserPromptPart(content=standing_text(investigation)))
    transcript.append(messages.ModelRequest(parts=parts, instructions=SEARCH_AGENT))
    return transcript


def _opening(investigation: Investigation) -> str:
    """What stays the same in all turns of a run."""
    asked = question_text(investigation.question, investigation.active_items)
    plan = plan_text(investigation.confirmed_plan, investigation.review_conversation)
    return f"{asked}\n\n{plan}" if plan else asked


def _returns(turn: InvestigationTurn) -> list[messages.ModelRequestPart]:
    results = {result.call_id: result for result in turn.results}
    return [
        messages.ToolReturnPart(
            tool_name=call.tool,
            content=result_text(results[call.call_id]) if call.call_id in results else "No result.",
            tool_call_id=call.call_id,
        )
        for call in turn.calls
    ]


def _in_text(investigation: Investigation) -> list[messages.ModelMessage]:
    """The same for a model without tool calls: calls and results are plain turns of text."""
    instructions = f"{SEARCH_AGENT}\n{dialect.instructions(investigation.tools)}"
    said = _opening(investigation)
    transcript: list[messages.ModelMessage] = []
    for turn in investigation.transcript:
        transcript.append(_user(said, instructions))
        calls = [WrittenCall(tool=call.tool, arguments=call.arguments) for call in turn.calls]
        transcript.append(
            messages.ModelResponse(parts=[messages.TextPart(content=dialect.written(calls))])
        )
        results = {result.call_id: result for result in turn.results}
        said = "\n\n".join(
            f"Result of {call.tool} {call.arguments}:\n{result_text(results[call.call_id])}"
            for call in turn.calls
            if call.call_id in results
        )
    transcript.append(_user(f"{said}\n\n{standing_text(investigation)}", instructions))
    return transcript


def _user(text: str, instructions: str) -> messages.ModelRequest:
    return messages.ModelRequest(
        parts=[messages.UserPromptPart(content=text)], instructions=instructions
    )


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
