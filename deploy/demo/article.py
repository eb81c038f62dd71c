"""Composes a paper: cover sheet, title block, columns of text, supplement, page labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from deploy.demo.content import NOTICE, ContentError, Paper
from deploy.demo.exhibits import set_bars, set_curves, set_table
from deploy.demo.fonts import FAMILIES
from deploy.demo.markup import (
    BarChart,
    Block,
    CurveChart,
    Heading,
    Paragraph,
    Reference,
    Span,
    SupplementStart,
    Table,
)
from deploy.demo.pages import Flow, Placed, Sheet
from deploy.demo.strips import Setting, Strip, Stroke, set_paragraph, stack


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRange:
    """Page labels from a physical page on: a style of numbers, where they start, a prefix."""

    page: int
    style: str
    start: int
    prefix: str = ""

    def label(self, page: int) -> str:
        """Return the label of a physical page of this range."""
        number = self.start + page - self.page
        return f"{self.prefix}{'i' * number if self.style == 'ROMAN_LOWER' else number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A paper laid out on pages."""

    paper: Paper
    sheet: Sheet
    placed: tuple[Placed, ...]
    page_count: int
    first_article_page: int
    labels: tuple[LabelRange, ...]

    def label(self, page: int) -> str:
        """Return the label that stands on a page; without labels, its physical number."""
        ranges = [one for one in self.labels if one.page <= page]
        return ranges[-1].label(page) if ranges else str(page + 1)


def compose(paper: Paper) -> Composed:
    """Lay a paper out."""
    sheet = Sheet()
    flow = Flow(sheet)
    labels = []
    wide = _body_setting(paper, sheet.column_width(1))
    if paper.design.cover:
        flow.begin_page()
        flow.add(_cover(paper, wide))
        labels.append(LabelRange(page=0, style="ROMAN_LOWER", start=1))
    flow.begin_page()
    first = flow.page_count - 1
    if paper.design.first_page is not None:
        labels.append(LabelRange(page=first, style="ARABIC", start=paper.design.first_page))
    flow.add(_title_block(paper, wide))
    body = _body_setting(paper, sheet.column_width(paper.design.columns))
    flow.begin_columns(paper.design.columns)
    supplement = _flow_blocks(paper.blocks, flow, body, paper.design.columns)
    if supplement is not None:
        labels.append(LabelRange(page=supplement, style="ARABIC", start=1, prefix="S"))
    return Composed(
        paper=paper,
        sheet=sheet,
        placed=tuple(flow.placed),
        page_count=flow.page_count,
        first_article_page=first,
        labels=tuple(labels),
    )


def _body_setting(paper: Paper, width: float) -> Setting:
    design = paper.design
    family = FAMILIES[design.family]
    return Setting(family=family, size=design.size, width=width, hyphenate=design.hyphenate)


def _flow_blocks(blocks: Sequence[Block], flow: Flow, body: Setting, columns: int) -> int | None:
    """Place the blocks; return the page on which a supplement begins."""
    starts = [number for number, one in enumerate(blocks) if isinstance(one, SupplementStart)]
    article_end = starts[0] if starts else len(blocks)
    flow.add(_set_blocks(blocks[:article_end], body))
    flow.finish()
    if not starts:
        return None
    flow.begin_page()
    flow.begin_columns(columns)
    supplement = flow.page_count - 1
    flow.add(_set_blocks(blocks[article_end + 1 :], body))
    flow.finish()
    return supplement


def _set_blocks(blocks: Sequence[Block], body: Setting) -> list[Strip]:
    strips: list[Strip] = []
    follows_heading = True
    for block in blocks:
        strips.extend(_set_block(block, body, indented=not follows_heading))
        follows_heading = not isinstance(block, Paragraph)
    return strips


def _set_block(block: Block, body: Setting, *, indented: bool) -> list[Strip]:
    match block:
        case Heading():
            return _set_heading(block, body)
        case Paragraph():
            indent = 10.0 if indented else 0.0
            return set_paragraph(block.spans, replace(body, indent=indent))
        case Reference():
            small = replace(body, size=body.size * 0.86, hanging=10.0, hyphenate=False)
            return set_paragraph(block.spans, replace(small, align="left"), space=1.0)
        case Table():
            return set_table(block, body)
        case BarChart():
            return set_bars(block, body)
        case CurveChart():
            return set_curves(block, body)
        case SupplementStart():
            raise ContentError("a supplement starts between blocks, not inside of one")


