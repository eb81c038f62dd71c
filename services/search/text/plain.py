"""The text of a plain text file, with the headings that Markdown marks."""

import re

from services.search.text.document_text import BlockKind, PagedText
from services.search.text.flow import Flow

PARAGRAPHS = re.compile(r"\n[ \t\r\f]*\n")
HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t#]*")


def read_plain(text: str, *, is_markdown: bool) -> PagedText:
    """Paragraphs by blank lines."""
    flow = Flow()
    for paragraph in PARAGRAPHS.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        if is_markdown:
            _add_marked(flow, paragraph.strip("\n"))
        else:
            flow.add(paragraph)
    return flow.text()


def _add_marked(flow: Flow, paragraph: str) -> None:
    lines: list[str] = []
    for line in paragraph.split("\n"):
        if (heading := HEADING.fullmatch(line)) is None:
            lines.append(line)
            continue
        flow.add("\n".join(lines))
        lines.clear()
        flow.add(heading[2], BlockKind.HEADING, level=len(heading[1]))
    flow.add("\n".join(lines))
