"""What the sidebar's pages ask of Zotero: scopes, jumps, notes, exports."""

import json
from typing import Any

import pytest

from tests.fakes.gateway_stage import Stage, until
from tests.integration.plugin.conftest import HOST, asked, opened
from tests.zotero_app import ZoteroApp

pytestmark = pytest.mark.browser


async def test_the_composer_is_offered_what_the_library_shows(zotero: ZoteroApp) -> None:
    await opened(zotero)
    await zotero.run(
        """
        let paper = Zotero.Items.make('journalArticle', {key: 'ITEM0001', title: 'Naps'});
        let file = Zotero.Items.make('attachment', {key: 'FILE0001', parentID: paper.id});
        ZoteroPane.select(paper, file);
        ZoteroPane.tagSelector.selection = new Set(['sleep']);
        ZoteroPane.show('collection', {libraryID: 1, key: 'COLL0001'}, 'Sleep');
        """
    )
    offered = await asked(zotero, "currentScope()")
    assert [part["kind"] for part in offered] == ["items", "tag", "collection", "library"]
    assert (offered[0]["keys"], offered[0]["count"]) == (["ITEM0001"], 1)
    assert offered[2]["key"] == "COLL0001"
    await zotero.run("ZoteroPane.show('collection', {libraryID: 2, key: 'COLL0002'}, 'Group')")
    assert (await asked(zotero, "currentScope()"))[-1]["library"] == "groups/77"
    await zotero.run("ZoteroPane.show('library', {libraryID: 3}, 'News')")
    assert await asked(zotero, "currentScope()") == []


async def test_what_is_chosen_of_the_library_is_what_is_asked_about(
    zotero: ZoteroApp, stage: Stage
) -> None:
    await zotero.run("ZoteroPane.show('collection', {libraryID: 1, key: 'COLL0001'}, 'Sleep')")
    await opened(zotero)
    await zotero.click("+ Sleep")
    before = len(stage.orchestrator.turns)
    await zotero.ask("Do naps help?")
    await until(lambda: len(stage.orchestrator.turns) == before + 1)
    assert list(stage.orchestrator.turns[-1].scope.collections.values) == ["user/COLL0001"]


async def test_the_composer_is_offered_the_paper_and_the_text_selected_in_it(
    zotero: ZoteroApp,
) -> None:
    await zotero.run(
        """
        let paper = Zotero.Items.make('journalArticle', {key: 'ITEM0001', title: 'Naps'});
        Zotero.Reader.show(Zotero.Items.make('attachment', {key: 'FILE0001', parentID: paper.id}));
        let [button] = Zotero.Reader.select('Naps help.');
        button.click();
        """
    )
    await zotero.holds("Stage.frame?.querySelector('textarea')")
    [text, paper] = await asked(zotero, "currentScope()")
    assert (text["kind"], text["text"], text["keys"]) == ("text", "Naps help.", ["ITEM0001"])
    assert (paper["kind"], paper["keys"]) == ("paper", ["ITEM0001"])
    await zotero.run("Zotero.Reader.select(null)")
    assert [part["kind"] for part in await asked(zotero, "currentScope()")] == ["paper"]


def citation(**fields: Any) -> str:
    """A citation as the pages hand it over."""
    usual = {
        "number": 1,
        "library": "user",
        "item_key": "ITEM0001",
        "attachment_key": "FILE0001",
        "title": "Naps",
        "creators": ["Ann Doe"],
        "year": "2020",
        "page_label": "iv",
        "page_index": 3,
        "quote": "Naps help most people.",
        "open_uri": "zotero://open-pdf/library/items/FILE0001?page=4",
    }
    return json.dumps({**usual, **fields})


PAPER = """
    let paper = Zotero.Items.make('journalArticle', {key: 'ITEM0001', title: 'Naps'});
    let fields = {key: 'FILE0001', parentID: paper.id, text: 'We saw that Naps help most people.'};
    let file = Zotero.Items.make('attachment', fields);
"""


