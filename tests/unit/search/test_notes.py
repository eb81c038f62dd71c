"""Notes become plain text, whatever their HTML."""

import json
from urllib.parse import quote

import pytest

from services.search.text.notes import read_note


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<h1>Title</h1>\n<p>A <b>bold</b>   word</p>", "Title\n\nA bold word"),
        ("<p>a &amp; b &lt; c&nbsp;d</p>", "a & b < c d"),
        ("<p>first<br>second<br/>third</p>", "first\nsecond\nthird"),
        ("<ul><li>one</li><li>two</li></ul>", "one\n\ntwo"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\n\nc"),
        ("<pre>x  =  1\ny = 2</pre>", "x = 1\ny = 2"),
        ("<p>seen</p><script>alert('x')</script><style>p{}</style>", "seen"),
        ("<p>seen</p><svg><title>no</title><path/></svg><p>too</p>", "seen\n\ntoo"),
        ("<p>unclosed <b>bold", "unclosed bold"),
        ("</p></div>stray", "stray"),
        ("<p>nul\0 and \ud800 surrogate</p>", "nul and surrogate"),
        ("<p>日本語のメモ</p><p>ملاحظة</p>", "日本語のメモ\n\nملاحظة"),
        ("<<<p>&&&</p", "<<\n\n&&&"),
    ],
)
def test_a_note_is_its_words_in_paragraphs(html: str, text: str) -> None:
    assert read_note(html).text == text


def citation(*uris: str) -> str:
    items = {"citationItems": [{"uris": [uri], "locator": "12"} for uri in uris]}
    return f'<span class="citation" data-citation="{quote(json.dumps(items))}">(A, 2001)</span>'


def test_the_items_that_a_note_cites_are_kept_once_in_order() -> None:
    note = read_note(f"<p>{citation('u/A', 'u/B')} and {citation('u/B', 'u/C')}</p>")
    assert note.cited_uris == ("u/A", "u/B", "u/C")
    assert note.text == "(A, 2001) and (A, 2001)"


def test_the_item_of_a_copied_annotation_is_cited() -> None:
    data = quote(json.dumps({"annotationKey": "K", "citationItem": {"uris": ["u/A"]}}))
    assert read_note(f'<p data-annotation="{data}">“text”</p>').cited_uris == ("u/A",)


@pytest.mark.parametrize(
    "data", ["", "%7B", "nonsense", "%5B1%5D", quote('{"citationItems": [1, {"uris": "x"}]}')]
)
def test_a_broken_citation_is_only_text(data: str) -> None:
    note = read_note(f'<span class="citation" data-citation="{data}">(A)</span>')
    assert note.text == "(A)"
    assert note.cited_uris == ()


def test_a_note_of_five_megabytes_is_read() -> None:
    note = read_note(("<div><p>" + "word " * 100 + "</p>") * 10_000)
    assert note.text.count("word") == 1_000_000
