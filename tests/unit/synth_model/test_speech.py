"""Patience with a provider, and its failures in one sentence each."""

import asyncio
import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pydantic_ai import exceptions, messages
from pydantic_ai.exceptions import ModelHTTPError

from services.chassis.telemetry import tracer_provider
from services.synth.model import speech
from services.synth.model.errors import PASSING, ModelError
from services.synth.model.speech import Said
from tests.unit.synth_model.speaking import Script, script, thinking

ASKED = [messages.ModelRequest.user_text_prompt("Hello")]
KEY = "sk-very-secret"


@pytest.fixture
def waits() -> list[float]:
    """What would have been waited for between attempts."""
    return []


async def said_by(script: Script, waits: list[float] | None = None) -> Said:
    speaker = script.speaker(waited=waits)
    *_, last = [piece async for piece in speaker.speak(ASKED, max_tokens=100)]
    assert isinstance(last, Said)
    return last


async def test_a_call_is_a_span_with_its_thought_apart_and_its_failures_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider("test", is_recording=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    await said_by(script([_http(500)], [thinking("Greet "), thinking("back."), "Hel", "lo."]))
    failed, call = exporter.get_finished_spans()
    assert failed.status.status_code is StatusCode.ERROR
    assert KEY not in str(failed.status.description)
    assert call.name == "generate_content"
    assert call.attributes is not None
    (reply,) = json.loads(str(call.attributes["gen_ai.output.messages"]))
    assert reply["parts"] == [
        {"type": "reasoning", "content": "Greet back.", "thought": True},
        {"type": "text", "content": "Hello."},
    ]
    assert call.attributes["openinference.span.kind"] == "LLM"
    assert "Hello" in str(call.attributes["input.value"])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_provider_that_fails_for_the_moment_is_asked_again(
    status: int, waits: list[float]
) -> None:
    said = await said_by(script([_http(status)], [_http(status)], ["Hello."]), waits)
    assert (said.text, len(waits)) == ("Hello.", 2)


async def test_calls_failures_and_tokens_are_counted_by_model() -> None:
    told = script([_http(429)], [_http(500)], ["Hello."])
    await said_by(told, [])
    calls = {
        sample.labels["outcome"]: sample.value
        for family in told.registry.collect()
        for sample in family.samples
        if sample.name == "zocrates_model_calls_total"
    }
    assert calls.pop("ok") == 1
    assert sum(calls.values()) == 2
    used = told.registry.get_sample_value(
        "zocrates_model_call_tokens_total", {"model": "function:test", "direction": "output"}
    )
    assert used


async def test_what_the_provider_asks_to_wait_is_waited(waits: list[float]) -> None:
    await said_by(script([_http(429, retry_after=7.0)], ["Hello."]), waits)
    assert waits == [7.0]


async def test_a_wait_beyond_patience_is_told_instead(waits: list[float]) -> None:
    with pytest.raises(PASSING) as caught:
        await said_by(script([_http(429, retry_after=3_600.0)], ["Hello."]), waits)
    assert waits == []
    assert caught.value.facts["retry_after_s"] == "3600"


async def test_attempts_have_an_end() -> None:
    always = script([_http(503)])
    with pytest.raises(PASSING):
        await said_by(always)
    assert len(always.heard) == speech.ATTEMPTS


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "MODEL_KEY_REFUSED"), (403, "MODEL_KEY_REFUSED"), (404, "MODEL_UNKNOWN")],
)
async def test_what_waiting_cannot_mend_is_told_at_once(
    status: int, reason: str, waits: list[float]
) -> None:
    asked = script([_http(status)])
    with pytest.raises(ModelError) as caught:
        await said_by(asked, waits)
    assert caught.value.reason == reason
    assert (len(asked.heard), waits) == (1, [])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500])
async def test_no_failure_repeats_what_the_provider_said(status: int) -> None:
    with pytest.raises(ModelError) as caught:
        await said_by(script([_http(status)]))
    assert KEY not in caught.value.message
    assert KEY not in str(caught.value.facts)
    assert caught.value.message.startswith("function:test: ")


async def test_cancelling_passes_through() -> None:
    class Silent(Script):
        async def speak(self, transcript, info):  # type: ignore[no-untyped-def,override]
            yield "a"
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await said_by(Silent(replies=()))


def _http(status: int, retry_after: float | None = None) -> ModelHTTPError:
    """The failure as the library raises it for this status."""
    categories = {
        401: exceptions.ModelAuthenticationError,
        403: exceptions.ModelAuthenticationError,
        404: exceptions.ModelNotFoundError,
        429: exceptions.ModelRateLimitError,
    }
    return ModelHTTPError.for_category(
        categories.get(status),
        status_code=status,
        model_name="test",
        body={"error": {"message": f"Incorrect API key provided: {KEY}"}},
        retry_after=retry_after,
    )
