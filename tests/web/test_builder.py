"""The page at ``/overlays`` in a real browser: choose with keyboard and mouse, see, copy."""

from __future__ import annotations

import contextlib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from live.config import ServerConfig
from live.publish.server import Publisher
from tests.web.broadcast import Broadcast, on_air
from tests.web.chromium import Page

pytestmark = [pytest.mark.slow, pytest.mark.whole, pytest.mark.timeout(600)]

ADDRESS = "document.querySelector('#address').value"
PREVIEW = "document.querySelector('#preview').contentDocument"


async def type_in(page: Page, field: str, text: str) -> None:
    await page.run(f"{field}.select(), {field}.focus()")
    await page.call("Input.insertText", text=text)


async def asked(page: Page, **wanted: list[str]) -> None:
    """Wait until the address asks for exactly this, and the preview shows it."""
    await page.until(
        f"{ADDRESS} === document.querySelector('#preview').dataset.href && "
        + (" && ".join(f"{ADDRESS}.includes('{name}=')" for name in wanted) or "true")
    )
    address = await page.run(ADDRESS)
    assert urlsplit(address).path == "/overlay"
    assert parse_qs(urlsplit(address).query) == wanted
    await page.until(f"{PREVIEW}?.location.href === {ADDRESS}")
    await page.until(f"{PREVIEW}?.querySelector('#stage')?.dataset.seq")


async def test_an_overlay_is_chosen_seen_and_copied(page: Page) -> None:
    async with on_air(boards=4, plies=24) as (broadcast, publisher):
        await page.open()
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        granted = {"origin": publisher.url.rstrip("/"), "permissions": permissions}
        await page.call("Browser.grantPermissions", browserContextId=page.context, **granted)
        await page.open(f"{publisher.url}overlays", 1400, 900)
        await page.until("document.querySelector('#address')?.value")
        await asked(page)

        # By keyboard: the first stop is the layout, and a letter chooses.
        await page.press("Tab")
        assert await page.run("document.activeElement.labels[0].textContent") == "Layout"
        await page.press("l")
        await asked(page, layout=["bar"])
        assert await page.run("document.querySelector('#height').value") == "184"
        name = await page.run(f"{PREVIEW}.querySelector('.name').textContent")
        players = {each.name for each in broadcast.state.players()}
        assert name in players

        # By mouse.
        await page.click_on("fieldset fieldset input[value=clock]")
        await asked(page, layout=["bar"], hide=["clock"])
        style = f"getComputedStyle({PREVIEW}.querySelector('.clock')).display"
        assert await page.run(style) == "none"

        # What there is to choose from is offered, as text.
        offered = await page.run(
            "[...document.querySelectorAll('#players option')].map((each) => each.value)"
        )
        assert set(offered) == players

        await page.click_on("#copy")
        await page.until("document.querySelector('#said').textContent === 'Copied.'")
        assert await page.run("navigator.clipboard.readText()") == await page.run(ADDRESS)

        # A link dropped on OBS says how large and what it is called.
        dragged = parse_qs(urlsplit(await page.run("document.querySelector('#drag').href")).query)
        layer = [dragged[f"layer-{name}"] for name in ("width", "height", "name")]
        assert layer == [["1920"], ["184"], ["live-rate bar"]]

        # A swing is seen on demand; the address to go on air knows nothing of it.
        choose = "each.dispatchEvent(new Event('change', { bubbles: true }))"
        sample = "document.querySelector('#sample')"
        await page.run(f"((each) => {{ each.value = 'swing'; {choose} }})({sample})")
        await page.until(f"{PREVIEW}?.querySelector('.alert:not([hidden])')?.textContent")
        assert "sample" not in await page.run(ADDRESS)
        await page.run(f"((each) => {{ each.value = ''; {choose} }})({sample})")

        # What was chosen is kept by a name, and comes back by it.
        await page.run("document.querySelector('#preset-name').value = 'Third'")
        await page.click_on("#preset-keep")
        await page.until("document.querySelector('#said').textContent === 'Kept as Third.'")
        await page.visit(f"{publisher.url}overlays")
        await page.until("document.querySelector('#preset option[value=Third]')")
        preset = "document.querySelector('#preset')"
        await page.run(f"((each) => {{ each.value = 'Third'; {choose} }})({preset})")
        await asked(page, layout=["bar"], hide=["clock"])

        # The builder's own address can be kept: it comes back as it was.
        await page.call("Page.reload")
        await page.until("document.querySelector('#address')?.value")
        await asked(page, layout=["bar"], hide=["clock"])

        assert page.complaints == []


async def test_a_local_file_waits_for_the_service(page: Page, tmp_path: Path) -> None:
    broadcast = Broadcast(boards=2)
    broadcast.play(4)
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        port = publisher.address[1]
        await page.open(f"{publisher.url}overlays?layout=bar", 1400, 900)
        await page.until("document.querySelector('#address')?.value")
        await page.run(
            "URL.createObjectURL = (blob) => { self.saved = blob; return '#'; };"
            " document.querySelector('#save-file').click()"
        )
        file = tmp_path / "overlay.html"
        file.write_text(await page.run("self.saved.text()"))
    # Opened before the service is there, as OBS may be.
    await page.visit(file.as_uri())
    await page.until("document.title === 'live-rate overlay' && document.readyState === 'complete'")
    async with Publisher(ServerConfig(port=port), broadcast.state):
        with contextlib.suppress(AssertionError):  # it goes on to another page
            await page.until("false")
        await page.until("document.querySelector('.layout-bar .name')?.textContent")
        assert await page.run("location.search") == "?layout=bar"


async def test_nonsense_is_marked_and_left_out(page: Page) -> None:
    broadcast = Broadcast(boards=1)
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        await page.open(f"{publisher.url}overlays?token=secret&rating=level", 500, 900)
        await page.until("document.querySelector('#address')?.value")
        assert "rating=level" in await page.run("document.querySelector('#said').textContent")
        field = "document.querySelector('.field.colour input')"
        await type_in(page, field, "reddish")
        await page.until(f"{field}.matches(':invalid')")
        await asked(page, token=["secret"])
        await type_in(page, field, "#FF0000")
        await asked(page, text=["ff0000"], token=["secret"])
        assert await page.run(f"{field}.matches(':valid')")
        # An address with a token says so.
        assert await page.run("!document.querySelector('#token').hidden")
        # Nothing is wider than a phone.
        await page.resize(390, 900)
        await page.until("document.documentElement.scrollWidth <= innerWidth")
        assert page.complaints == []
