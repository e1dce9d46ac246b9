"""One board as alerts look at it. Pure.

The game itself is that of the state (:class:`live.messages.figures.GameDetail`). What
it cannot say, when something was reported and what was reported and does not stand, is
in :class:`BoardMemory` and :class:`MoveFlow`: plain values, which a journal keeps.
Position and clocks follow from the moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import chess
import msgspec

from live.event.rate_game import COLORS
from live.games.player_identity import is_same_person
from live.messages.alerts import AlertKind, Severity
from live.messages.figures import GameDetail, GameView, PlyView
from live.messages.from_sources import Result
from live.messages.values import Color, GameId
from live.watch.finding import Finding, move_number
from live.watch.player_clock import SideClock, controls, increment_s, side_clock

#: Plies without a capture or a pawn move after which a draw may be claimed, and after
#: which the game is drawn (FIDE Laws 9.3, 9.6.2).
FIFTY_PLIES = 100
SEVENTY_FIVE_PLIES = 150
#: How often a position stands when a draw may be claimed, and when the game is drawn
#: (FIDE Laws 9.2, 9.6.1).
CLAIMED_TIMES = 3
DRAWN_TIMES = 5


class GameEnd(NamedTuple):
    """What ended a game by the rules, whatever anybody claims."""

    ply: int
    why: chess.Termination


class PlayedPosition:
    """Where a game stands after these moves (UCI), and what the rules say of it.

    Positions are counted as they come up: a move costs the same in a long game.
    """

    def __init__(
        self, start_fen: str, moves: Iterable[str] = (), *, chess960: bool = False
    ) -> None:
        self.board = chess.Board(start_fen, chess960=chess960)
        self.plies = 0
        self.times = 1
        """How often the position has stood, this time included."""
        self._times = Counter([self._key()])
        # What ended the game at a position from which it went on.
        self._passed: GameEnd | None = None
        for uci in moves:
            self.play(uci)

    def play(self, uci: str) -> None:
        """A move more."""
        drawn = self._drawn_here() if self.plies else None
        if self._passed is None and drawn is not None:
            self._passed = GameEnd(self.plies, drawn)
        self.board.push(chess.Move.from_uci(uci))
        self.plies += 1
        if self.board.halfmove_clock == 0:
            # No position before can come back.
            self.board.clear_stack()
            self._times.clear()
        key = self._key()
        self._times[key] += 1
        self.times = self._times[key]
        for known in ("third_time", "ending"):
            self.__dict__.pop(known, None)

    def _key(self) -> Hashable:
        """Return what makes a position the same as another (FIDE Laws 9.2.3)."""
        board = self.board
        return (
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
            board.occupied_co[chess.WHITE],
            board.turn,
            board.clean_castling_rights(),
            board.ep_square if board.has_legal_en_passant() else None,
        )

    def _drawn_here(self) -> chess.Termination | None:
        """Return what draws the game at this position, where a move can be made."""
        if self.board.is_insufficient_material():
            return chess.Termination.INSUFFICIENT_MATERIAL
        if self.board.halfmove_clock >= SEVENTY_FIVE_PLIES:
            return chess.Termination.SEVENTYFIVE_MOVES
        if self.times >= DRAWN_TIMES:
            return chess.Termination.FIVEFOLD_REPETITION
        return None

    @cached_property
    def third_time(self) -> chess.Move | None:
        """A move after which the position has stood three times or more; None if there is none."""
        if max(self._times.values()) < CLAIMED_TIMES - 1:
            return None
        for move in self.board.legal_moves:
            self.board.push(move)
            times = self._times[self._key()] + 1
            self.board.pop()
            if times >= CLAIMED_TIMES:
                return move
        return None

    @cached_property
    def ending(self) -> chess.Termination | None:
        """What ends the game here whatever anybody claims; None while nothing does."""
        if self.board.is_checkmate():
            return chess.Termination.CHECKMATE
        drawn = self._drawn_here()
        is_dead = drawn is chess.Termination.INSUFFICIENT_MATERIAL
        if not is_dead and self.board.is_stalemate():
            return chess.Termination.STALEMATE
        return drawn

    @property
    def end(self) -> GameEnd | None:
        """What ended the game first, here or before; None while nothing has."""
        if self._passed is None and self.plies and self.ending is not None:
            return GameEnd(self.plies, self.ending)
        return self._passed


#: What draws a game whatever anybody claims (FIDE Laws 5.2.1, 5.2.2, 9.6.1, 9.6.2).
DRAWS: dict[chess.Termination, str] = {
    chess.Termination.INSUFFICIENT_MATERIAL: "neither side can mate",
    chess.Termination.FIVEFOLD_REPETITION: "the position has stood five times",
    chess.Termination.STALEMATE: "it is stalemate",
    chess.Termination.SEVENTYFIVE_MOVES: "75 moves were made without a capture or a pawn move",
}


#: More moves at once than this were made before they were reported: they say nothing of the pace.
LIVE_MOVES = 2
#: Moves of a board that come within so many seconds came at once: no two were waited for.
BURST_S = 0.02
#: When no board of a source has moved for so many times the mean wait of one, it is the source that
#: paused: no board is blamed for that time.
PAUSE_TIMES = 3.0


#: A lapse of at most this many plies is a slip of a sensor or of the operator's hand.
SHALLOW_PLIES = 2
#: Such a slip is over for good when this many plies stand upon it.
SETTLED_PLIES = 6

#: Fewer moves that two boards have of each other may be chance.
EXCHANGED_PLIES = 4


class Lapse(NamedTuple):
    """A move was reported that does not stand."""

    ply: int
    back: int
    """Plies that fell with it, itself counted."""
    was: str
    """SAN of the move that does not stand."""
    now: str | None
    """SAN of what stands there instead; null for a takeback."""
    at_s: float
    times: int
    plies: int
    """Moves that stood right after it."""
    exchanged: bool = False
    """It came as two boards changed their moves with each other, which is told of both at once."""


class ResultChange(NamedTuple):
    """A decided result does not stand any more."""

    was: Result
    at_s: float
    times: int


class MovePace(msgspec.Struct, omit_defaults=True):
    """How long a board waits between moves, as far as that was seen."""

    moves: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0

    def add(self, wait_s: float) -> None:
        self.moves += 1
        self.total_s += wait_s
        self.longest_s = max(self.longest_s, wait_s)

    @property
    def mean_s(self) -> float:
        return self.total_s / self.moves if self.moves else 0.0


class MoveFlow(msgspec.Struct, omit_defaults=True):
    """Moves of all boards of one source."""

    moves: int = 0
    moved_s: float | None = None
    ended_s: float = 0.0
    """How long it paused, until the last move."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    played_s: float = 0.0
    """What players used by their clocks, over all waits of which that is known."""
    timed_s: float = 0.0
    """The same waits by our clock."""

    @property
    def speed(self) -> float:
        """How many seconds of the players' clocks pass in one of ours: 1 in a hall, more where
        games are played back fast.
        """
        return max(1.0, self.played_s / self.timed_s) if self.timed_s > 0 else 1.0

    def moved(self, now_s: float) -> None:
        """A move of some board was reported."""
        self.ended_s = self.paused_s(now_s)
        self.moved_s = now_s
        self.moves += 1

    def paused_s(self, now_s: float) -> float:
        """How long the source has paused by now, all its pauses together."""
        silent_s = 0.0 if self.moved_s is None else now_s - self.moved_s
        paused = self.pace.moves and silent_s > PAUSE_TIMES * self.pace.mean_s
        return self.ended_s + silent_s * bool(paused)


