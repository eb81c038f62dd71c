"""A model that does the same for every question and counts what it is told, token by token.

It speaks the protocol of OpenAI, so that what is counted is what a provider would be sent. Tokens
are those of the packaged model's tokenizer, which stands for any provider's.
"""

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer

from deploy.model_folder import models_folder
from services.search.encoder import EMBEDDING_FOLDER, TOKENIZER
from services.synth.model.prompts import RESEARCH_TOOL, WRITER
from tests.fakes.model_server import ModelServer, Reply, model_server

SENTENCES = 3
_NEWEST = re.compile(r"The researcher's newest message:\n(.*)\Z", re.DOTALL)
_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)
_PASSAGE_ID = re.compile(r"passage_id (\S+), document_id")
_FENCE = re.compile(r"<<DATA (\w+)\n")
_EVIDENCE = re.compile(r"^\[(\d+)\]\n<<DATA (\w+)\n[^\n]*\n(.*?)\nDATA \2>>", re.M | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request: who was asked, its tokens, and those that an earlier request began with too."""

    role: str
    tokens: int
    repeated: int
    told_twice: int
    """How many texts stand in it more than once."""


@dataclass
class CountingModel:
    """The calls so far."""

    tokenizer: Tokenizer
    calls: list[Call] = field(default_factory=list)
    _earlier: list[Sequence[int]] = field(default_factory=list)

    def think(self, request: Mapping[str, Any]) -> Reply:
        """Count the request and answer it by its role."""
        role, reply = _answered(request)
        # In the order in which caches of providers compare: the tools, then the messages.
        parts = [json.dumps(part) for part in (*request.get("tools", ()), *request["messages"])]
        text = "\n".join(parts)
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        marks = _FENCE.findall("\n".join(map(_text, request["messages"])))
        self.calls.append(
            Call(
                role=role,
                tokens=len(ids),
                repeated=max((_shared(ids, one) for one in self._earlier), default=0),
                told_twice=len(marks) - len(set(marks)),
            )
        )
        self._earlier.append(ids)
        return Reply(text=reply.text, calls=reply.calls, input_tokens=len(ids))


def _answered(request: Mapping[str, Any]) -> tuple[str, Reply]:
    tools = {tool["function"]["name"] for tool in request.get("tools", ())}
    if RESEARCH_TOOL in tools:
        return "coordinator", Reply(calls=[(RESEARCH_TOOL, _question(request))])
    if tools:
        return "search agent", _searched(request)
    if WRITER.split("\n", 1)[0] in _text(request["messages"][0]):
        return "writer", Reply(text=_written(_text(request["messages"][-1])))
    return "repairer", Reply(text="1: DROP")


def _question(request: Mapping[str, Any]) -> str:
    match = _NEWEST.search(_text(request["messages"][-1]))
    return json.dumps({"question": match.group(1) if match else ""})


def _searched(request: Mapping[str, Any]) -> Reply:
    """Two searches, a second look, the end."""
    told = "\n".join(map(_text, request["messages"]))
    match = _QUESTION.search(told)
    question = match.group(1) if match else ""
    longest = " ".join(sorted(question.split(), key=len, reverse=True)[:4])
    turn = sum(message["role"] == "assistant" for message in request["messages"])
    if turn == 0:
        queries = [question, longest]
        return Reply(calls=[("search_corpus", json.dumps({"query": one})) for one in queries])
    found = _PASSAGE_ID.findall(told)
    if turn == 1 and found:
        around = {"passage_id": found[0], "before": 3, "after": 3}
        return Reply(
            calls=[
                ("read_document", json.dumps(around)),
                ("search_corpus", json.dumps({"query": f"{longest} effect"})),
            ]
        )
    report = {"summary": question, "gaps": []}
    return Reply(calls=[("conclude_search", json.dumps(report))])


def _written(told: str) -> str:
    cited = _EVIDENCE.findall(told)[:SENTENCES]
    quotes = [(number, " ".join(text.split()[:8])) for number, _, text in cited]
    return "\n".join(f'It is reported that {quote} [{n} "{quote}"].' for n, quote in quotes)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


@contextmanager
def counting() -> Iterator[tuple[CountingModel, str]]:
    """A running counting model and its address."""
    tokenizer = Tokenizer.from_file(str(models_folder() / EMBEDDING_FOLDER / TOKENIZER))
    tokenizer.no_truncation()
    model = CountingModel(tokenizer)
    ready, done = threading.Event(), threading.Event()
    servers: list[ModelServer] = []

    async def serve() -> None:
        async with model_server() as server:
            server.thinks = model.think
            servers.append(server)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="counting-model")
    thread.start()
    try:
        ready.wait()
        yield model, f"{servers[0].url}/v1"
    finally:
        done.set()
        thread.join()
