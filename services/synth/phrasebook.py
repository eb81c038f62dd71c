"""The phrases of a language, found by its code."""

from services.synth.languages import FALLBACK
from services.synth.phrases import Phrases
from services.synth.phrases_eastern import EASTERN
from services.synth.phrases_western import WESTERN


def phrases_for(language: str) -> Phrases:
    """The phrases of the language, English for one that has none."""
    return WESTERN.get(language) or EASTERN.get(language) or WESTERN[FALLBACK]
