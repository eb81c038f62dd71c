"""The offline answer: quotes, numbers, gaps, languages."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.synth.citations import markers_in
from services.synth.composition import compose
from services.synth.languages import language_of
from services.synth.mind import Answer, Commission, Delta, Evidence, Passage
from services.synth.offline import OfflineMind
from services.synth.phrasebook import phrases_for
from services.synth.phrases_western import WESTERN
from tests.fakes.small_library import all_of, passage

NAPS = passage(
    "NAPS-0",
    "Fifty-four nurses worked four study nights. A nap of thirty minutes lowered vigilance lapses "
    "in night-shift nurses by 2.9.\nHow long should a nap be? Keywords: nap; nurses; vigilance.",
    title="Nap length in night-shift nurses",
    creators=("Giulia Castellano", "Simon Brook", "Daniyar Umarov"),
    year="2014",
)
NO_EFFECT = passage(
    "PILOT-0",
    "A nap of thirty minutes did not lower vigilance lapses in night-shift nurses in Karst.",
    title="A replication",
    creators=("Ama Keller",),
    year="2021",
)
LENS = passage(
    "LENS-0",
    "The natural lens of people over 65 lets through 44% less blue light than a young lens.",
    title="The ageing eye",
    creators=("World Health Organization",),
    year="2019",
)
QUESTION = "Does a nap lower vigilance lapses in night-shift nurses?"


def answer(question: str, *passages: Passage, gaps: tuple[str, ...] = ()) -> Answer:
    evidence = tuple(
        Evidence(passage=one, score=1 / rank) for rank, one in enumerate(passages, start=1)
    )
    commission = Commission(question=question, evidence=evidence, gaps=gaps)
    return compose(commission, phrases_for(language_of(question)))


def check(result: Answer, *passages: Passage) -> None:
    """What holds for every answer."""
    texts = {one.passage_id: one.text for one in passages}
    assert [one.number for one in result.citations] == list(range(1, len(result.citations) + 1))
    assert sorted(set(markers_in(result.markdown))) == [one.number for one in result.citations]
    for one in result.citations:
        assert one.quote in texts[one.passage_id]
        assert " ".join(one.quote.split()) in one.statement
        assert one.statement.endswith("”")
    assert len({(one.passage_id, one.quote) for one in result.citations}) == len(result.citations)
    assert result.answered == bool(result.citations)


def test_the_sentence_that_answers_is_quoted_with_author_year_and_number() -> None:
    result = answer(QUESTION, NAPS, LENS)
    check(result, NAPS, LENS)
    first = result.citations[0]
    sentence = "A nap of thirty minutes lowered vigilance lapses in night-shift nurses by 2.9."
    assert first.quote == sentence
    assert first.statement == f"Castellano et al. (2014) report: “{sentence}”"
    assert f"{first.statement} [1]" in result.markdown
    assert WESTERN["en"].honesty in result.markdown
    assert result.gaps == ()


def test_questions_and_keyword_lines_of_the_text_are_no_answers() -> None:
    quotes = " ".join(one.quote for one in answer(QUESTION, NAPS).citations)
    assert "How long should" not in quotes
    assert "Keywords" not in quotes


def test_works_that_may_disagree_are_pointed_out_modestly() -> None:
    result = answer(QUESTION, NAPS, NO_EFFECT)
    check(result, NAPS, NO_EFFECT)
    assert WESTERN["en"].disagreement.format(first="[1]", second="[2]") in result.markdown


def test_evidence_beside_the_question_gives_no_answer_but_the_nearest_works() -> None:
    result = answer("Does modafinil help airline pilots with narcolepsy?", NAPS, LENS)
    check(result, NAPS, LENS)
    assert not result.answered
    assert result.gaps == ("Does modafinil help airline pilots with narcolepsy?",)
    assert result.markdown.startswith(WESTERN["en"].nothing)
    assert "World Health Organization (2019): The ageing eye" in result.markdown


def test_without_evidence_the_library_does_not_answer() -> None:
    result = answer(QUESTION)
    assert (result.answered, result.citations) == (False, ())
    assert result.gaps == (QUESTION,)


def test_a_comparison_is_answered_by_aspect_and_the_missing_side_is_a_gap() -> None:
    question = "Do naps or modafinil lower vigilance lapses in nurses?"
    result = answer(question, NAPS, gaps=("modafinil (lower vigilance lapses nurses)",))
    check(result, NAPS)
    assert result.answered
    assert len(result.gaps) == 1
    assert f"**{WESTERN['en'].gaps_heading}**" in result.markdown


def test_a_gap_that_the_search_reported_is_named_once() -> None:
    gap = "Does modafinil help airline pilots"
    result = answer(f"{gap}?", NAPS, gaps=(gap,))
    assert result.gaps == (gap,)
    assert result.markdown.count(f"- {gap}") == 1


def scored(question: str, source: Passage, *scores: float, gaps: tuple[str, ...] = ()) -> Answer:
    evidence = (Evidence(passage=source, score=1, sentence_scores=scores),)
    commission = Commission(question=question, evidence=evidence, gaps=gaps)
    return compose(commission, phrases_for(language_of(question)))


def test_of_sentences_with_the_same_words_the_one_that_the_model_prefers_comes_first() -> None:
    source = passage("P-0", "The nap of the nurses was short. The nurses were alert after it.")
    assert scored("What did the nap do to nurses?", source, 0.2, 0.8).citations[0].quote == (
        "The nurses were alert after it."
    )


def test_what_is_far_weaker_than_the_best_is_left_out_though_there_is_room() -> None:
    source = passage(
        "P-0",
        "A nap of thirty minutes lowered vigilance lapses in night-shift nurses. "
        "Some nurses of the ward had brought a blanket and a pillow of their own.",
    )
    assert len(scored(QUESTION, source, 0.9, 0.2).citations) == 1


def test_a_sentence_that_an_abstract_and_a_page_hold_is_quoted_from_the_page() -> None:
    abstract = replace(NAPS, passage_id="ABS-0", first_page_index=None, last_page_index=None)
    first, *_ = answer(QUESTION, abstract, NAPS).citations
    assert first.passage_id == "NAPS-0"


@pytest.mark.parametrize(("best", "answered"), [(0.53, True), (0.16, False)])
def test_across_languages_the_model_decides_and_the_language_alone_declines_nothing(
    best: float, answered: bool
) -> None:
    question = "Wie viel Licht lässt die Linse älterer Menschen durch?"
    result = scored(question, LENS, best)
    assert result.answered is answered
    assert phrases_for("de").other_language in result.markdown
    assert phrases_for("de").honesty in result.markdown


def test_headings_are_phrases_of_the_question_and_stand_over_all_members_or_none() -> None:
    nurses = passage("N-0", "Sleep inertia lasted 15 minutes in nurses.", title="Nurses")
    pilots = passage("P-0", "Sleep inertia lasted 47 minutes in operators.", title="Operators")
    question = "How long does sleep inertia last in nurses and in operators?"
    headings = re.findall(r"^\*\*(.+)\*\*$", answer(question, nurses, pilots).markdown, re.M)
    assert headings in ([], ["Nurses", "Operators"])


def test_a_comparison_that_is_no_list_has_no_headings() -> None:
    question = (
        "How much blue light does the natural lens of someone over 65 hold back compared with a "
        "young eye?"
    )
    result = answer(question, LENS)
    assert result.answered
    assert "**" not in result.markdown


def test_a_thing_that_the_search_found_nothing_on_stays_a_gap() -> None:
    gap = f"{QUESTION} (nothing on nurses)"
    result = answer(QUESTION, replace(NAPS, text="A nap lowered vigilance lapses."), gaps=(gap,))
    assert gap in result.gaps


def test_a_note_of_the_reader_is_not_given_out_as_words_of_the_authors() -> None:
    work = replace(NAPS.work, document_id="user/NOTE", is_own_note=True)
    note = replace(NAPS, passage_id="NOTE-0", work=work)
    first, *_ = answer(QUESTION, note, NAPS).citations
    assert first.passage_id == "NAPS-0"
    first, *_ = answer(QUESTION, note).citations
    assert first.statement.startswith("A note on “Nap length in night-shift nurses” says: “")


def test_the_same_sentence_in_two_works_is_quoted_once() -> None:
    copy = passage("COPY-0", NAPS.text, title=NAPS.work.title, creators=("A B",), year="2015")
    result = answer(QUESTION, NAPS, copy)
    check(result, NAPS, copy)
    quotes = [one.quote for one in result.citations]
    assert len(quotes) == len(set(quotes))


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        (
            "de",
            "Verbessert ein Mittagsschlaf die Wachheit von Pflegekräften?",
            "Ein Mittagsschlaf von dreißig Minuten verbesserte die Wachheit der Pflegekräfte.",
        ),
        (
            "fr",
            "Quel est l'effet de la sieste sur la vigilance des infirmières ?",
            "Une sieste de trente minutes améliorait la vigilance des infirmières.",
        ),
        (
            "es",
            "¿Cómo influye la siesta en la atención de las enfermeras?",
            "Una siesta de treinta minutos mejoró la atención de las enfermeras.",
        ),
        (
            "it",
            "Come influisce il sonnellino sulla vigilanza degli infermieri?",
            "Un sonnellino di trenta minuti migliorava la vigilanza degli infermieri.",
        ),
        (
            "pt",
            "Qual é o efeito da sesta na atenção das enfermeiras?",
            "Uma sesta de trinta minutos não alterou a atenção das enfermeiras.",
        ),
        (
            "nl",
            "Wat is het effect van een dutje op de alertheid van verpleegkundigen?",
            "Een dutje van dertig minuten verhoogde de alertheid van de verpleegkundigen.",
        ),
        (
            "ru",
            "Как дневной сон влияет на внимание медсестёр?",
            "Дневной сон в течение тридцати минут улучшал внимание медсестёр.",
        ),
        ("zh", "午睡对护士的警觉性有什么影响？", "三十分钟的午睡提高了夜班护士的警觉性。"),
        (
            "ja",
            "昼寝は看護師の覚醒度にどのような影響を与えますか？",
            "三十分の昼寝は夜勤の看護師の覚醒度を高めた。",
        ),
        (
            "ko",
            "낮잠은 간호사의 각성도에 어떤 영향을 미치나요?",
            "삼십 분의 낮잠은 야간 근무 간호사의 각성도를 높였다.",
        ),
        (
            "ar",
            "ما تأثير القيلولة على يقظة الممرضات؟",
            "حسنت القيلولة لمدة ثلاثين دقيقة يقظة الممرضات في المناوبة الليلية.",
        ),
    ],
)
def test_the_answer_is_in_the_language_of_the_question(
    language: str, question: str, text: str
) -> None:
    source = passage("X-0", text, title="", creators=("Jo Doe",), year="2020")
    result = answer(question, source)
    check(result, source)
    assert [one.quote for one in result.citations] == [text]
    assert phrases_for(language).honesty in result.markdown
    other = answer(question, LENS)
    assert not other.citations or phrases_for(language).other_language in other.markdown


def test_text_of_the_library_cannot_become_active() -> None:
    evil = passage(
        "EVIL-0",
        "Naps lower vigilance lapses in night-shift nurses, see [here](https://evil.example) [7] "
        "and ![x](https://evil.example/x.png) <script>alert(1)</script>.",
        title="# [Title](https://evil.example)",
        creators=("<b>Bold</b> [9]",),
    )
    result = answer(QUESTION, evil)
    check(result, evil)
    plain = re.sub(r"\\.", "", result.markdown)
    assert not set("<>`#!") & set(plain)
    assert "](" not in plain
    assert "https:" not in plain
    assert markers_in(result.markdown) == [1]


SENTENCES = st.sampled_from(
    [
        "Naps lower vigilance lapses in nurses.",
        "A nap did not lower vigilance lapses in any of the nurses (p = 0.4).",
        "Table 1 12 13 14 15 16 17",
        "See [1] and <b>nurses</b> at https://x.example for naps.",
        "护士的警觉性在午睡后提高。",
        "Fig. 2: naps\nand nurses,\nvigilance   lapses counted.",
        "Night-shift nurses nap.",
        "Why nap?",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(SENTENCES, max_size=5).map(" ".join), max_size=5),
    st.sampled_from([QUESTION, "护士的警觉性？", "Naps or coffee for nurses?", "nap", "!"]),
    st.lists(st.sampled_from(["coffee", "nurses", QUESTION]), max_size=2),
)
async def test_quotes_are_verbatim_numbers_have_no_holes_and_deltas_join(
    texts: list[str], question: str, gaps: list[str]
) -> None:
    passages = [passage(f"D{n}-0", text, creators=("A B",)) for n, text in enumerate(texts)]
    commission = Commission(
        question=question,
        evidence=tuple(Evidence(passage=one, score=0.5) for one in passages),
        gaps=tuple(gaps),
    )
    events = await all_of(OfflineMind().synthesize(commission))
    result = events[-1]
    assert isinstance(result, Answer)
    check(result, *passages)
    deltas = [event.text for event in events if isinstance(event, Delta)]
    assert "".join(deltas) == result.markdown
    assert await all_of(OfflineMind().synthesize(commission)) == events
