"""What the product itself says, in the language of the question."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The sentences of one language; braces are filled in by the writer."""

    report_one: str
    """Introduces a quote of one author: {who}."""
    report_many: str
    """Introduces a quote of several authors: {who}."""
    own_note: str
    """Introduces the reader's own words: {title}."""
    two_authors: str
    more_authors: str
    untitled: str
    gaps_heading: str
    """Stands above what the library does not cover."""
    nothing_on: str
    """Stands in brackets behind a gap: {things} that the library says nothing of."""
    nothing: str
    """Says that the library does not answer the question."""
    uncited: str
    """Says that a written answer rests on no passage."""
    nearest: str
    """Stands above the titles of the nearest works."""
    disagreement: str
    """A modest hint: {first} and {second} are citation markers."""
    honesty: str
    """Says how the answer was made."""
    other_language: str
    """Says that question and library seem to be in different languages."""
    greeting: str
    thanks: str
    about: str
    searching: str
    """A thought: {queries}."""
    reading: str
    """A thought: {title}."""
    concluding: str
    """A thought before the end of a pass."""
    covered: str
    """The summary of a pass: {aspects}."""
    not_covered: str
    """The summary of a pass that found nothing."""
    writing: str
    """A thought: {count} passages."""
    mending: str
    """A thought: {count} sentences that their passages do not support."""
