"""The plugin's settings, and what it tells the gateway by itself."""

import pytest

from tests.fakes.gateway_stage import Stage, until
from tests.zotero_app import ZoteroApp

pytestmark = pytest.mark.browser


async def test_a_burst_of_changes_is_told_to_the_gateway_once(
    zotero: ZoteroApp, stage: Stage
) -> None:
    before = len(stage.library.told)
    await zotero.run(
        """
        let ids = Array.from({length: 10000}, (_, at) => at);
        Zotero.Notifier.trigger('add', 'item', ids);
        Zotero.Notifier.trigger('modify', 'item', [1]);
        """
    )
    told = stage.library.told
    await until(lambda: any(type(one).__name__ == "NotifyChangeRequest" for one in told[before:]))
    names = [type(one).__name__ for one in told[before:]]
    assert names.count("NotifyChangeRequest") == 1


async def test_the_settings_pane_shows_the_state_and_takes_choices(zotero: ZoteroApp) -> None:
    await zotero.run("await Stage.openPreferences(); this.at = id => document.getElementById(id);")
    await zotero.holds("at('zocrates-status').textContent.startsWith('Connected to')")
    unnamed = (
        "return [...document.querySelectorAll('#stage-preferences [data-l10n-id]')]"
        ".filter(n => !n.textContent && !n.placeholder && !n.label && !n.title).map(n => n.id)"
    )
    assert await zotero.run(unnamed) == []
    await zotero.run(
        """
        let held = {key: 'K', code: 'KeyK', ctrlKey: true, altKey: true, bubbles: true};
        at('zocrates-shortcut').dispatchEvent(new KeyboardEvent('keydown', held));
        at('zocrates-default-scope').value = 'shown';
        at('zocrates-default-scope').dispatchEvent(new Event('change'));
        at('zocrates-local-api').click();
        at('zocrates-address').value = 'http://z.example';
        at('zocrates-address').dispatchEvent(new Event('change'));
        """
    )
    await zotero.holds("at('zocrates-status').textContent.includes('is not taken')")
    assert await zotero.run(
        "return [Zotero.Prefs.get('zocrates.shortcut'), Zotero.Prefs.get('zocrates.defaultScope'),"
        " Zotero.Prefs.get('httpServer.localAPI.enabled'), at('zocrates-local-api').disabled]"
    ) == ["accel+alt+K", "shown", True, True]


async def test_settings_test_the_connection_and_delete_everything(
    zotero: ZoteroApp, stage: Stage
) -> None:
    stage.orchestrator.add(prompt="Which age?")
    assert await zotero.run("return Zotero.PreferencePanes.panes.size") == 1
    good = await zotero.run("return await Zotero.Zocrates.preferences.test()")
    assert good["id"] == "zocrates-status-good"
    await zotero.run("Zotero.Prefs.set('zocrates.address', 'http://z.example')")
    bad = await zotero.run("return await Zotero.Zocrates.preferences.test()")
    assert bad["id"] == "zocrates-status-failed"
    await zotero.run("Zotero.Prefs.set('zocrates.address', '')")
    await zotero.run("await Zotero.Zocrates.preferences.deleteAll()")
    assert (await stage.http.get("/sessions")).json()["sessions"] == []
