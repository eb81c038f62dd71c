"""Events and answers as lines of plain text; pure."""

import textwrap
from collections.abc import Iterable

from gateway import events, library_wire, wire
from gateway.checkpoint_card import card_lines
from gateway.plain_text import clean, counted, one_line

SUPPORT_MARKS = {
    "verified": "✓ verified",
    "weak": "~ weakly supported",
    "unsupported": "✗ not supported",
    "unchecked": "? not checked",
    "unspecified": "? not checked",
}
STAGES = {
    "converse": "Understanding the question",
    "plan": "Planning",
    "search": "Searching",
    "rerank": "Choosing the evidence",
    "synthesize": "Writing",
    "verify": "Checking the citations",
}
TOOLS = {
    "search_corpus": "Search",
    "get_document_toc": "Contents",
    "read_document": "Read",
    "request_search_extension": "Ask for more search",
    "conclude_search": "Conclude",
}
INDENT = "    "
TOLD_ARGUMENTS = ("query", "summary", "section_id", "first_page", "reason")
QUOTE_WIDTH = 92
QUOTE_CHARACTERS = 400
ARGUMENT_CHARACTERS = 80
MOST_NAMED_CREATORS = 3


def call_line(call: events.ToolCall) -> str:
    """What the agent does."""
    name = TOOLS.get(call.tool, one_line(call.tool, 40))
    # Ids say nothing to a person.
    said = next((call.arguments[key] for key in TOLD_ARGUMENTS if call.arguments.get(key)), None)
    return f"{name}: {one_line(str(said), ARGUMENT_CHARACTERS)}" if said is not None else name


def result_line(result: events.ToolResult) -> str:
    """What it found; nothing for a tool that finds nothing."""
    if not result.ok:
        return f" → {one_line(result.notice or 'failed', ARGUMENT_CHARACTERS)}"
    if not result.passages and not result.words:
        return ""
    return f" → {counted(len(result.passages), 'passage')}, {counted(result.words, 'new word')}"


def plan_line(plan: events.Plan) -> str:
    """That the planner wrote, without the plan itself."""
    what = "The planner asks back" if plan.intent == "feedback" else "Plan drafted"
    return f"· {what}, round {plan.round}"


def feedback_line(feedback: events.PlanFeedback) -> str:
    """What a person said about the plan."""
    return f"· Feedback by {one_line(feedback.by, 100)}: {one_line(feedback.message, 200)}"


def source_lines(citation: events.Citation) -> list[str]:
    """A citation: what it is, how it is supported, its words, where it opens."""
    title = one_line(citation.title, 200)
    head = f"[{citation.number}] {title} — {byline(citation.creators, citation.year)}"
    if citation.page_label:
        head += f", p. {one_line(citation.page_label, 20)}"
    lines = [f"{head}  {SUPPORT_MARKS[citation.support]}"]
    quote = one_line(citation.quote, QUOTE_CHARACTERS)
    lines += textwrap.wrap(
        f"“{quote}”", QUOTE_WIDTH, initial_indent="    ", subsequent_indent="    "
    )
    if uri := citation.open_uri or citation.select_uri:
        lines.append(f"{INDENT}{one_line(uri, 300)}")
    return lines


def byline(creators: list[str], year: str) -> str:
    """Creators and year, as far as they are known."""
    named = [one_line(name, 60) for name in creators[:MOST_NAMED_CREATORS]]
    if len(creators) > MOST_NAMED_CREATORS:
        named = [named[0], "et al."]
    people = " ".join(named) if len(creators) > MOST_NAMED_CREATORS else ", ".join(named)
    return f"{people or 'without author'} ({one_line(year, 20) or 'no date'})"


def answer_lines(answer: events.Answer) -> Iterable[str]:
    """The whole answer with its sources and gaps."""
    yield from clean(answer.markdown).strip().split("\n")
    yield from ending_lines(answer)


def ending_lines(answer: events.Answer) -> Iterable[str]:
    """What follows the text of an answer: sources, gaps, what it took."""
    if answer.citations:
        yield ""
        yield "Sources"
        for citation in answer.citations:
            yield from source_lines(citation)
    # An answer that names a gap itself needs no list that names it again.
    if gaps := [gap for gap in answer.gaps if gap not in answer.markdown]:
        yield ""
        yield "Not found in this library"
        for gap in gaps:
            yield f"  - {one_line(gap, 300)}"
    if answer.usage is not None:
        yield ""
        yield usage_line(answer)


