"""Boards in a playing hall: the moves on each, the game they belong to, and the end of
that game. Pure.

A board only senses pieces. All day, pieces are put back, set up again and moved in
analysis. The pairing of the board's table decides to which game its moves belong:

* **A pairing in a round is one game.** If the pieces are set back and the moves
  replayed, even with corrections, it is still the same game. A corrected name, a
  replaced player, exchanged colours and a pairing entered after the first moves change
  the headers of the game, but not its identity. The next game starts with another
  round, or with other players after the present game has ended.
* **If a board shows fewer moves than its unfinished game has, the board is doubted**:
  its pieces have been set back, often before anybody has entered the result. Up to
  :data:`BACK_PLIES` plies can be taken back at once. Otherwise the game keeps its
  moves, marked as doubtful, until the board has as many again.
* **A result ends the game.** Later moves are analysis. But results are often entered
  before the last moves are played on the board, so moves that continue the game still
  count for the grace period of ``[feeds]`` after the result, unless the board has been
  set back. In a longer period, analysis would be taken for moves, since it starts from
  the last position. Moves that replace earlier ones do not count, since analysis looks
  like that. If the source withdraws the result, the game continues.

Without a pairing, a new game starts when the board has been cleared and moves are
played; no result ends such a game.

:class:`Hall` gets the games of an earlier run and treats them like its own: a board
that has not sent anything yet has not lost any moves.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from itertools import chain, count
from math import inf

import chess
from msgspec.structs import replace

from live.messages.from_sources import IN_DOUBT, GameReport, Headers, Move, Player
from live.sources.game_identity import count_shared_plies
from live.sources.hall_board import (
    NEW_GAME_PLIES,
    HallBoard,
    Seat,
    Seats,
    Stage,
    count_same_players,
    is_another_game,
    is_line_of_game,
    is_line_valid,
    is_same_pairing,
    is_same_round,
    may_continue,
    shares_player,
)
from live.sources.kept_moves import keep_unread
from live.sources.placements import find_placement, find_position_after

MAX_BOARDS = 768
#: Greatest number of games remembered; games that are not on a board are forgotten
#: first.
MAX_GAMES = 2000

#: Problems shown for a game that keeps its moves although its board differs.
SET_BACK = f"{IN_DOUBT} the pieces were set back, but there is no result yet"
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
        self._games: dict[str, GameReport] = {}
        self._rounds: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        """Keys of games, by event and by round and table."""
        self._own: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Keys of games, by the name of the board on which they began."""
        self._ended_s: dict[str, float] = {}
        """By key of a game: clock time at which its result was first seen."""
        self._seats: Seats = {}
        self._unapplied: dict[str, None] = {}
        """Serial numbers of boards whose new pairings are not applied yet."""
        self._has_heard_pairings = False
        """Whether LiveChess has sent all pairings in this run."""
        self._reported: dict[str, GameReport] = {}
        self._news: dict[str, None] = {}
        for game in known_games:
            # A game without a pairing has no result except mate, which will be found
            # again.
            self._hold_game(replace(game, result="*") if _is_unpaired(game) else game)

    def take_changed_games(self) -> list[GameReport]:
        """Return the games that have changed since the last call."""
        games = [self._games[key] for key in self._news if key in self._games]
        self._reported.update((game.key, game) for game in games)
        self._news.clear()
        return games

    def game_of_board(self, board: HallBoard) -> GameReport | None:
        """Return the present or last game of a board; None if it had none."""
        return self._games.get(board.key)

    @property
    def note(self) -> str:
        """Message for people about boards whose games keep their moves, and about
        pairings that are not known yet; empty if there is nothing to tell.
        """
        boards = list(self.boards.values())
        games = [self.game_of_board(board) for board in boards]
        set_back = sum(game is not None and game.problem == SET_BACK for game in games)
        subject = "1 board was" if set_back == 1 else f"{set_back} boards were"
        parts = [f"{subject} set back without a result"] if set_back else []
        waiting = [
            board
            for board in boards
            if board.is_paired and board.serial not in self._seats
        ]
        if waiting and not self._has_heard_pairings:
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
        own_games = [self._games[key] for key in self._own.get(board.name, ())]
        if own_games:
            board.key = own_games[-1].key
            board.is_paired = not _is_unpaired(own_games[-1])
            board.is_set_back = own_games[-1].problem == SET_BACK
            board.before = next(
                (game for game in own_games[-2::-1] if game.moves), None
            )
        self._seat_players(board, now_s)
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
        """Apply new pairings to all boards. Yields after each board; boards that were
        not reached are done with the next pairings.

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
                self._seat_players(board, now_s)
            yield

    def apply_moves(
        self,
        board: HallBoard,
        start: chess.Board | None,
        san: Sequence[str],
        now_s: float,
    ) -> Generator[None, None, None]:
        """Apply the moves that LiveChess has of a board, from the position where it
        started to follow. Yields between pieces of work.
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
            self._seat_players(board, now_s)
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
                self._update_game(
                    replace(game, moves=(*game.moves[:last], board.moves[last]))
                )

    def apply_placement(
        self, board: HallBoard, placed: str, now_s: float
    ) -> str | None:
        """Apply a placement that came without moves; an empty one means that only
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
        """Return the stage of the board, which tells how to treat moves on it."""
        game = self.game_of_board(board)
        if game is not None and game.result != "*":
            past_s = now_s - self._ended_s.get(game.key, -inf)
            return "over" if board.is_set_back or past_s > self._grace_s else "ending"
        return "playing" if board.is_paired else "free"

    # --- players ----------------------------------------------------------------------

    def _seat_players(self, board: HallBoard, now_s: float) -> None:
        """Apply the pairings of a board."""
        rounds = self._seats.get(board.serial, ())
        current = self._find_current_seat(board, rounds)
        game = self.game_of_board(board)
        had_pairing = game is not None and not _is_unpaired(game)
        is_left_out = game is not None and had_pairing and game.result == "*"
        # Until LiveChess answers, the pairing of an earlier run is still valid.
        # Otherwise pieces that were set back would begin a game without players.
        is_waiting = had_pairing and not self._has_heard_pairings
        is_listed_elsewhere = is_left_out and bool(self._seats)
        board.is_paired = current is not None or is_waiting or is_listed_elsewhere
        for seat in rounds:
            if seat is current:
                self._seat_current(board, seat, now_s)
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
            is_held = (
                game is not None
                and game.moves
                and is_same_round(game.headers, seat.headers)
            )
            if seat.is_begun or is_held:
                current = seat
        return current

    def _seat_current(self, board: HallBoard, seat: Seat, now_s: float) -> None:
        game = self.game_of_board(board)
        if game is not None and board.is_silent and _is_unpaired(game):
            return  # wait until the board shows whether that game is still on it
        if game is None or not self._is_same_game(board, game, seat):
            paired_game = self._find_paired_game(seat)
            is_reopened = (
                paired_game is not None and paired_game.result != "*" == seat.result
            )
            if paired_game is None or paired_game is game or is_reopened:
                paired_game = self._create_game(board, seat.headers)
            game = paired_game
            self._move_to_board(game, board)
        if game.result == "*" or seat.result == "*":
            # The present moves on the board were played before the result.
            self._update_game(replace(game, headers=seat.headers, result="*"))
            self._apply_line(board, now_s)
        self._apply_seat(self._games[game.key], seat, now_s)

    def _is_same_game(self, board: HallBoard, game: GameReport, seat: Seat) -> bool:
        is_on_board = board.is_silent or is_line_of_game(game.moves, board.moves)
        if _is_unpaired(game):
            return self._has_no_game(seat) and (is_on_board or seat.result != "*")
        if len(game.moves) < NEW_GAME_PLIES:
            # Boards are exchanged at the beginning of games: each game goes with its
            # players.
            paired_game = self._find_paired_game(seat)
            if (
                paired_game is not None
                and count_same_players(paired_game.headers, seat.headers) == 2
            ):
                return paired_game is game
        return is_same_pairing(game, seat, is_on_board=is_on_board)

    def _has_no_game(self, seat: Seat) -> bool:
        """Return whether no game with moves is known of a pairing."""
        paired_game = self._find_paired_game(seat)
        if paired_game is None or not paired_game.moves:
            return True
        return count_same_players(paired_game.headers, seat.headers) < 2

    def _find_paired_game(self, seat: Seat) -> GameReport | None:
        """Return the game of a pairing, at whichever board it is played; None if there
        is none. The game with most players in common is preferred, then the longest,
        then the last.
        """
        paired_game: GameReport | None = None
        best = (0, 0)
        for key in self._rounds.get(_table_key(seat.headers), ()):
            game = self._games[key]
            alike = 2 * count_same_players(game.headers, seat.headers)
            rank = (alike or shares_player(game.headers, seat.headers), len(game.moves))
            if rank[0] and rank >= best:
                paired_game = game
                best = rank
        return paired_game

    def _update_elsewhere(
        self, rounds: Iterable[Seat], now_s: float, except_key: str = ""
    ) -> None:
        """Apply the pairings' players and results to games that are not on a board
        now.
        """
        for seat in rounds:
            game = self._find_paired_game(seat)
            if game is not None and game.key != except_key:
                self._apply_seat(game, seat, now_s)

    def _apply_seat(self, game: GameReport, seat: Seat, now_s: float) -> None:
        """Apply the players and the result of a pairing to its game."""
        if game.result == "*" != seat.result:
            self._ended_s[game.key] = now_s
        is_clear = seat.result != "*" and game.problem == SET_BACK
        problem = None if is_clear else game.problem
        self._update_game(
            replace(game, headers=seat.headers, result=seat.result, problem=problem)
        )

    # --- the game of a board ----------------------------------------------------------

    def _create_game(self, board: HallBoard, headers: Headers) -> GameReport:
        """Return a new game without moves for a board."""
        own_keys = self._own.get(board.name, ())
        keys: Iterable[str]
        if headers.round:
            first = f"{board.name}/{headers.round}"
            keys = chain([first], (f"{first}/{number}" for number in count(2)))
        else:
            numbers = [key.rpartition("/")[2] for key in own_keys]
            last = max(
                (int(digits) for digits in numbers if digits.isdecimal()), default=0
            )
            keys = (
                f"{board.name}/{number}"
                for number in count(max(last, len(own_keys)) + 1)
            )
        key = next(unused for unused in keys if unused not in self._games)
        return GameReport(key, headers, chess.STARTING_FEN)

    def _move_to_board(self, game: GameReport, board: HallBoard) -> None:
        """Make this board the only one at which the game is played from now on."""
        for other in self.boards.values():
            if other.key == game.key:
                other.key = ""
        previous = self.game_of_board(board)
        if previous is not None and previous.moves:
            board.before = previous
            if previous.problem == SET_BACK:
                self._update_game(replace(previous, problem=None))
        board.key = game.key
        board.is_set_back = game.problem == SET_BACK
        self._hold_game(game)

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
                self._update_game(keep_unread(now, game))
            return
        if not board.is_paired and line:
            game_moves = () if game is None else game.moves
            is_next = (
                game is None or board.is_set_back or is_another_game(game_moves, line)
            )
            if is_next or (game_moves and starts_elsewhere):
                self._move_to_board(
                    game := self._create_game(board, self._unpaired_headers(board)),
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
            self._update_game(
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
        if game.result == "*" and not _is_unpaired(game):
            self._update_game(replace(game, problem=problem))

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

    def _unpaired_headers(self, board: HallBoard) -> Headers:
        unknown_player = Player("?")
        return Headers(
            unknown_player,
            unknown_player,
            event=_unpaired_event(board.name),
            board=board.number,
        )

    # --- stored games -----------------------------------------------------------------

    def _update_game(self, game: GameReport) -> None:
        """Store the present state of a game, and mark it as changed if it differs from
        the state reported last.
        """
        self._hold_game(game)
        if self._reported.get(game.key) != game:
            self._news[game.key] = None
        else:
            self._news.pop(game.key, None)

    def _hold_game(self, game: GameReport) -> None:
        before = self._games.get(game.key)
        self._games[game.key] = game
        if before is not None and _table_key(before.headers) != _table_key(
            game.headers
        ):
            self._rounds[_table_key(before.headers)].pop(game.key, None)
        if game.headers.round:
            self._rounds[_table_key(game.headers)][game.key] = None
        self._own[_first_board_name(game)][game.key] = None
        if len(self._games) > MAX_GAMES:
            self._forget_oldest_gone()

    def _forget_oldest_gone(self) -> None:
        """Forget the oldest games that are not on a board."""
        seated_keys = {board.key for board in self.boards.values()}
        unseated = [game for key, game in self._games.items() if key not in seated_keys]
        for game in unseated[: len(self._games) - MAX_GAMES]:
            del self._games[game.key]
            self._reported.pop(game.key, None)
            self._ended_s.pop(game.key, None)
            self._rounds[_table_key(game.headers)].pop(game.key, None)
            self._own[_first_board_name(game)].pop(game.key, None)


def _is_broken_off(board: HallBoard, game: GameReport) -> bool:
    """Return whether a line is shorter than the game only because one of its moves
    cannot be read.
    """
    if board.problem is None or len(board.moves) >= len(game.moves):
        return False
    return count_shared_plies(game.moves, board.moves) == len(board.moves)


def _first_board_name(game: GameReport) -> str:
    """Return the name of the board on which the game began."""
    return game.key.partition("/")[0]


def _table_key(headers: Headers) -> tuple[str, str]:
    return headers.event, headers.round


def _unpaired_event(name: str) -> str:
    return f"Board {name}"


def _is_unpaired(game: GameReport) -> bool:
    """Return whether a game never had a pairing. Its players might still be known from
    a list.
    """
    return game.headers.event == _unpaired_event(_first_board_name(game))
