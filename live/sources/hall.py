"""Boards in a playing hall: the moves on each, the game they belong to, and the end of
that game. No I/O.

A board only senses pieces. All day, pieces are put back, set up again and moved in
analysis. The pairing of the board's table decides to which game its moves belong:

* **A pairing in a round is one game.** If the pieces are set back and the moves
  replayed, even with corrections, it is still the same game. A corrected name, a
  replaced player, exchanged colours and a pairing entered after the first moves change
  the headers of the game, but not its identity. The next game starts with another
  round, or with other players after the present game has ended.
* **If a board shows far fewer moves than its unfinished game has, the board is not
  trusted**: its pieces have been set back, often before anybody has entered the result.
  Up to :data:`BACK_PLIES` missing plies count as taken back. If more are missing, the
  game keeps its moves, marked as doubtful, until the board has as many again.
* **A result ends the game.** Later moves are analysis. But results are often entered
  before the last moves are played on the board, so moves that continue the game still
  count for the grace period of ``[feeds]`` after the result, unless the board has been
  set back. In a longer period, analysis would be taken for moves, since it starts from
  the last position. Moves that replace earlier ones do not count, since analysis looks
  like that. If the source withdraws the result, the game continues.

Without a pairing, a new game starts when the board has been cleared and moves are
played; no result ends such a game.

:class:`Hall` gets the games of an earlier run and treats them like its own: a board
that has not sent anything yet does not count as set back.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from math import inf

import chess
from msgspec.structs import replace

from live.messages.from_sources import GameReport, Move
from live.sources.game_identity import count_shared_plies
from live.sources.hall_board import (
    NEW_GAME_PLIES,
    HallBoard,
    Stage,
    is_line_of_game,
    is_line_valid,
    is_new_game_on_board,
    may_continue,
)
from live.sources.hall_games import (
    SET_BACK,
    HallGames,
    Seat,
    Seats,
    count_same_players,
    is_same_round,
    is_unpaired,
    may_be_same_pairing,
    unpaired_headers,
)
from live.sources.kept_moves import keep_unread
from live.sources.placements import find_placement, find_position_after

MAX_BOARDS = 768
#: Problem shown for a game that keeps its moves although its board shows another
#: position.
MISSED = "moves are missing: no known moves lead to the position on the board"


class Hall:
    """All boards of a hall and their games.

    Pass it everything that LiveChess sends, then call :meth:`take_changed_games`.
    """

    def __init__(
        self, known_games: Iterable[GameReport] = (), grace_s: float = 0.0
    ) -> None:
        """Create the hall from ``known_games``, the games as they were at the end of an
        earlier run. ``grace_s``: time after a result during which moves still count,
        seconds.
        """
        self.boards: dict[str, HallBoard] = {}
        """Boards by serial number, in the order of their own numbers."""
        self._grace_s = grace_s
        self._games = HallGames()
        self._seats: Seats = {}
        self._unapplied: dict[str, None] = {}
        """Serial numbers of boards whose new pairings are not applied yet."""
        self._has_heard_pairings = False
        """Whether LiveChess has sent all pairings in this run."""
        for game in known_games:
            # A game without a pairing has no result except mate, which will be found
            # again.
            is_open = is_unpaired(game)
            self._games.store_game(replace(game, result="*") if is_open else game)
        self._games.forget_oldest(())

    def take_changed_games(self) -> list[GameReport]:
        """Return the games that have changed since the last call."""
        return self._games.take_changed_games()

    def game_of_board(self, board: HallBoard) -> GameReport | None:
        """Return the present or last game of a board; None if it had none."""
        return self._games.get(board.key)

    @property
    def note(self) -> str:
        """Message for people about boards whose games keep their moves, and about
        pairings that are not known yet; empty if there are none.
        """
        # The note is built for every clock message, so boards are counted only if any
        # game was set back.
        boards = self.boards.values()
        parts = []
        if set_back_keys := self._games.set_back:
            set_back = sum(board.key in set_back_keys for board in boards)
            subject = "1 board was" if set_back == 1 else f"{set_back} boards were"
            if set_back:
                parts.append(f"{subject} set back without a result")
        if not self._has_heard_pairings and any(
            board.is_paired and board.serial not in self._seats for board in boards
        ):
            parts.append("LiveChess has not sent its pairings; no new game begins")
        return "; ".join(parts)

    # --- input ------------------------------------------------------------------------

    def find_or_add_board(self, serial: str, now_s: float) -> HallBoard | None:
        """Return the board with this serial number, which is created if it is new; None
        if there are too many boards.

        A new board gets its last game from an earlier run.
        """
        board = self.boards.get(serial)
        if board is not None or len(self.boards) >= MAX_BOARDS:
            return board
        board = self.boards[serial] = HallBoard(serial, len(self.boards) + 1)
        own_games = self._games.games_begun_on(board)
        if own_games:
            board.key = own_games[-1].key
            board.is_paired = not is_unpaired(own_games[-1])
            board.is_set_back = own_games[-1].problem == SET_BACK
            board.before = next(
                (game for game in own_games[-2::-1] if game.moves), None
            )
        self._apply_board_pairings(board, now_s)
        return board

    def mark_disconnected(self) -> None:
        """Mark all subscriptions as lost, but keep the games."""
        for board in self.boards.values():
            board.is_subscribed = False
            board.is_set_up = False
            board.lost_s = inf

    def apply_pairings(
        self, seats: Seats, now_s: float, *, is_complete: bool = True
    ) -> Generator[None, None, None]:
        """Apply new pairings to all boards. Yields after each board; a board that was
        not reached is updated with the next pairings.

        ``is_complete``: False if LiveChess has listed pairings that it never sent.
        """
        before = self._seats
        self._seats = seats
        for serial in [*seats, *before]:
            if seats.get(serial, ()) != before.get(serial) or not seats:
                self._unapplied[serial] = None
        is_first_answer = is_complete and not self._has_heard_pairings
        self._has_heard_pairings |= is_complete
        if bool(seats) != bool(before) or is_first_answer:
            self._unapplied |= dict.fromkeys(self.boards)
        for serial in [*self._unapplied]:
            rounds = seats.get(serial, ())
            del self._unapplied[serial]
            board = self.boards.get(serial)
            if board is None:
                self._update_elsewhere(rounds, now_s)
            else:
                self._apply_board_pairings(board, now_s)
            yield

    def apply_moves(
        self,
        board: HallBoard,
        start: chess.Board | None,
        san: Sequence[str],
        now_s: float,
    ) -> Generator[None, None, None]:
        """Apply all moves that LiveChess reports for a board, from the position
        ``start`` where it began to follow the board. Yields between pieces of work.
        """
        games = [
            game
            for game in (self.game_of_board(board), board.before)
            if game is not None
        ]
        yield from board.read_line(start, san, games)
        is_first = board.is_silent
        board.is_silent = False
        board.lost_s = inf
        if is_first:
            self._apply_board_pairings(board, now_s)
        self._apply_line(board, now_s, is_first=is_first)
        self.apply_clocks(board, now_s)

    def apply_clocks(self, board: HallBoard, now_s: float) -> None:
        """Apply the present clocks of a board to its game."""
        game = self.game_of_board(board)
        if (
            board.update_last_clock()
            and game is not None
            and self.stage_of(board, now_s) != "over"
        ):
            last = len(game.moves) - 1
            if (
                last
                == len(board.moves) - 1
                == count_shared_plies(game.moves, board.moves) - 1
            ):
                self._games.update_game(
                    replace(game, moves=(*game.moves[:last], board.moves[last]))
                )

    def apply_placement(
        self, board: HallBoard, placed: str, now_s: float
    ) -> str | None:
        """Apply a placement that came without moves; an empty placement means that only
        clocks came.

        Return the FEN of the position to send to LiveChess, or None while it is
        unknown.
        """
        if board.is_set_up:
            return None
        fen: str | None = None
        if placed == chess.STARTING_BOARD_FEN:
            fen = chess.STARTING_FEN
        elif placed:
            with suppress(ValueError):  # not a placement
                fen = self._find_position(board, placed, now_s)
        board.is_set_up = fen is not None  # None while pieces are lifted
        game = self.game_of_board(board)
        if (
            not board.is_set_up
            and game is not None
            and self.stage_of(board, now_s) == "playing"
        ):
            board.lost_s = min(board.lost_s, now_s)
            if game.moves and now_s - board.lost_s >= self._grace_s:
                self._mark_doubtful(game, MISSED)
        else:
            board.lost_s = inf
        return fen

    def stage_of(self, board: HallBoard, now_s: float) -> Stage:
        """Return the stage of the board, which decides how moves on it are treated."""
        game = self.game_of_board(board)
        if game is not None and game.result != "*":
            past_s = now_s - self._games.ended_s.get(game.key, -inf)
            return "over" if board.is_set_back or past_s > self._grace_s else "ending"
        return "playing" if board.is_paired else "free"

    # --- players ----------------------------------------------------------------------

    def _apply_board_pairings(self, board: HallBoard, now_s: float) -> None:
        """Apply the pairings of a board."""
        rounds = self._seats.get(board.serial, ())
        current = self._find_current_seat(board, rounds)
        game = self.game_of_board(board)
        had_pairing = game is not None and not is_unpaired(game)
        is_left_out = game is not None and had_pairing and game.result == "*"
        # Until LiveChess answers, the pairing of an earlier run is still valid.
        # Otherwise pieces that were set back would begin a game without players.
        is_waiting = had_pairing and not self._has_heard_pairings
        is_listed_elsewhere = is_left_out and bool(self._seats)
        board.is_paired = current is not None or is_waiting or is_listed_elsewhere
        for seat in rounds:
            if seat is current:
                self._apply_current_seat(board, seat, now_s)
            else:
                self._update_elsewhere((seat,), now_s, except_key=board.key)

    def _find_current_seat(
        self, board: HallBoard, rounds: Sequence[Seat]
    ) -> Seat | None:
        """Return the present pairing: the last one whose game has begun; None if there
        is none.

        If the board's game has moves and is of the same round, the pairing counts as
        begun whatever LiveChess reports: its result might have been withdrawn, or its
        transmission stopped.
        """
        game = self.game_of_board(board)
        current = None
        for seat in rounds:
            is_under_way = (
                game is not None
                and game.moves
                and is_same_round(game.headers, seat.headers)
            )
            if seat.is_begun or is_under_way:
                current = seat
        return current

    def _apply_current_seat(self, board: HallBoard, seat: Seat, now_s: float) -> None:
        game = self.game_of_board(board)
        if game is not None and board.is_silent and is_unpaired(game):
            return  # wait until the board shows whether that game is still on it
        if game is None or not self._is_same_game(board, game, seat):
            paired_game = self._games.find_paired_game(seat)
            is_reopened = (
                paired_game is not None and paired_game.result != "*" == seat.result
            )
            if paired_game is None or paired_game is game or is_reopened:
                paired_game = self._games.create_game(board, seat.headers)
            game = paired_game
            self._assign_game_to_board(game, board)
        if game.result == "*" or seat.result == "*":
            # The present moves on the board were played before the result.
            self._games.update_game(replace(game, headers=seat.headers, result="*"))
            self._apply_line(board, now_s)
        self._apply_seat(self._games[game.key], seat, now_s)

    def _is_same_game(self, board: HallBoard, game: GameReport, seat: Seat) -> bool:
        is_on_board = board.is_silent or is_line_of_game(game.moves, board.moves)
        if is_unpaired(game):
            return self._is_pairing_without_moves(seat) and (
                is_on_board or seat.result != "*"
            )
        if len(game.moves) < NEW_GAME_PLIES:
            # Boards are exchanged at the beginning of games: each game goes with its
            # players.
            paired_game = self._games.find_paired_game(seat)
            if (
                paired_game is not None
                and count_same_players(paired_game.headers, seat.headers) == 2
            ):
                return paired_game is game
        return may_be_same_pairing(game, seat, is_on_board=is_on_board)

    def _is_pairing_without_moves(self, seat: Seat) -> bool:
        """Return whether no game with moves is known of the players of a pairing."""
        paired_game = self._games.find_paired_game(seat)
        if paired_game is None or not paired_game.moves:
            return True
        return count_same_players(paired_game.headers, seat.headers) < 2

    def _update_elsewhere(
        self, rounds: Iterable[Seat], now_s: float, except_key: str = ""
    ) -> None:
        """Apply the players and results of pairings to their games, except to the game
        with the key ``except_key``.
        """
        for seat in rounds:
            game = self._games.find_paired_game(seat)
            if game is not None and game.key != except_key:
                self._apply_seat(game, seat, now_s)

    def _apply_seat(self, game: GameReport, seat: Seat, now_s: float) -> None:
        """Apply the players and the result of a pairing to its game."""
        if game.result == "*" != seat.result:
            self._games.ended_s[game.key] = now_s
        is_clear = seat.result != "*" and game.problem == SET_BACK
        problem = None if is_clear else game.problem
        self._games.update_game(
            replace(game, headers=seat.headers, result=seat.result, problem=problem)
        )

    # --- the game of a board ----------------------------------------------------------

    def _assign_game_to_board(self, game: GameReport, board: HallBoard) -> None:
        """Make this board the only one at which the game is played from now on."""
        for other in self.boards.values():
            if other.key == game.key:
                other.key = ""
        previous = self.game_of_board(board)
        if previous is not None and previous.moves:
            board.before = previous
            if previous.problem == SET_BACK:
                self._games.update_game(replace(previous, problem=None))
        board.key = game.key
        board.is_set_back = game.problem == SET_BACK
        self._games.store_game(game)
        self._games.forget_oldest({other.key for other in self.boards.values()})

    def _apply_line(
        self, board: HallBoard, now_s: float, *, is_first: bool = False
    ) -> None:
        """Apply the moves on a board to its game, if they count. ``is_first`` means
        that the board has sent no moves in this run before.
        """
        if board.is_silent:
            return
        game = self.game_of_board(board)
        line = board.moves
        starts_elsewhere = game is not None and board.start_fen != game.start_fen
        if game is not None and not starts_elsewhere and _is_broken_off(board, game):
            # The moves after the unreadable one are unknown. So the line is neither
            # shorter than the game nor another game.
            if self.stage_of(board, now_s) != "over":
                now = replace(
                    game, moves=tuple(line), problem=board.problem, unread=("moves",)
                )
                self._games.update_game(keep_unread(now, game))
            return
        if not board.is_paired and line:
            game_moves = () if game is None else game.moves
            is_next = (
                game is None
                or board.is_set_back
                or is_new_game_on_board(game_moves, line)
            )
            if is_next or (game_moves and starts_elsewhere):
                self._assign_game_to_board(
                    game := self._games.create_game(board, unpaired_headers(board)),
                    board,
                )
        if game is None:
            return
        stage = self.stage_of(board, now_s)
        if is_first and stage == "ending":
            stage = "met"
        if not may_continue(game.moves, line) and not (stage == "free" and line):
            board.is_set_back = True
        if (
            not game.moves
            and board.before is not None
            and is_line_of_game(board.before.moves, line)
        ):
            return  # the pieces have not been put back yet
        is_behind = board.is_set_back and len(line) < len(game.moves)
        if game.moves and starts_elsewhere:
            self._mark_doubtful(game, MISSED)
        elif is_behind or not is_line_valid(stage, game.moves, line):
            self._mark_doubtful(game, SET_BACK)
        else:
            shared = count_shared_plies(game.moves, line)
            self._games.update_game(
                replace(
                    game,
                    start_fen=board.start_fen,
                    moves=(*game.moves[:shared], *line[shared:]),
                    problem=board.problem,
                    unread=() if board.problem is None else ("moves",),
                )
            )
            board.is_set_back = False

    def _mark_doubtful(self, game: GameReport, problem: str) -> None:
        """Set the reason why an unfinished game keeps its moves although its board
        differs.
        """
        if game.result == "*" and not is_unpaired(game):
            self._games.update_game(replace(game, problem=problem))

    def _find_position(self, board: HallBoard, placed: str, now_s: float) -> str | None:
        """Return the FEN of the present position of a board from its placement; None if
        it cannot be determined.
        """
        game = self.game_of_board(board)
        stage = self.stage_of(board, now_s)
        if stage == "over":
            return None
        lines: list[tuple[str, tuple[Move, ...]]] = []
        if game is not None and game.moves:
            lines.append((game.start_fen, game.moves))
        if stage == "free" or not lines:
            lines.append((chess.STARTING_FEN, ()))  # the next game might have begun
        for start_fen, moves in lines:
            placement = find_placement(start_fen, moves, placed)
            if placement is not None:
                board.set_position(placement[1], start_fen, placement[0])
                return placement[1]
        if game is not None and game.moves and stage != "free":
            return None  # still this game, whichever moves were missed
        chess.BaseBoard(placed)
        fen = next(
            filter(
                None, (find_position_after(before, placed) for before in board.seen)
            ),
            None,
        )
        if fen is not None:
            board.seen.clear()
        elif placed not in board.seen:
            board.seen.append(placed)
        return fen


def _is_broken_off(board: HallBoard, game: GameReport) -> bool:
    """Return whether a line is shorter than the game only because one of its moves
    cannot be read.
    """
    if board.problem is None or len(board.moves) >= len(game.moves):
        return False
    return count_shared_plies(game.moves, board.moves) == len(board.moves)
