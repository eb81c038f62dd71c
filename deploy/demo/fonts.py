"""Typefaces of the demo papers: which font prints which character, and how wide it is.

Only fonts that every viewer has, or that may be embedded freely, are used: the standard PDF fonts,
Bitstream Vera (comes with reportlab) and a standard Japanese CID font.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont

from deploy.demo.markup import Span

_SYMBOLS = frozenset("αβγδεθκλμπρσστφχψωΔΣΩ≤≥≈−√∞")
_JAPANESE = "HeiseiMin-W3"
_VERA_CUTS = ("Vera", "VeraIt", "VeraBd", "VeraBI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The four cuts of a typeface, and whether it has ligatures to print with."""

    regular: str
    italic: str
    bold: str
    bold_italic: str
    has_ligatures: bool = False

    def cut(self, span: Span) -> str:
        """Return the font of a span's style."""
        if span.bold:
            return self.bold_italic if span.italic else self.bold
        return self.italic if span.italic else self.regular


FAMILIES = {
    "serif": Family(
        regular="Times-Roman",
        italic="Times-Italic",
        bold="Times-Bold",
        bold_italic="Times-BoldItalic",
    ),
    "sans": Family(
        regular="Helvetica",
        italic="Helvetica-Oblique",
        bold="Helvetica-Bold",
        bold_italic="Helvetica-BoldOblique",
    ),
    "vera": Family(
        regular="Vera",
        italic="VeraIt",
        bold="VeraBd",
        bold_italic="VeraBI",
        has_ligatures=True,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Text in one font and size, as it is printed."""

    text: str
    font: str
    size: float
    rise: float = 0.0
    mark: str | None = None

    @property
    def width(self) -> float:
        """The printed width in points."""
        return float(pdfmetrics.stringWidth(self.text, self.font, self.size))


def register_fonts() -> None:
    """Make the fonts known to reportlab, in place of others that it may know by these names."""
    for name in _VERA_CUTS:
        pdfmetrics.registerFont(TTFont(name, f"{name}.ttf"))
    # A font for vertical writing has the same name.
    pdfmetrics.registerFont(UnicodeCIDFont(_JAPANESE))


def is_japanese(character: str) -> bool:
    """Whether a character is printed full width and may stand at a line end without a space."""
    return "\u2e80" <= character <= "\uffef" and not "\ufb00" <= character <= "\ufb06"


def runs_of(span: Span, family: Family, size: float) -> Iterator[Run]:
    """Split a span into runs, one for each change of font."""
    regular = family.cut(span)
    used = size * 0.68 if span.raised else size
    rise = size * 0.33 if span.raised else 0.0
    text = _with_ligatures(span.text) if family.has_ligatures else span.text
    for font, characters in groupby(text, key=lambda one: _font_for(one, regular)):
        run = "".join(characters)
        yield Run(text=run, font=font, size=used, rise=rise, mark=span.mark)


def _font_for(character: str, regular: str) -> str:
    if character in _SYMBOLS:
        return "Symbol"
    return _JAPANESE if is_japanese(character) else regular


def _with_ligatures(text: str) -> str:
    return text.replace("fi", "\ufb01").replace("fl", "\ufb02")
