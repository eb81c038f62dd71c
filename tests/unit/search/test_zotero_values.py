"""What single stored values mean."""

import pytest

from services.search.library.zotero_children import page_of_position
from services.search.library.zotero_items import extra_citation_key, read_date
from services.search.library.zotero_rows import number, text, timestamp


@pytest.mark.parametrize(
    ("stored", "date", "year"),
    [
        ("2021-03-00 2021-03", "2021-03", "2021"),
        ("2021-03-14 March 14, 2021", "March 14, 2021", "2021"),
        ("2019-00-00 2019", "2019", "2019"),
        ("2019-05-00", "2019-05", "2019"),
        ("0000-00-00 in press", "in press", ""),
        ("0000-05-00 May", "May", ""),
        ("circa 1987", "circa 1987", "1987"),
        ("", "", ""),
    ],
)
def test_a_date_is_what_the_person_typed_and_its_year(stored: str, date: str, year: str) -> None:
    assert read_date(stored) == (date, year)


@pytest.mark.parametrize(
    ("extra", "key"),
    [
        ("", ""),
        ("Citation Key: loeve2001", "loeve2001"),
        ("PMID: 12\ncitation key:  smith_2020a \ntex.x: y", "smith_2020a"),
        ("Citation-Key: x1", "x1"),
        ("The citation key: is explained here", ""),
    ],
)
def test_a_citation_key_stands_in_a_line_of_extra(extra: str, key: str) -> None:
    assert extra_citation_key(extra) == key


@pytest.mark.parametrize(
    ("position", "page"),
    [
        ('{"pageIndex": 4, "rects": [[1, 2, 3, 4]]}', 4),
        ('{"pageIndex": 0}', 0),
        ('{"type": "FragmentSelector", "value": "epubcfi(/6/4)"}', None),
        ('{"pageIndex": "4"}', None),
        ('{"pageIndex": true}', None),
        ('{"pageIndex": -1}', None),
        ("[1]", None),
        ("{broken", None),
        ("", None),
    ],
)
def test_a_position_names_a_physical_page_or_none(position: str, page: int | None) -> None:
    assert page_of_position(position) == page


def test_stored_values_are_read_whatever_their_type() -> None:
    assert (text(None), text(12), text(b"\xc3\xb6\xff")) == ("", "12", "ö\ufffd")
    assert (number("7"), number(7), number(None), number("x")) == (7, 7, 0, 0)
    assert timestamp("2026-11-30 17:53:48") == "2026-11-30T17:53:48Z"
