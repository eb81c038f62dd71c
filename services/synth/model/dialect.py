"""Tool calls written as text, for models without tool calls of their own. Pure.

The model is told to answer with one JSON object, {"calls": [{"tool": …, "arguments": {…}}]}. What
small models make of that is read generously: fences of code around it, prose before and after it,
a single call or a bare list, and the field names that other products taught them.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from services.synth.mind import Tool

MOST_CALLS = 32
NAMES = ("tool", "name", "function", "tool_name")
ARGUMENTS = ("arguments", "parameters", "args", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A tool and its arguments as a JSON object in text."""

    tool: str
    arguments: str


def instructions(tools: Sequence[Tool]) -> str:
    """How to call these tools in text."""
    lines = [
        "Call tools by answering with one JSON object and nothing else:",
        '{"calls": [{"tool": "<name>", "arguments": {…}}]}',
        "Several calls in one answer run side by side. The tools:",
    ]
    lines += [f"- {t.name}: {t.description} Arguments: {t.parameters_schema}" for t in tools]
    return "\n".join(lines)


def calls_in(text: str, known: frozenset[str]) -> tuple[WrittenCall, ...]:
    """The calls that the text makes; none when it is no more than prose.

    A reply that is an object of calls may name unknown tools, which are refused where tools are
    run; an object somewhere in prose counts only if it names a known one.
    """
    for value in _objects(text):
        if isinstance(value, dict) and isinstance(value.get("calls"), list):
            return tuple(call for one in value["calls"] if (call := _call(one)))[:MOST_CALLS]
        several = value if isinstance(value, list) else [value]
        calls = tuple(call for one in several if (call := _call(one)) and call.tool in known)
        if calls:
            return calls[:MOST_CALLS]
    return ()


def written(calls: Sequence[WrittenCall]) -> str:
    """The calls as the model would have written them, for its transcript."""
    entries = [f'{{"tool": {json.dumps(c.tool)}, "arguments": {c.arguments}}}' for c in calls]
    return f'{{"calls": [{", ".join(entries)}]}}'


def _objects(text: str) -> Iterator[Any]:  # whatever JSON holds
    """The JSON objects and lists in the text, outermost first."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            return
        at = min(starts)
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield value
        at = end


def _call(value: object) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    fields: dict[str, Any] = inner if isinstance(inner, dict) else value
    name = next((fields[key] for key in NAMES if isinstance(fields.get(key), str)), "")
    arguments: Any = next((fields[key] for key in ARGUMENTS if key in fields), {})
    if not name:
        return None
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return WrittenCall(tool=name, arguments=arguments)
