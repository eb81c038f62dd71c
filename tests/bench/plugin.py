"""How long Zotero waits for the plugin, and a researcher for its pane: `make bench-plugin`."""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.machine import machine, spread
from tests.fakes.gateway_stage import ADA, stage_with_nats
from tests.zotero_app import OPEN_TIMED, ZoteroApp, firefox_programs, zotero_app

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 30


async def measure(app: ZoteroApp, xpi: Path) -> None:
    """Print the times of one engine, by the clock."""
    startups, openings = [], []
    for _ in range(ROUNDS):
        startups.append(await app.run(f"return await Stage.load({json.dumps(str(xpi))})") / 1000)
        openings.append(await app.run(OPEN_TIMED) / 1000)
        await app.run("Stage.reset()")
    print(await app.run("return `engine ${Services.appinfo.platformVersion}`"))
    print(f"  startup()        {spread(startups, digits=1)}")
    print(f"  opening the pane {spread(openings)}")


async def main(folder: Path) -> None:
    """Measure the packed plugin in a folder on every engine there is."""
    print(machine())
    (folder / "nats").mkdir()
    async with stage_with_nats(folder / "nats") as stage:
        base = str(stage.http.base_url).rstrip("/")
        (folder / "run.json").write_text(json.dumps({"base_url": base, "api_key": ADA}))
        for number, firefox in enumerate(firefox_programs()):
            profile = folder / f"profile{number}"
            profile.mkdir()
            async with zotero_app(firefox, profile, {"ZOCRATES_DATA": str(folder)}) as app:
                await measure(app, folder / "zocrates.xpi")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        builder = ROOT / "zotero-plugin" / "build.py"
        subprocess.run([sys.executable, builder, name], check=True, capture_output=True)
        asyncio.run(main(Path(name)))
