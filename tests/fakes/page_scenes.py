"""Runs as the page meets them, with everything that it can show."""

from typing import Any

from tests.fakes.gateway_peers import AT, RecordedRun, question
from tests.fakes.gateway_stage import Stage
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as ev
from zocrates.search.v1 import search_pb2 as search

TITLES = {
    "NAPS2020": "Afternoon naps and memory consolidation in older adults: a randomised trial",
    "SPIN2018": "Sleep spindles predict what is kept",
    "DOSE2022": "How long a nap must be: a dose-response study in three laboratories",
}
AUTHORS = {
    "NAPS2020": ["Ana Iglesias", "Per Møller"],
    "SPIN2018": ["Rei Tanaka"],
    "DOSE2022": ["Sleep and Ageing Group"],
}
PLANS = (
    "Search for trials of naps in adults over 60.\n\n- memory for words\n- memory for places",
    "Search for trials of naps in adults over 60 and in students.\n\n"
    "- memory for words\n- memory for places\n- how long the nap was",
)
ANSWER = """Naps help memory, in older adults too [1]. Most of all with spindles [2].

## How long

- **Thirty minutes** were enough for words [3].
- Longer naps added *nothing* for places [1, 4].

What a nap of ninety minutes does was not measured with `delayed recall`."""


def searched(run: RecordedRun) -> None:
    """Record a pass with two searches, a reading and what the model thought."""
    run.record(stage=ev.StageEntered(stage=ev.STAGE_SEARCH))
    run.record(thought=ev.Thought(agent="search", text="First trials, then mechanisms."))
    calls = [
        ("search_corpus", '{"query": "nap memory older adults trial"}', ["NAPS2020", "DOSE2022"]),
        ("search_corpus", '{"query": "sleep spindles nap"}', ["SPIN2018"]),
        ("read_document", '{"document_id": "user/AAAA1111"}', ["NAPS2020"]),
    ]
    words = 0
    for number, (tool, arguments, keys) in enumerate(calls, start=1):
        step = f"pass_0/turn_{number}/call_0"
        run.record(
            tool_call=ev.ToolCalled(
                step_id=step, tool=tool, arguments=arguments, call_number=number, call_limit=10
            )
        )
        words += 380 * len(keys)
        found = [found_passage(key, n) for key in keys for n in range(3)]
        run.record(
            tool_result=ev.ToolReturned(
                step_id=step,
                ok=True,
                passages=found,
                words=380 * len(keys),
                words_total=words,
                word_limit=7_500,
            )
        )


def found_passage(key: str, number: int) -> ev.FoundPassage:
    """A passage beside a tool result."""
    return ev.FoundPassage(
        passage_id=passage_id(key, number),
        item=corpus.ItemRef(library="user", key=key),
        title=TITLES[key],
        page_label=str(number + 3),
        snippet="Those who napped remembered more words a day later.",
    )


def passage_id(key: str, number: int) -> str:
    """The id of a paper's passage."""
    return f"{key.encode().hex()}{number:02x}"


def citation(number: int, key: str, support: str, **fields: Any) -> ev.Citation:
    """A citation with everything that is shown of one."""
    return ev.Citation(
        **{
            "number": number,
            "passage_id": passage_id(key, number % 3),
            "library": "user",
            "item_key": key,
            "attachment_key": "PDFS0001",
            "title": TITLES[key],
            "creators": AUTHORS[key],
            "year": key[-4:],
            "page_label": str(number + 3),
            "page_index": number + 2,
            "quote": "Those who napped remembered more words a day later than those who did not.",
            "support": f"SUPPORT_LEVEL_{support}",
            "score": 0.9,
            "judged_by": "minilm",
            "open_uri": f"zotero://open-pdf/library/items/PDFS0001?page={number + 3}",
            "select_uri": f"zotero://select/library/items/{key}",
            "statement": "Naps help.",
            "reading_state": corpus.READING_STATE_FULL,
            **fields,
        }
    )


def answer() -> ev.Answered:
    """A cited answer with all that can stand below it."""
    return ev.Answered(
        markdown=ANSWER,
        answered=True,
        citations=[
            citation(1, "NAPS2020", "VERIFIED"),
            citation(2, "SPIN2018", "WEAK", reading_state=corpus.READING_STATE_ABSTRACT_ONLY),
            citation(3, "DOSE2022", "UNCHECKED"),
            citation(4, "NAPS2020", "UNSUPPORTED"),
        ],
        gaps=["Effects of naps longer than ninety minutes"],
        support=ev.SupportCounts(verified=1, weak=1, unsupported=1, unchecked=1),
        usage=ev.Usage(calls=3, words=1_520, passages=9, input_tokens=9_000, seconds=12.4),
        model="smol",
    )


