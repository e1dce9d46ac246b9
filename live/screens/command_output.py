"""Output of commands: lines, tables, progress bars, files."""

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from live.errors import InputError
from live.journal.journal_file import make_private
from live.screens.terminal import printed
from live.server.analysis import Analysis, to_json

_ELSEWHERE = "Give another path"


def build_progress_bar(console: Console) -> Progress:
    """Return a progress bar that appears only on a terminal and vanishes at the end."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def check_writable(target: str | None) -> None:
    """Check before the work starts that a file can be written; leave no new file.

    Args:
        target: the path; None and ``-`` are not checked.

    Raises:
        InputError: nothing can be written at this path.
    """
    if target is not None and target != "-":
        new = not Path(target).exists()
        try:
            with open(target, "ab"):
                pass
            if new:
                Path(target).unlink()
        except OSError as error:
            raise InputError(
                target, f"cannot be written ({error.strerror})", _ELSEWHERE
            ) from None


def write_output(target: str, data: bytes, *, private: bool = False) -> None:
    """Write bytes to a file, or to standard output for ``-``.

    Args:
        target: the path, or ``-``.
        data: the content of the file.
        private: whether to let only the current user read the file.
    """
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        if private:
            make_private(Path(target))
        Path(target).write_bytes(data)
    except OSError as error:
        raise InputError(
            target, f"cannot be written ({error.strerror})", _ELSEWHERE
        ) from None


def write_json(target: str, figures: object, *, indent: int = 1) -> None:
    """Write a value as indented JSON; infinite and NaN numbers become ``null``."""
    write_output(target, to_json(figures, indent))


def print_line(text: str, console: Console) -> None:
    """Print a line without wrapping it, so that paths and addresses can be copied
    whole.
    """
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_tables(whole: Analysis, console: Console) -> None:
    """Print the tables of games and players."""
    width = console.width
    games = printed.build_games_table(
        whole.games, whole.engine, whole.gain, width=width, in_doubt=whole.in_doubt
    )
    console.print(games)
    console.print(
        printed.build_players_table(
            whole.players, whole.engine, whole.gain, width=width
        )
    )