async def test_a_citation_opens_its_page_with_the_quote_marked(zotero: ZoteroApp) -> None:
    await zotero.run(PAPER)
    await opened(zotero)
    there = await zotero.run(f"this.host = {HOST}; return await host.openCitation({citation()})")
    assert there == {"opened": True, "highlighted": True}
    last = await zotero.run("return Zotero.FileHandlers.opened.at(-1)")
    assert last == {"key": "FILE0001", "location": {"pageIndex": 3}}
    other = citation(quote="Coffee helps.")
    assert await zotero.run(f"return (await host.openCitation({other})).highlighted") is False


async def test_a_citation_without_its_file_selects_the_item(zotero: ZoteroApp) -> None:
    await zotero.run(PAPER + "file.isMissing = true;")
    await opened(zotero)
    assert await asked(zotero, f"openCitation({citation()})") == {
        "opened": False,
        "highlighted": False,
        "selected": True,
    }
    assert await zotero.run("return ZoteroPane.selected.map(item => item.key)") == ["ITEM0001"]
    gone = await asked(zotero, f"openCitation({citation(item_key='GONE0001', attachment_key='')})")
    assert gone["selected"] is False


async def test_links_of_harmless_kinds_are_opened(zotero: ZoteroApp) -> None:
    await opened(zotero)
    for uri in ("https://a.example/x", "doi:10.1000/182", "zotero://select/library/items/ITEM0001"):
        await asked(zotero, f"openLink({json.dumps(uri)})")
    for uri in ("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "chrome://x/"):
        with pytest.raises(AssertionError, match="are not opened"):
            await asked(zotero, f"openLink({json.dumps(uri)})")
    assert await zotero.run("return Zotero.launched.splice(0)") == [
        "https://a.example/x",
        "https://doi.org/10.1000/182",
    ]
    assert await zotero.run("return ZoteroPane.loaded.splice(0)") == [
        "zotero://select/library/items/ITEM0001"
    ]


async def test_an_answer_is_saved_as_a_note_with_citations_of_zoteros_own(
    zotero: ZoteroApp,
) -> None:
    await zotero.run(PAPER + "ZoteroPane.select(paper);")
    await opened(zotero)
    answer = f"{{title: 'Do naps help?', markdown: 'They do [1].', citations: [{citation()}]}}"
    assert await asked(zotero, f"saveNote({answer})") == {"where": "Naps"}
    note = await zotero.run(
        "let n = Zotero.Items.all.at(-1); return {html: n.html, parent: n.parentID, tags: n.tags}"
    )
    assert (note["parent"], note["tags"]) == (1, ["Zocrates"])
    assert "<h1>Do naps help?</h1>" in note["html"]
    assert 'class="citation" data-citation="' in note["html"]
    assert "open-pdf/library/items/FILE0001?page=4" in note["html"]
    await zotero.run(
        "ZoteroPane.select();"
        "ZoteroPane.show('collection', {libraryID: 1, id: 9, key: 'COLL0001'}, 'Sleep');"
    )
    assert await asked(zotero, f"saveNote({answer})") == {"where": "Sleep"}
    assert await zotero.run("return Zotero.Items.all.at(-1).collections") == [9]


async def test_cited_items_are_exported_by_zoteros_translators(zotero: ZoteroApp) -> None:
    await zotero.run(PAPER)
    await opened(zotero)
    refs = "[{library: 'user', key: 'ITEM0001'}, {library: 'user', key: 'GONE0001'}]"
    assert await asked(zotero, f"exportItems({refs}, 'bibtex')") == "@article{ITEM0001}"


async def test_the_local_api_is_allowed_by_one_call(zotero: ZoteroApp) -> None:
    await opened(zotero)
    assert await asked(zotero, "isLocalApiAllowed()") is False
    await asked(zotero, "allowLocalApi()")
    told = await asked(zotero, "describeZotero()")
    assert told == {"version": "10.0.1", "dataDir": "/nowhere/Zotero", "localApi": True}
