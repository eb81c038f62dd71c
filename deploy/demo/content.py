"""Loads the invented papers: bibliographic data, page design and body of each source file."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from deploy.demo.markup import Block, Paragraph, Span, marked_texts, parse_blocks, parse_spans

NOTICE = (
    "Invented for demonstration: this paper, its authors, data and results do not exist. "
    "It reports no real study."
)
ABSTRACT_NOTICE = "[Invented for demonstration; no real study.]"
_FENCE = "+++\n"


class ContentError(ValueError):
    """A source file of the demo library is not what the generator can use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creator:
    """A person (both names) or an institution (only a last name) in a role."""

    role: str
    last: str
    first: str = ""

    @property
    def is_institution(self) -> bool:
        """Whether the name is a single field."""
        return not self.first

    @property
    def printed(self) -> str:
        """The name as a title page shows it."""
        return f"{self.first} {self.last}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A bibliographic record of the library, whether a paper is printed for it or not."""

    slug: str
    item_type: str
    fields: dict[str, str]
    creators: tuple[Creator, ...] = ()
    tags: tuple[str, ...] = ()
    automatic_tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    library: str = "user"
    is_trashed: bool = False

    @classmethod
    def read(cls, slug: str, table: dict[str, Any]) -> Self:
        """Build the record from a parsed source table; every record says that it is invented."""
        fields = {name: " ".join(str(value).split()) for name, value in table["fields"].items()}
        fields["extra"] = "\n".join(filter(None, (NOTICE, fields.get("extra"))))
        if abstract := fields.get("abstractNote"):
            fields["abstractNote"] = f"{ABSTRACT_NOTICE} {plain(abstract)}"
        return cls(
            slug=slug,
            item_type=table["item_type"],
            fields=fields,
            creators=tuple(Creator(**creator) for creator in table.get("creators", ())),
            tags=tuple(table.get("tags", ())),
            automatic_tags=tuple(table.get("automatic_tags", ())),
            collections=tuple(table.get("collections", ())),
            library=table.get("library", "user"),
            is_trashed=table.get("trashed", False),
        )

    @property
    def year(self) -> str:
        """The year of publication."""
        return self.fields.get("date", "")[:4]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How a paper is printed."""

    masthead: str
    running_title: str
    family: str = "serif"
    columns: int = 2
    size: float = 10.0
    cover: bool = False
    first_page: int | None = None
    outline: bool = False
    hyphenate: bool = False
    picture_only: bool = False
    password: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A reader's mark on a paper, placed where the marked sentence was printed."""

    mark: str
    kind: str
    color: str
    comment: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A printed paper."""

    entry: Entry
    design: Design
    affiliation: str
    abstract: tuple[Span, ...]
    keywords: str
    foreign_abstract: str
    blocks: tuple[Block, ...]
    annotations: tuple[Annotation, ...] = ()
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name by which other sources refer to the paper."""
        return self.entry.slug

    @property
    def title(self) -> str:
        """The title as printed."""
        return self.entry.fields["title"]

    @property
    def authors(self) -> tuple[Creator, ...]:
        """The creators that stand below the title."""
        return tuple(one for one in self.entry.creators if one.role == "author")


def plain(markup: str) -> str:
    """Return the text of a marked-up line."""
    return "".join(span.text for span in parse_spans(markup))


def load_papers(folder: Path) -> tuple[Paper, ...]:
    """Read every paper of a folder, in the order of their file names."""
    return tuple(_load_paper(path) for path in sorted(folder.glob("*.md")))


def _load_paper(path: Path) -> Paper:
    opening, front, body = path.read_text(encoding="utf-8").split(_FENCE, 2)
    if opening:
        raise ContentError(f"{path.name!r} does not begin with its data between +++ lines")
    table = tomllib.loads(front)
    abstract = parse_spans(table["fields"]["abstractNote"])
    blocks = parse_blocks(body)
    annotations = tuple(
        Annotation(**{**one, "tags": tuple(one.get("tags", ()))})
        for one in table.get("annotations", ())
    )
    return Paper(
        entry=Entry.read(path.stem, table),
        design=Design(**table["design"]),
        affiliation=table["affiliation"],
        abstract=abstract,
        keywords=table.get("keywords", ""),
        foreign_abstract=" ".join(table.get("foreign_abstract", "").split()),
        blocks=blocks,
        annotations=annotations,
        marks=_collect_marks(path.name, abstract, blocks),
    )


def _collect_marks(
    name: str, abstract: tuple[Span, ...], blocks: tuple[Block, ...]
) -> dict[str, str]:
    marks: dict[str, str] = {}
    texts = [abstract, *(block.spans for block in blocks if isinstance(block, Paragraph))]
    for spans in texts:
        for mark, text in marked_texts(spans).items():
            if mark in marks:
                raise ContentError(f"{name!r} uses the mark {mark!r} twice")
            marks[mark] = text
    return marks
