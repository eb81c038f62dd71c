"""What `zocrates up` says: what it starts with, and what can be done once it runs."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.console import Console
from deploy.data_folder import DataFolder, default_root
from deploy.demo.location import QUESTIONS
from deploy.ports import Reservation
from deploy.zotero_folder import Library

PLAIN_QUESTION = "What does my library say about …?"


def announce_start(
    console: Console,
    *,
    version: str,
    library: Library,
    data: DataFolder,
    ports: Mapping[str, Reservation],
    left_over: list[str],
) -> None:
    """Before the processes start: which library, which data, what is unusual."""
    console.say_bold(f"Zocrates {version}")
    if library.demo:
        console.say(f"  Library  the demo library of invented papers ({library.found})")
    else:
        console.say(f"  Library  {library.place} ({library.found})")
    console.say(f"  Data     {data.root}")
    if left_over:
        console.say(f"  Stopped what an earlier start left running: {', '.join(left_over)}")
    for name, port in ports.items():
        if port.is_replacement:
            console.say(f"  Port {port.usual} is taken; {name} uses {port.port} instead")
    console.say("Starting …")


def announce_ready(
    console: Console,
    *,
    seconds: float,
    base_url: str,
    link: str | None,
    library: Library,
    data: DataFolder,
) -> None:
    """Once everything is ready: the address, the page, the command that asks a question."""
    console.say_bold(f"Ready after {seconds:.1f} s at {base_url}")
    if link is None:
        console.say(f"  Open the page:   {command_line('link', data)}  prints a one-time address")
    else:
        console.say(f"  Open the page:   {link}  (works once, for ten minutes)")
    question = example_question() if library.demo else PLAIN_QUESTION
    console.say(f"  Ask a question:  {command_line('ask', data)} {quoted(question)}")
    console.say("  Stop everything: Ctrl-C")


def command_line(command: str, data: DataFolder) -> str:
    """A command that finds this stack when it is typed into any shell of this user."""
    words = [quoted(executable()), command]
    if data.root != default_root():
        words += ["--data", quoted(str(data.root))]
    return " ".join(words)


def executable() -> str:
    """`zocrates` when typing that runs this installation, else the whole path."""
    beside = Path(sys.executable).parent / ("zocrates.exe" if os.name == "nt" else "zocrates")
    on_path = shutil.which("zocrates")
    if on_path is not None and Path(on_path) == beside:
        return "zocrates"
    return str(beside)


def quoted(text: str) -> str:
    """The text as one word of the shell."""
    if os.name == "nt":
        return f'"{text}"' if any(not letter.isalnum() for letter in text) else text
    if text.isprintable() and not set(text) & set('"\\$`!'):
        return f'"{text}"' if shlex.quote(text) != text else text
    return shlex.quote(text)


def example_question() -> str:
    """A question that the demo library answers."""
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    if isinstance(questions, dict):
        questions = questions["questions"]
    return next(str(one["text"]) for one in questions if one["answerable"])
