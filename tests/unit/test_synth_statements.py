"""What of a text can be quoted as a statement."""

import pytest

from services.synth.statements import says_something, statements

FINDING = "At 480 nanometres the natural lenses of people over 65 let through 44% less light."


def quoted(text: str, language: str = "en", *, is_prose: bool = False) -> list[str]:
    return [text[one.start : one.end] for one in statements(text, language, is_prose=is_prose)]


@pytest.mark.parametrize(
    "text",
    [
        FINDING,
        "Memory did not change.",
        "Across the three sites, spindle density did not correlate with overnight retention "
        "(r = 0.06, 95% CI −0.11 to 0.22, n = 142).",
        "Lapses at 06:00 numbered 8.4 with neither remedy, 6.1 with caffeine alone, 5.9 with the "
        "nap alone and 3.2 with both.",
        "In 2014 a study of 54 nurses found fifteen minutes of impairment (Castellano et al., "
        "2014).",
    ],
)
def test_a_sentence_is_quoted(text: str) -> None:
    assert quoted(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Young 41 Natural lens 13 Artificial lens 31 Delay of melatonin onset (min)",
        "Young 41 Natural lens 13 Artificial lens 31 Delay of melatonin onset (min) Figure 1.",
        "Measure Young Natural lens Artificial lens n 18 12 6 Age (years) 24.6 69.8 70.8.",
        "Department of Sleep Physiology, University of Karst, and Dunmore Memory Clinic.",
        "Varga, I., Sorel, P. and Dunmore, K. (2016). Sleep spindle density and retention.",
        "Occupational Rest, 6, 301-303.",
        "Keywords: sleep inertia; control room; operators; nap.",
        "Invented for demonstration. No such scale exists.",
        "Figure 2. Yearly cost of the lamps by type.",
        "How long should a nap be?",
        "Slow to return: sleep inertia after half-hour naps",
    ],
)
def test_rows_captions_affiliations_references_and_titles_are_not(text: str) -> None:
    assert FINDING not in text
    assert [one for one in quoted(text) if one != "No such scale exists."] == []


def test_a_caption_behind_its_mark_is_not_quoted_and_the_next_sentence_is() -> None:
    text = f"Table 1. Melatonin, sleepiness and sleep by light condition (means). {FINDING}"
    assert quoted(text) == [FINDING]


def test_the_mark_of_a_list_item_is_not_quoted() -> None:
    assert quoted(f"• {FINDING}") == [FINDING]


def test_in_a_typed_note_a_sentence_needs_no_full_stop() -> None:
    note = "the effect is smaller than in the first study"
    assert quoted(note, is_prose=True) == [note]
    assert quoted(note) == []


def test_each_statement_knows_the_place_of_its_sentence() -> None:
    text = f"Is it so? {FINDING} Table 1. A row of labels. Memory did not change."
    assert [one.ordinal for one in statements(text, "en", is_prose=False)] == [1, 4]


def test_german_nouns_are_no_names() -> None:
    text = "Ein Mittagsschlaf von dreißig Minuten verbesserte die Wachheit der Pflegekräfte."
    assert quoted(text, "de") == [text]


def test_scripts_without_spaces_are_read_by_their_full_stops() -> None:
    assert says_something("三十分钟的午睡提高了夜班护士的警觉性。", "zh")
    assert not says_something("表 1：警觉性。", "zh")
