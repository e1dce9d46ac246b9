"""One board as a list of boards shows it, made from the whole game. Pure.

A row is made again only when its board changed: 256 boards at full pace cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import msgspec

from live.catalogue import EARLY_MOVES, band_text, percentile_text
from live.events import (
    CurvePoint,
    FeedName,
    FigureChoice,
    GameDetail,
    GameId,
    Player,
    PlyView,
    SideMethods,
)
from live.games.move_numbers import move_number
from live.ledger.roster import main_event
from live.terminal.figure_text import clock_runs, curve_range, perceived_text, score_text
from live.terminal.low_clocks import low_clock_s
from live.terminal.recent_changes import RecentChanges
from live.terminal.text_cells import plain

#: Scores beyond ten pawns say the same: won (lichess, modules/analyse AccuracyPercent).
SWING_CAP_CP = 1000
#: A swing is looked for in so many last moves of both sides.
SWING_PLIES = 4
#: Rows made in one frame for boards that are not on the screen.
ROWS_A_FRAME = 24
NAME_CELLS = 40


#: Shown for a game that the journal holds and no source has sent since the start.
RESTORED = "from before the restart, not sent again yet"


class SideRow(msgspec.Struct, frozen=True):
    """One player's line."""

    name: str
    title: str
    elo: int | None
    ply: int
    """Ply of the last move, 0 before it."""
    move: str
    """``23.Nf3``, for Black ``23…Nxd5``."""
    score: str
    """After that move, ``~`` while provisional."""
    clock_s: float | None
    plays: str
    """The perceived rating."""
    usual: str
    """The usual band; empty without an own rating."""
    percentile: str
    """Empty while it is early, and without an own rating."""
    early: bool
    strength: float | None
    """What boards are sorted by: the perceived rating, once it is not early."""
    difference: float | None
    """Algorithm 4's, against the engine."""
    counted: int
    """Moves that the perceived rating rests on."""
    curve: tuple[float | None, ...]
    gain_cp: int | None
    """Of the last move."""
    first_choice: float | None
    loss: str
    """Mean centipawn loss of the moves scored so far."""


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
    behind: int
    """Plies that wait for their score."""
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


def board_row(game: GameDetail, choice: FigureChoice = "perceived") -> BoardRow:
    """What the list shows of ``game``; ``choice`` is what the curves draw."""

    def height(point: CurvePoint) -> float | None:
        return point.perceived if choice == "perceived" else point.difference

    white_curve = tuple(map(height, game.curves.white))
    black_curve = tuple(map(height, game.curves.black))
    last: dict[bool, PlyView] = {}
    for ply in game.plies[-2:]:
        last[move_number(game, ply.ply)[1]] = ply
    white, black = (
        _side(game, player, last.get(is_white), points, curve, methods)
        for player, is_white, points, curve, methods in (
            (game.white, True, game.curves.white, white_curve, game.methods.white),
            (game.black, False, game.curves.black, black_curve, game.methods.black),
        )
    )
    strengths = [side.strength for side in (white, black) if side.strength is not None]
    clocks = [side.clock_s for side in (white, black) if side.clock_s is not None]
    return BoardRow(
        id=game.id,
        feed=game.feed,
        white_runs=clock_runs(game, len(game.plies)),
        event=plain(main_event(game), NAME_CELLS),
        round=plain(game.round, 12),
        board=game.board,
        result=game.result,
        problem=plain(game.problem or (RESTORED if game.restored else ""), 60),
        behind=game.plies_played - game.plies_scored,
        white=white,
        black=black,
        ratings=curve_range([*white_curve, *black_curve]),
        odds=odds_of(game),
        swing_cp=swing_cp(game),
        best_strength=max(strengths, default=None),
        least_clock_s=min(clocks, default=None),
        low_clock_s=low_clock_s(game.time_control),
        last_ply=len(game.plies),
    )


def _side(
    game: GameDetail,
    player: Player,
    last: PlyView | None,
    points: tuple[CurvePoint, ...],
    curve: tuple[float | None, ...],
    methods: SideMethods,
) -> SideRow:
    point = points[-1] if points else None
    perceived = None if point is None else point.perceived
    early = point is None or point.counted < EARLY_MOVES
    usual = percentile = ""
    if point is not None and point.usual_low is not None and point.usual_high is not None:
        usual = band_text(point.usual_low, point.usual_high)
    if point is not None and point.percentile is not None and not early:
        percentile = percentile_text(point.percentile).replace(" ", "")
    move = score = ""
    if last is not None:
        number, white = move_number(game, last.ply)
        move = f"{number}{'.' if white else '…'}{last.san}"
        score = score_text(last.score_cp, last.mate)
        if last.score_cp is not None and not last.final:
            score += "~"
    loss = methods.centipawn_loss
    return SideRow(
        name=plain(player.name, NAME_CELLS),
        title=plain(player.title or "", 4),
        elo=player.elo,
        ply=last.ply if last else 0,
        move=move,
        score=score,
        clock_s=last.clock_s if last else None,
        plays=perceived_text(perceived),
        usual=usual,
        percentile=percentile,
        early=early,
        strength=None if early else perceived,
        difference=None if point is None else point.difference,
        counted=0 if point is None else point.counted,
        curve=curve,
        gain_cp=last.gain_cp if last else None,
        first_choice=methods.first_choice.share,
        loss="" if loss is None else f"{loss:.0f}",
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
    """The rows of all boards, kept up with the state a few at a time."""

    def __init__(self, changes: RecentChanges) -> None:
        self._changes = changes
        self._rows: dict[GameId, BoardRow] = {}
        self._old: dict[GameId, None] = {}
        self._choice: FigureChoice = "perceived"

    def refresh(
        self,
        ids: Iterable[GameId],
        game: Callable[[GameId], GameDetail | None],
        choice: FigureChoice = "perceived",
        *,
        seen: Iterable[GameId] = (),
    ) -> list[BoardRow]:
        """Every board's row. Boards in ``seen`` are of this moment, the others may be a few
        frames old: no frame costs more than a screen and :data:`ROWS_A_FRAME` rows.
        """
        known = list(ids)
        every, touched = self._changes.touched()
        if every or choice != self._choice:
            self._choice = choice
            self._old = dict.fromkeys(known)
        self._old.update(dict.fromkeys(touched))
        new = [id for id in known if id not in self._rows]
        for id in self._turns(seen, new):
            self._old.pop(id, None)
            detail = game(id)
            if detail is not None:
                self._rows[id] = board_row(detail, choice)
        if len(self._rows) != len(known):
            held = set(known)
            self._rows = {id: row for id, row in self._rows.items() if id in held}
        return [self._rows[id] for id in known if id in self._rows]

    def _turns(self, seen: Iterable[GameId], new: list[GameId]) -> Iterator[GameId]:
        yield from [id for id in seen if id in self._old]
        yield from new
        others = [id for id in self._old if id in self._rows]
        yield from others[:ROWS_A_FRAME]
