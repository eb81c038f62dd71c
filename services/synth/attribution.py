"""How a work is named before a quote from it."""

import re

from services.synth.citations import as_plain_markdown
from services.synth.mind import Work
from services.synth.phrases import Phrases

MAX_TITLE_CHARS = 90

_BODY = re.compile(
    r"\b(?:organi[sz]ation|universit\w+|institut\w*|minist\w+|society|group|committee|association|"
    r"cent(?:er|re)|collaboration|agency|council|network|consortium|foundation|department|office|"
    r"bundes\w+|gesellschaft|verein|commission|board|authority|service|hospital|bureau|laborator\w+|college|academy|initiative|trust|program\w*)\b",
    re.IGNORECASE,
)


def introduction(work: Work, phrases: Phrases) -> str:
    """What stands before a quote, for example "Meyer et al. (2019) report:"; empty if unknown."""
    if work.is_own_note:
        return phrases.own_note.format(title=_quoted_title(work) or phrases.untitled)
    names = [family_name(creator) for creator in work.creators if creator.strip()]
    who = _who(names, phrases) or _quoted_title(work)
    if not who:
        return ""
    if work.year:
        who = f"{who} ({work.year})"
    form = phrases.report_many if len(names) > 1 else phrases.report_one
    return form.format(who=who)


def listed(work: Work, phrases: Phrases) -> str:
    """The work in a list, as Markdown: author, year and title."""
    names = [family_name(creator) for creator in work.creators if creator.strip()]
    who = _who(names, phrases)
    year = f"({work.year})" if work.year else ""
    title = short_title(work) or phrases.untitled
    lead = " ".join(part for part in (as_plain_markdown(who), year) if part)
    return f"{lead}: {as_plain_markdown(title)}" if lead else as_plain_markdown(title)


def short_title(work: Work) -> str:
    """The title on one line, cut at a word when it is long."""
    title = " ".join(work.title.split())
    if len(title) <= MAX_TITLE_CHARS:
        return title
    return title[:MAX_TITLE_CHARS].rsplit(" ", 1)[0] + "…"


def family_name(creator: str) -> str:
    """The family name of "Given Family", with its particles; an institution's name as it is."""
    parts = creator.split()
    if len(parts) == 1 or len(parts) > 5 or _BODY.search(creator):
        return " ".join(parts)
    for at, part in enumerate(parts[1:], start=1):
        if part[0].islower():
            return " ".join(parts[at:])
    return parts[-1]


def _who(names: list[str], phrases: Phrases) -> str:
    match names:
        case []:
            return ""
        case [only]:
            return only
        case [first, second]:
            return phrases.two_authors.format(first=first, second=second)
        case _:
            return phrases.more_authors.format(first=names[0])


def _quoted_title(work: Work) -> str:
    # The title in full: a cut one would no longer be the title of the work.
    title = " ".join(work.title.split())
    return f"“{title}”" if title else ""
