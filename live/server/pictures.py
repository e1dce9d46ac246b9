"""Pictures for links, rendered on request."""

import asyncio
from collections.abc import Callable, Hashable

from live.process.clock import ReadClock
from live.server.http_values import LATER, REVALIDATE, HttpResponse, problem, respond
from live.server.made_files import ExportFailed, SingleFlight
from live.server.png import render_png


class Pictures:
    """Renders each picture once; simultaneous requests share the result.

    Only one picture is rendered at a time, since each needs a processor core that the
    engines could use.
    """

    def __init__(self, clock: ReadClock) -> None:
        self._files = SingleFlight[bytes](clock)
        self._rendering = asyncio.Semaphore()

    async def respond(
        self, key: Hashable, draw: Callable[[], str], name: str
    ) -> HttpResponse:
        """Return a response with the picture, or with the reason why rendering failed.

        Args:
            key: identifies the picture; equal pictures have equal keys.
            draw: returns the picture as SVG; called only if it must be rendered.
            name: the name of the subject, for the text of an error.
        """

        async def render() -> bytes:
            async with self._rendering:
                return await render_png(draw())

        try:
            picture = await self._files.get(key, render)
        except ExportFailed as error:
            return problem(503, f"{name}: {error}", LATER)
        return respond(200, "image/png", picture, REVALIDATE)
