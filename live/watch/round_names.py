"""Find the round that a game belongs to."""

from live.catalogue import find_event_name
from live.games.rounds import normalise_round
from live.messages.figures import GameView

RoundName = tuple[str, str]
"""The name of the event and the name of the round."""


def round_of(view: GameView) -> RoundName:
    """Return the names of a game's event and round.

    Broadcasts add board numbers to round names (``4.12``) and pairings to event names.
    These additions are removed.
    """
    return find_event_name(view), normalise_round(view.round)
