"""Steps that need consent: asked once, given or refused, and refused when nobody answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.orchestrator.consent import Consent
from services.orchestrator.settings import Settings
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers, call, conclude
from tests.integration.orchestrator_stage import orchestrator, refusal
from tests.integration.task_calls import TaskCaller, task_caller
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2

ID = "interrupt_approval_1"
APPROVE = event_pb2.DECISION_ACTION_APPROVE
REJECT = event_pb2.DECISION_ACTION_REJECT
READING = Consent(enabled=True, complexity_threshold=1, dangerous_tools=("read_document",))
QUICK = chat_pb2.TurnOptions(strategy=event_pb2.STRATEGY_QUICK)


@asynccontextmanager
async def asking(settings: Settings, consent: Consent) -> AsyncIterator[TaskCaller]:
    async with orchestrator(settings, consent=consent), task_caller(settings) as caller:
        yield caller


async def test_nothing_needs_consent_unless_it_is_configured(settings: Settings) -> None:
    async with asking(settings, Consent(dangerous_tools=("search_corpus",))) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        await tasks.completed(run_id)
        assert not any(one.HasField("request_input") for one in await tasks.events(run_id))


async def test_a_complex_search_begins_with_consent_and_what_came_with_it_steers(
    settings: Settings, peers: ResearchPeers
) -> None:
    async with asking(settings, Consent(enabled=True)) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        asked = await tasks.waiting(run_id)
        assert (asked.kind, asked.interrupt_id) == (event_pb2.CHECKPOINT_KIND_APPROVAL, ID)
        assert asked.approval.approval_id == ID
        assert asked.approval.subject == event_pb2.APPROVAL_SUBJECT_RESEARCH
        assert asked.approval.complexity == pytest.approx(0.5)
        assert asked.HasField("expires_at")
        assert not peers.synth.investigations
        reply = await tasks.decide_approval(
            run_id,
            ID,
            approved=True,
            feedback="Be brief.",
            modified_action="Titles only.",
            approved_by="Bo",
        )
        await tasks.completed(run_id)
        answered = (await tasks.events(run_id))[reply.after_sequence].checkpoint_answered
        assert (answered.action, answered.guidance) == (APPROVE, "Be brief.")
        assert (answered.modified_action, answered.approved_by) == ("Titles only.", "Bo")
        assert answered.answered_by == "ada"
        assert peers.synth.investigations[0].guidance == "Be brief. Titles only."


async def test_a_simple_search_and_an_approved_plan_need_no_more_consent(
    settings: Settings,
) -> None:
    async with asking(settings, Consent(enabled=True)) as tasks:
        await tasks.completed((await tasks.submit(QUESTION, options=QUICK)).run_id)
        reviewed = chat_pb2.TurnOptions(review_plan=True)
        run_id = (await tasks.submit(QUESTION, options=reviewed)).run_id
        await tasks.waiting(run_id)
        await tasks.approve(run_id)
        await tasks.completed(run_id)


async def test_a_refused_search_is_not_made_and_that_is_the_answer(
    settings: Settings, peers: ResearchPeers
) -> None:
    async with asking(settings, Consent(enabled=True)) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        await tasks.waiting(run_id)
        await tasks.decide_approval(run_id, ID, approved=False, feedback="Not today.")
        task = await tasks.completed(run_id)
        assert task.answer.markdown == "approval denied: Not today."
        assert not task.answer.answered
        assert not peers.synth.investigations


async def test_nobody_s_answer_in_time_is_a_refusal(settings: Settings) -> None:
    soon = settings.model_copy(update={"approval_timeout_s": 0.2})
    async with asking(soon, Consent(enabled=True)) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        task = await tasks.completed(run_id)
        assert task.answer.markdown == "approval denied: approval timeout"
        told = [one.checkpoint_answered for one in await tasks.events(run_id)]
        (answered,) = [one for one in told if one.interrupt_id]
        assert (answered.action, answered.answered_by) == (REJECT, "expiry")
        failure = await refusal(tasks.decide_approval(run_id, ID, approved=True))
        assert failure.reason == "CHECKPOINT_EXPIRED"


async def test_a_tool_is_asked_about_once_and_used_from_then_on(
    settings: Settings, peers: ResearchPeers
) -> None:
    read = call("read_document", document_id="user/ATTACH01", section_id="s1")
    again = call("read_document", document_id="user/ATTACH02", section_id="s1")
    peers.search.hits["user/ATTACH01"] = peers.search.hits["sleep"]
    peers.search.hits["user/ATTACH02"] = peers.search.hits["memory"]
    peers.synth.script = [[call("search_corpus", query="sleep"), read], [again], [conclude()]]
    async with asking(settings, READING) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        asked = await tasks.waiting(run_id)
        assert (asked.approval.subject, asked.approval.tool) == (
            event_pb2.APPROVAL_SUBJECT_TOOL,
            "read_document",
        )
        # The whole turn waits: none of its calls was made.
        assert not peers.search.calls
        await tasks.decide_approval(run_id, ID, approved=True)
        await tasks.completed(run_id)
        assert peers.search.calls["read user/ATTACH01"] == 1
        assert peers.search.calls["read user/ATTACH02"] == 1
        assert len(peers.synth.investigations) == 3


async def test_a_refused_tool_is_blocked_for_the_rest_of_the_run(
    settings: Settings, peers: ResearchPeers
) -> None:
    read = call("read_document", document_id="user/ATTACH01", section_id="s1")
    again = call("read_document", document_id="user/ATTACH02", section_id="s1")
    peers.synth.script = [[call("search_corpus", query="sleep"), read], [again], [conclude()]]
    async with asking(settings, READING) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        await tasks.waiting(run_id)
        await tasks.decide_approval(run_id, ID, approved=False)
        task = await tasks.completed(run_id)
        assert peers.search.calls == {"sleep": 1}
        results = [one.tool_result for one in await tasks.events(run_id)]
        blocked = [one for one in results if one.step_id and not one.ok]
        assert [one.step_id for one in blocked] == ["pass_0/turn_1/call_1", "pass_0/turn_2/call_0"]
        assert all("does not allow read_document" in one.notice for one in blocked)
        # The turn in which it was asked about had been admitted; later ones are not.
        assert task.usage.calls == 2


async def test_consent_is_decided_once_and_only_where_it_is_asked_for(
    settings: Settings,
) -> None:
    async with asking(settings, Consent(enabled=True)) as tasks:
        run_id = (await tasks.submit(QUESTION)).run_id
        await tasks.waiting(run_id)
        for name in ("interrupt_approval_2", "interrupt_plan", "nothing", ""):
            failure = await refusal(tasks.decide_approval(run_id, name, approved=True))
            assert failure.reason == "APPROVAL_NOT_FOUND"
        first = await tasks.decide_approval(run_id, ID, approved=True, idempotency_key="k")
        again = await tasks.decide_approval(run_id, ID, approved=True, idempotency_key="k")
        assert (again.replayed, again.after_sequence) == (True, first.after_sequence)
        late = await refusal(tasks.decide_approval(run_id, ID, approved=False))
        assert (late.reason, late.facts["action"]) == ("STALE_INTERRUPT", "approve")


async def test_a_question_for_consent_that_was_withdrawn_is_asked_again(
    settings: Settings,
) -> None:
    async with asking(settings, Consent(enabled=True)) as tasks, task_caller(settings) as caller:
        submitted = await tasks.submit(QUESTION)
        await tasks.waiting(submitted.run_id)
        await tasks.cancel(submitted.run_id)
        retry = chat_pb2.RetryRunRequest(session_id=submitted.session_id, run_id=submitted.run_id)
        await caller.chat.RetryRun(retry, **caller.calling)
        asked = await tasks.waiting(submitted.run_id)
        assert (asked.interrupt_id, asked.version) == (ID, 2)
        await tasks.decide_approval(submitted.run_id, ID, approved=True)
        await tasks.completed(submitted.run_id)