class BoardMemory(msgspec.Struct, omit_defaults=True):
    """What a game does not say of how it came about."""

    began_s: float | None = None
    """When the first move was reported."""
    moved_s: float | None = None
    """When the last move was reported."""
    came: int = 0
    """Moves that came with it, itself counted."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    flow_then: int = 0
    """Moves of its source up to the last one here."""
    paused_then_s: float = 0.0
    """How long its source had paused by then."""
    lapses: dict[AlertKind, Lapse] = {}
    """The last ``correction`` and the last ``takeback``."""
    ran: bool = False
    """Whether it was seen without a result."""
    result_s: float | None = None
    """When the result was reported, if that was seen."""
    result_change: ResultChange | None = None
    """The last time that a decided result became another, unless a mate gave that result."""
    by_mate: Result | None = None
    """What the last mate reported since the result changed makes the result: the rules give it
    where the source says none, so it need not have been reported at all."""
    dispute_s: float | None = None
    """Since when its sources have contradicted each other."""
    swaps: int = 0
    """How often the players changed seats."""
    result_line: tuple[str, ...] | None = None
    """The moves that stood when the result was reported, UCI; None where that was not
    seen, or those moves were another game's."""
    replaced: tuple[str, ...] = ()
    """The moves before the last correction, UCI."""
    exchanged_with: str = ""
    """What people call the board whose moves it has, which has its own, told here of both."""
    exchanged_game: GameId | None = None
    """That board's id."""
    exchanges: int = 0
    """How often that came about."""
    fallen: dict[Color, int] = {}
    """Whose clock has shown 0:00 with no more time to come, and at which own ply."""
    read_s: float | None = None
    """When the clock of the player to move was read anew since the last move."""


