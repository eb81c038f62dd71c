"""What a heading says by its number and its name."""

import pytest

from services.search.text.heading_names import bare, is_known, is_reference_list, numbered_level


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("1 Introduction", 1),
        ("2. Methods", 1),
        ("2.3 Task", 2),
        ("2.3.1. Timing", 3),
        ("IV. RESULTS", 1),
        ("A Proofs", 1),
        ("A.2 Data", 2),
        ("Appendix B Items", 1),
        ("第3章 方法", 1),
        ("Introduction", None),
        ("1969", None),
        ("a word", None),
    ],
)
def test_a_number_gives_the_depth(title: str, level: int | None) -> None:
    assert numbered_level(title) == level


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("2. Materials and  Methods", "materials and methods"),
        ("IV. RESULTS", "results"),
        ("Abstract:", "abstract"),
        ("§ 4 Diskussion", "diskussion"),
        ("3", "3"),
    ],
)
def test_a_name_stands_without_its_number(title: str, name: str) -> None:
    assert bare(title) == name


@pytest.mark.parametrize(
    "title",
    [
        "References",
        "7 REFERENCES",
        "Literatur",
        "参考文献",
        "참고문헌",
        "Список литературы",
        "المراجع",
        "ביבליוגרפיה",
        "Βιβλιογραφία",
    ],
)
def test_reference_lists_are_known_in_many_languages(title: str) -> None:
    assert is_reference_list(title)
    assert is_known(title)


@pytest.mark.parametrize("title", ["Reference frames", "Sources of light", "Method of loci"])
def test_other_titles_are_no_lists_and_not_known(title: str) -> None:
    assert not is_reference_list(title)
    assert not is_known(title)


@pytest.mark.parametrize("title", ["2. Μέθοδος", "초록", "מבוא", "نتایج", "Wstęp", "Özet"])
def test_sections_are_known_in_many_languages(title: str) -> None:
    assert is_known(title)