def _set_heading(heading: Heading, body: Setting) -> list[Strip]:
    is_section = heading.level == 1
    size = body.size * (1.12 if is_section else 1.0)
    setting = replace(body, size=size, align="left", hyphenate=False)
    span = Span(text=heading.title, bold=True, italic=not is_section)
    lines = set_paragraph((span,), setting, keep_whole=True)
    above = 10.0 if is_section else 6.0
    outline = (heading.level, heading.title)
    return [replace(stack(lines, space=above, glued=True), outline=outline), _gap(2.0)]


def _gap(height: float, *, glued: bool = True) -> Strip:
    return Strip(height=height, glued=glued)


def _rule(width: float) -> Strip:
    return Strip(height=8.0, items=(Stroke(points=((0.0, 3.0), (width, 3.0)), thickness=0.7),))


def _notice(setting: Setting) -> list[Strip]:
    boxed = replace(setting, size=setting.size * 0.9, margin=6.0, align="left", hyphenate=False)
    text = stack(set_paragraph((Span(text=NOTICE, bold=True),), boxed))
    width, height = setting.width, text.height + 7.0
    corners = ((0.0, -4.0), (width, -4.0), (width, height - 4), (0.0, height - 4), (0.0, -4.0))
    box = Stroke(points=corners, thickness=0.8)
    return [_gap(6.0), Strip(height=height, items=(*text.items, box)), _gap(6.0)]


def _lines(text: str, setting: Setting, scale: float, *, bold: bool = False) -> list[Strip]:
    shown = replace(setting, size=setting.size * scale, align="left", hyphenate=False)
    return set_paragraph((Span(text=text, bold=bold),), shown, keep_whole=True)


def _title_block(paper: Paper, wide: Setting) -> list[Strip]:
    authors = ", ".join(author.printed for author in paper.authors)
    abstract = (Span(text="Abstract. ", bold=True), *paper.abstract)
    inset = replace(wide, size=wide.size * 0.94, margin=14.0)
    parts: list[Iterable[Strip]] = [
        _lines(citation_line(paper), wide, 0.84),
        [_rule(wide.width)],
        _lines(paper.title, wide, 1.72, bold=True),
        [_gap(5.0)],
        _lines(authors, wide, 1.1),
        _lines(paper.affiliation, replace(wide, size=wide.size * 0.86), 1.0),
        _notice(wide),
        set_paragraph(abstract, inset),
    ]
    if paper.foreign_abstract:
        parts.append(set_paragraph((Span(text=paper.foreign_abstract),), inset, space=4.0))
    if paper.keywords:
        keywords = (Span(text="Keywords: ", bold=True), Span(text=paper.keywords))
        parts.append(set_paragraph(keywords, replace(inset, align="left"), space=4.0))
    parts.append([_rule(wide.width), _gap(4.0)])
    return [strip for part in parts for strip in part]


def _cover(paper: Paper, wide: Setting) -> list[Strip]:
    authors = ", ".join(author.printed for author in paper.authors)
    parts: list[Iterable[Strip]] = [
        [_gap(80.0, glued=False)],
        _lines(paper.design.masthead, wide, 1.3),
        [_rule(wide.width), _gap(24.0)],
        _lines(paper.title, wide, 2.0, bold=True),
        [_gap(14.0)],
        _lines(authors, wide, 1.2),
        [_gap(14.0)],
        _lines(citation_line(paper), wide, 1.0),
        [_gap(20.0)],
        _notice(wide),
    ]
    return [strip for part in parts for strip in part]


def citation_line(paper: Paper) -> str:
    """Return the line of a title page that says where the paper appeared."""
    fields = paper.entry.fields
    volume = " ".join(filter(None, (fields.get("volume"), _issue(fields.get("issue")))))
    where = f"{paper.design.masthead} {volume}".strip()
    pages = f"pages {fields['pages']}" if "pages" in fields else None
    parts = [f"{where} ({paper.entry.year})", pages, fields.get("DOI")]
    return " · ".join(filter(None, parts))


def _issue(issue: str | None) -> str | None:
    return f"({issue})" if issue else None
