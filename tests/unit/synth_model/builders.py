"""Values that the tests of the mind with a model are made of."""

from services.synth.mind import Commission, Evidence, Investigation, ItemRef, Passage, Tool, Work

NAPS = (
    "Naps of thirty minutes lowered lapses by 2.9 in night-shift nurses. "
    "Longer naps brought sleep inertia “for a while”."
)
LIGHT = "Bright evening light delayed melatonin by 52 minutes. The effect may differ with age."

SEARCH = Tool(
    name="search_corpus",
    description="Find passages.",
    parameters_schema='{"type": "object", "properties": {"query": {"type": "string"}}}',
)
CONCLUDE = Tool(
    name="conclude_search",
    description="Stop.",
    parameters_schema='{"type": "object", "properties": {"gaps": {"type": "array"}}}',
)


def passage(number: int, text: str, *, title: str = "A paper") -> Passage:
    work = Work(
        document_id=f"user/DOC{number}",
        item=ItemRef(library="user", key=f"ITEM{number}"),
        title=title,
        creators=("Ann Ito",),
        year="2019",
    )
    return Passage(passage_id=f"p{number}", work=work, text=text, first_page_index=number)


def evidence(*texts: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(passage=passage(number, text), score=1.0) for number, text in enumerate(texts, 1)
    )


def commission(*texts: str, gaps: tuple[str, ...] = ()) -> Commission:
    return Commission(
        question="Do naps lower lapses in nurses?", evidence=evidence(*texts), gaps=gaps
    )


def investigation(**changes: object) -> Investigation:
    fields: dict[str, object] = {
        "question": "Do naps lower lapses in nurses?",
        "tools": (SEARCH, CONCLUDE),
        "calls_left": 10,
        "words_left": 7_500,
    }
    return Investigation(**(fields | changes))
