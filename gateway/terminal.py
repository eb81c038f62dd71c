"""A run on a terminal, live; and the same run as plain text when nobody watches."""

from typing import Protocol, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gateway import events
from gateway.checkpoint_card import ADDED, USED, answered_line, card_lines
from gateway.plain_text import clean, counted, one_line
from gateway.presentation import (
    STAGES,
    answer_lines,
    call_line,
    ending_lines,
    feedback_line,
    plan_line,
    result_line,
)
from gateway.sse import ServerEvent
from gateway.watching import WatchedRun, read

BAR_WIDTH = 28
TAIL_LINES = 8
CARD_WIDTH = 84
REFRESHES_A_SECOND = 12
# The events after which a finished answer is shown.
WHOLE = ("answer", "snapshot")


class Screen(Protocol):
    """Shows a run, event by event."""

    def show(self, run: WatchedRun, event: ServerEvent) -> None:
        """Show what an event changed; the run is the one after it."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def screen_for(output: TextIO, progress: TextIO, *, as_json: bool) -> Screen:
    """A live one on a terminal; else plain text, or one event a line."""
    if as_json:
        return JsonLines(output)
    if output.isatty():
        return LiveScreen(Console(file=output, highlight=False))
    return PlainScreen(output, progress)


class JsonLines:
    """Every event as a line of JSON."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def show(self, run: WatchedRun, event: ServerEvent) -> None:
        """Write the event."""
        print(event.as_line(), file=self._output, flush=True)

    def close(self) -> None:
        """Nothing is left open."""


class PlainScreen:
    """The answer on one stream, the steps that led to it on the other."""

    def __init__(self, output: TextIO, progress: TextIO) -> None:
        self._output = output
        self._progress = progress

    def show(self, run: WatchedRun, event: ServerEvent) -> None:
        """Write a step, or the answer when it is whole."""
        if event.name in WHOLE and run.answer is not None:
            for line in answer_lines(run.answer):
                print(line, file=self._output)
            self._output.flush()
        for line in step_lines(run, event):
            print(line, file=self._progress, flush=True)

    def close(self) -> None:
        """Nothing is left open."""


class LiveScreen:
    """Steps scroll by; below them live the stage, the bars and the last lines of the answer."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner = Spinner("dots")
        self._live = Live(console=console, refresh_per_second=REFRESHES_A_SECOND, transient=True)
        self._live.start()

    def show(self, run: WatchedRun, event: ServerEvent) -> None:
        """Redraw after an event."""
        for line in step_lines(run, event):
            self._live.console.print(Text(line, style="dim"))
        if event.name in WHOLE and run.answer is not None:
            self._live.stop()
            self._print_answer(run.answer)
        elif run.answer is None and not run.state:
            self._live.update(self._picture(run))

    def close(self) -> None:
        """Take the live part off the terminal."""
        self._live.stop()

    def _picture(self, run: WatchedRun) -> RenderableType:
        self._spinner.update(text=Text(f"{STAGES.get(run.stage, 'Starting')} …", style="bold"))
        parts: list[RenderableType] = [self._spinner, _bars(run)]
        if run.text:
            tail = clean(run.text).split("\n")[-TAIL_LINES:]
            parts.append(Padding(Text("\n".join(tail)), (1, 2)))
        return Group(*parts)

    def _print_answer(self, answer: events.Answer) -> None:
        self._console.print()
        self._console.print(Markdown(clean(answer.markdown), hyperlinks=False))
        for line in ending_lines(answer):
            self._console.print(_source_text(line))


def show_checkpoint(asked: events.RequestInput, output: TextIO) -> None:
    """Show what a run asks, as a card on a terminal and as plain lines elsewhere."""
    lines = list(card_lines(asked))
    if not output.isatty():
        print("\n".join(["", *lines]), file=output, flush=True)
        return
    console = Console(file=output, highlight=False)
    title, text = (lines[0], lines[1:]) if asked.payload else ("Checkpoint", lines)
    console.print()
    console.print(
        Panel(
            Text("\n").join(map(_card_text, text)),
            title=Text(f" {title} ", style="bold reverse"),
            title_align="left",
            width=min(console.width, CARD_WIDTH),
            padding=(1, 2),
        )
    )


def _card_text(line: str) -> Text:
    # Headings stand at the margin, everything under them is indented.
    text = Text(line, style="" if line.startswith(" ") else "bold")
    text.highlight_regex(f"{USED}+", "cyan")
    text.highlight_regex(f"{ADDED}+", "green")
    return text


def step_lines(run: WatchedRun, event: ServerEvent) -> list[str]:
    """What an event says about the run's steps; none for most."""
    match event.name:
        case "run_started":
            return [f"! {one_line(text, 300)}" for text in read(event, events.RunStarted).warnings]
        case "tool_result":
            result = read(event, events.ToolResult)
            call = run.calls.get(result.step_id)
            mark = "✓" if result.ok else "✗"
            said = call_line(call) if call is not None else result.step_id
            return [f"{mark} {said}{result_line(result)}"]
        case "report":
            gaps = read(event, events.Report).gaps
            return [f"· Pass ended with {counted(len(gaps), 'gap')}"] if gaps else []
        case "rerank":
            ranked = read(event, events.Reranked)
            return [f"· Kept {ranked.kept:,} of {counted(ranked.considered, 'passage')}"]
        case "plan":
            return [plan_line(read(event, events.Plan))]
        case "plan_feedback":
            return [feedback_line(read(event, events.PlanFeedback))]
        case "checkpoint_answered":
            return [answered_line(read(event, events.CheckpointAnswered))]
        case "run_state":
            change = read(event, events.RunStateChanged)
            return [f"· {change.change.capitalize()} by {one_line(change.by, 100)}"]
        case "error":
            return [f"✗ {one_line(read(event, events.Failure).message, 300)}"]
    return []


def _bars(run: WatchedRun) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for name, used, limit in (
        ("calls", run.call_number, run.call_limit),
        ("words", run.words, run.word_limit),
    ):
        if limit:
            bar = ProgressBar(total=limit, completed=min(used, limit), width=BAR_WIDTH)
            table.add_row(Text(f"  {name}"), bar, Text(f"{used:,} of {limit:,}", style="dim"))
    return table


def _source_text(line: str) -> Text:
    style = "bold" if line in ("Sources", "Not found in this library") else ""
    text = Text(line, style=style, overflow="fold")
    text.highlight_regex(r"✓ verified", "green")
    text.highlight_regex(r"~ weakly supported|\? not checked", "yellow")
    text.highlight_regex(r"✗ not supported", "red")
    text.highlight_regex(r"zotero://\S+", "cyan")
    return text
