"""PNG pictures from SVG, rendered by resvg in a separate process.

Resvg needs some tenths of a second and blocks all Python threads during this time. The
separate process runs this module as a program.
"""

import asyncio
import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path

from live.process.child_processes import build_group_options
from live.server.made_files import ExportFailed

#: Time limit for rendering a picture, seconds.
PICTURE_S = 20.0
#: Niceness of the process, so that pictures do not slow down the engines.
_NICE = 10


async def render_png(svg: str) -> bytes:
    """Return an SVG picture as PNG, rendered in a separate process.

    Raises:
        ExportFailed: the picture could not be rendered, or not in time.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "live.server.png",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # the terminal can show a live screen
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


#: Folder with the font Inter of the pages. Only TrueType files are used, since resvg
#: cannot read woff2.
_FONT_FOLDER = Path(__file__).resolve().parents[1] / "screens" / "web" / "font"


def can_render_png() -> bool:
    """Return whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


if __name__ == "__main__":
    import resvg_py

    if sys.platform != "win32":  # on Windows the parent sets the priority
        os.nice(10)
    fonts = sorted(map(str, _FONT_FOLDER.glob("*.ttf")))
    # The parent process can have ended in the meantime.
    with suppress(BrokenPipeError), sys.stdout.buffer as out:
        svg = sys.stdin.buffer.read().decode()
        out.write(resvg_py.svg_to_bytes(svg_string=svg, font_files=fonts))
