"""What spans tell of models and tools."""

import json

import pytest

from services.chassis import gen_ai
from services.chassis.gen_ai import Document, Kind, Message, Role, Tokens, ToolCall

# https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
OPENINFERENCE = {
    *("LLM", "EMBEDDING", "CHAIN", "RETRIEVER", "RERANKER", "TOOL", "AGENT", "GUARDRAIL"),
    *("EVALUATOR", "PROMPT"),
}


def test_no_kind_is_outside_the_vocabulary() -> None:
    assert {kind.value for kind in Kind} <= OPENINFERENCE


def test_a_thought_keeps_its_mark_on_its_way_in_and_out() -> None:
    said = Message(role=Role.ASSISTANT, thought="Dose first.", text="Ten milligrams.")
    for told, name in (
        (gen_ai.model_reply(said, Tokens()), "gen_ai.output.messages"),
        (gen_ai.model_request("ollama:llama3.2:3b", [said]), "gen_ai.input.messages"),
    ):
        (message,) = json.loads(str(told[name]))
        assert message["parts"] == [
            {"type": "reasoning", "content": "Dose first.", "thought": True},
            {"type": "text", "content": "Ten milligrams."},
        ]


def test_a_reply_in_a_thousand_pieces_is_one_turn_with_a_thought_and_a_response() -> None:
    pieces = [
        Message(role=Role.USER, text="Which "),
        Message(role=Role.USER, text="dose?"),
        *(Message(role=Role.ASSISTANT, thought=f"t{n} ") for n in range(500)),
        *(Message(role=Role.ASSISTANT, text=f"w{n} ") for n in range(500)),
        Message(role=Role.USER, text="And why?"),
    ]
    told = gen_ai.model_request("openai:gpt-5", pieces)
    messages = json.loads(str(told["gen_ai.input.messages"]))
    assert [one["role"] for one in messages] == ["user", "assistant", "user"]
    assert messages[0]["parts"] == [{"type": "text", "content": "Which dose?"}]
    assert [part["type"] for part in messages[1]["parts"]] == ["reasoning", "text"]
    assert str(told["input.value"]).count("[assistant]") == 1
    assert str(told["input.value"]).count("Thought:") == 1
    assert str(told["input.value"]).count("Response:") == 1


def test_tool_results_stay_apart_and_name_their_call() -> None:
    turns = gen_ai.consolidated(
        [
            Message(role=Role.TOOL, text="one", call_id="a"),
            Message(role=Role.TOOL, text="two", call_id="b"),
        ]
    )
    assert [(one.text, one.call_id) for one in turns] == [("one", "a"), ("two", "b")]


def test_a_span_of_a_tool_has_no_bulk() -> None:
    found = [Document(id=f"p{n}", text="word " * 10_000, score=0.5) for n in range(200)]
    told = gen_ai.retrieval("dose", found)
    assert sum(len(str(value)) for value in told.values()) < 25_000
    assert told["retrieval.documents.0.document.score"] == 0.5
    bulk = gen_ai.gave({"text": "x" * 1_000_000})
    assert len(str(bulk["output.value"])) == gen_ai.VALUE_CHARACTERS
    # Half of a JSON object is none.
    assert bulk["output.mime_type"] == "text/plain"


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("ollama:llama3.2:3b", "ollama", "llama3.2:3b"),
        ("google:gemini-3", "gcp.gen_ai", "gemini-3"),
        ("offline", "zocrates", "offline"),
    ],
)
def test_models_are_named_as_they_are_called(model: str, provider: str, name: str) -> None:
    told = gen_ai.model_request(model, [Message(role=Role.USER, text="?")])
    assert (told["gen_ai.provider.name"], told["gen_ai.request.model"]) == (provider, name)


def test_calls_of_a_model_and_what_it_used_are_told_in_both_vocabularies() -> None:
    call = ToolCall(id="1", name="search_corpus", arguments='{"query": "naps"}')
    used = Tokens(input=9, output=2, cached_input=4, cost_usd=0.1)
    told = gen_ai.model_reply(Message(role=Role.ASSISTANT, calls=(call,)), used)
    prefix = "llm.output_messages.0.message.tool_calls.0.tool_call"
    assert told[f"{prefix}.function.name"] == "search_corpus"
    assert told["llm.token_count.total"] == 11
    assert told["gen_ai.usage.input_tokens"] == 9
    assert told["llm.cost.total"] == 0.1
