"""The command ``live-rate explain``."""

from typing import Annotated

from live.commands.command_options import Ended, Within


def explain(
    journal: str, game: str, ply: Annotated[int, Within(1)], *, json: str | None = None
) -> Ended:
    """Explain a published rating down to its scores: searches, gains, formulas with
    numbers.

    Options:
        journal: The file that live-rate wrote with --journal, or what was given to
            --feed.
        game: Id of the game, or part of a player's name.
        ply: Half-moves from the start.
    """
    from live.commands.choose_journal import find_journal
    from live.commands.explain_rating import explain_rating

    return explain_rating(find_journal(journal), game, ply, json=json)
