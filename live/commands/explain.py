"""The command ``live-rate explain``."""

from pathlib import Path
from typing import Annotated

from live.commands.command_options import Ended, Within


def explain(
    journal: Path, game: str, ply: Annotated[int, Within(1)], *, json: str | None = None
) -> Ended:
    """Explain a published rating down to its scores: searches, gains, formulas with
    numbers.

    Options:
        journal: The file that live-rate wrote with --journal, or what was given to
            --feed.
        game: Id of the game, or part of a player's name.
        ply: Half-moves from the start.
    """
    from live.commands.choose_journal import choose_journal
    from live.commands.explain_rating import explain_rating

    chosen = choose_journal(journal)
    assert chosen is not None, "a named journal is never listed"
    return explain_rating(chosen, game, ply, json=json)
