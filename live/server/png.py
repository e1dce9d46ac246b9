"""PNG pictures from SVG, made by resvg in a process of its own.

Resvg takes some tenths of a second, and holds Python's lock meanwhile. Run as a program
this module is that process.
"""

import asyncio
import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path

from live.process.child_processes import build_group_options
from live.server.made_files import ExportFailed

#: A picture that takes longer is given up, seconds.
PICTURE_S = 20.0
#: Pictures must take no time from the engines.
_NICE = 10


async def render_png(svg: str) -> bytes:
    """Render SVG as PNG in a process of its own.

    Raises:
        ExportFailed: it could not be made.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "live.server.png",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # the terminal is somebody's screen
        **build_group_options(_NICE),
    )
    try:
        async with asyncio.timeout(PICTURE_S):
            picture, _ = await process.communicate(svg.encode())
    except TimeoutError:
        raise ExportFailed("the picture was not made in time") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ExportFailed("the picture could not be made")
    return picture


#: Inter as the page has it; resvg reads no woff2.
_FONT_FOLDER = Path(__file__).resolve().parents[1] / "screens" / "web" / "font"


def can_render_png() -> bool:
    """Return whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


if __name__ == "__main__":
    import resvg_py

    if sys.platform != "win32":  # there the parent sets the priority
        os.nice(10)
    fonts = sorted(map(str, _FONT_FOLDER.glob("*.ttf")))
    # The parent may have been killed meanwhile.
    with suppress(BrokenPipeError), sys.stdout.buffer as out:
        svg = sys.stdin.buffer.read().decode()
        out.write(resvg_py.svg_to_bytes(svg_string=svg, font_files=fonts))
