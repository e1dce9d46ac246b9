"""Debian's Chromium, driven over its DevTools protocol (chromedevtools.github.io)."""

import asyncio
import itertools
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

MARK = b"DevTools listening on "
#: On a busy machine the browser now and then ends at once (1 of 40 starts); that is not
#: our bug.
STARTS = 3
ANSWER_S = 60


class Page:
    """One tab. ``complaints`` gathers errors, refused requests and violations of the
    policy.
    """

    def __init__(self, socket: ClientConnection, address: str) -> None:
        self.address = address
        """Where its browser listens."""
        self.complaints: list[str] = []
        self._socket = socket
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._session: str | None = None
        self.context: str | None = None
        """Of its tab, once that is open."""

    async def listen(self) -> None:
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                self._answers.pop(message["id"]).set_result(message)
            else:
                self._note(message["method"], message["params"])

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(
                details.get("exception", details).get("description", "error")
            )
        elif method == "Log.entryAdded" and params["entry"]["level"] in (
            "warning",
            "error",
        ):
            entry = params["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in (
            "warning",
            "error",
        ):
            said = [each.get("value") for each in params["args"]]
            # The board's library says so of a piece that slid while the board took
            # another size.
            if said[1:] != ["without parentNode"]:
                self.complaints.append(str(said))

    async def call(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        await self._socket.send(json.dumps(message))
        async with asyncio.timeout(ANSWER_S):
            got = await answer
        assert "error" not in got, got["error"]
        return got["result"]

    async def open(
        self, url: str = "about:blank", width: int = 1280, height: int = 900
    ) -> None:
        """In a window of its own, so that it is in sight beside others."""
        if self._session is None:
            # A context of its own: nothing that another tab has kept is there.
            self.context = (await self.call("Target.createBrowserContext"))[
                "browserContextId"
            ]
            blank = {
                "url": "about:blank",
                "newWindow": True,
                "browserContextId": self.context,
            }
            target = {
                "targetId": (await self.call("Target.createTarget", **blank))[
                    "targetId"
                ]
            }
            attached = await self.call("Target.attachToTarget", **target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Runtime", "Log", "Page"):
                await self.call(f"{domain}.enable")
        await self.emulate(width, height)
        await self.visit(url)

    async def close(self) -> None:
        """The tab goes, with all that it has kept."""
        if self.context is not None:
            self._session = None
            await self.call(
                "Target.disposeBrowserContext", browserContextId=self.context
            )

    async def visit(self, url: str) -> None:
        """Another page in the same tab."""
        await self.call("Page.navigate", url=url)

    async def resize(self, width: int, height: int) -> None:
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        await self.call("Emulation.setDeviceMetricsOverride", **size)

    async def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        got = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait for a condition, looked at once a frame."""
        await self.run(
            "new Promise((done) => { const look = () =>"
            f" ({condition}) ? done() : requestAnimationFrame(look); look(); }})"
        )

    async def press(self, key: str) -> None:
        """One key, as if typed; named as ``KeyboardEvent.key`` names it."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            codes = {"Enter": 13, "Escape": 27, "Tab": 9, "End": 35, "Home": 36}
            codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
            code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
            typed = {
                "type": kind,
                "key": key,
                "code": key,
                "windowsVirtualKeyCode": code,
                **more,
            }
            await self.call("Input.dispatchKeyEvent", **typed)

    async def click(self, x: float, y: float) -> None:
        """The left button at a place of the tab, CSS pixels."""
        await self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    async def click_on(self, selector: str) -> None:
        """The middle of the first node there."""
        x, y = await self.run(
            f"""((node) => {{
                node.scrollIntoView({{ block: "center" }});
                const {{ x, y, width, height }} = node.getBoundingClientRect();
                return [x + width / 2, y + height / 2];
            }})(document.querySelector({selector!r}))"""
        )
        await self.click(x, y)

    async def emulate(
        self, width: int, height: int, *, scheme: str = "light", motion: str = "reduce"
    ) -> None:
        """A screen of this size for people who like ``dark`` or ``light`` pages, on
        which nothing moves, unless ``motion`` is ``no-preference``.
        """
        await self.resize(width, height)
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        await self.call("Emulation.setEmulatedMedia", features=features)


@contextmanager
def running(program: str, profiles: Path) -> Iterator[str]:
    """A browser, gone afterwards: where it listens. Its profiles are kept in a folder
    of yours.
    """
    for attempt in range(STARTS):
        process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",  # tests may run as root in a container
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--remote-debugging-port=0",
                f"--user-data-dir={profiles / f'chromium-{attempt}'}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = []
        with process:
            try:
                for line in process.stderr:
                    said.append(line.decode(errors="replace"))
                    if line.startswith(MARK):
                        # What it says later is nobody's, but must not fill the pipe.
                        rest = Thread(target=process.stderr.read)
                        rest.start()
                        yield line.removeprefix(MARK).decode().strip()
                        process.kill()
                        rest.join()
                        return
            finally:
                process.kill()
    raise AssertionError(f"chromium ended before it listened: {''.join(said)}")


@asynccontextmanager
async def browsing(program: str, profiles: Path) -> AsyncIterator[Page]:
    """A browser with one tab, gone afterwards; its profiles are kept in a folder of
    yours.
    """
    with running(program, profiles) as address:
        async with tab(address) as page:
            yield page


@asynccontextmanager
async def tab(address: str) -> AsyncIterator[Page]:
    """A tab of the browser that listens there; it goes when the block ends."""
    async with connect(address, max_size=None) as socket:
        page = Page(socket, address)
        listener = asyncio.create_task(page.listen(), name="chromium-events")
        try:
            yield page
            await page.close()
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)
