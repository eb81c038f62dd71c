"""The standard turn: what its scripted stages answer, and how much of it there is."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as search
from zocrates.synth.v1 import synth_pb2 as synth

PAPERS = Path(__file__).parents[2] / "deploy" / "demo" / "papers"
# Tool steps of the first pass, and of the one that the first checkpoint grants.
PASSES = (6, 4)
PASSAGES = 8
STEP_BYTES = 8_000
DOCUMENTS = 4
ANSWER_WORDS = 600
DELTAS = 60
CITATIONS = 12
# The text of all tool steps has to fit; the shipped ceiling would cut the last of them.
HARNESS = {"search_harness": {"hard_word_ceiling": 9_000, "word_increment": 4_500}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the stages say, made once."""

    results: Sequence[search.SearchCorpusResponse]
    """Of the tool steps, in the order of the whole turn."""
    deltas: Sequence[str]
    answer: synth.SynthesizeResult


def script() -> Script:
    """The same script every time."""
    sentences = _sentences()
    chance = random.Random(7)
    results = [_result(number, sentences, chance) for number in range(sum(PASSES))]
    deltas = _answer(sentences, chance)
    return Script(results=results, deltas=deltas, answer=_draft("".join(deltas), results))


def move(pass_number: int, taken: int, *, together: bool) -> list[synth.ToolCall]:
    """What the agent does next in a pass in which it has taken so many turns."""
    first, steps = sum(PASSES[:pass_number]), PASSES[pass_number]
    if together:
        places = range(first, first + steps) if taken == 0 else ()
    else:
        places = range(first + taken, first + taken + 1) if taken < steps else ()
    calls = [_call("search_corpus", f"{place}", query=f"aspect {place}") for place in places]
    gaps = [f"What pass {pass_number} left open"]
    return calls or [_call("conclude_search", "end", summary="What was found", gaps=gaps)]


def _call(tool: str, call_id: str, **arguments: object) -> synth.ToolCall:
    return synth.ToolCall(call_id=call_id, tool=tool, arguments=json.dumps(arguments))


def _sentences() -> list[str]:
    """Plain sentences of the demonstration papers: text that compresses as real text does."""
    found = []
    for paper in sorted(PAPERS.glob("*.md")):
        body = paper.read_text("utf-8").rpartition("+++")[2]
        found += re.findall(r"[A-Z][^.!?\n#|\[\]]{40,200}\.", body.replace("\n", " "))
    return found


def _text(size: int, sentences: Sequence[str], chance: random.Random) -> str:
    text = ""
    while len(text.encode()) < size:
        text += f"{chance.choice(sentences)} "
    return text.encode()[:size].decode("utf-8", "ignore").strip()


def _result(
    number: int, sentences: Sequence[str], chance: random.Random
) -> search.SearchCorpusResponse:
    texts = [_text(STEP_BYTES // PASSAGES, sentences, chance) for _ in range(PASSAGES)]
    return search.SearchCorpusResponse(
        hits=[
            search.Hit(
                passage=_passage(number * PASSAGES + place, text), score=1.0, similarity=0.51234
            )
            for place, text in enumerate(texts)
        ]
    )


def _passage(number: int, text: str) -> corpus.Passage:
    document = number // (PASSAGES // DOCUMENTS)
    middle = len(text) // 2
    return corpus.Passage(
        passage_id=f"{random.Random(number).getrandbits(128):032x}",
        document=corpus.Document(
            document_id=f"user/ATTACH{document:02}",
            item=corpus.ItemRef(library="user", key=f"ITEM{document:04}"),
            attachment_key=f"ATTACH{document:02}",
            title=f"Sleep and memory in night-shift workers: trial number {document}",
            creators=["Ada Meyer", "Bo Chen", "Chris Ferreira"],
            year="2019",
            citation_key=f"meyer2019trial{document}",
            kind=corpus.DOCUMENT_KIND_PDF,
            reading_state=corpus.READING_STATE_FULL,
            page_count=12,
        ),
        section_path=["Results", f"Outcome {number % 5}"],
        text=text,
        page_spans=[
            corpus.PageSpan(start=0, end=middle, page_index=3, page_label="iv"),
            corpus.PageSpan(start=middle, end=len(text), page_index=4, page_label="v"),
        ],
        ordinal=number,
    )


def _answer(sentences: Sequence[str], chance: random.Random) -> list[str]:
    words: list[str] = []
    while len(words) < ANSWER_WORDS:
        words += chance.choice(sentences).split()
    each = ANSWER_WORDS // DELTAS
    pieces = [words[start : start + each] for start in range(0, ANSWER_WORDS, each)]
    marks = ANSWER_WORDS // each // CITATIONS
    return [
        " ".join(piece) + (f" [{place // marks + 1}] " if place % marks == 0 else " ")
        for place, piece in enumerate(pieces)
    ]


def _draft(markdown: str, results: Sequence[search.SearchCorpusResponse]) -> synth.SynthesizeResult:
    passages = [hit.passage for result in results for hit in result.hits]
    return synth.SynthesizeResult(
        markdown=markdown,
        citations=[
            synth.DraftCitation(
                number=place + 1,
                passage_id=passage.passage_id,
                quote=passage.text.split(". ")[0],
                statement=passage.text.split(". ")[0],
            )
            # Of the passages that rerank keeps, which is the first of them in their order.
            for place, passage in enumerate(passages[:CITATIONS])
        ],
        gaps=["What pass 1 left open"],
        answered=True,
        usage=synth.TokenUsage(input_tokens=20_000, output_tokens=900),
        model="scripted",
    )
