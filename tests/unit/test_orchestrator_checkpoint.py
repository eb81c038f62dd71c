"""What a checkpoint shows, offers and keeps."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from services.orchestrator import checkpoint
from services.orchestrator.ceilings import Harness
from services.orchestrator.checkpoint import Choice, Kind, Progress, Question
from services.orchestrator.options import Options
from services.orchestrator.passages import Document, Evidence, Item, Passage
from services.orchestrator.run import Usage
from services.orchestrator.trigger import Ending, Report, Trigger
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2

REPORT = Report(
    summary="Sleep.",
    gaps=("memory", "age"),
    automatic=False,
    reason="",
    ending=Ending.ASKED,
    asked=True,
    justification="Two papers differ.",
)


def evidence(passage_id: str, document_id: str) -> Evidence:
    document = Document(
        id=document_id,
        item=Item(library="user", key="I"),
        attachment_key="A",
        title="T",
        creators=(),
        year="",
        citation_key="",
        kind="DOCUMENT_KIND_PDF",
        reading_state="READING_STATE_FULL",
        reading_reason="",
        page_count=1,
    )
    passage = Passage(
        id=passage_id,
        document=document,
        section_path=(),
        text="secret",
        page_spans=(),
        ordinal=0,
    )
    return Evidence(passage=passage, words=1, rank=1, similarity=None, step_key="s")


def question(extensions: int = 0, **changes: Any) -> Question:
    progress = Progress(
        harness=Harness(),
        options=Options(max_extensions=2, hitl_enabled=True),
        extensions=extensions,
        usage=Usage(calls=8, words=5_120),
        evidence=(evidence("p1", "d1"), evidence("p2", "d2"), evidence("p3", "d1")),
    )
    values: dict[str, Any] = {"version": 1, "expires_at": None, **changes}
    return checkpoint.budget_question(REPORT, Trigger.AGENT, progress, **values)


@pytest.mark.parametrize(
    ("extensions", "name", "limits", "next_limits"),
    [
        (0, "interrupt_ext_1", (10, 7_500, 15, 500_000), (15, 11_250, 20, 750_000)),
        (1, "interrupt_ext_2", (15, 11_250, 20, 750_000), (20, 15_000, 25, 1_000_000)),
    ],
)
def test_each_question_names_its_extension_and_both_limits(
    extensions: int,
    name: str,
    limits: tuple[int, ...],
    next_limits: tuple[int, ...],
) -> None:
    asked = question(extensions)
    budget = asked.payload["budget"]
    assert asked.interrupt_id == asked.payload["interrupt_id"] == name
    assert tuple(budget["limits"].values()) == limits
    assert tuple(budget["next_limits"].values()) == next_limits
    assert budget["extension_number"] == extensions + 1
    assert asked.snapshot["completed_extensions"] == list(range(1, extensions + 1))
    assert asked.snapshot["extension_count"] == extensions


def test_the_payload_and_the_snapshot_are_messages_of_the_wire() -> None:
    until = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)
    asked = question(expires_at=until)
    request = ParseDict(dict(asked.payload), event_pb2.RequestInput())
    assert request.expires_at.ToDatetime(UTC) == until
    assert request.kind == event_pb2.CHECKPOINT_KIND_BUDGET
    assert request.budget.trigger == event_pb2.EXTENSION_TRIGGER_AGENT
    assert (request.budget.used.calls, request.budget.used.passages_found) == (8, 3)
    assert request.budget.used.documents == 2
    snapshot = ParseDict(dict(asked.snapshot), chat_pb2.Snapshot())
    assert list(snapshot.seen_passage_ids) == ["p1", "p2", "p3"]
    assert list(snapshot.seen_assets) == ["d1", "d2"]
    assert snapshot.extension_requested


def test_evidence_is_kept_by_reference() -> None:
    asked = question()
    assert "secret" not in json.dumps([asked.payload, asked.snapshot])


def test_every_kind_offers_what_the_system_answers_and_says_so() -> None:
    assert set(checkpoint.OFFERED) == set(Kind)
    # A plan that nobody decides on ends its run instead.
    assert set(checkpoint.DEFAULTS) == set(Kind) - {Kind.PLAN_REVIEW}
    for kind, choices in checkpoint.OFFERED.items():
        assert checkpoint.DEFAULTS.get(kind, choices[0]) in choices
        schema = json.loads(checkpoint.response_schema(kind))
        assert schema["properties"]["action"]["enum"] == [choice.lower() for choice in choices]
        words = {"action", "message" if kind is Kind.PLAN_REVIEW else "guidance"}
        assert schema["properties"].keys() == words
        assert schema["properties"].get("guidance", {}).get("maxLength") in (
            None,
            checkpoint.MAX_GUIDANCE,
        )


def test_choices_have_the_names_of_the_wire() -> None:
    names = {name.removeprefix("DECISION_ACTION_") for name, _ in event_pb2.DecisionAction.items()}
    assert set(Choice) == names - {"UNSPECIFIED"}
    kinds = {name.removeprefix("CHECKPOINT_KIND_") for name, _ in event_pb2.CheckpointKind.items()}
    assert set(Kind) == kinds - {"UNSPECIFIED"}


def test_an_unknown_choice_is_offered_by_no_kind() -> None:
    assert checkpoint.kinds_that_offer(None) == ()
    assert checkpoint.kinds_that_offer(Choice.EXTEND_BUDGET) == (Kind.BUDGET,)
