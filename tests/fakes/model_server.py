"""A server that speaks the protocols of model providers, with replies that a test wrote down."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse


@dataclass(frozen=True)
class Reply:
    """What the model says: text, then calls; or a failure with a status."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    input_tokens: int = 120


@dataclass
class ModelServer:
    """Replies in order, the last one again and again, or as `thinks` says; requests are kept."""

    port: int
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    thinks: Callable[[Mapping[str, Any]], Reply] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: Request) -> Reply:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        if self.thinks is not None:
            return self.thinks(self.requests[-1])
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


class Running(uvicorn.Server):
    """uvicorn without its signal handlers."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """A running server on a free port; who connects before it accepts is queued."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = ModelServer(listening.getsockname()[1])
        config = uvicorn.Config(_app(server), log_level="error", lifespan="off")
        running = Running(config)
        task = asyncio.create_task(running.serve([listening]))
        try:
            yield server
        finally:
            running.should_exit = True
            await task


def _app(server: ModelServer) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        return _sent(await server.answer(request), _openai)

    @app.post("/v1/messages")
    async def messages(request: Request) -> Response:
        return _sent(await server.answer(request), _anthropic)

    @app.post("/v1beta/models/{name}:streamGenerateContent")
    async def generate(name: str, request: Request) -> Response:
        reply = await server.answer(request)
        # This protocol names the model in the path alone.
        server.requests[-1]["model"] = name
        return _sent(reply, _google)

    return app


def _sent(reply: Reply, spoken: Any) -> Response:
    if reply.status != 200:
        body = {"error": {"type": "error", "message": "Your key sk-very-secret is not right."}}
        return JSONResponse(body, reply.status, headers=dict(reply.headers))
    return StreamingResponse(spoken(reply), media_type="text/event-stream")


def _openai(reply: Reply) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        body = {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "tiny",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        return f"data: {json.dumps(body)}\n\n"

    for word in reply.text.split(" ") if reply.text else []:
        yield chunk({"role": "assistant", "content": f"{word} "})
    for index, (tool, arguments) in enumerate(reply.calls):
        function = {"name": tool, "arguments": arguments}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if reply.calls else "stop")
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": 7,
        "total_tokens": reply.input_tokens + 7,
    }
    last = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
    yield f"data: {json.dumps({**last, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def _anthropic(reply: Reply) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 1},
    }
    yield event("message_start", message=message)
    index = 0
    if reply.text:
        block: dict[str, Any] = {"type": "text", "text": ""}
        yield event("content_block_start", index=0, content_block=block)
        for word in reply.text.split(" "):
            delta = {"type": "text_delta", "text": f"{word} "}
            yield event("content_block_delta", index=0, delta=delta)
        yield event("content_block_stop", index=0)
        index = 1
    for tool, arguments in reply.calls:
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": tool, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    stop = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 7})
    yield event("message_stop")


def _google(reply: Reply) -> Iterator[str]:
    def chunk(parts: Sequence[dict[str, Any]], **more: Any) -> str:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
        usage = {"promptTokenCount": 120, "candidatesTokenCount": 7, "totalTokenCount": 127}
        body = {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": "tiny",
            "responseId": "r1",
        }
        return f"data: {json.dumps(body)}\n\n"

    for word in reply.text.split(" ") if reply.text else []:
        yield chunk([{"text": f"{word} "}])
    if reply.calls:
        calls = [{"name": tool, "args": json.loads(args)} for tool, args in reply.calls]
        yield chunk([{"functionCall": call} for call in calls])
    yield chunk([{"text": ""}], finishReason="STOP")
