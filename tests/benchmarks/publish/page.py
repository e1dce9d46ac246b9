"""What the page at ``/`` costs whoever leaves it open: bytes, the wait for a curve, processor time.

    python -m tests.benchmarks.publish.page [SECONDS [CHANGES_PER_SECOND]]

A real Chromium opens the page from the real server on loopback. Bytes are as transferred (gzip),
with an empty cache. The first curve counts as seen when its line is on the page. Then 56 boards go
on at 25 messages a second; the share of a processor is that of all tasks of the page's main thread
(``Performance.getMetrics`` in thread time); beside it stands script alone by the sampling profiler,
which counts the clock and so means something on a calm machine only.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from live.config import ServerConfig
from live.publish.access import ClientLimits
from live.publish.server import Publisher
from live.publish.visibility import EVERYTHING
from tests.web.broadcast import Broadcast
from tests.web.chromium import Page, browsing
from tests.web.replayed import Replayed

#: When the first line of the overview, or of a board in depth, has something to show.
CURVES = {
    "/": "document.querySelector('.spark .line')?.getAttribute('d')",
    "/#game={game}": "document.querySelector('.curves-chart canvas')",
}
SEQ = "Number(document.querySelector('#main').dataset.seq)"


async def fresh(page: Page, url: str, visible: str) -> tuple[float, float]:
    """Bytes and seconds until ``visible`` holds in a page that nothing was kept of."""
    await page.visit("about:blank")
    await page.count_bytes()
    await page.visit(url)
    await page.until(visible)
    seconds = float(await page.run("performance.now()")) / 1000
    # Pictures and what else is not waited for.
    await page.run("new Promise((done) => setTimeout(done, 1500))")
    return sum(size for what, size in page.transferred if what != "websocket"), seconds


async def metrics(page: Page) -> dict[str, float]:
    told = await page.call("Performance.getMetrics")
    return {each["name"]: each["value"] for each in told["metrics"]}


def busy_share(profile: dict[str, Any]) -> float:
    """The share of samples of the profiler in which script or the collector ran."""
    idle = {
        node["id"]
        for node in profile["nodes"]
        if node["callFrame"]["functionName"] in ("(idle)", "(program)", "(root)")
    }
    total = sum(profile["timeDeltas"])
    samples = zip(profile["samples"], profile["timeDeltas"], strict=True)
    return float(sum(delta for node, delta in samples if node not in idle) / total)


async def load(
    page: Page, publisher: Publisher, told: Replayed, seconds: float, per_s: float
) -> dict[str, float]:
    """Shares of a processor while the boards go on."""
    # Time of the processor, not of the clock: other work on the machine does not count.
    await page.call("Performance.enable", timeDomain="threadTicks")
    await page.call("Profiler.enable")
    rounds = told.rounds()
    await told.tell(publisher, rounds, 2000, 2)  # into the middle of the games
    publisher.broadcaster.flush()
    told_seq = publisher.broadcaster.stream(EVERYTHING).seq
    await page.until(f"{SEQ} === {told_seq}")
    before, seq, at = await metrics(page), await page.run(SEQ), time.monotonic()
    await page.call("Profiler.start")
    await told.tell(publisher, rounds, per_s, seconds)
    profile = (await page.call("Profiler.stop"))["profile"]
    after, took = await metrics(page), time.monotonic() - at
    share = {
        name: (after[f"{name}Duration"] - before[f"{name}Duration"]) / took
        for name in ("Task", "Script", "Layout", "RecalcStyle")
    }
    share["Profiler"] = busy_share(profile)
    share["messages/s"] = (await page.run(SEQ) - seq) / took
    return share


async def run(seconds: float, per_s: float) -> None:
    program = shutil.which("chromium")
    assert program, "chromium is not here; on Debian: apt-get install chromium"
    broadcast = Broadcast()
    broadcast.play(40)
    limits = ClientLimits(silent_after_s=1e6)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Publisher(ServerConfig(port=0), broadcast.state, limits=limits) as publisher,
            browsing(program, Path(folder)) as page,
        ):
            game = next(iter(broadcast.state.games())).id
            await page.open("about:blank", 1440, 900)
            print("fresh page            transferred   first curve")
            for path, visible in CURVES.items():
                url = publisher.url + path.removeprefix("/").format(game=game)
                if path == "/":
                    url += "#layout=cards"
                for _ in range(2):  # the first warms up the browser
                    size, wait = await fresh(page, url, visible)
                print(f"{path:20} {size / 1000:8.1f} kB {wait:10.2f} s")
        told = Replayed()
        for layout in ("cards", "table"):
            async with (
                Publisher(ServerConfig(port=0), told.state, limits=limits) as publisher,
                browsing(program, Path(folder) / layout) as page,
            ):
                await page.open(f"{publisher.url}#layout={layout}", 1440, 900)
                await page.until("document.querySelectorAll('.card, .boards-table td').length > 50")
                found = await load(page, publisher, told, seconds, per_s)
                assert page.complaints == [], page.complaints
            shares = ", ".join(f"{n} {100 * v:.1f} %" for n, v in found.items() if "/" not in n)
            print(f"56 boards as {layout}, {found['messages/s']:.1f} messages/s: {shares}")
            print(json.dumps({"layout": layout, **{n: round(v, 4) for n, v in found.items()}}))


def main() -> None:
    given = [float(each) for each in sys.argv[1:]]
    seconds, per_s = [*given, *[30.0, 25.0][len(given) :]]
    asyncio.run(run(seconds, per_s))


if __name__ == "__main__":
    main()
