"""The spans of the work on a run, in their place in its tree, told as soon as each is over."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context

from services.chassis import gen_ai
from services.chassis.gen_ai import Attributes, Document, Kind
from services.chassis.spans import beneath, derived_id, in_session, within
from services.chassis.telemetry import context_from, spans_are_recorded
from services.orchestrator import span_tree
from services.orchestrator.run import ClaimedRun, Stage
from services.orchestrator.transcript import Hit

# Work with a span of its own; the calls of a mind stand in their container by themselves.
RERANK, VERIFY = "rerank_evidence", "verify_citations"
NAMES: Mapping[str, tuple[str, Kind]] = {
    "rerank": (RERANK, Kind.RERANKER),
    "verify": (VERIFY, Kind.EVALUATOR),
}
MINDS = frozenset({"converse", "plan", "investigate", "synthesize", "repair"})
EXECUTE = "execute_tool: {tool}"
RETRIEVE = "retrieve"


class WorkSpans:
    """Opens the spans of one run's work; costs nothing where none are recorded."""

    def __init__(self, run: ClaimedRun) -> None:
        self._run = run
        self._tracer = trace.get_tracer(__name__)
        self._is_on = spans_are_recorded()

    @contextmanager
    def working(self, what: str, key: str, stage: Stage, pass_number: int) -> Iterator[trace.Span]:
        """Work on a step: what the mind or a peer does meanwhile stands beneath its container."""
        if not self._is_on:
            yield trace.INVALID_SPAN
            return
        context = self._context(span_tree.key_of(stage, pass_number))
        if what in MINDS:
            with within(context):
                yield trace.INVALID_SPAN
            return
        name, kind = NAMES.get(what, (EXECUTE.format(tool=what), Kind.TOOL))
        attributes: Attributes = gen_ai.of_kind(kind, self._run.session_id) | {"zocrates.step": key}
        if kind is Kind.TOOL:
            attributes |= gen_ai.tool(what, key)
        with (
            within(context),
            self._tracer.start_as_current_span(name, attributes=attributes) as span,
        ):
            yield span

    @contextmanager
    def retrieving(self, query: str) -> Iterator[trace.Span]:
        """The search for a query, within the tool that asks for it."""
        if not self._is_on:
            yield trace.INVALID_SPAN
            return
        attributes = gen_ai.of_kind(Kind.RETRIEVER, self._run.session_id) | gen_ai.took(query)
        with self._tracer.start_as_current_span(RETRIEVE, attributes=attributes) as span:
            yield span

    def _context(self, key: str) -> Context:
        outer = in_session(self._run.session_id, context_from(self._run.trace))
        return beneath(outer, derived_id(self._run.id, key))


def tell_arguments(span: trace.Span, arguments: str) -> None:
    """What a tool was asked."""
    if span.is_recording():
        span.set_attributes(gen_ai.took(arguments))


def tell_hits(span: trace.Span, hits: Sequence[Hit]) -> None:
    """What a tool found: ids and how near, not the texts."""
    if span.is_recording():
        found = [{"id": hit.passage.id, "score": hit.similarity} for hit in hits]
        span.set_attributes(gen_ai.gave({"passages": found}))


def tell_retrieved(span: trace.Span, query: str, hits: Sequence[Hit]) -> None:
    """What a search found, best first."""
    if span.is_recording():
        span.set_attributes(gen_ai.retrieval(query, [_document(hit) for hit in hits]))


def tell_ranked(
    span: trace.Span, query: str, model: str, kept: Sequence[tuple[str, float]]
) -> None:
    """What ranking kept, best first."""
    if span.is_recording():
        documents = [Document(id=passage_id, score=score) for passage_id, score in kept]
        span.set_attributes(gen_ai.ranking(query, model, documents))


def _document(hit: Hit) -> Document:
    return Document(id=hit.passage.id, text=hit.passage.text, score=hit.similarity)
