"""The sidebar under a long answer and many turns, in real browsers: `make bench-sidebar`.

A real gateway and real NATS stand before a scripted orchestrator. An answer of DELTAS (10,000)
pieces is streamed at RATE (500) a second; the page notes how long each frame took. Then 50
questions are asked one after the other.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench.machine import machine
from tests.browser import ChromiumPage, Page, chromium_page
from tests.fakes import page_scenes as scenes
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import Stage, stage_with_nats, until
from tests.firefox import firefox_page
from zocrates.events.v1 import event_pb2 as ev

DELTAS = int(os.environ.get("DELTAS") or 10_000)
RATE = float(os.environ.get("RATE") or 500)
TURNS = 50
OPENINGS = 20

# From one frame to the next: what a person would see stand still.
WATCH = """(() => {
    window.frames_ms = [];
    let last = performance.now();
    let note = (now) => { frames_ms.push(now - last); last = now; requestAnimationFrame(note); };
    requestAnimationFrame(note);
})()"""
SPREAD = """(() => {
    let all = [...frames_ms].sort((a, b) => a - b);
    let at = share => all[Math.min(all.length - 1, Math.floor(share * all.length))];
    return [all.length, at(0.5), at(0.99), at(1)];
})()"""
# Built and taken away again beside the page's own, with modules that are loaded already.
OPEN = f"""(async () => {{
    let {{ startSidebar }} = await import('/page/sidebar.mjs');
    let {{ createBrowserHost }} = await import('/page/browser_host.mjs');
    let times = [];
    for (let n = 0; n < {OPENINGS}; n++) {{
        let root = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
        document.body.append(root);
        let begun = performance.now();
        let sidebar = startSidebar(root, createBrowserHost());
        await sidebar.ready;
        times.push(performance.now() - begun);
        sidebar.close();
        root.remove();
    }}
    times.sort((a, b) => a - b);
    return [times[{OPENINGS} / 2], times[{OPENINGS} - 1]];
}})()"""


def pieces() -> Iterator[str]:
    """A long answer with headings, lists and citations, word by word."""
    sentence = "Those who **napped** remembered more words a day later than those who did not [1]. "
    paragraphs = [
        f"## Part {n}\n\n" + sentence * 4 + "\n\n- one\n- two *more*\n\n" for n in range(999)
    ]
    words = "".join(paragraphs).split(" ")
    return (word + " " for word in words[:DELTAS])


async def enter(stage: Stage, page: Page) -> None:
    """Open the page with its key."""
    await page.visit((await stage.http.post("/page-links")).json()["url"])
    await page.holds("document.activeElement?.id === 'prompt'")


async def stream(stage: Stage, page: Page) -> str:
    """Stream a long answer into the page; gives what its frames took."""
    run = stage.orchestrator.add(prompt="How long is the answer?")
    await page.evaluate(f"history.replaceState(null, '', '#session={run.session_id}')")
    await page.reload()
    await page.holds("document.querySelector('.turn') !== null")
    await run.tell(stage.bus, stage=ev.StageEntered(stage=ev.STAGE_SYNTHESIZE))
    await page.shows("Writing the answer")
    await page.evaluate(WATCH)
    offset, begun, text = 0, time.monotonic(), ""
    for number, piece in enumerate(pieces()):
        await asyncio.sleep(max(0.0, begun + number / RATE - time.monotonic()))
        await run.write(stage.bus, piece, offset=offset)
        offset += len(piece)
        text += piece
    seconds = time.monotonic() - begun
    written = await page.evaluate("document.querySelector('.answer').textContent.length")
    frames, median, high, most = await page.evaluate(SPREAD)
    await run.tell(stage.bus, answer=ev.Answered(markdown=text[:2_000], answered=True))
    return (
        f"{DELTAS} pieces in {seconds:.0f} s, {written} characters shown at their end, {frames} "
        f"frames: p50 {median:.0f} ms, p99 {high:.0f} ms, longest {most:.0f} ms"
    )


async def many_turns(stage: Stage, page: ChromiumPage) -> str:
    """Ask one question after the other, each in a session of its own; gives what stays."""
    sizes = []
    for number in range(TURNS):
        prompt = f"Question {number}?"
        await page.evaluate("document.getElementById('new').click()")
        await page.types("document.getElementById('prompt')", prompt)
        await page.evaluate("document.getElementById('composer').requestSubmit()")
        await until(partial(was_asked, stage, prompt))
        run = asked(stage, prompt)
        assert run is not None
        scenes.searched(run)
        await run.tell(stage.bus, answer=scenes.answer())
        await page.holds("document.querySelectorAll('.answer .chip').length === 5")
        sizes.append(await page.used_memory() / 2**20)
    return f"{TURNS} turns: after 10 {sizes[9]:.1f} MB, at the end {sizes[-1]:.1f} MB"


def was_asked(stage: Stage, prompt: str) -> bool:
    """Whether a question has become a run."""
    return asked(stage, prompt) is not None


def asked(stage: Stage, prompt: str) -> RecordedRun | None:
    """The run of a question, once it was asked."""
    runs = stage.orchestrator.runs.values()
    return next((run for run in runs if run.prompt == prompt), None)


async def main() -> None:
    """Measure in both browsers and print."""
    folder = Path(tempfile.mkdtemp())
    print(machine())
    async with stage_with_nats(folder / "nats", silence_s=2.0) as stage:
        for name, opener in (("Chromium", chromium_page), ("Firefox", firefox_page)):
            async with opener(_made(folder / name)) as page:
                await page.resize(width=420, height=900)
                await enter(stage, page)
                half, most = await page.evaluate(OPEN)
                print(f"{name}, opening: p50 {half:.0f} ms, longest {most:.0f} ms of {OPENINGS}")
                print(f"{name}, {await stream(stage, page)}")
                if isinstance(page, ChromiumPage):
                    print(f"{name}, {await many_turns(stage, page)}")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    asyncio.run(main())