def answered_run(stage: Stage, prompt: str = "Do naps help memory in older adults?") -> RecordedRun:
    """A run that is over, with its evidence readable."""
    run = stage.orchestrator.add(prompt=prompt)
    searched(run)
    run.record(rerank=ev.Reranked(considered=12, kept=9, words_kept=1_520, model="minilm"))
    run.record(answer=answer())
    sections = ["Results", "Methods", "Discussion"]
    for key in TITLES:
        for number, section in enumerate(sections):
            passage = passage_of(key, number, section)
            stage.orchestrator.evidence[run.run_id, passage.passage_id] = passage
    return run


def passage_of(key: str, number: int, section: str) -> corpus.Passage:
    """A passage as the run keeps it."""
    return corpus.Passage(
        passage_id=passage_id(key, number),
        document=corpus.Document(
            document_id="user/PDFS0001",
            item=corpus.ItemRef(library="user", key=key),
            attachment_key="PDFS0001",
            title=TITLES[key],
            creators=AUTHORS[key],
            year=key[-4:],
        ),
        section_path=["Main part", section],
        text="As expected, those who napped remembered more words a day later "
        "than those who did not. The effect was the same in both groups.",
        ordinal=number,
    )


def waiting_run(stage: Stage, prompt: str = "Which dose helps?") -> RecordedRun:
    """A run that waits at its first budget checkpoint."""
    run = stage.orchestrator.add(prompt=prompt)
    searched(run)
    run.record(request_input=question())
    return run


def plan_question(version: int, *, plan: str, round_: int | None = None) -> ev.RequestInput:
    """The review of a version of a plan."""
    return ev.RequestInput(
        interrupt_id="interrupt_plan",
        kind=ev.CHECKPOINT_KIND_PLAN_REVIEW,
        version=version,
        message="Please review the plan.",
        response_schema='{"type": "object", "required": ["action"]}',
        plan=ev.PlanCheckpoint(
            query="Do naps help?",
            round=version if round_ is None else round_,
            max_rounds=10,
            intent=ev.PLAN_INTENT_READY,
            text=plan,
            current_plan=plan,
        ),
    )


def planned(run: RecordedRun, version: int, plan: str, *, after: str | None = None) -> list[Any]:
    """Record a version of the plan, after what was commented; gives the rows."""
    rows = []
    if after is not None:
        rows.append(
            run.record(
                plan_feedback=ev.PlanCommented(
                    round=version, version=version, message=after, by=run.owner
                )
            )
        )
    rows.append(
        run.record(
            plan=ev.PlanDrafted(
                round=version,
                version=version,
                intent=ev.PLAN_INTENT_READY,
                text=plan,
                current_plan=plan,
                model="smol",
            )
        )
    )
    rows.append(run.record(request_input=plan_question(version, plan=plan)))
    return rows


def reviewed_run(stage: Stage, prompt: str = "Do naps help students?") -> RecordedRun:
    """A run whose plan waits for a review, after one round of feedback."""
    run = stage.orchestrator.add(prompt=prompt)
    run.record(stage=ev.StageEntered(stage=ev.STAGE_PLAN))
    planned(run, 1, PLANS[0])
    planned(run, 2, PLANS[1], after="Students too, please.")
    return run


def stock(stage: Stage) -> None:
    """A library with something of every kind in it."""
    stage.library.status = search.GetStatusResponse(
        source_kind="sqlite",
        source_location="/home/ada/Zotero",
        source_program="Zotero 10.0.1",
        libraries=["user"],
        counts=search.LibraryCounts(
            items=412,
            documents=398,
            passages=20_112,
            read_in_full=341,
            read_in_part=9,
            abstract_only=44,
            unreadable=4,
        ),
        vectors=search.VectorCoverage(done=19_400, total=20_112),
        synced_at=AT,
        encoder_id="all-MiniLM-L6-v2",
        skipped=[
            *(skip(search.SKIP_REASON_FILE_MISSING, key) for key in TITLES),
            skip(search.SKIP_REASON_ENCRYPTED, "SPIN2018"),
        ],
    )
    stage.library.holdings = search.ListCollectionsResponse(
        libraries=[
            search.LibraryEntry(library="user", title="My Library", count=count(412)),
        ],
        collections=[
            search.CollectionEntry(collection="user/SLEEP001", name="Sleep", count=count(42)),
            search.CollectionEntry(
                collection="user/SLEEP002", name="Naps", parent="user/SLEEP001", count=count(7)
            ),
        ],
        saved_searches=[
            search.SavedSearchEntry(
                saved_search="user/RECENT01", name="Since 2015", count=count(42)
            )
        ],
        tags=[search.TagEntry(library="user", tag="to read", count=count(3))],
    )


def count(items: int) -> search.ScopeCount:
    """How much a part of the library holds."""
    return search.ScopeCount(items=items, documents=items)


def skip(reason: search.SkipReason.ValueType, key: str) -> search.Skip:
    """Something that was not read."""
    return search.Skip(
        item=corpus.ItemRef(library="user", key=key),
        attachment_key="PDFS0001",
        title=TITLES[key],
        reason=reason,
    )
