"""The kinds of alert: names, how they end, and which facts they put in doubt. Pure."""

from collections.abc import Collection, Iterable
from typing import Literal

from live.messages.alerts import Alert, AlertKind
from live.messages.values import GameId

#: The name of each kind, for people.
NAMES: dict[AlertKind, str] = {
    "illegal-move": "Illegal move in a feed",
    "illegal-stands": "Illegal move played on",
    "unreadable": "Game cannot be read",
    "sources-differ": "Sources contradict each other",
    "vanished": "Board missing from its source",
    "correction": "Move corrected",
    "takeback": "Move taken back",
    "clock-still": "No time used",
    "clock-rising": "Clock gained time",
    "flag": "Flag",
    "stale": "No move for unusually long",
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

#: Kinds that report an event, not a lasting state: an arbiter's acknowledgement ends
#: the alert.
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

#: Kinds that are not raised again if they recur while open: only the count in their
#: text changes.
COUNTED: frozenset[AlertKind] = frozenset({"late-move"})

#: For each kind of alert that casts doubt on a game: whether its moves are in doubt
#: (``game``) or its result (``result``). The other kinds cast no doubt: they are about
#: clocks and sources, draws that can be claimed, and agreement with the engine.
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
#: Kinds of alert that end without an arbiter once the source is corrected. While one is
#: open, no moment about the end of its game is reported.
CONTRADICTIONS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


def find_doubted_games(
    alerts: Iterable[Alert], kinds: Collection[AlertKind] = frozenset(DOUBTS)
) -> set[GameId]:
    """Return the ids of the games on which alerts of these kinds cast doubt."""
    doubting = [alert for alert in alerts if alert.kind in kinds]
    games = [alert.game for alert in doubting] + [
        alert.other_game for alert in doubting
    ]
    return {game for game in games if game is not None}
