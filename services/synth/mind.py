"""What a mind is: it converses, investigates and writes, from plain values and nothing else."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRef:
    """One Zotero item."""

    library: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The document that a passage stands in, as far as a writer names it."""

    document_id: str
    item: ItemRef
    title: str
    creators: tuple[str, ...] = ()
    year: str = ""
    is_own_note: bool = False
    """The words are the reader's: a note or an annotation, not the work itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a work's text; the page indexes are None for a text without pages."""

    passage_id: str
    work: Work
    section_path: tuple[str, ...] = ()
    text: str
    first_page_index: int | None = None
    last_page_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTurn:
    """A finished turn of the session."""

    prompt: str
    answer: str
    cited_titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A prompt and what the session knows."""

    prompt: str
    history: tuple[PastTurn, ...] = ()
    active_items: tuple[ItemRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool on offer; the parameters are a JSON Schema as text."""

    name: str
    description: str
    parameters_schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the mind asks for; the arguments are a JSON object as text."""

    call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage as a tool returned it; without its text when an earlier call returned that."""

    passage: Passage
    similarity: float | None = None
    seen_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSection:
    """A section of a document as a tool returned it."""

    section_id: str
    title: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave back."""

    call_id: str
    ok: bool
    passages: tuple[FoundPassage, ...] = ()
    sections: tuple[FoundSection, ...] = ()
    notice: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationTurn:
    """One past turn of a pass."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]


class PlanAuthor(Enum):
    """Who spoke in a plan's review."""

    PLANNER = "planner"
    PERSON = "person"


class PlanIntent(Enum):
    """Whether a planner's message can be carried out, or asks something back."""

    READY = "ready"
    FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRound:
    """One message of a plan's review; the intent is that of a planner's message."""

    author: PlanAuthor
    message: str
    intent: PlanIntent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """A question to be planned for, and what was said about its plan, the newest last."""

    question: str
    active_items: tuple[ItemRef, ...] = ()
    rounds: tuple[PlanRound, ...] = ()
    current_plan: str = ""
    """The latest plan that could be carried out."""
    is_definitive: bool = False
    """Nothing may be asked back any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation:
    """The state of a pass, which is all that the search agent sees."""

    question: str
    transcript: tuple[InvestigationTurn, ...] = ()
    tools: tuple[Tool, ...] = ()
    calls_left: int
    words_left: int
    active_items: tuple[ItemRef, ...] = ()
    pass_number: int = 0
    remaining_gaps: tuple[str, ...] = ()
    """What the pass before this one left open."""
    guidance: str = ""
    """The person's steering for this pass, in their words."""
    confirmed_plan: str = ""
    """The plan that the person approved."""
    review_conversation: tuple[PlanRound, ...] = ()
    """What was said about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that the writer may use."""

    passage: Passage
    score: float
    sentence_scores: tuple[float, ...] = ()
    """How far each sentence answers the question, 0 to 1; empty when they were not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """A question to be answered from the evidence, which is ordered best first."""

    question: str
    evidence: tuple[Evidence, ...] = ()
    covered_summary: str = ""
    gaps: tuple[str, ...] = ()
    confirmed_plan: str = ""
    """The plan that the person approved."""
    bridged_languages: frozenset[str] = frozenset()
    """Languages between which the search finds meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What the mind does at this moment, for the record."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The next piece of the text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens used, zero for a mind without a model, and their list price where it is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    """Those of the input tokens that the provider had in its cache."""
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectAnswer:
    """An answer that needs no research."""

    markdown: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchRequest:
    """A question that can be understood without the session."""

    question: str
    active_items: tuple[ItemRef, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMessage:
    """The planner's next message in Markdown: the whole plan, or a question back."""

    text: str
    intent: PlanIntent
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The search agent's next calls; none means that it has stopped."""

    calls: tuple[ToolCall, ...]
    text: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A number of the text, the verbatim quote it stands for and the sentence that carries it."""

    number: int
    passage_id: str
    quote: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The written answer; the deltas joined are its markdown."""

    markdown: str
    citations: tuple[Citation, ...]
    gaps: tuple[str, ...]
    answered: bool
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """An answer with the numbers of citations whose sentence is not supported."""

    question: str
    markdown: str
    citations: tuple[Citation, ...]
    unsupported: frozenset[int]
    evidence: tuple[Evidence, ...]
    only_drops: bool = False
    """Every unsupported sentence goes, and none is rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """The answer after its repair, and how many sentences were rewritten and dropped."""

    markdown: str
    citations: tuple[Citation, ...]
    rewritten: int = 0
    dropped: int = 0
    usage: Usage = Usage()


class Mind(Protocol):
    """Thinks and writes without keeping anything; each stream ends with exactly one result."""

    @property
    def model(self) -> str:
        """The name that replies carry, for example `offline`."""

    def converse(
        self, conversation: Conversation
    ) -> AsyncIterator[Thought | Delta | DirectAnswer | ResearchRequest]:
        """Answer from the session itself, or ask for research."""

    def investigate(self, investigation: Investigation) -> AsyncIterator[Thought | Move]:
        """Decide the next turn of a pass."""

    def draft_plan(self, planning: Planning) -> AsyncIterator[Thought | PlanMessage]:
        """Draft a plan, revise it, or ask something back."""

    def synthesize(self, commission: Commission) -> AsyncIterator[Thought | Delta | Answer]:
        """Write the answer."""

    def repair(self, order: Repair) -> AsyncIterator[Thought | Repaired]:
        """Rewrite or drop the unsupported sentences; a mind that cannot write changes nothing."""
