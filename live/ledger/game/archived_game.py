"""Archived games: values that can be kept on disk; what figures over the event need of them is at
hand.

Most games of a long event are over. An archived one costs little memory and nothing to bring back
after a restart: it is its stored figures, not made anew. Its plies, curves and scores are read when
somebody looks at them. It is tracked again when its source reports something new, or when it is to
be rated by something else.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.events import RESULT_POINTS, Color, Curves, GameDetail, GameId, GameView, PlyView
from live.games.game import Game
from live.human.question import HumanAnswer
from live.ledger.game.game_evaluations import EvaluationsValue
from live.ledger.methods.move_quality import MoveQuality
from live.ledger.players.player_totals import PlayedGame, PlayerTotals
from live.ledger.rate_game import COLORS, SideFigures


class ArchivedValues(msgspec.Struct, frozen=True, eq=False):
    """What is always at hand of an archived game."""

    game: Game
    view: GameView
    white: SideFigures
    black: SideFigures
    field: float | None
    """Mean Elo of the event's rated players, as it was rated."""


class ArchivedDetails(msgspec.Struct, frozen=True):
    """What is read when somebody looks at the game."""

    plies: tuple[PlyView, ...]
    curves: Curves
    moves: tuple[MoveQuality, ...]
    known: EvaluationsValue
    given_up: dict[int, str] = {}
    human: tuple[HumanAnswer | None, ...] = ()
    """What players would play, by position."""


Recall = Callable[[GameId], ArchivedDetails | None]
"""Gives the details of an archived game; None where they can be read no more."""


class ArchivedGame:
    """One archived game, pooled with the others."""

    pending = 0
    """A game is archived only when no search of it is open."""
    rated = True

    def __init__(
        self, values: ArchivedValues, players: dict[Color, PlayerTotals], recall: Recall
    ) -> None:
        self.values = values
        self.game = values.game
        self.players = players
        self._recall = recall

    def enter(self) -> None:
        """Put everything into what is pooled."""
        headers, values = self.game.headers, self.values
        white, black = RESULT_POINTS.get(self.game.result, (None, None))
        plies = len(self.game.moves)
        self.players["white"].set(
            self.game.id, PlayedGame(headers.white, headers.black.elo, white, plies, values.white)
        )
        self.players["black"].set(
            self.game.id, PlayedGame(headers.black, headers.white.elo, black, plies, values.black)
        )

    def close(self) -> None:
        """Take everything out of it again."""
        for color in COLORS:
            self.players[color].set(self.game.id, None)

    def details(self) -> ArchivedDetails | None:
        """All else that is known."""
        details = self._recall(self.game.id)
        return details if details and len(details.plies) == len(self.game.moves) else None

    def view(self) -> GameView:
        """The game without plies and curves."""
        return self.values.view

    def detail(self) -> GameDetail:
        """The game in full; without plies and curves where they can no longer be read."""
        fields = msgspec.structs.asdict(self.values.view)
        details = self.details()
        if details is None:
            return GameDetail(**fields)
        return GameDetail(**fields, plies=details.plies, curves=details.curves)
