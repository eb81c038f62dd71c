"""Every kind of file comes from the library into the index and is found by its words."""

from dataclasses import replace
from pathlib import Path

from services.search.text.extraction import Extractor
from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import search_stage
from tests.fixtures.written_pdf import WrittenPdf
from tests.unit.search.test_epub import book
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb

RUSSIAN = "Сон после обучения защищает выученное от забывания."


async def test_every_kind_of_file_is_found_and_quoted(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "page.html").write_text("<h2>Findings</h2><p>Spindles predicted retention.</p>")
    (files / "memo.txt").write_text("Naps restore attention.")
    book(files / "book.epub", {"a.xhtml": "<h1>Dawn</h1><p>Light resets the clock.</p>"})
    pdf = WrittenPdf()
    pdf.page().lines(60, 700, [RUSSIAN])
    pdf.save(files / "paper.pdf")
    types = {
        "page.html": "text/html",
        "memo.txt": "text/plain",
        "book.epub": "application/epub+zip",
        "paper.pdf": "application/pdf",
    }
    shelf = Shelf(tmp_path)
    for number, name in enumerate(types):
        shelf = shelf.item(f"ITEM{number}", name).file(f"FILE{number}", f"ITEM{number}", "")
    attachments = tuple(
        replace(one, content_type=types[name], path=files / name)
        for one, name in zip(shelf.records.attachments, types, strict=True)
    )
    source = FakeSource(replace(shelf.records, attachments=attachments))
    async with search_stage(tmp_path / "index", source, reader=Extractor()) as stage:
        await stage.synced()
        found = {}
        for query in ("spindles retention", "naps attention", "light clock", "забывания"):
            passage = (await stage.hits(query))[0].passage
            found[passage.document.title] = (
                corpus.DocumentKind.Name(passage.document.kind),
                list(passage.section_path),
                [span.page_label for span in passage.page_spans],
            )
        quoted = await stage.search.FindQuote(
            pb.FindQuoteRequest(quote="resets the clock", document_id="user/FILE2"), timeout=30
        )
    assert found == {
        "page.html": ("DOCUMENT_KIND_WEB_PAGE", ["Findings"], []),
        "memo.txt": ("DOCUMENT_KIND_TEXT", ["Full text"], []),
        "book.epub": ("DOCUMENT_KIND_EPUB", ["Dawn"], []),
        "paper.pdf": ("DOCUMENT_KIND_PDF", ["Full text"], ["1"]),
    }
    assert [match.page_index for match in quoted.matches] == [-1]
