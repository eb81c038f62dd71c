"""Makes the demo library from its sources: ``python -m deploy.demo.generate``."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from deploy.demo.assembly import Assembly, StoredFile
from deploy.demo.catalogue import load_catalogue
from deploy.demo.content import Paper, load_papers
from deploy.demo.database import Database
from deploy.demo.location import DEMO_FOLDER, DEMO_LIBRARY, QUESTIONS
from deploy.demo.questions import load_questions, questions_json
from deploy.demo.scan import picture_of
from deploy.demo.schema import create_tables
from deploy.demo.typeset import Printed, print_paper

_PAGE_BYTES = 4096


def generate(library: Path, questions: Path) -> None:
    """Write the library folder and the questions anew."""
    printed = tuple(_print(paper) for paper in load_papers(DEMO_FOLDER / "papers"))
    shutil.rmtree(library, ignore_errors=True)
    library.mkdir(parents=True)
    for file in _write_database(library / "zotero.sqlite", printed):
        folder = library / "storage" / file.key
        folder.mkdir(parents=True)
        (folder / file.name).write_bytes(file.content)
    by_slug = {one.paper.slug: one for one in printed}
    asked = load_questions(DEMO_FOLDER / "questions.toml", by_slug)
    questions.write_text(questions_json(asked), encoding="utf-8")


def _print(paper: Paper) -> Printed:
    printed = print_paper(paper)
    if paper.design.picture_only:
        return replace(printed, pdf=picture_of(printed.pdf, paper.title), marks={})
    return printed


def _write_database(path: Path, printed: tuple[Printed, ...]) -> list[StoredFile]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = OFF")  # it can be made again
        connection.execute("PRAGMA foreign_keys = ON")
        create_tables(connection)
        assembly = Assembly(Database(connection), load_catalogue(DEMO_FOLDER / "catalogue.toml"))
        with connection:
            assembly.fill(printed)
    return assembly.files


if __name__ == "__main__":
    generate(DEMO_LIBRARY, QUESTIONS)
