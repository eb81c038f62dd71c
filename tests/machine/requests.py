"""What is asked of the store and of the agent: turns, decisions, replies of peers."""

from dataclasses import asdict
from typing import Any
from uuid import uuid4

from hypothesis import strategies as st

from services.orchestrator import events
from services.orchestrator.ceilings import Harness
from services.orchestrator.checkpoint import Choice
from services.orchestrator.errors import PeerRefused
from services.orchestrator.run import Stage
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.runs import Turn
from tests.machine.desk import HeldCall, moves
from tests.machine.model import EXTENSIONS, Leads, RunModel

# Few calls and words, so that both ceilings are met.
HARNESS = Harness(
    max_retrieval_tools=3,
    hard_word_ceiling=100,
    max_rerank_chunks=3,
    budget_increment=2,
    word_increment=20,
    chunk_increment=1,
)
SEARCH, ASK, CONCLUDE = "search_corpus", "request_search_extension", "conclude_search"
QUERIES = ("sleep", "memory", "age", "sex")
FOUND: tuple[list[str], ...] = ([], ["a"], ["a", "b"], ["c", "d", "e"], ["f", "g", "h", "i", "j"])


def turn(owner: str, session_id: str) -> Turn:
    """A question of its own."""
    return Turn(
        owner=owner,
        session_id=session_id,
        prompt="Why sleep?",
        active_items=(),
        scope={},
        options={"max_extensions": EXTENSIONS, "hitl_enabled": True},
        ceilings=asdict(HARNESS),
        trace={},
        events=[events.stage_entered(Stage.CONVERSE, 0)],
        idempotency_key=uuid4().hex,
        body_hash=uuid4().hex,
    )


def answer(
    model: RunModel, *, extends: bool, name: str = "", guidance: str = "", key: str = ""
) -> Answer:
    """A decision on the question that waits, or on another; with a new key unless one is given."""
    return Answer(
        owner=model.target.owner,
        session_id=model.target.session_id,
        run_id=model.target.run_id,
        interrupt_id=name or model.question,
        choice=Choice.EXTEND_BUDGET if extends else Choice.SYNTHESIZE,
        guidance=guidance,
        expected_version=None if name else model.asked[model.question],
        idempotency_key=key or uuid4().hex,
        body_hash=f"{name or model.question} {extends} {guidance}",
    )


@st.composite
def replies(draw: st.DrawFn, call: HeldCall) -> tuple[Any, Leads]:
    """A reply to the call, or a failure of it, and what it leads to."""
    match call.kind:
        case "search":
            return draw(st.sampled_from(FOUND)), Leads.SOMEWHERE
        case "investigate" if (how := draw(st.integers(0, 9))) < 9:
            return _move(draw, how)
        case kind if kind != "investigate" and draw(st.integers(0, 9)) < 9:
            return None, Leads.ON
        case _:
            failure = PeerRefused("synth", "BROKEN", "The model is broken.", retryable=False)
            return failure, Leads.TO_FAILURE


def helpful(call: HeldCall, *, is_done: bool, has_gaps: bool) -> tuple[Any, Leads]:
    """A reply that brings the run on: one search a pass, then a conclusion."""
    if call.kind == "search":
        return FOUND[2], Leads.SOMEWHERE
    if call.kind != "investigate":
        return None, Leads.ON
    if not is_done:
        return moves((SEARCH, {"query": QUERIES[call.asked[0].number]})), Leads.SOMEWHERE
    gaps = ["z"] if has_gaps else []
    leads = Leads.TO_GAPS if has_gaps else Leads.TO_NO_GAPS
    return moves((CONCLUDE, {"summary": "All.", "gaps": gaps})), leads


def _move(draw: st.DrawFn, how: int) -> tuple[Any, Leads]:
    searches = [
        (SEARCH, {"query": query})
        for query in draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=2))
    ]
    asks = (ASK, {"justification": "More.", "covered_summary": "Some.", "missing_aspects": ["x"]})
    if how < 4:
        return moves(*searches), Leads.SOMEWHERE
    if how == 4:
        return moves(asks), Leads.TO_GAPS
    if how == 5:
        return moves((CONCLUDE, {"summary": "All.", "gaps": ["y"]})), Leads.TO_GAPS
    if how == 6:
        return moves((CONCLUDE, {"summary": "All.", "gaps": []})), Leads.TO_NO_GAPS
    if how == 7:
        return moves(*searches, asks), Leads.SOMEWHERE
    return moves(), Leads.SOMEWHERE
