"""Standard output that goes to a file on a disk which fills up. Part of the composition root."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

log = logging.getLogger(__name__)


def while_there_is_room(write: Callable[[str], object]) -> Callable[[str], None]:
    """``write``, that leaves out what a full disk does not take: that ends no service."""
    full = False

    def attempt(text: str) -> None:
        nonlocal full
        try:
            write(text)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            if not full:
                log.error("the output: its disk is full, lines are left out. Make room there")
            full = True
        else:
            if full:
                log.warning("the output: is written again")
            full = False

    return attempt


def end_for_want_of_room(error: OSError) -> NoReturn:
    """End a command whose output met a full disk; any other error goes on its way.

    What commands write elsewhere has errors of its own: what is left is the output.
    """
    if error.errno != errno.ENOSPC:
        raise error
    typer.echo("live-rate: the output: its disk is full. Make room, or write elsewhere", err=True)
    # What was not written is not tried again at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)
