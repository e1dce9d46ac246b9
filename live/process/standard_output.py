"""Handling of standard output when its disk is full or its reader has ended."""

import errno
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

log = logging.getLogger(__name__)


def exit_on_full_disk(error: OSError) -> NoReturn:
    """End the command if the disk of its output is full; raise any other error again.

    All other files that commands write have errors of their own types, so this error
    belongs to standard output.
    """
    if error.errno != errno.ENOSPC:
        raise error
    text = "the output: its disk is full. Make room, or write elsewhere"
    typer.echo(f"live-rate: {text}", err=True)
    discard_stdout()
    sys.exit(1)


def discard_stdout() -> None:
    """Discard the buffered standard output, so that it is not written at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tolerate_full_disk(write: Callable[[str], object]) -> Callable[[str], None]:
    """Return a function like ``write`` that drops the lines that a full disk rejects.

    A full disk must not end the service. If the reader has ended, as with ``| head``,
    the service is asked to end, once.
    """
    is_full = is_unread = False

    def attempt(text: str) -> None:
        nonlocal is_full, is_unread
        if is_unread:
            return
        try:
            write(text)
        except BrokenPipeError:
            is_unread = True
            discard_stdout()
            signal.raise_signal(signal.SIGTERM)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            if not is_full:
                log.error(
                    "the output: its disk is full, lines are left out. Make room there"
                )
            is_full = True
        else:
            if is_full:
                log.warning("the output: it can be written again")
            is_full = False

    return attempt
