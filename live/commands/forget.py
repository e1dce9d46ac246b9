"""The command ``live-rate forget``."""

import sqlite3
import time
from pathlib import Path
from typing import Annotated

import typer

from live.commands.command_options import Within
from live.errors import ConfigError


def forget(
    journal: Path, *, player: str = "", older_than: Annotated[int, Within(0)] = 0
) -> None:
    """Delete games from a journal for good, with everything recorded about them: a
    player's, or old ones. Stop the service first.

    Options:
        journal: The file that live-rate wrote with --journal.
        player: [NAME] Name or FIDE id of the player whose games are deleted.
        older_than: [DAYS] Delete games that have not changed for so many days.
    """
    from live.journal.game_deletion import delete_games
    from live.journal.journal_file import ForeignDatabase, JournalLocked

    if not player.strip() and not older_than:
        raise ConfigError(
            "forget",
            "does not say what to delete",
            "Give --player NAME or --older-than DAYS",
        )
    if not journal.is_file():
        raise ConfigError(
            str(journal), "there is no such file", "Give the journal of an event"
        )
    before_ms = round((time.time() - older_than * 86_400) * 1000) if older_than else 0
    try:
        games = delete_games(journal, player=player, older_than_ms=before_ms)
    except JournalLocked:
        raise ConfigError(
            str(journal), "is being written", "Stop the service first"
        ) from None
    except (ForeignDatabase, sqlite3.Error) as error:
        raise ConfigError(
            str(journal), str(error), "Give an undamaged journal"
        ) from None
    typer.echo(f"{games} {'game' if games == 1 else 'games'} deleted.")