def usage_line(answer: events.Answer) -> str:
    """What the answer took, and who wrote it."""
    assert answer.usage is not None
    usage = answer.usage
    spent = [
        counted(usage.calls, "call"),
        counted(usage.words, "word"),
        counted(usage.passages, "passage"),
        f"{usage.seconds:.1f} s",
    ]
    if tokens := usage.input_tokens + usage.output_tokens:
        spent.append(counted(tokens, "token"))
    if usage.cost:
        spent.append(f"${usage.cost:.4f}")
    if answer.model:
        spent.append(f"written by {one_line(answer.model, 80)}")
    return " · ".join(spent)


def library_lines(library: library_wire.Library) -> Iterable[str]:
    """The state of the library."""
    for source in library.sources:
        kind = "demo library of invented papers" if source.demo else source.kind
        yield f"Source     {kind}{f', {source.location}' if source.location else ''}"
        if source.program:
            yield f"           {one_line(source.program, 80)}"
        for notice in source.notices:
            yield f"Note       {one_line(notice, 300)}"
    if not library.sources:
        yield "Source     none is set"
    counts = library.counts
    yield f"Items      {counts.items:,} in {', '.join(library.libraries) or 'no library'}"
    yield (
        f"Read       {counts.read_in_full:,} in full, {counts.read_in_part:,} in part, "
        f"{counts.abstract_only:,} by abstract only, {counts.unreadable:,} not readable"
    )
    if library.duplicates:
        yield f"Folded     {library.duplicates:,} records of works that are here twice"
    yield f"Passages   {counts.passages:,}, vectors for {library.vectors.done:,} of them"
    when = library.synced_at
    yield f"Synced     {when.astimezone():%Y-%m-%d %H:%M}" if when else "Synced     not yet"
    if library.running is not None:
        running = library.running
        yield f"Running    {running.phase} {running.done:,} of {running.total:,}"
    if library.unfinished is not None:
        cut = library.unfinished
        yield f"Cut short  {cut.done:,} of {cut.total:,}; the next sync goes on there"
    if library.last_error:
        yield f"Failed     {one_line(library.last_error, 300)}"
    if library.skipped:
        yield ""
        yield f"Skipped ({len(library.skipped)})"
        for skip in library.skipped:
            yield f"  {skip.item_key}  {one_line(skip.title, 60)}: {reason_of(skip)}"


def reason_of(skip: library_wire.Skip) -> str:
    """Why something was skipped."""
    reason = skip.reason.replace("_", " ")
    return f"{reason} ({one_line(skip.detail, 100)})" if skip.detail else reason


def session_list_lines(page: wire.SessionList) -> Iterable[str]:
    """The sessions, one a line."""
    for session in page.sessions:
        when = f"{session.updated_at.astimezone():%Y-%m-%d %H:%M}"
        state = (session.state or "empty").lower().replace("_", " ")
        yield f"{session.id}  {when}  {state:<14}  {one_line(session.title, 80)}"
    if not page.sessions:
        yield 'No sessions yet; ask something with: zocrates ask "…"'
    elif page.next_cursor:
        yield "There are more, older ones; the page shows them."


def session_lines(session: wire.Session) -> Iterable[str]:
    """A session as a conversation."""
    yield one_line(session.title, 200)
    for message in session.messages:
        yield ""
        yield f"> {one_line(message.prompt, 500)}"
        # What `zocrates rewind` and `cancel` take to mean this one.
        yield f"  run {message.invocation_id}"
        yield ""
        if message.answer is not None:
            yield from answer_lines(message.answer)
        elif message.error is not None:
            yield f"Failed: {one_line(message.error.message, 300)}"
        elif message.pending_hitl is not None:
            yield from card_lines(message.pending_hitl)
            yield ""
            yield f"Decide with: zocrates resume {session.id}"
        else:
            yield f"({message.state.lower().replace('_', ' ')})"
