"""Progress of a study, shown on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from live.screens.command_output import build_progress_bar, print_line

#: Time between two lines of progress if there is no terminal, seconds.
_LINE_S = 10.0


@contextmanager
def show_progress(total: int | None = None) -> Iterator[Callable[[int, str], None]]:
    """Show progress on standard error: as a bar on a terminal, otherwise as a line
    every ten seconds. Yield a function that receives the number done and a description.
    """
    console = Console(stderr=True)
    shown_s = time.monotonic()
    with build_progress_bar(console) as bar:
        task = bar.add_task("", total=total)

        def show(n: int, line: str) -> None:
            nonlocal shown_s
            bar.update(task, completed=n, description=line)
            if not console.is_terminal and time.monotonic() - shown_s >= _LINE_S:
                shown_s = time.monotonic()
                print_line(line, console)

        yield show
