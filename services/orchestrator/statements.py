"""Sentences and their citations: is a sentence its quote, which numbers does a text carry? Pure.

A statement *is* its quote when, after citation markers, Markdown escapes, list or block quote
signs and runs of white space are gone and all quotation marks of a kind are made equal,

* the whole statement equals the quote, or
* it ends in the quote between quotation marks, and what stands before them only attributes it: the
  names of the document's creators, words of its title, numbers, and words that report.

Final punctuation and outer quotation marks do not count; letter case does. Anything else a
sentence says is the writer's own claim and has to be judged.
"""

import re
from collections.abc import Iterable, Mapping

from services.orchestrator.passages import Document

# A marker is a number in brackets that is not escaped and not the text of a link.
MARKER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")
LEADING_SIGN = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
DOUBLE_MARKS = str.maketrans(dict.fromkeys("“”„‟«»「」『』＂", '"'))
SINGLE_MARKS = str.maketrans(dict.fromkeys("‘’‚‛‹›", "'"))
OUTER = " \t\"'.!?…。！？;；,，:："
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

# Words that only say that somebody said it, by language.
REPORTING_BY_LANGUAGE = {
    "en": "according and al as authors by colleagues conclude concluded concludes et find finds "
    "found in note noted notes observe observed observes others p page pages pp report reported "
    "reports s say said says state stated states that the their to write writes wrote",
    "de": "autoren bericht berichten berichtet es fest heißt im in kollegen laut nach schreiben "
    "schreibt seite stellen stellt und zufolge",
    "fr": "après auteurs d'après dans écrit écrivent est et indique indiquent les note notent page "
    "rapporte rapportent selon",
    "es": "autores e en escribe escriben indica indican informa informan página según señala "
    "señalan y",
    "it": "autori e ed nel pagina riporta riportano scrive scrivono secondo",
    "pt": "autores e em escreve escrevem página relata relatam segundo",
    "nl": "auteurs blz en in melden meldt rapporteren rapporteert schrijft schrijven volgens",
    "ru": "авторы в др и пишет пишут с согласно сообщает сообщают указывает указывают",
    "ar": "أفاد تذكر تفيد في كتب وآخرون وفقا ويفيد يذكر يفيد",
}
REPORTING = frozenset(word for words in REPORTING_BY_LANGUAGE.values() for word in words.split())
# Scripts without spaces: whole phrases, longest first.
REPORTING_PHRASES = (
    "によると",
    "によれば",
    "報告している",
    "述べている",
    "次のように",
    "は次のように",
    "らは",
    "ら",
    "보고한다",
    "보고했다",
    "에 따르면",
    "등은",
    "写道",
    "报告",
    "报道",
    "指出",
    "等人",
    "根据",
    "等",
    "は",
    "と",
    "和",
)


def is_its_quote(statement: str, quote: str, document: Document) -> bool:
    """Whether the statement says what the quote says and nothing else."""
    said, quoted = _even(statement), _even(quote)
    body = quoted.strip(OUTER)
    if not body:
        return False
    core = said.strip(OUTER)
    if core == body:
        return True
    if not core.endswith(body):
        return False
    before = core[: -len(body)]
    after = said[said.rindex(core) + len(core) :]
    opens, closes = before.rstrip().endswith('"'), '"' in after
    return opens and closes and _only_attributes(before.rstrip().rstrip('"'), document)


def _only_attributes(text: str, document: Document) -> bool:
    for phrase in REPORTING_PHRASES:
        text = text.replace(phrase, " ")
    names = _words([*document.creators, document.title])
    return all(word in names or word in REPORTING for word in _words([text]))


def _words(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in WORD.findall(_even(text))}


def _even(text: str) -> str:
    text = LEADING_SIGN.sub("", MARKER.sub("", text))
    text = ESCAPE.sub(r"\1", text)
    return " ".join(text.translate(DOUBLE_MARKS).translate(SINGLE_MARKS).split())


def without_markers(statement: str) -> str:
    """The statement as a plain claim."""
    return " ".join(LEADING_SIGN.sub("", MARKER.sub("", statement)).split())


def renumbered(markdown: str, kept: Iterable[int]) -> tuple[str, Mapping[int, int]]:
    """The text with the kept citations numbered from 1 without holes; other markers are gone."""
    numbers = {old: new for new, old in enumerate(sorted(set(kept)), start=1)}

    def marker(match: re.Match[str]) -> str:
        new = numbers.get(int(match.group(2)))
        return "" if new is None else f"{match.group(1)}[{new}]"

    # A marker that goes takes the blank before it along.
    return re.sub("( ?)" + MARKER.pattern, marker, markdown), numbers
