"""Sets tables and charts as strips of a column."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

from deploy.demo.lines import words_of
from deploy.demo.markup import BarChart, CurveChart, Span, Table, plain_text
from deploy.demo.strips import (
    Item,
    Setting,
    Shade,
    Strip,
    Stroke,
    Text,
    moved,
    set_paragraph,
    stack,
)

_ABOVE, _BELOW = 9.0, 8.0
_CELL_GAP = 7.0
_TABLE_SCALES = (0.86, 0.82, 0.78, 0.74)
_CHART_HEIGHT = 92.0
_GREYS = (0.25, 0.6, 0.45, 0.78)
_DASHES = ((), (3.0, 2.0), (1.0, 1.5))


def set_table(table: Table, body: Setting) -> list[Strip]:
    """Set a table with its caption above and rules as journals print them."""
    setting = _table_setting(table, body)
    caption = set_paragraph(table.caption, setting)
    widths = _column_widths(table, setting)
    rows = [_set_row(row, widths, setting) for row in table.rows]
    rule = _rule(setting.width)
    parts = [*caption, rule, rows[0], rule, *rows[1:], rule, Strip(height=_BELOW)]
    return [_float(parts)]


def _table_setting(table: Table, body: Setting) -> Setting:
    """Choose the largest size of type at which no cell needs two lines, or the smallest."""
    plain = replace(body, align="left", hyphenate=False, indent=0.0)
    settings = [replace(plain, size=body.size * scale) for scale in _TABLE_SCALES]
    room = body.width - _CELL_GAP * (len(table.rows[0]) - 1)
    fitting = (one for one in settings if sum(_natural_widths(table, one)) <= room)
    return next(fitting, settings[-1])


def _natural_widths(table: Table, setting: Setting) -> list[float]:
    columns = zip(*table.rows, strict=True)
    return [max(_natural_width(cell, setting) for cell in column) for column in columns]


def _column_widths(table: Table, setting: Setting) -> list[float]:
    natural = _natural_widths(table, setting)
    room = setting.width - _CELL_GAP * (len(natural) - 1)
    excess = sum(natural) - room
    if excess <= 0:
        spare = -excess / len(natural)
        return [width + spare for width in natural]
    # The widest columns give way first; they hold words, the narrow ones numbers.
    fixed = [min(width, room / len(natural)) for width in natural]
    flexible = room - sum(fixed)
    wants = [width - kept for width, kept in zip(natural, fixed, strict=True)]
    return [kept + flexible * want / sum(wants) for kept, want in zip(fixed, wants, strict=True)]


def _natural_width(cell: Sequence[Span], setting: Setting) -> float:
    words = words_of(cell, setting.family, setting.size)
    return sum(word.width for word in words) + len(words) * setting.size * 0.28


def _set_row(row: Sequence[Sequence[Span]], widths: Sequence[float], setting: Setting) -> Strip:
    items: list[Item] = []
    across = height = 0.0
    for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
        align = "left" if number == 0 else "right"
        cell_setting = replace(setting, width=width, align=align)
        block = stack(set_paragraph(cell, cell_setting))
        items.extend(moved(item, across, 1.5) for item in block.items)
        height = max(height, block.height)
        across += width + _CELL_GAP
    return Strip(height=height + 3.0, items=tuple(items))


def _rule(width: float) -> Strip:
    return Strip(height=1.5, items=(Stroke(points=((0.0, 1.0), (width, 1.0)), thickness=0.6),))


def _float(parts: Sequence[Strip]) -> Strip:
    return replace(stack(parts, space=_ABOVE), floating=True)


def set_bars(chart: BarChart, body: Setting) -> list[Strip]:
    """Set a chart of horizontal bars with its caption below."""
    label = replace(body, size=body.size * 0.78, align="right", width=body.width * 0.34)
    start, room = label.width + 6.0, body.width * 0.50
    largest = max(value for _, value in chart.bars)
    bars = []
    for number, (name, value) in enumerate(chart.bars):
        length = room * value / largest
        grey = _GREYS[number % len(_GREYS)]
        items: list[Item] = [
            *stack(set_paragraph((Span(text=name),), label)).items,
            Shade(across=start, down=1.5, width=length, height=7.5, grey=grey),
            _label(f"{value:g}", start + length + 3.0, label.size, body),
        ]
        bars.append(Strip(height=13.0, items=tuple(items)))
    axis = Stroke(points=((start, 0.0), (start, 13.0 * len(bars))))
    plot = stack(bars)
    plot = replace(plot, items=(*plot.items, axis))
    unit = set_paragraph((Span(text=chart.axis),), replace(label, width=body.width, align="centre"))
    return [_float([plot, *unit, *_caption(chart.caption, body)])]


def set_curves(chart: CurveChart, body: Setting) -> list[Strip]:
    """Set a chart of curves with axes, end labels and its caption below."""
    small = replace(body, size=body.size * 0.76, align="centre")
    left, right = 26.0, body.width * 0.72
    xs = sorted({x for _, points in chart.series for x, _ in points})
    ys = [y for _, points in chart.series for _, y in points]
    low, high = min(ys), max(ys)

    def across(x: float) -> float:
        return left + (right - left) * (x - xs[0]) / (xs[-1] - xs[0])

    def down(y: float) -> float:
        return 6.0 + (_CHART_HEIGHT - 12.0) * (high - y) / (high - low)

    frame = Stroke(points=((left - 4, 0.0), (left - 4, _CHART_HEIGHT), (right, _CHART_HEIGHT)))
    curves = [
        Stroke(points=tuple((across(x), down(y)) for x, y in points), thickness=1.1, dashes=dashes)
        for (_, points), dashes in zip(chart.series, cycle(_DASHES), strict=False)
    ]
    ends = _apart([down(points[-1][1]) + 2.5 for _, points in chart.series], small.size)
    names = [name for name, _ in chart.series]
    labels = [
        *(_label(name, right + 9.0, end, body) for name, end in zip(names, ends, strict=True)),
        *(_label(f"{y:g}", 0.0, down(y) + 2.5, body) for y in (low, high)),
        *(
            _label(f"{x:g}", place - 3.0, _CHART_HEIGHT + 9.0, body)
            for x, place in zip(xs, _apart([across(x) for x in xs], small.size), strict=True)
        ),
    ]
    plot = Strip(height=_CHART_HEIGHT + 12.0, items=(frame, *curves, *labels))
    axes = set_paragraph((Span(text=f"{chart.y_axis} against {chart.x_axis}"),), small)
    return [_float([plot, *axes, *_caption(chart.caption, body)])]


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """Move places up the scale, in their order, until each is a gap from the one before."""
    moved_to: dict[int, float] = {}
    last = float("-inf")
    for number in sorted(range(len(places)), key=lambda one: places[one]):
        last = max(places[number], last + gap)
        moved_to[number] = last
    return [moved_to[number] for number in range(len(places))]


def _label(text: str, across: float, down: float, body: Setting) -> Text:
    setting = replace(body, size=body.size * 0.76, align="left", indent=0.0, hyphenate=False)
    item = set_paragraph((Span(text=text),), replace(setting, width=10_000.0))[0].items[0]
    if not isinstance(item, Text):
        raise TypeError(f"a paragraph was set as {item!r}")
    return replace(item, across=across, down=down)


def _caption(spans: Sequence[Span], body: Setting) -> list[Strip]:
    if not plain_text(spans).startswith("Figure "):
        raise ValueError(f"a chart's caption begins with its number, not {plain_text(spans)!r}")
    setting = replace(body, size=body.size * 0.86, align="left", indent=0.0, hyphenate=False)
    return [*set_paragraph(spans, setting, space=4.0), Strip(height=_BELOW)]
