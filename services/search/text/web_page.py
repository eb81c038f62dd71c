"""The text of a web page: what a reader of it sees, without what the site puts around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from services.search.text.document_text import BlockKind, PagedText
from services.search.text.flow import Flow, tidy
from services.search.text.hidden_markup import hidden_by_sheets, is_hidden
from services.search.text.markup import Close, Open, Raw, names, tokens, without_data

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = names(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset",
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section",
    "summary table tbody td tfoot th thead tr ul",
)
CAPTIONS = frozenset({"caption", "figcaption"})
# What belongs to the site, and what a reader works rather than reads.
AROUND = names(
    "nav aside footer dialog button select datalist option label template noscript head svg",
    "canvas audio video object map menu rt rp",
)
ROLES_AROUND = names(
    "navigation banner contentinfo search complementary dialog alert alertdialog menu menubar",
    "toolbar doc-pagebreak",
)
MAIN = frozenset({"main", "article"})
# Starting one of these ends those that may be open within the nearest block.
ENDS = {
    **dict.fromkeys(BLOCKS, frozenset({"p"})),
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "tr": frozenset({"tr", "td", "th", "p"}),
    "td": frozenset({"td", "th", "p"}),
    "th": frozenset({"td", "th", "p"}),
}
DEEPEST = 250
# A page's own main part is taken alone if it holds so many words or so much of all.
MAIN_WORDS = 150
MAIN_SHARE = 0.4
# So many lines in a row that are nothing but links are a menu.
MENU_LINES = 4
MENU_WORDS = 8
LONGEST_CELL = 120
FEWEST_ROWS = 2


@dataclass(slots=True, kw_only=True)
class MarkedBlock:
    """A paragraph of the page."""

    text: str
    kind: BlockKind
    level: int = 0
    title: str = ""
    is_main: bool = False
    is_link: bool = False
    """Whether nearly all of it is links."""
    cell: tuple[int, int, int] | None = None
    """Table, row and cell that it is in."""
    ids: tuple[str, ...] = ()
    """Names that links can lead here by."""


@dataclass(slots=True, kw_only=True)
class _Element:
    """An open element, with what it has from those around it."""

    name: str
    is_unseen: bool = False
    is_main: bool = False
    is_link: bool = False
    is_preformatted: bool = False
    is_caption: bool = False
    level: int = 0


OUTSIDE = _Element(name="")


def read_web_page(markup: str, *, xml: bool = False) -> PagedText:
    """The page's own text in sections by its headings; never fails, whatever the markup."""
    blocks = _without_menus(_main(marked_blocks(markup, xml=xml)))
    flow = Flow()
    for block in _without_site_title(blocks):
        flow.add(block.text, block.kind, level=block.level, title=block.title)
    return flow.text()


def marked_blocks(markup: str, *, xml: bool = False) -> list[MarkedBlock]:
    """All that can be seen, in order, tables as one block each."""
    parser = _Parser(hidden_by_sheets(markup))
    for token in tokens(without_data(markup), xml=xml):
        match token:
            case Open():
                parser.open(token)
            case Close(name=name):
                parser.close(name)
            case Raw():
                pass
            case _:
                parser.text(token)
    parser.flush()
    return _with_tables(parser.blocks)


@dataclass(slots=True)
class _Parser:
    """Follows which elements are open, as far as it matters to what is seen."""

    hidden: frozenset[str]
    """Classes (`.name`) and ids (`#name`) that the page's style sheets hide."""
    blocks: list[MarkedBlock] = field(default_factory=list)
    _stack: list[_Element] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _linked: int = 0
    _ids: list[str] = field(default_factory=list)
    _tables: list[list[int]] = field(default_factory=list)
    _table_count: int = 0
    _formula: str | None = None
    """What stands for the formula that is open; empty while only its signs are known."""

    def open(self, tag: Open) -> None:
        """An element begins."""
        if tag.name in BLOCKS:
            self._end_implied(ENDS[tag.name])
            self.flush()
        attributes = tag.attributes if tag.raw_attributes.strip("/ \n\t") else {}
        top = self._top
        role = attributes.get("role", "").lower()
        is_unseen = (
            top.is_unseen
            or tag.name in AROUND
            or role in ROLES_AROUND
            or attributes.get("type", "").lower() == "pagebreak"
            or (bool(attributes) and is_hidden(attributes, self.hidden))
        )
        if not is_unseen:
            self._begin(tag.name, attributes)
        if tag.is_empty or len(self._stack) >= DEEPEST:
            return
        self._stack.append(
            _Element(
                name=tag.name,
                is_unseen=is_unseen,
                is_main=top.is_main or tag.name in MAIN or role == "main",
                is_link=top.is_link or tag.name == "a",
                is_preformatted=top.is_preformatted or tag.name == "pre",
                is_caption=top.is_caption or tag.name in CAPTIONS,
                level=HEADINGS.get(tag.name, top.level),
            )
        )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if identity := attributes.get("id") or attributes.get("name"):
            self._ids.append(identity)
        match name:
            case "br":
                if self._pieces and self._pieces[-1] == "\n":
                    self.flush()  # an empty line
                else:
                    self._pieces.append("\n")
            case "math":
                self._formula = attributes.get("alttext", "")
                self._pieces.append(self._formula)
            case "img" if "math" in attributes.get("class", "") or "tex" in attributes.get(
                "class", ""
            ):
                self._pieces.append(attributes.get("alt", ""))
            case "table":
                self._table_count += 1
                self._tables.append([self._table_count, 0, 0])
            case "tr" if self._tables:
                self._tables[-1][1] += 1
            case "td" | "th" if self._tables:
                self._tables[-1][2] += 1

    def close(self, name: str) -> None:
        """An element ends, and with it those inside that were left open."""
        if name in BLOCKS:
            self.flush()
        for depth in range(len(self._stack) - 1, -1, -1):
            if self._stack[depth].name == name:
                del self._stack[depth:]
                break
        if name == "table" and self._tables:
            self._tables.pop()
        if name == "math":
            self._formula = None

    def text(self, text: str) -> None:
        """Text between tags."""
        top = self._top
        if top.is_unseen or self._is_said_otherwise(top.name):
            return
        self._pieces.append(text)
        if top.is_link:
            self._linked += len(text.strip())

    def _is_said_otherwise(self, name: str) -> bool:
        """Whether the text is a formula's that was given as a whole, or its other notation."""
        if self._formula is None:
            return False
        return bool(self._formula) or name in ("annotation", "annotation-xml")

    def flush(self) -> None:
        """End the paragraph."""
        if not self._pieces:
            return
        inside = self._top
        text = tidy("".join(self._pieces), keep_lines=inside.is_preformatted)
        linked, self._linked = self._linked, 0
        self._pieces.clear()
        if not text:
            return
        kind = BlockKind.TABLE if inside.is_preformatted else BlockKind.TEXT
        if inside.level:
            kind = BlockKind.HEADING
        elif inside.is_caption:
            kind = BlockKind.CAPTION
        self.blocks.append(
            MarkedBlock(
                text=text,
                kind=kind,
                level=inside.level,
                is_main=inside.is_main,
                is_link=linked > 0.8 * len(text),
                cell=(
                    (self._tables[0][0], self._tables[0][1], self._tables[0][2])
                    if len(self._tables) == 1
                    else None
                ),
                ids=tuple(self._ids),
            )
        )
        self._ids.clear()

    @property
    def _top(self) -> _Element:
        return self._stack[-1] if self._stack else OUTSIDE

    def _end_implied(self, names: frozenset[str]) -> None:
        for depth in range(len(self._stack) - 1, -1, -1):
            name = self._stack[depth].name
            if name in names:
                del self._stack[depth:]
                return
            if name in BLOCKS:
                return


