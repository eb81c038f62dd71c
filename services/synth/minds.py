"""Which mind has which role."""

from dataclasses import dataclass

from services.synth.mind import Mind


@dataclass(frozen=True, slots=True, kw_only=True)
class Minds:
    """The minds of the three roles; often one and the same."""

    coordinator: Mind
    search_agent: Mind
    writer: Mind
