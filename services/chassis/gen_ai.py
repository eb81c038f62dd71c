"""What a span of an agent's work tells, in the words of OpenInference and OpenTelemetry. Pure.

Both vocabularies are written from one description, so that they cannot tell different things.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Attributes = dict[str, str | int | float | bool]

SESSION = "session.id"
OPERATION = "gen_ai.operation.name"
KIND = "openinference.span.kind"
# The operation of a call of a model, and the name of its span.
GENERATE = "generate_content"
# What is shown of a text that is kept elsewhere, and the most of what a span takes in or gives.
EXCERPT_CHARACTERS = 200
VALUE_CHARACTERS = 4_000
MOST_DOCUMENTS = 50
# The names that OpenTelemetry has for providers whose own are others.
PROVIDERS = {"google": "gcp.gen_ai", "mistral": "mistral_ai", "offline": "zocrates"}


class Kind(StrEnum):
    """Kinds of spans, of those that OpenInference knows."""

    CHAIN = "CHAIN"
    AGENT = "AGENT"
    TOOL = "TOOL"
    LLM = "LLM"
    RETRIEVER = "RETRIEVER"
    RERANKER = "RERANKER"
    EVALUATOR = "EVALUATOR"


class Role(StrEnum):
    """Who speaks in a message to or from a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model asked for."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message, or a piece of one: reasoning apart from what is said."""

    role: Role
    text: str = ""
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    # Of a tool's message: the call that it answers.
    call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A passage that was found or ranked."""

    id: str
    text: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a model's call used."""

    input: int = 0
    cached_input: int = 0
    output: int = 0
    cost_usd: float | None = None


def of_kind(kind: Kind, session_id: str) -> Attributes:
    """What every span tells."""
    return {
        KIND: kind,
        SESSION: session_id,
        "gen_ai.conversation.id": session_id,
    }


def took(value: str | Mapping[str, Any]) -> Attributes:
    """What a span was given; nothing for nothing."""
    return _value("input", value)


def gave(value: str | Mapping[str, Any]) -> Attributes:
    """What came of it; nothing for nothing."""
    return _value("output", value)


def agent(name: str) -> Attributes:
    """An agent at work."""
    return {OPERATION: "invoke_agent", "gen_ai.agent.name": name, "agent.name": name}


def tool(name: str, call_id: str) -> Attributes:
    """A tool at work."""
    return {
        OPERATION: "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call_id,
        "tool.name": name,
    }


def retrieval(query: str, found: Sequence[Document]) -> Attributes:
    """Passages that were found for a query, best first."""
    return {
        OPERATION: "retrieval",
        "gen_ai.retrieval.query.text": capped(query, VALUE_CHARACTERS),
        **took(query),
        **_documents("retrieval.documents", found),
    }


def ranking(query: str, model: str, kept: Sequence[Document]) -> Attributes:
    """Passages that were kept for a query, best first."""
    return {
        **took(query),
        "reranker.query": capped(query, VALUE_CHARACTERS),
        "reranker.model_name": model,
        "reranker.top_k": len(kept),
        **_documents("reranker.output_documents", kept),
    }


def model_request(model: str, messages: Iterable[Message]) -> Attributes:
    """What a model is asked; the name is that of the replies, such as `ollama:llama3.2:3b`."""
    provider, _, name = model.partition(":")
    provider = PROVIDERS.get(provider, provider)
    turns = consolidated(messages)
    return {
        KIND: Kind.LLM,
        OPERATION: GENERATE,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name or model,
        "llm.provider": provider,
        "llm.model_name": name or model,
        "gen_ai.input.messages": _as_parts(turns),
        "input.value": as_text(turns),
        "input.mime_type": "text/plain",
        **_flattened("llm.input_messages", turns),
    }


def model_reply(reply: Message, tokens: Tokens) -> Attributes:
    """What a model said, and what that used."""
    turns = [reply]
    told: Attributes = {
        "gen_ai.usage.input_tokens": tokens.input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cached_input,
        "llm.token_count.prompt": tokens.input,
        "llm.token_count.completion": tokens.output,
        "llm.token_count.total": tokens.input + tokens.output,
        "llm.token_count.prompt_details.cache_read": tokens.cached_input,
        "gen_ai.output.messages": _as_parts(turns),
        "output.value": as_text(turns),
        "output.mime_type": "text/plain",
        **_flattened("llm.output_messages", turns),
    }
    if tokens.cost_usd is not None:
        told["llm.cost.total"] = tokens.cost_usd
    return told


