"""The kinds of alert: their names, how they end, and what they doubt. Pure."""

from collections.abc import Collection, Iterable
from typing import Literal

from live.messages.alerts import Alert, AlertKind
from live.messages.values import GameId

#: What people call each kind.
NAMES: dict[AlertKind, str] = {
    "illegal-move": "Illegal move in a feed",
    "illegal-stands": "Illegal move stands",
    "unreadable": "Game cannot be read",
    "sources-differ": "Sources contradict each other",
    "vanished": "Board gone from its source",
    "correction": "Move corrected",
    "takeback": "Move taken back",
    "clock-still": "No time used",
    "clock-rising": "Clock rises",
    "flag": "Flag",
    "stale": "Board stands still",
    "not-begun": "Board has not begun",
    "last-move": "Last move missing",
    "late-move": "Moves after the result",
    "result": "Result and position disagree",
    "result-corrected": "Result corrected",
    "drawn": "Drawn by the rules",
    "players-swapped": "Players swapped",
    "repetition": "Threefold repetition",
    "fifty-moves": "Fifty moves",
    "feed": "Feed",
    "engine": "Engine",
    "agreement": "Engine agreement",
    "plugin": "Plugin",
}

#: Events, not states that last: an arbiter's acknowledgement ends them.
PASSING: frozenset[AlertKind] = frozenset(
    {
        "correction",
        "takeback",
        "clock-rising",
        "late-move",
        "illegal-stands",
        "result-corrected",
        "players-swapped",
        "drawn",
        "flag",
        "last-move",
    }
)

#: When one that is open happens again, only the count in its text changes.
COUNTED: frozenset[AlertKind] = frozenset({"late-move"})

#: What each kind of alert doubts: what is known of the game, or its result. The others
#: doubt neither: how clocks and sources work, what may be claimed, what accuses nobody.
DOUBTS: dict[AlertKind, Literal["game", "result"]] = {
    "illegal-move": "game",
    "illegal-stands": "game",
    "unreadable": "game",
    "vanished": "game",
    "sources-differ": "result",
    "correction": "game",
    "takeback": "game",
    "flag": "result",
    "last-move": "game",
    "late-move": "result",
    "result": "result",
    "result-corrected": "result",
    "players-swapped": "result",
    "drawn": "result",
}
#: Contradictions that end by themselves, without an arbiter: until then nothing is told
#: of how the game ended.
CONTRADICTIONS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


def find_doubted_games(
    alerts: Iterable[Alert], kinds: Collection[AlertKind] = frozenset(DOUBTS)
) -> set[GameId]:
    """Return the games that an open alert of one of these kinds doubts."""
    doubting = [each for each in alerts if each.kind in kinds]
    games = [each.game for each in doubting] + [each.other_game for each in doubting]
    return {game for game in games if game is not None}
