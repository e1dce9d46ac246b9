"""The boards that are listed, a row each, made from the whole game; their clocks and order. Pure.

A row is made again only when its board changed: 256 boards at full pace cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

import msgspec

from live.catalogue import EARLY_MOVES
from live.events import CurvePoint, FeedName, FigureChoice, GameDetail, GameId, GameView, PlyView
from live.games.game import RoundPlace, move_number, round_place
from live.ledger.roster import main_event
from live.publish.published_state import game_order
from live.ratings.pace_of_play import Pace, pace_of
from live.terminal.palette import Palette
from live.terminal.recent_changes import RecentChanges
from live.terminal.text import clock_runs, curve_range, move_text, plain

#: Scores beyond ten pawns say the same: won (lichess, modules/analyse AccuracyPercent).
SWING_CAP_CP = 1000
#: A swing is looked for in so many last moves of both sides.
SWING_PLIES = 4
NAME_CELLS = 40


#: Shown for a game that the journal holds and no source has sent since the start.
RESTORED = "from before the restart, not sent again yet"


class SideRow(msgspec.Struct, frozen=True):
    """One player's line."""

    name: str
    title: str
    elo: int | None
    last: PlyView | None
    """The last move."""
    move: str
    """``23.Nf3``, for Black ``23…Nxd5``."""
    point: CurvePoint | None
    """The figures after it."""
    curve: tuple[float | None, ...]
    first_choice: float | None
    centipawn_loss: float | None

    @property
    def early(self) -> bool:
        """Whether too few moves are counted."""
        return self.point is None or self.point.counted < EARLY_MOVES

    @property
    def strength(self) -> float | None:
        """What boards are sorted by: the perceived rating, once it is not early."""
        return None if self.point is None or self.early else self.point.perceived


class BoardRow(msgspec.Struct, frozen=True):
    """One board."""

    id: GameId
    feed: FeedName
    white_runs: bool | None
    """Whether it is White's clock that runs; None where none is known to."""
    event: str
    """Empty when it is only the pairing."""
    round: str
    board: int | None
    result: str
    problem: str
    white: SideRow
    black: SideRow
    ratings: tuple[float, float] | None
    """Smallest and largest of both curves."""
    odds: tuple[float, float] | None
    """How likely White is to win, and the game to be drawn; None while unknown."""
    swing_cp: int | None
    best_strength: float | None
    least_clock_s: float | None
    low_clock_s: tuple[float, float]
    """Below the first a clock is low, below the second nearly run out."""
    last_ply: int

    @property
    def running(self) -> bool:
        return self.result == "*"

    def words(self) -> str:
        """What a filter looks at."""
        white, black = self.white, self.black
        players = (white.title, white.name, black.title, black.name)
        state = "running" if self.running else f"finished {self.result}"
        return " ".join((self.event, self.round, *players, state, self.problem))


def board_row(game: GameDetail, choice: FigureChoice = "perceived") -> BoardRow:
    """What the list shows of ``game``; ``choice`` is what the curves draw."""
    last = {move_number(game, ply.ply)[1]: ply for ply in game.plies[-2:]}
    white, black = (_side(game, is_white, last.get(is_white), choice) for is_white in (True, False))
    strengths = [side.strength for side in (white, black) if side.strength is not None]
    clocks = [ply.clock_s for ply in last.values() if ply.clock_s is not None]
    return BoardRow(
        id=game.id,
        feed=game.feed,
        white_runs=clock_runs(game, len(game.plies)),
        event=plain(main_event(game), NAME_CELLS),
        round=plain(game.round, 12),
        board=game.board,
        result=game.result,
        problem=plain(game.problem or (RESTORED if game.restored else ""), 60),
        white=white,
        black=black,
        ratings=curve_range([*white.curve, *black.curve]),
        odds=odds_of(game),
        swing_cp=swing_cp(game),
        best_strength=max(strengths, default=None),
        least_clock_s=min(clocks, default=None),
        low_clock_s=low_clock_s(game.time_control),
        last_ply=len(game.plies),
    )


def _side(game: GameDetail, white: bool, last: PlyView | None, choice: FigureChoice) -> SideRow:
    player, points, methods = (
        (game.white, game.curves.white, game.methods.white)
        if white
        else (game.black, game.curves.black, game.methods.black)
    )
    return SideRow(
        name=plain(player.name, NAME_CELLS),
        title=plain(player.title or "", 4),
        elo=player.elo,
        last=last,
        move=move_text(game, last, "…") if last else "",
        point=points[-1] if points else None,
        curve=tuple(
            each.perceived if choice == "perceived" else each.difference for each in points
        ),
        first_choice=methods.first_choice.share,
        centipawn_loss=methods.centipawn_loss,
    )


def odds_of(game: GameDetail) -> tuple[float, float] | None:
    """How likely White is to win, and the game to be drawn; None after the end and while nobody
    knows. That of the last position whose score is known.
    """
    if game.result != "*":
        return None
    for ply in reversed(game.plies[-2:]):
        if ply.win is not None and ply.draw is not None:
            return ply.win, ply.draw
    return None


