"""A question that needs two extensions, scripted for the research peers."""

from collections.abc import Sequence

from tests.fakes.research_peers import ResearchPeers, call, conclude, passage
from zocrates.synth.v1 import synth_pb2 as synth

QUESTION = "How do sleep, memory and age go together?"
QUERIES = ("sleep", "memory", "age")


def extension(*missing: str, why: str = "Two papers need a closer look.") -> synth.ToolCall:
    """The call with which the agent asks for more."""
    return call(
        "request_search_extension",
        justification=why,
        covered_summary="Sleep.",
        missing_aspects=list(missing),
    )


def deep_script() -> list[Sequence[synth.ToolCall]]:
    """Pass 0 asks for more, pass 1 leaves a gap, pass 2 leaves another."""
    return [
        [call("search_corpus", query="sleep")],
        [extension("memory", "age")],
        [call("search_corpus", query="memory")],
        [conclude("Sleep and memory.", ["age"])],
        [call("search_corpus", query="age")],
        [conclude("Sleep, memory and age.", ["sex"])],
    ]


def set_deep_question(peers: ResearchPeers) -> None:
    """Let the peers play it."""
    peers.search.hits = {
        "sleep": [passage(1), passage(2)],
        "memory": [passage(2), passage(3)],
        "age": [passage(4)],
    }
    peers.synth.script = deep_script()