def _with_tables(blocks: Sequence[MarkedBlock]) -> list[MarkedBlock]:
    """Tables of short cells as one block of rows; those that only lay the page out are text."""
    result: list[MarkedBlock] = []
    index = 0
    while index < len(blocks):
        cell = blocks[index].cell
        end = index + 1
        if cell is None:
            result.append(blocks[index])
            index = end
            continue
        while end < len(blocks) and (other := blocks[end].cell) and other[0] == cell[0]:
            end += 1
        group = [block for block in blocks[index:end] if block.kind is not BlockKind.CAPTION]
        result.extend(block for block in blocks[index:end] if block.kind is BlockKind.CAPTION)
        result.extend([_table(group)] if _is_table(group) else group)
        index = end
    return result


def _is_table(cells: Sequence[MarkedBlock]) -> bool:
    rows = {block.cell[1] for block in cells if block.cell}
    columns = {block.cell[2] for block in cells if block.cell}
    return (
        len(rows) >= FEWEST_ROWS
        and len(columns) > len(rows)
        and all(block.kind is BlockKind.TEXT for block in cells)
        and sum(len(block.text) for block in cells) <= LONGEST_CELL * len(columns)
    )


def _table(cells: Sequence[MarkedBlock]) -> MarkedBlock:
    rows: dict[int, list[str]] = {}
    for block in cells:
        if block.cell is not None:
            rows.setdefault(block.cell[1], []).append(block.text)
    return MarkedBlock(
        text="\n".join(" ".join(row) for row in rows.values()),
        kind=BlockKind.TABLE,
        is_main=cells[0].is_main,
        is_link=all(block.is_link for block in cells),
        ids=tuple(name for block in cells for name in block.ids),
    )


def _main(blocks: Sequence[MarkedBlock]) -> list[MarkedBlock]:
    """The part that the page itself calls its main one, if that is much of it."""
    main = [block for block in blocks if block.is_main]
    words, all_words = _words(main), _words(blocks)
    is_much = words >= MAIN_WORDS or words >= MAIN_SHARE * all_words
    return main if main and is_much else list(blocks)


def _words(blocks: Iterable[MarkedBlock]) -> int:
    return sum(len(block.text.split()) for block in blocks)


def _without_menus(blocks: Sequence[MarkedBlock]) -> list[MarkedBlock]:
    """The blocks without rows of short links."""
    kept: list[MarkedBlock] = []
    run: list[MarkedBlock] = []
    for block in [*blocks, None]:
        if block is not None and block.is_link and len(block.text.split()) <= MENU_WORDS:
            run.append(block)
            continue
        if len(run) < MENU_LINES:
            kept.extend(run)
        run = []
        if block is not None:
            kept.append(block)
    return kept


def _without_site_title(blocks: Sequence[MarkedBlock]) -> list[MarkedBlock]:
    """A single outermost heading before all others is the page's title and no section."""
    headings = [block for block in blocks if block.kind is BlockKind.HEADING]
    outermost = [block for block in headings if block.level == 1]
    if len(headings) < 2 or len(outermost) != 1 or headings[0] is not outermost[0]:
        return list(blocks)
    headings[0].level = 0
    headings[0].kind = BlockKind.TEXT
    return list(blocks)
