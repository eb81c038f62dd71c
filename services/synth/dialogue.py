"""What the coordinator does without a model: small talk is answered, all else is research."""

import re
import unicodedata

from services.synth.languages import language_of
from services.synth.mind import Conversation, DirectAnswer, PastTurn, ResearchRequest
from services.synth.phrasebook import phrases_for
from services.synth.small_talk import ABOUT, GREETINGS, POLITE, THANKS
from services.synth.terms import GENERIC_WEIGHT, Term, terms_of

# A question with fewer telling words than this cannot stand alone after another one.
TELLING_ENOUGH = 3
BORROWED_TERMS = 6
BORROWED_FROM_TITLES = 3

_BACK_REFERENCE = re.compile(
    r"^(?:and|but|so|what about|how about|und|aber|et|mais|y|pero|ed?|ma|mas|en|maar|а|и|но|"
    r"那么?|那|では|それで|그럼|그리고|و)\b|"
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|the same|"
    r"former|latter|"
    r"dies|diese[rsnm]?|dessen|deren|ihre?[rnms]?|celui|celle|ceux|cela|ses|leurs?|"
    r"est[eoa]s?|ello|sus?|quest[oiae]|loro|deles?|delas?|deze|dit|hun|"
    r"это[тй]?|эти|их|его|её)\b|"
    r"它们?|他们|这些?|那些|其|それ|これ|その|この|그것|이것|هذا|هذه|ذلك",
    re.IGNORECASE,
)


def reply(conversation: Conversation) -> DirectAnswer | ResearchRequest:
    """A direct answer to small talk; for anything else a question that needs no history."""
    words = _plain(conversation.prompt)
    language = _language(conversation, words)
    phrases = phrases_for(language)
    if not words or _is_all(words, GREETINGS):
        return DirectAnswer(markdown=f"{phrases.greeting}\n")
    if _is_all(words, THANKS):
        return DirectAnswer(markdown=f"{phrases.thanks}\n")
    if words in ABOUT:
        return DirectAnswer(markdown=f"{phrases.about}\n")
    return ResearchRequest(
        question=self_contained(conversation), active_items=conversation.active_items
    )


def self_contained(conversation: Conversation) -> str:
    """The prompt, and when it leans on the session the words that it leans on."""
    prompt = conversation.prompt
    if not conversation.history:
        return prompt
    language = language_of(prompt)
    telling = [term for term in terms_of(prompt, language) if term.weight > GENERIC_WEIGHT]
    leans = _BACK_REFERENCE.search(prompt) is not None
    if len(telling) >= TELLING_ENOUGH and not (leans and len(telling) <= TELLING_ENOUGH + 1):
        return prompt
    known = {term.stem for term in telling}
    borrowed = [
        term.surface for term in _context(conversation.history[-1]) if term.stem not in known
    ]
    return f"{prompt} ({', '.join(borrowed)})" if borrowed else prompt


def _context(turn: PastTurn) -> list[Term]:
    """The telling words of the last question, then those of the titles it led to."""
    language = language_of(turn.prompt)
    asked = [t for t in terms_of(turn.prompt, language) if t.weight > GENERIC_WEIGHT]
    titles = terms_of(" ".join(turn.cited_titles), language)
    stems = {term.stem for term in asked}
    # A word that several titles share, or that a title shares with nothing asked, narrows the
    # topic.
    cited = [t for t in titles if t.weight > GENERIC_WEIGHT and t.stem not in stems]
    room = BORROWED_FROM_TITLES if len(asked) < BORROWED_TERMS else 0
    return asked[:BORROWED_TERMS] + cited[:room]


def _language(conversation: Conversation, words: str) -> str:
    """The prompt's language; of a word of greeting, the language that greets so."""
    for language, greetings in GREETINGS.items():
        if words.split()[:1] and words in greetings:
            return language
    for language, thanks in THANKS.items():
        if words in thanks:
            return language
    return language_of(conversation.prompt)


def _is_all(words: str, table: dict[str, frozenset[str]]) -> bool:
    """Whether the prompt is made of such phrases, a polite word beside them allowed."""
    known = frozenset().union(*table.values())
    rest = words
    found = False
    for phrase in sorted(known, key=len, reverse=True):
        pattern = rf"(?:^|(?<=\s)){re.escape(phrase)}(?=\s|$)"
        rest, count = re.subn(pattern, " ", rest)
        found = found or count > 0
    return found and all(word in POLITE for word in rest.split())


def _plain(prompt: str) -> str:
    """The prompt in lower case, without punctuation and signs."""
    text = unicodedata.normalize("NFKC", prompt).casefold()
    return " ".join("".join(c if c.isalnum() or c in "'’" else " " for c in text).split())