def consolidated(messages: Iterable[Message]) -> list[Message]:
    """Turns as they were spoken: pieces of one speaker are one message, tools' results apart.

    However many pieces a reply came in, its turn has one thought and one text.
    """
    turns: list[list[Message]] = []
    for one in messages:
        goes_on = turns and turns[-1][0].role == one.role and one.role is not Role.TOOL
        if goes_on:
            turns[-1].append(one)
        else:
            turns.append([one])
    return [
        pieces[0]
        if len(pieces) == 1
        else Message(
            role=pieces[0].role,
            text="".join(piece.text for piece in pieces),
            thought="".join(piece.thought for piece in pieces),
            calls=tuple(call for piece in pieces for call in piece.calls),
        )
        for pieces in turns
    ]


def as_text(turns: Iterable[Message]) -> str:
    """Turns as a person reads them, thoughts and calls under labels of their own."""
    return "\n\n".join(f"[{one.role}]\n{_said(one)}" for one in turns)


def capped(text: str, most: int) -> str:
    """At most so many characters; what is left out is told by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _said(one: Message) -> str:
    blocks = [f"Thought:\n{one.thought}"] if one.thought else []
    if one.text:
        blocks.append(f"Response:\n{one.text}" if one.thought else one.text)
    blocks += [f"{call.name}({call.arguments})" for call in one.calls]
    return "\n\n".join(blocks)


def _value(name: str, value: str | Mapping[str, Any]) -> Attributes:
    if not value:
        return {}
    is_text = isinstance(value, str)
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # Cut JSON is none any more.
    is_json = not is_text and len(written) <= VALUE_CHARACTERS
    return {
        f"{name}.value": capped(written, VALUE_CHARACTERS),
        f"{name}.mime_type": "application/json" if is_json else "text/plain",
    }


def _documents(name: str, found: Sequence[Document]) -> Attributes:
    told: Attributes = {}
    for place, one in enumerate(found[:MOST_DOCUMENTS]):
        prefix = f"{name}.{place}.document"
        told[f"{prefix}.id"] = one.id
        if one.text:
            told[f"{prefix}.content"] = capped(one.text, EXCERPT_CHARACTERS)
        if one.score is not None:
            told[f"{prefix}.score"] = one.score
    return told


def _as_parts(turns: Iterable[Message]) -> str:
    """Messages as OpenTelemetry writes them: JSON, each with its parts."""
    return json.dumps(
        [{"role": one.role, "parts": _parts(one)} for one in turns], ensure_ascii=False
    )


def _parts(one: Message) -> list[dict[str, Any]]:
    if one.role is Role.TOOL:
        return [{"type": "tool_call_response", "id": one.call_id, "response": one.text}]
    parts: list[dict[str, Any]] = []
    if one.thought:
        # The flag beside the type is what readers of streamed parts look for.
        parts.append({"type": "reasoning", "content": one.thought, "thought": True})
    if one.text:
        parts.append({"type": "text", "content": one.text})
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in one.calls
    ]
    return parts


def _flattened(name: str, turns: Iterable[Message]) -> Attributes:
    """Messages as OpenInference writes them: an attribute for each thing in each."""
    told: Attributes = {}
    for place, one in enumerate(turns):
        prefix = f"{name}.{place}.message"
        told[f"{prefix}.role"] = one.role
        if one.thought:
            pieces = [("reasoning", one.thought), *([("text", one.text)] if one.text else [])]
            for number, (kind, text) in enumerate(pieces):
                told[f"{prefix}.contents.{number}.message_content.type"] = kind
                told[f"{prefix}.contents.{number}.message_content.text"] = text
        elif one.text:
            told[f"{prefix}.content"] = one.text
        if one.call_id:
            told[f"{prefix}.tool_call_id"] = one.call_id
        for number, call in enumerate(one.calls):
            called = f"{prefix}.tool_calls.{number}.tool_call"
            told[f"{called}.id"] = call.id
            told[f"{called}.function.name"] = call.name
            told[f"{called}.function.arguments"] = call.arguments
    return told
