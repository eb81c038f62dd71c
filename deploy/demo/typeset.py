"""Prints a composed paper as a PDF, the same bytes each time."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from deploy.demo.article import Composed, compose
from deploy.demo.content import NOTICE, Paper
from deploy.demo.fonts import FAMILIES, register_fonts
from deploy.demo.lines import Line
from deploy.demo.pages import MarkPlace, Placed, find_marks
from deploy.demo.strips import Shade, Stroke, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A finished PDF and where its marked sentences stand."""

    paper: Paper
    pdf: bytes
    labels: tuple[str, ...]
    page_height: float
    marks: dict[str, list[MarkPlace]]


def print_paper(paper: Paper) -> Printed:
    """Compose and print a paper."""
    register_fonts()
    composed = compose(paper)
    return Printed(
        paper=paper,
        pdf=draw(composed),
        labels=tuple(composed.label(page) for page in range(composed.page_count)),
        page_height=composed.sheet.height,
        marks=find_marks(composed.placed),
    )


def draw(composed: Composed) -> bytes:
    """Return the PDF of a composed paper."""
    stream = io.BytesIO()
    canvas = _open_canvas(stream, composed)
    by_page = {page: list(on) for page, on in groupby(composed.placed, lambda one: one.page)}
    for page in range(composed.page_count):
        for placed in by_page.get(page, []):
            _draw_strip(canvas, placed)
            if composed.paper.design.outline and placed.strip.outline:
                _bookmark(canvas, placed, *placed.strip.outline)
        _draw_margins(canvas, composed, page)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def _open_canvas(stream: io.BytesIO, composed: Composed) -> Canvas:
    paper, sheet = composed.paper, composed.sheet
    encryption = None
    if paper.design.password is not None:
        owner = f"{paper.design.password}-owner"
        encryption = StandardEncryption(paper.design.password, ownerPassword=owner, strength=128)
    size = (sheet.width, sheet.height)
    canvas = Canvas(stream, pagesize=size, invariant=1, pageCompression=1, encrypt=encryption)
    canvas.setTitle(paper.title)
    canvas.setAuthor("; ".join(author.printed for author in paper.authors))
    canvas.setSubject(NOTICE)
    for labels in composed.labels:
        canvas.addPageLabel(labels.page, labels.style, labels.start, labels.prefix or None)
    if paper.design.outline:
        canvas.showOutline()
    return canvas


def _draw_strip(canvas: Canvas, placed: Placed) -> None:
    for item in placed.strip.items:
        match item:
            case Text():
                draw_line(canvas, placed.x + item.across, placed.y - item.down, item.line)
            case Stroke():
                _draw_stroke(canvas, placed, item)
            case Shade():
                canvas.setFillGray(item.grey)
                bottom = placed.y - item.down - item.height
                canvas.rect(placed.x + item.across, bottom, item.width, item.height, 0, 1)
                canvas.setFillGray(0)


def _draw_stroke(canvas: Canvas, placed: Placed, stroke: Stroke) -> None:
    canvas.setLineWidth(stroke.thickness)
    canvas.setDash(list(stroke.dashes))
    path = canvas.beginPath()
    (x, y), *rest = ((placed.x + across, placed.y - down) for across, down in stroke.points)
    path.moveTo(x, y)
    for x, y in rest:
        path.lineTo(x, y)
    canvas.drawPath(path)


def draw_line(canvas: Canvas, x: float, y: float, line: Line) -> None:
    """Draw a line of text as one text object, its gaps as real spaces of the line's width."""
    text = canvas.beginText(x, y)
    for (font, size, rise), characters in groupby(_characters(line), lambda one: one[:3]):
        text.setFont(font, size)
        text.setRise(rise)
        natural = canvas.stringWidth(" ", font, size)
        text.setWordSpace(line.space - natural)
        text.textOut("".join(one[3] for one in characters))
    text.setWordSpace(0)  # the space outlives the text object
    canvas.drawText(text)


def _characters(line: Line) -> Iterator[tuple[str, float, float, str]]:
    """Yield (font, size, rise, text); a gap belongs to the run before it."""
    for number, word in enumerate(line.words):
        for position, run in enumerate(word.runs):
            if position == 0 and number and word.spaced:
                before = line.words[number - 1].runs[-1]
                yield before.font, before.size, before.rise, " "
            yield run.font, run.size, run.rise, run.text


def _bookmark(canvas: Canvas, placed: Placed, level: int, title: str) -> None:
    key = f"p{placed.page}-{placed.x:.0f}-{placed.y:.0f}"
    canvas.bookmarkHorizontal(key, 0, placed.y)
    canvas.addOutlineEntry(title, key, level=level - 1, closed=False)


def _draw_margins(canvas: Canvas, composed: Composed, page: int) -> None:
    """Draw the running head, and the page number where readers of the journal look for it."""
    if page < composed.first_article_page:
        return
    design, sheet = composed.paper.design, composed.sheet
    family = FAMILIES[design.family]
    size = design.size * 0.84
    label = composed.label(page)
    if page == composed.first_article_page:
        canvas.setFont(family.regular, size)
        canvas.drawCentredString(sheet.width / 2, sheet.bottom - 22, label)
        return
    top, right = sheet.height - sheet.top + 18, sheet.width - sheet.side
    is_left = page % 2 == 1
    running = design.running_title if is_left else design.masthead
    canvas.setFont(family.italic, size)
    canvas.drawCentredString(sheet.width / 2, top, running)
    canvas.setFont(family.regular, size)
    if is_left:
        canvas.drawString(sheet.side, top, label)
    else:
        canvas.drawRightString(right, top, label)
    canvas.setLineWidth(0.4)
    canvas.setDash([])
    canvas.line(sheet.side, top - 5, right, top - 5)
