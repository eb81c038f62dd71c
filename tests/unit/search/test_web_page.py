"""A web snapshot is read as a person reads it: its own text, in sections, without the site."""

import time

import pytest

from services.search.text.document_text import NO_PAGE, BlockKind, PagedText
from services.search.text.passages import structure
from services.search.text.web_page import read_web_page

LONG = "Sleep after learning protects what was learned from later interference. " * 12


def text(markup: str) -> str:
    return "\n\n".join(page.text for page in read_web_page(markup).pages)


def sections(paged: PagedText) -> list[tuple[str, ...]]:
    return [section.path for section in structure(paged, "user/WEB").sections]


def test_headings_give_sections_and_levels() -> None:
    page = read_web_page(
        "<body><h1>Title</h1><p>By A.</p><h2>Methods</h2><p>We slept.</p><h3>Sample</h3>"
        "<p>Ten adults.</p><h2>Results</h2><p>They <b>learned</b> more.</p></body>"
    )
    assert sections(page) == [
        ("Front matter",),
        ("Methods",),
        ("Methods", "Sample"),
        ("Results",),
    ]


def test_the_text_is_one_page_without_number_and_label() -> None:
    page = read_web_page("<p>One.</p><p>Two.</p>")
    assert [(one.index, one.label, one.text) for one in page.pages] == [
        (NO_PAGE, "", "One.\n\nTwo.")
    ]
    assert page.page_count == 0
    (passage,) = structure(page, "user/WEB").passages
    assert passage.spans == ()


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>alert('x')</script>",
        "<script>if (a < b) { document.write('</p><p>x</p>') }",
        "<style>p { color: red }</style>",
        "<!-- x -->",
        "<template><p>x</p></template>",
        "<noscript>x</noscript>",
        "<p hidden>x</p>",
        '<div style="display: none"><p>x</p></div>',
        '<span style="font-size:0px">x</span>',
        '<p style="visibility:hidden">x</p>',
        '<p style="opacity: 0">x</p>',
        '<p style="position:absolute; left:-9999px">x</p>',
        '<p aria-hidden="true">x</p>',
        '<p class="sr-only">x</p>',
        "<style>.secret { display: none }</style><p class='a secret'>x</p>",
        "<nav><a href='#'>x</a></nav>",
        "<div role='navigation'>x</div>",
        "<footer>x</footer>",
        "<aside>x</aside>",
        "<button>x</button>",
        "<svg><text>x</text></svg>",
        "<iframe>x</iframe>",
        "<textarea>x</textarea>",
        "<head><title>x</title></head>",
    ],
)
def test_what_nobody_reads_is_left_out(unseen: str) -> None:
    assert text(f"<body><p>Seen.</p>{unseen}") == "Seen."


@pytest.mark.parametrize(
    "seen",
    [
        "<style>@media print { .a { display: none } }</style><p class='a'>x</p>",
        '<p style="opacity: 0.9">x</p>',
        '<p style="font-size: 0.8em">x</p>',
        "<p hidden>y<p>x</p>",
        "<p>x",
        "<div><div><p>x</div>",
        "x</p></div></b>",
    ],
)
def test_what_is_shown_is_kept_whatever_the_markup(seen: str) -> None:
    assert text(seen) == "x"


def test_the_main_part_is_taken_alone() -> None:
    page = f"<p>Buy now!</p><main><h2>Findings</h2><p>{LONG}</p></main><p>Cookies?</p>"
    assert text(page) == f"Findings\n\n{LONG.strip()}"


def test_rows_of_short_links_are_a_menu() -> None:
    links = "".join(f"<li><a href='/{n}'>Topic {n}</a></li>" for n in range(6))
    assert text(f"<ul>{links}</ul><p>{LONG}</p>") == LONG.strip()


def test_a_table_of_short_cells_keeps_its_rows() -> None:
    table = "<tr><th>Night</th><th>Recall</th></tr><tr><td>1</td><td>14.2</td></tr>"
    page = read_web_page(f"<table><caption>Table 1. Recall</caption>{table}</table>")
    assert page.pages[0].text == "Table 1. Recall\n\nNight Recall\n1 14.2"
    assert [block.kind for block in page.pages[0].blocks] == [BlockKind.CAPTION, BlockKind.TABLE]


def test_a_table_that_lays_out_the_page_is_text() -> None:
    page = read_web_page(f"<table><tr><td>{LONG}</td><td>{LONG}</td></tr></table>")
    assert {block.kind for block in page.pages[0].blocks} == {BlockKind.TEXT}


def test_the_reference_list_is_in_no_passage() -> None:
    page = read_web_page("<h2>Results</h2><p>Seen.</p><h2>References</h2><p>[1] Smith, 2001.</p>")
    assert [passage.text for passage in structure(page, "user/WEB").passages] == ["Seen."]


def test_a_formula_is_what_its_author_wrote() -> None:
    markup = (
        '<p>Let <math alttext="x^2"><mi>x</mi></math> and <span class="katex"><math><semantics>'
        '<mi>y</mi><annotation encoding="application/x-tex">y</annotation></semantics></math>'
        '<span aria-hidden="true">y</span></span>.</p>'
    )
    assert text(markup) == "Let x^2 and y."


def test_text_of_every_script_survives_in_composed_form() -> None:
    markup = (
        "<p>Cafe\u0301 &eacute;&#x301; \u0000naïve</p><p>العربية מילים</p>"
        "<p><ruby>睡眠<rt>すいみん</rt></ruby>は</p><p>inter\u00adference</p>"
    )
    assert text(markup) == "Café é\u0301 naïve\n\nالعربية מילים\n\n睡眠は\n\ninterference"


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        '<a b="',
        "<!--",
        "<![CDATA[",
        "<div>",
        "<p>",
        "</div>",
        "<b><i>",
        "<i></b>",
        "<table><tr><td>x",
        "<style>",
        "<style>{",
        "<style>/*",
        "<style>@media{",
        "&",
        "&#",
        "data:x;",
    ],
)
def test_markup_made_to_be_slow_is_read_in_bounded_time(piece: str) -> None:
    begin = time.process_time()
    read_web_page(piece * 20_000)
    assert time.process_time() - begin < 5


def test_a_snapshot_with_pictures_is_read_quickly() -> None:
    picture = "data:image/png;base64," + "QUJD" * 1_000_000
    begin = time.process_time()
    assert text(f"<img src='{picture}'>" + f"<p>{LONG}</p>" * 300).count("Sleep") == 3_600
    assert time.process_time() - begin < 5