def swing_cp(game: GameDetail) -> int | None:
    """The largest change of the score over one of the last four plies; None while unknown."""
    scores = [
        max(-SWING_CAP_CP, min(SWING_CAP_CP, ply.score_cp))
        for ply in game.plies[-SWING_PLIES - 1 :]
        if ply.score_cp is not None
    ]
    if len(scores) < 2:
        return None
    return max(abs(after - before) for before, after in pairwise(scores))


class BoardRows:
    """The rows of all boards, kept up with the state."""

    def __init__(self, changes: RecentChanges) -> None:
        self._changes = changes
        self._rows: dict[GameId, BoardRow] = {}
        self._choice: FigureChoice = "perceived"

    def refresh(
        self,
        ids: Sequence[GameId],
        game: Callable[[GameId], GameDetail | None],
        choice: FigureChoice = "perceived",
    ) -> list[BoardRow]:
        """The rows of these boards; those that changed are made again."""
        every, touched = self._changes.touched()
        if every or choice != self._choice:
            self._rows.clear()
            self._choice = choice
        rows = {}
        for id in ids:
            row = None if id in touched else self._rows.get(id)
            if row is None and (detail := game(id)) is not None:
                row = board_row(detail, choice)
            if row is not None:
                rows[id] = row
        self._rows = rows
        return list(rows.values())


# --- clocks --------------------------------------------------------------------------------------

#: Seconds below which a clock is low, and nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def low_clock_s(time_control: str) -> tuple[float, float]:
    """Seconds below which a clock of this game is low, and nearly run out."""
    return _LOW_S[pace_of(time_control) or "classical"]


def clock_style(left_s: float | None, low_s: tuple[float, float], palette: Palette) -> str:
    """How what is left of a running game's clock is drawn; the number itself says the same."""
    if left_s is None or left_s >= low_s[0]:
        return ""
    return palette.bad if left_s < low_s[1] else palette.warn


# --- order ---------------------------------------------------------------------------------------


class BoardOrder(msgspec.Struct, frozen=True):
    """One way to sort."""

    key: str
    """Key to press."""
    name: str
    explained: str
    value: Callable[[BoardRow, float], float | None]
    """Greatest first; None comes last. The float is the board's time since its last move, s."""


def _running(value: float | None, row: BoardRow) -> float | None:
    return value if row.running else None


ORDERS = {
    order.name: order
    for order in (
        BoardOrder("B", "board", "by event, round and board number", lambda row, age_s: 0.0),
        BoardOrder(
            "S",
            "swing",
            "largest change of the score in the last four plies first",
            lambda row, age_s: row.swing_cp,
        ),
        BoardOrder(
            "R",
            "rating",
            "highest perceived rating first, once it is not early",
            lambda row, age_s: row.best_strength,
        ),
        BoardOrder(
            "T",
            "time trouble",
            "least time on a clock first, running games only",
            lambda row, age_s: _running(
                None if row.least_clock_s is None else -row.least_clock_s, row
            ),
        ),
        BoardOrder(
            "A",
            "age",
            "longest without a move first, running games only",
            lambda row, age_s: _running(age_s, row),
        ),
    )
}


def pairing(row: BoardRow) -> tuple[str, RoundPlace, int, str]:
    """Event, round (2 before 10), board, id: the order of the pairing list."""
    parts = round_place(row.round, row.board)
    return row.event, parts, row.board if row.board is not None else 1 << 30, row.id


def ordered(
    rows: Iterable[BoardRow],
    order: BoardOrder,
    *,
    reverse: bool = False,
    pinned: Collection[GameId] = (),
    alerting: Collection[GameId] = (),
    age_s: Callable[[GameId], float] = lambda game: 0.0,
) -> list[BoardRow]:
    """Pinned boards first, then those in ``alerting``, then by ``order``; equal ones in the order
    of the pairing list.
    """
    by_board = sorted(rows, key=pairing)
    if order.name == "board":
        if reverse:
            by_board.reverse()
    else:
        values = {row.id: order.value(row, age_s(row.id)) for row in by_board}

        def rank(row: BoardRow) -> tuple[bool, float]:
            value = values[row.id]
            if value is None:
                return True, 0.0  # unknown stays last, whichever way round
            return False, value if reverse else -value

        by_board.sort(key=rank)
    by_board.sort(key=lambda row: (row.id not in pinned, row.id not in alerting))
    return by_board


def running_first(views: Sequence[GameView], limit: int) -> list[GameView]:
    """At most ``limit`` games in pairing order. Running games are chosen before finished ones, and
    of these the newest round: nobody scrolls here.
    """
    running = sorted((view for view in views if view.result == "*"), key=game_order)
    finished = sorted((view for view in views if view.result != "*"), key=game_order)
    finished.sort(key=_round, reverse=True)
    return sorted((running + finished)[:limit], key=game_order)


def _round(view: GameView) -> tuple[int, str]:
    """Sources write boards into rounds: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]
