"""The search agent's tools: what they are called, what they take, and what a call means. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_QUERY_CHARACTERS = 1_000
MAX_LIMIT = 50
MAX_TEXTS = 20
MAX_TEXT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the agent is told of it."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def schema_json(self) -> str:
        """The JSON Schema of the arguments as text."""
        return json.dumps(self.schema)


def _object(required: list[str], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "maxItems": MAX_TEXTS}
PAGE = {"type": "integer", "minimum": 1}

TOOLS = (
    ToolSpec(
        name="search_corpus",
        description="Find passages in the library for a query, best first.",
        schema=_object(
            ["query"],
            query={**TEXT, "maxLength": MAX_QUERY_CHARACTERS},
            limit={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
        ),
    ),
    ToolSpec(
        name="get_document_toc",
        description="List the sections of a document with their pages.",
        schema=_object(["document_id"], document_id=TEXT),
    ),
    ToolSpec(
        name="read_document",
        description=(
            "Read a document in order: one section, a range of physical pages counted from 1, "
            "or the surroundings of a passage. Choose exactly one of the three."
        ),
        schema=_object(
            [],
            document_id=TEXT,
            section_id=TEXT,
            first_page=PAGE,
            last_page=PAGE,
            passage_id=TEXT,
            before={"type": "integer", "minimum": 0, "maximum": 10},
            after={"type": "integer", "minimum": 0, "maximum": 10},
        ),
    ),
    ToolSpec(
        name="request_search_extension",
        description="Stop and ask the researcher for larger ceilings; say what is missing.",
        schema=_object(
            ["justification", "covered_summary", "missing_aspects"],
            justification=TEXT,
            covered_summary={"type": "string"},
            missing_aspects=TEXTS,
        ),
    ),
    ToolSpec(
        name="conclude_search",
        description="Stop: say what the passages cover and which aspects they leave open.",
        schema=_object(["summary", "gaps"], summary={"type": "string"}, gaps=TEXTS),
    ),
)

COUNTED = frozenset({"search_corpus", "get_document_toc", "read_document"})
KNOWN = frozenset(tool.name for tool in TOOLS)


class BadArguments(ValueError):
    """The call cannot be made as asked; the message tells the agent what to mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCorpus:
    """Find passages."""

    query: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToc:
    """List sections."""

    document_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """Read in order: by section, pages or around a passage; exactly one is set."""

    document_id: str
    section_id: str | None = None
    pages: tuple[int, int] | None = None
    around: tuple[str, int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestExtension:
    """Ask for more."""

    justification: str
    covered_summary: str
    missing_aspects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclude:
    """Stop."""

    summary: str
    gaps: tuple[str, ...]


Request = SearchCorpus | GetToc | ReadDocument | RequestExtension | Conclude


def parse(tool: str, arguments: str) -> Request:
    """What the call asks for; raises BadArguments with a sentence for the agent."""
    if tool not in KNOWN:
        raise BadArguments(f"There is no tool {tool!r}; there are {', '.join(sorted(KNOWN))}.")
    given = _Arguments(tool, arguments)
    match tool:
        case "search_corpus":
            request: Request = SearchCorpus(
                query=given.text("query", MAX_QUERY_CHARACTERS),
                limit=given.number("limit", low=1, high=MAX_LIMIT, default=0),
            )
        case "get_document_toc":
            request = GetToc(document_id=given.text("document_id"))
        case "read_document":
            request = _read(given)
        case "request_search_extension":
            request = RequestExtension(
                justification=given.text("justification"),
                covered_summary=given.text("covered_summary", may_be_empty=True),
                missing_aspects=given.texts("missing_aspects"),
            )
        case _:
            request = Conclude(
                summary=given.text("summary", may_be_empty=True), gaps=given.texts("gaps")
            )
    given.refuse_others()
    return request


def _read(given: "_Arguments") -> ReadDocument:
    choices = [given.has("section_id"), given.has("first_page"), given.has("passage_id")]
    if sum(choices) != 1:
        raise BadArguments(
            "read_document takes exactly one of 'section_id', 'first_page' with 'last_page', "
            "or 'passage_id'."
        )
    if given.has("passage_id"):
        window = (
            given.text("passage_id"),
            given.number("before", low=0, high=10, default=1),
            given.number("after", low=0, high=10, default=1),
        )
        document_id = given.text("document_id") if given.has("document_id") else ""
        return ReadDocument(document_id=document_id, around=window)
    document_id = given.text("document_id")
    if given.has("section_id"):
        return ReadDocument(document_id=document_id, section_id=given.text("section_id"))
    first = given.number("first_page", low=1, high=1_000_000, default=1)
    last = given.number("last_page", low=first, high=1_000_000, default=first)
    return ReadDocument(document_id=document_id, pages=(first - 1, last - 1))


class _Arguments:
    """A call's JSON object, read field by field."""

    def __init__(self, tool: str, arguments: str) -> None:
        self._tool = tool
        try:
            content = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise BadArguments(f"The arguments of {tool} are not JSON: {error}.") from error
        if not isinstance(content, dict):
            raise BadArguments(f"The arguments of {tool} must be a JSON object.")
        # Models write null for what they leave out.
        self._content = {name: value for name, value in content.items() if value is not None}
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        self._read.add(name)
        return name in self._content

    def text(
        self, name: str, limit: int = MAX_TEXT_CHARACTERS, *, may_be_empty: bool = False
    ) -> str:
        value = self._content.get(name) if self.has(name) else None
        if isinstance(value, str):
            # What JSON escapes can smuggle in and neither Postgres nor gRPC can carry.
            value = value.encode("utf-8", "replace").decode().replace("\x00", " ").strip()
        if not isinstance(value, str) or (not value and not may_be_empty):
            raise BadArguments(f"{self._tool} needs {name!r} as a text.")
        if len(value) > limit:
            raise BadArguments(f"{name!r} of {self._tool} has more than {limit} characters.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._content.get(name) if self.has(name) else None
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise BadArguments(f"{self._tool} needs {name!r} as a list of texts.")
        if len(value) > MAX_TEXTS:
            raise BadArguments(f"{name!r} of {self._tool} has more than {MAX_TEXTS} entries.")
        cleaned = (one.encode("utf-8", "replace").decode().replace("\x00", " ") for one in value)
        return tuple(one.strip()[:MAX_TEXT_CHARACTERS] for one in cleaned if one.strip())

    def number(self, name: str, *, low: int, high: int, default: int) -> int:
        if not self.has(name):
            return default
        value = self._content[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise BadArguments(
                f"{name!r} of {self._tool} must be a whole number from {low} to {high}."
            )
        return value

    def refuse_others(self) -> None:
        if others := sorted(set(self._content) - self._read):
            raise BadArguments(f"{self._tool} does not take {', '.join(map(repr, others))}.")


@lru_cache(maxsize=4_096)
def same_call(tool: str, arguments: str) -> str:
    """A key that calls share when they ask for the same thing, whatever the order of fields."""
    try:
        written = json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        written = arguments.strip()
    return f"{tool} {written}"
