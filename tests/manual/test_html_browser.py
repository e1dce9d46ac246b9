"""The manual and ``/docs`` in a real browser: nothing is refused, nothing keeps readers
out.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from live.server.server import Publisher
from live.settings import ServerConfig
from tests.screens.web.chromium import browsing
from tests.server.world import World

pytestmark = pytest.mark.whole

AXE = (
    Path(__file__).resolve().parent.parent
    / "data"
    / "vendor"
    / "axe-core"
    / "axe.min.js"
)


async def test_it_is_accessible_and_obeys_the_policy_of_the_site(
    require_program: Callable[[str], str], tmp_path: Path
) -> None:
    async with (
        Publisher(ServerConfig(port=0), World()) as publisher,
        browsing(require_program("chromium"), tmp_path) as page,
    ):
        found = []
        for width, height, scheme in ((1440, 900, "dark"), (390, 844, "light")):
            for path in ("manual/", "manual/glossary", "manual/producer", "docs"):
                await page.open(publisher.url + path)
                await page.emulate(width, height, scheme=scheme)
                await page.until("document.querySelector('main h1')")
                # The style sheet has come: the text keeps to a width that can be read.
                await page.until(
                    "getComputedStyle(document.body).maxWidth === '1344px'"
                )
                await page.call(
                    "Runtime.evaluate", expression=AXE.read_text(encoding="utf-8")
                )
                violations = await page.run(
                    "axe.run({ resultTypes: "
                    "['violations'] }).then(({ violations }) => violations"
                    ".map(({ id, nodes }) => [id, nodes.map(({ html }) => html)[0]]))"
                )
                found += [(scheme, path, *each) for each in violations]
                assert not await page.run(
                    "document.documentElement.scrollWidth > innerWidth"
                )
        assert found == [], "\n".join(map(str, found))
        assert page.complaints == []
