"""A citation opens the file that it quotes where the quote stands."""

import pytest

from services.orchestrator.passages import NO_PAGE, Document, Item
from services.orchestrator.verification import open_uri


def document(kind: str, *, library: str = "user", attachment: str = "ATTA1111") -> Document:
    return Document(
        id=f"{library}/ANNO2222" if kind == "ANNOTATION" else f"{library}/{attachment}",
        item=Item(library=library, key="ITEM3333"),
        attachment_key=attachment,
        title="",
        creators=(),
        year="",
        citation_key="",
        kind=f"DOCUMENT_KIND_{kind}",
        reading_state="READING_STATE_FULL",
        reading_reason="",
        page_count=3,
    )


@pytest.mark.parametrize(
    ("cited", "page_index", "link"),
    [
        (document("PDF"), 4, "zotero://open-pdf/library/items/ATTA1111?page=5"),
        (
            document("PDF", library="groups/7"),
            0,
            "zotero://open-pdf/groups/7/items/ATTA1111?page=1",
        ),
        (
            document("ANNOTATION"),
            4,
            "zotero://open-pdf/library/items/ATTA1111?page=5&annotation=ANNO2222",
        ),
        (
            document("ANNOTATION"),
            NO_PAGE,
            "zotero://open-pdf/library/items/ATTA1111?annotation=ANNO2222",
        ),
        (document("WEB_PAGE"), NO_PAGE, "zotero://open-pdf/library/items/ATTA1111"),
        (document("EPUB"), NO_PAGE, "zotero://open-pdf/library/items/ATTA1111"),
        (document("TEXT"), NO_PAGE, ""),
        (document("NOTE", attachment=""), NO_PAGE, ""),
        (document("ABSTRACT", attachment=""), NO_PAGE, ""),
    ],
)
def test_a_link_names_the_page_or_the_annotation(
    cited: Document, page_index: int, link: str
) -> None:
    assert open_uri(cited, page_index) == link
