"""A text without pages in the making: paragraphs one after the other, and where sections begin."""

import re
import unicodedata
from dataclasses import dataclass, field

from services.search.library.records import Unread
from services.search.text.document_text import NO_PAGE, Block, BlockKind, Page, PagedText

# So much is read of one text: more than the longest books have.
MOST_CHARACTERS = 20_000_000
WHITE_SPACE = re.compile(r"[\s\x00]+")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Signs that only say where a word may be divided or that text runs the other way.
UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]")
BETWEEN = "\n\n"


@dataclass(slots=True, kw_only=True)
class Flow:
    """Takes paragraphs in reading order and gives them as one text."""

    _texts: list[str] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _length: int = 0
    _is_cut: bool = False

    def add(
        self, text: str, kind: BlockKind = BlockKind.TEXT, *, level: int = 0, title: str = ""
    ) -> None:
        """The next paragraph; its lines are kept only if it is a table.

        With a `level`, it is a heading, or begins the section that `title` names.
        """
        text = tidy(text, keep_lines=kind is BlockKind.TABLE)
        if not text or self._is_cut:
            return
        if self._length + len(text) > MOST_CHARACTERS:
            self._is_cut = True
            return
        start = self._length + (len(BETWEEN) if self._texts else 0)
        self._texts.append(text)
        self._length = start + len(text)
        self._blocks.append(
            Block(
                start=start,
                end=self._length,
                kind=kind,
                size=1.0,
                level=level,
                title=title,
            )
        )

    def text(self) -> PagedText:
        """All of it."""
        if not self._blocks:
            return PagedText(pages=(), outline=(), page_count=0)
        page = Page(
            index=NO_PAGE, label="", text=BETWEEN.join(self._texts), blocks=tuple(self._blocks)
        )
        if self._is_cut:
            return PagedText(
                pages=(page,),
                outline=(),
                page_count=0,
                unread=Unread.TOO_LARGE,
                detail=f"Only the first {self._length:,} characters of the text are read.",
            )
        return PagedText(pages=(page,), outline=(), page_count=0)


def tidy(text: str, *, keep_lines: bool = False) -> str:
    """The text in composed form, on one line or on its own lines, without what cannot be seen."""
    text = UNSEEN.sub("", unicodedata.normalize("NFC", text))
    if keep_lines:
        lines = (tidy(line) for line in text.splitlines())
        return "\n".join(line for line in lines if line)
    return UNPRINTABLE.sub("", WHITE_SPACE.sub(" ", text)).strip()