class WatchedBoard:
    """One game as it stands, and how it came about.

    Args:
        view: as it stands.
        flow: the moves of its source.
        memory: of a board that was watched before.
        read: gives the game as ``view`` has it, in full; None where no move of it has been seen.
    """

    def __init__(
        self,
        view: GameView,
        flow: MoveFlow,
        memory: BoardMemory | None = None,
        read: Callable[[], GameDetail] | None = None,
    ) -> None:
        self.view = view
        self.flow = flow
        self.memory = BoardMemory() if memory is None else memory
        self.round_began_s: float | None = None
        """When half of its round had begun, once all but a few boards have."""
        self._read = read
        self._plies: tuple[PlyView, ...] = ()
        # What follows from the moves, where somebody asked.
        self._clocks: dict[Color, SideClock] = {}
        self._position: PlayedPosition | None = None

    @property
    def moves(self) -> tuple[PlyView, ...]:
        """All moves that stand."""
        if self._read is not None:
            self._plies, self._read = self._read().plies, None
        return self._plies

    def clock(self, color: Color) -> SideClock:
        """What a side's clock has shown."""
        if color not in self._clocks:
            first = 0 if self.white_begins == (color == "white") else 1
            own = self.moves[first::2]
            readings = [
                (move.ply, move.clock_s) for move in own if move.clock_s is not None
            ]
            header = self.view.time_control
            self._clocks[color] = side_clock(
                readings, increment_s=increment_s(header), controls=controls(header)
            )
        return self._clocks[color]

    def _used_s(self, move: PlyView) -> float | None:
        """What the mover used for a move that comes next; None where that cannot be known: no clock
        before it, or more time than the increment added.
        """
        before_s, added_s = (
            self.clock(self.to_move).clock_s,
            increment_s(self.view.time_control),
        )
        if move.spent_s is not None or None in (move.clock_s, before_s, added_s):
            return move.spent_s
        used_s = (before_s or 0.0) + (added_s or 0.0) - (move.clock_s or 0.0)
        return used_s if used_s >= 0 else None

    @cached_property
    def white_begins(self) -> bool:
        return self.view.start_fen.split()[1:2] != ["b"]

    def position(self) -> PlayedPosition:
        """Where the board stands now."""
        if self._position is None:
            chess960 = self.view.variant == "chess960"
            moves = [move.uci for move in self.moves]
            self._position = PlayedPosition(
                self.view.start_fen, moves, chess960=chess960
            )
        return self._position

    @property
    def end(self) -> GameEnd | None:
        """What ended the game by the rules, whatever its source says."""
        return self.position().end if self.moves else None

    @property
    def running(self) -> bool:
        return self.view.running

    @property
    def last_event(self) -> str:
        """Its result or its last move, for people."""
        if not self.running:
            return self.view.result
        if not self.moves:
            return "no move stands"
        return f"{self.name_move(len(self.moves), '')} stands"

    def name_move(self, ply: int, space: str = " ") -> str:
        """Return a move that stands as a scoresheet has it: ``12... Nf6``."""
        number = move_number(ply + (not self.white_begins))
        return f"{number}{space}{self.moves[ply - 1].san}"

    @property
    def label(self) -> str:
        """For people, at the beginning of a sentence."""
        if self.view.board is not None:
            return f"Board {self.view.board}"
        return f"{self.view.white.name} - {self.view.black.name}"

    def name(self, color: str) -> str:
        """Who has these pieces."""
        player = self.view.white if color == "white" else self.view.black
        return player.name or color.capitalize()

    def finding(
        self,
        kind: AlertKind,
        severity: Severity,
        text: str,
        advice: str,
        *,
        after: str = ": ",
        color: Color | None = None,
        **more: Any,
    ) -> Finding:
        """Something is the matter with this board as it stands now, unless ``more`` gives another
        ply, or with one ``color``; ``text`` follows on its label and on ``after``, and has no full
        stop.
        """
        return Finding(
            kind=kind,
            severity=severity,
            text=f"{self.label}{after}{text}.",
            advice=advice,
            game=self.view.id,
            color=color,
            player=self.name(color) if color else None,
            **{"ply": len(self.moves), **more},
        )

    @property
    def to_move(self) -> Color:
        return "white" if self.white_begins == (len(self.moves) % 2 == 0) else "black"

    @property
    def moves_elsewhere(self) -> int:
        """Moves of other boards of the same source since the last one here."""
        return self.flow.moves - self.memory.flow_then

    def waited_s(self, now_s: float) -> float:
        """Since the last move, without the time in which the source paused."""
        if self.memory.moved_s is None:
            return 0.0
        paused_s = self.flow.paused_s(now_s) - self.memory.paused_then_s
        return now_s - self.memory.moved_s - paused_s

    @property
    def mate_result(self) -> Result | None:
        """What a mate that stands on the board makes the result."""
        if not self.moves or not self.moves[-1].san.endswith("#"):
            return None
        return "0-1" if self.to_move == "white" else "1-0"

    # --- changes ---------------------------------------------------------------------------

    def follow(self, game: GameDetail, now_s: float) -> bool:
        """The game stands like this now; whether there is more to remember of it."""
        before, after = self.moves, game.plies
        same = 0
        is_read_anew = False
        for one, now in zip(before, after, strict=False):
            if one is not now:
                if one.uci != now.uci:
                    break
                if one.clock_s != now.clock_s:
                    self._clocks.clear()
                    is_read_anew |= one.ply == len(before) - 1
            same += 1
        if same < len(before):
            self._clocks.clear()
            self._position = None
            # Of sources in dispute the one that is ahead is shown: that corrects
            # nothing.
            if not (game.dispute or self.view.dispute):
                self._lapse(before, after, same, now_s)
        self._plies = after[:same]
        if same < len(after):
            self._play(after[same:], now_s)
            self._settle(len(after))
        self._plies = after
        changed = self._show(game, now_s)
        is_moved = same < max(len(before), len(after))
        if is_moved or is_read_anew:
            self.memory.read_s = None if is_moved else now_s
        if is_moved or self.memory.result_s == now_s:
            self._follow_line(now_s)
        has_fallen = self._note_flags() if self.running else False
        return changed or is_moved or is_read_anew or has_fallen

    def _lapse(
        self,
        before: Sequence[PlyView],
        after: Sequence[PlyView],
        same: int,
        now_s: float,
    ) -> None:
        now = after[same].san if same < len(after) else None
        kind: AlertKind = "takeback" if now is None else "correction"
        last, back = self.memory.lapses.get(kind), len(before) - same
        if now is not None:
            self.memory.replaced = tuple(move.uci for move in before)
        self.memory.lapses[kind] = Lapse(
            same + 1,
            back,
            before[same].san,
            now,
            now_s,
            times=last.times + 1 if last else 1,
            plies=same + (now is not None),
        )

    def _note_flags(self) -> bool:
        """Note whose clock has shown 0:00; whether there is more to remember."""
        before = dict(self.memory.fallen)
        for color in COLORS:
            clock, noted = self.clock(color), before.get(color, 0)
            if clock.fallen > noted:
                self.memory.fallen[color] = clock.fallen
            elif noted and clock.period >= noted:
                del self.memory.fallen[color]
        return self.memory.fallen != before

    def _settle(self, plies: int) -> None:
        """Forget slips that so many moves stand upon."""
        for kind, lapse in list(self.memory.lapses.items()):
            is_over = plies >= lapse.plies + SETTLED_PLIES
            if lapse.back <= SHALLOW_PLIES and is_over:
                del self.memory.lapses[kind]

    def exchange(self, other: WatchedBoard) -> bool:
        """Note if each of both boards has the moves now that the other had, or has its own again;
        whether that is so.
        """
        if not (self._has_moves_of(other) and other._has_moves_of(self)):
            return False
        for board in (self, other):
            lapses = board.memory.lapses
            lapses["correction"] = lapses["correction"]._replace(exchanged=True)
        for one, two in ((self, other), (other, self)):
            if one.memory.exchanged_with == two.label:
                one.memory.exchanged_with = ""
                return True
        first, second = sorted(
            (self, other), key=lambda each: (each.view.board or 0, each.label)
        )
        first.memory.exchanged_with = second.label
        first.memory.exchanged_game = second.view.id
        first.memory.exchanges += 1
        return True

    def _has_moves_of(self, other: WatchedBoard) -> bool:
        had, now = other.memory.replaced, self.moves
        shared = min(len(had), len(now))
        return shared >= EXCHANGED_PLIES and had[:shared] == tuple(
            move.uci for move in now[:shared]
        )

    def _play(self, moves: Sequence[PlyView], now_s: float) -> None:
        # Of moves that come at once only the first was waited for.
        used_s = self._used_s(moves[0])
        for move in moves:
            self._arrived(now_s, used_s)
            if self._position is not None:
                self._position.play(move.uci)
        self._clocks.clear()

    def _show(self, game: GameDetail, now_s: float) -> bool:
        view, memory = self.view, self.memory
        self.view = game
        if game.time_control != view.time_control:
            self._clocks.clear()
        if view.adjourned and not game.adjourned and memory.moved_s is not None:
            # The board waits for its next move from now on.
            memory.moved_s, memory.flow_then = now_s, self.flow.moves
            memory.paused_then_s = self.flow.paused_s(now_s)
        memory.by_mate = self.mate_result or memory.by_mate
        if not game.dispute:
            memory.dispute_s = None
        elif memory.dispute_s is None:
            memory.dispute_s = now_s
        if game.running:
            memory.ran = True
            memory.result_s = memory.result_line = None
        elif view.result != game.result and memory.ran:
            memory.result_s = now_s
        if view.result != game.result:
            if view.result not in ("*", memory.by_mate):
                times = memory.result_change.times + 1 if memory.result_change else 1
                memory.result_change = ResultChange(view.result, now_s, times)
            memory.by_mate = self.mate_result
        if is_same_person(game.white, view.black) and is_same_person(
            game.black, view.white
        ):
            memory.swaps += not is_same_person(game.white, view.white)
        return any(
            getattr(game, name) != getattr(view, name) for name in _REMEMBERED_BY
        )

    def _follow_line(self, now_s: float) -> None:
        """Note which moves stood when the result was reported."""
        memory = self.memory
        line = tuple(move.uci for move in self.moves)
        # A source may report the result a moment before the moves that came with it.
        if memory.result_s == now_s:
            memory.result_line = line
        stood = memory.result_line or ()
        pairs = zip(stood, line, strict=False)
        first = next((at for at, (was, now) in enumerate(pairs) if was != now), None)
        if first is not None:
            # A slip that is corrected, or another game's moves.
            is_slip = len(stood) - first <= SHALLOW_PLIES
            memory.result_line = line if is_slip else None

    @property
    def late_plies(self) -> int:
        """Moves beyond the line that stood when the result was reported."""
        stood = self.memory.result_line
        return 0 if stood is None else max(0, len(self.moves) - len(stood))

    def _arrived(self, now_s: float, used_s: float | None) -> None:
        """A move came: one of few is a sign of the pace, one of many was made before."""
        memory, flow = self.memory, self.flow
        flow.moved(now_s)
        if memory.began_s is None:
            memory.began_s = now_s
        memory.flow_then = flow.moves
        last_s = memory.moved_s
        if last_s is not None and 0 <= now_s - last_s <= BURST_S:
            memory.came += 1
        else:
            if last_s is not None and 0 < memory.came <= LIVE_MOVES:
                waited_s = self.waited_s(now_s)
                for pace in (memory.pace, flow.pace):
                    pace.add(waited_s)
                if used_s is not None:
                    flow.played_s += used_s
                    flow.timed_s += waited_s
            memory.came = 1
        # The board waits for its next move from now on.
        memory.moved_s = now_s
        memory.paused_then_s = flow.paused_s(now_s)


#: What of a view makes something to remember when it changes.
_REMEMBERED_BY = ("result", "dispute", "white", "black", "termination")
