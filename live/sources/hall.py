"""Boards in a playing hall: what stands on each, which game that is, and when it is
over. Pure.

A board senses pieces and knows nothing else. All day its pieces are put back, set up
again and analysed with. The pairing of its table says which game it is:

* **One pairing in one round is one game.** Pieces that are set back and replayed are
  the same game, with corrected moves too. A name that is mended, a player who is
  replaced, colours that are swapped and a pairing that comes after the moves change
  what the game is called, not which game it is. The next game comes with another
  round, or with other players once the game before is over.
* **While it goes on, a board that has less than was played is doubted**: its pieces
  were set back, often before anybody has entered the result. Up to :data:`BACK_PLIES`
  plies may be taken back at once. Else the game keeps its moves, marked, until the
  board has come as far again.
* **A result ends it.** What is moved then is analysis. Results are often entered before
  the last moves are pressed, so moves that go on from the last one count for the grace
  period of ``[feeds]``, from when the result was seen, unless the board was set back.
  Longer would take analysis for moves, since that begins from the last position; and
  moves that correct others are not taken, since that is what analysis looks like. If
  the source takes the result back, the game goes on.

Without a pairing, a board that was cleared and is played on has a new game, and no
result ends it.

:class:`Hall` is told what a former run has seen, and compares with it as with all that
it has seen itself: a board that says nothing yet has lost nothing.
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
#: Games held at most; those that nobody plays any more are let go first.
MAX_GAMES = 2000

#: What is said at a board whose game keeps its moves.
SET_BACK = f"{IN_DOUBT} the pieces were set back, and no result is there yet"
MISSED = "moves are missing: none that are known lead to how the pieces stand"


class Hall:
    """All boards of one hall and their games.

    Tell it what comes in, then take :meth:`take_changed_games`.
    """

    def __init__(self, known: Iterable[GameReport] = (), grace_s: float = 0.0) -> None:
        """``known``: games as they stood when a former run ended. ``grace_s``: for how
        long after a result moves still count, seconds.
        """
        self.boards: dict[str, HallBoard] = {}
        """In the order of their numbers."""
        self._grace_s = grace_s
        self._games: dict[str, GameReport] = {}
        self._rounds: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        """Games by event, and round and table."""
        self._own: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Games by the board that they began on."""
        self._ended_s: dict[str, float] = {}
        """When results were seen to come, by the clock of the caller."""
        self._seats: Seats = {}
        self._told: dict[str, GameReport] = {}
        self._news: dict[str, None] = {}
        for game in known:
            # Without a pairing there is no result but that of a mate, found again.
            self._hold_game(replace(game, result="*") if _is_unpaired(game) else game)

    def take_changed_games(self) -> list[GameReport]:
        """Return the games that have changed since they were told last."""
        games = [self._games[key] for key in self._news if key in self._games]
        self._told.update((game.key, game) for game in games)
        self._news.clear()
        return games

    def game_of_board(self, board: HallBoard) -> GameReport | None:
        """Return the game that is, or was last, played at a board."""
        return self._games.get(board.key)

    @property
    def note(self) -> str:
        """What people should know of boards that keep moves; empty without any."""
        games = [self.game_of_board(board) for board in self.boards.values()]
        keeps = sum(game is not None and game.problem == SET_BACK for game in games)
        boards = "1 board was" if keeps == 1 else f"{keeps} boards were"
        return f"{boards} set back without a result" if keeps else ""

    # --- what comes in ----------------------------------------------------------------

    def add_board(self, serial: str, now_s: float) -> HallBoard | None:
        """Return the board of this number, a new one where it is not known; None for
        one too many.

        A new board has the game that it had last in a former run.
        """
        board = self.boards.get(serial)
        if board is not None or len(self.boards) >= MAX_BOARDS:
            return board
        board = self.boards[serial] = HallBoard(serial, len(self.boards) + 1)
        own = [self._games[key] for key in self._own.get(board.name, ())]
        if own:
            board.key = own[-1].key
            board.is_paired = not _is_unpaired(own[-1])
            board.is_set_back = own[-1].problem == SET_BACK
            board.before = next((game for game in own[-2::-1] if game.moves), None)
        self._seat_players(board, now_s)
        return board

    def mark_disconnected(self) -> None:
        """Mark all subscriptions as gone; the games are not."""
        for board in self.boards.values():
            board.is_subscribed = False
            board.is_set_up = False
            board.lost_s = inf

    def apply_pairings(self, seats: Seats, now_s: float) -> Generator[None, None, None]:
        """Bring all boards to what the pairings say; yields after each."""
        before = self._seats
        self._seats = seats
        serials = dict.fromkeys([*seats, *before])
        if bool(seats) != bool(before):
            serials |= dict.fromkeys(self.boards)
        for serial in serials:
            rounds = seats.get(serial, ())
            if rounds == before.get(serial) and seats:
                continue
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
        """Take all moves that LiveChess has on a board, from where it began to follow;
        yields between pieces of work.
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
        """Take the clocks of a board as they are now."""
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
        """Take a placement that came without moves; empty where only clocks are told.

        Returns the position to send to LiveChess, once it is known.
        """
        if board.is_set_up:
            return None
        fen: str | None = None
        if placed == chess.STARTING_BOARD_FEN:
            fen = chess.STARTING_FEN
        elif placed:
            with suppress(ValueError):  # no placement
                fen = self._find_position(board, placed, now_s)
        board.is_set_up = fen is not None  # else pieces are in the air
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
        """Return what moves on a board are now."""
        game = self.game_of_board(board)
        if game is not None and game.result != "*":
            past_s = now_s - self._ended_s.get(game.key, -inf)
            return "over" if board.is_set_back or past_s > self._grace_s else "ending"
        return "playing" if board.is_paired else "free"

    # --- who plays --------------------------------------------------------------------

    def _seat_players(self, board: HallBoard, now_s: float) -> None:
        """Bring a board to what the pairings say of it."""
        rounds = self._seats.get(board.serial, ())
        current = self._find_current_seat(board, rounds)
        game = self.game_of_board(board)
        is_left_out = game is not None and game.result == "*" and not _is_unpaired(game)
        board.is_paired = current is not None or (is_left_out and bool(self._seats))
        for seat in rounds:
            if seat is current:
                self._seat_current(board, seat, now_s)
            else:
                self._update_elsewhere((seat,), now_s, but=board.key)

    def _find_current_seat(
        self, board: HallBoard, rounds: Sequence[Seat]
    ) -> Seat | None:
        """Return the pairing that counts: the last that has begun.

        One of whose round moves are held has begun, whatever is said of it: its result
        may be taken back, or its transmission stopped.
        """
        game = self.game_of_board(board)
        found = None
        for seat in rounds:
            is_held = (
                game is not None
                and game.moves
                and is_same_round(game.headers, seat.headers)
            )
            if seat.is_begun or is_held:
                found = seat
        return found

    def _seat_current(self, board: HallBoard, seat: Seat, now_s: float) -> None:
        game = self.game_of_board(board)
        if game is not None and board.is_silent and _is_unpaired(game):
            return  # first it has to say whether that game is still there
        if game is None or not self._is_same_game(board, game, seat):
            known = self._find_paired_game(seat)
            is_reopened = known is not None and known.result != "*" == seat.result
            if known is None or known is game or is_reopened:
                known = self._create_game(board, seat.headers)
            game = known
            self._move_to_board(game, board)
        if game.result == "*" or seat.result == "*":
            # What stands there now came before the result.
            self._update_game(replace(game, headers=seat.headers, result="*"))
            self._apply_line(board, now_s)
        self._apply_seat(self._games[game.key], seat, now_s)

    def _is_same_game(self, board: HallBoard, game: GameReport, seat: Seat) -> bool:
        is_on_board = board.is_silent or is_line_of_game(game.moves, board.moves)
        if _is_unpaired(game):
            return is_on_board or seat.result != "*"
        if len(game.moves) < NEW_GAME_PLIES:
            # Boards are exchanged before it matters: each game goes to its players.
            other = self._find_paired_game(seat)
            if (
                other is not None
                and count_same_players(other.headers, seat.headers) == 2
            ):
                return other is game
        return is_same_pairing(game, seat, is_on_board=is_on_board)

    def _find_paired_game(self, seat: Seat) -> GameReport | None:
        """Return the game of a pairing, wherever it is played: the most alike, the
        longest, the last.
        """
        found: GameReport | None = None
        best = (0, 0)
        for key in self._rounds.get(_table_key(seat.headers), ()):
            game = self._games[key]
            alike = 2 * count_same_players(game.headers, seat.headers)
            rank = (alike or shares_player(game.headers, seat.headers), len(game.moves))
            if rank[0] and rank >= best:
                found = game
                best = rank
        return found

    def _update_elsewhere(
        self, rounds: Iterable[Seat], now_s: float, but: str = ""
    ) -> None:
        """Take players and results of games that are not played at a board now."""
        for seat in rounds:
            game = self._find_paired_game(seat)
            if game is not None and game.key != but:
                self._apply_seat(game, seat, now_s)

    def _apply_seat(self, game: GameReport, seat: Seat, now_s: float) -> None:
        """Give a game the players and the result of its pairing."""
        if game.result == "*" != seat.result:
            self._ended_s[game.key] = now_s
        is_clear = seat.result != "*" and game.problem == SET_BACK
        problem = None if is_clear else game.problem
        self._update_game(
            replace(game, headers=seat.headers, result=seat.result, problem=problem)
        )

    # --- which game -------------------------------------------------------------------

    def _create_game(self, board: HallBoard, headers: Headers) -> GameReport:
        """Return a new game of a board, without moves."""
        own = self._own.get(board.name, ())
        keys: Iterable[str]
        if headers.round:
            first = f"{board.name}/{headers.round}"
            keys = chain([first], (f"{first}/{number}" for number in count(2)))
        else:
            numbers = [key.rpartition("/")[2] for key in own]
            last = max((int(each) for each in numbers if each.isdecimal()), default=0)
            keys = (
                f"{board.name}/{number}" for number in count(max(last, len(own)) + 1)
            )
        key = next(each for each in keys if each not in self._games)
        return GameReport(key, headers, chess.STARTING_FEN)

    def _move_to_board(self, game: GameReport, board: HallBoard) -> None:
        """Let this game be played at this board from now on, and at no other."""
        for other in self.boards.values():
            if other.key == game.key:
                other.key = ""
        left = self.game_of_board(board)
        if left is not None and left.moves:
            board.before = left
            if left.problem == SET_BACK:
                self._update_game(replace(left, problem=None))
        board.key = game.key
        board.is_set_back = game.problem == SET_BACK
        self._hold_game(game)

    def _apply_line(
        self, board: HallBoard, now_s: float, *, is_first: bool = False
    ) -> None:
        """Let what stands on a board count, if it does. ``is_first``: nothing was heard
        of it before in this run.
        """
        if board.is_silent:
            return
        game = self.game_of_board(board)
        line = board.moves
        starts_elsewhere = game is not None and board.start_fen != game.start_fen
        if game is not None and not starts_elsewhere and _is_broken_off(board, game):
            # Nobody knows what stands behind that, so it is neither less nor another
            # game.
            if self.stage_of(board, now_s) != "over":
                now = replace(
                    game, moves=tuple(line), problem=board.problem, unread=("moves",)
                )
                self._update_game(keep_unread(now, game))
            return
        if not board.is_paired and line:
            held = () if game is None else game.moves
            is_next = game is None or board.is_set_back or is_another_game(held, line)
            if is_next or (held and starts_elsewhere):
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
            kept = count_shared_plies(game.moves, line)
            self._update_game(
                replace(
                    game,
                    start_fen=board.start_fen,
                    moves=(*game.moves[:kept], *line[kept:]),
                    problem=board.problem,
                    unread=() if board.problem is None else ("moves",),
                )
            )
            board.is_set_back = False

    def _mark_doubtful(self, game: GameReport, problem: str) -> None:
        """Say why a game keeps the moves that it has, while a result may come."""
        if game.result == "*" and not _is_unpaired(game):
            self._update_game(replace(game, problem=problem))

    def _find_position(self, board: HallBoard, placed: str, now_s: float) -> str | None:
        """Return the position of a game in progress; None where nothing tells it."""
        game = self.game_of_board(board)
        stage = self.stage_of(board, now_s)
        if stage == "over":
            return None
        lines: list[tuple[str, tuple[Move, ...]]] = []
        if game is not None and game.moves:
            lines.append((game.start_fen, game.moves))
        if stage == "free" or not lines:
            lines.append((chess.STARTING_FEN, ()))  # the first moves of the next game
        for start_fen, moves in lines:
            found = find_placement(start_fen, moves, placed)
            if found is not None:
                board.set_position(found[1], start_fen, found[0])
                return found[1]
        if game is not None and game.moves and stage != "free":
            return None  # it is this game all the same, whatever was missed of it
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
        nobody = Player("?")
        return Headers(
            nobody, nobody, event=_unpaired_event(board.name), board=board.number
        )

    # --- what is held -----------------------------------------------------------------

    def _update_game(self, game: GameReport) -> None:
        """Hold a game as it is now, and tell it where that is news."""
        self._hold_game(game)
        if self._told.get(game.key) != game:
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
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the oldest games that stand on no board."""
        here = {board.key for board in self.boards.values()}
        gone = [game for key, game in self._games.items() if key not in here]
        for game in gone[: len(self._games) - MAX_GAMES]:
            del self._games[game.key]
            self._told.pop(game.key, None)
            self._ended_s.pop(game.key, None)
            self._rounds[_table_key(game.headers)].pop(game.key, None)
            self._own[_first_board_name(game)].pop(game.key, None)


def _is_broken_off(board: HallBoard, game: GameReport) -> bool:
    """Return whether a line ends where it cannot be read, before the moves that are
    held.
    """
    if board.problem is None or len(board.moves) >= len(game.moves):
        return False
    return count_shared_plies(game.moves, board.moves) == len(board.moves)


def _first_board_name(game: GameReport) -> str:
    """Return the name of its board."""
    return game.key.partition("/")[0]


def _table_key(headers: Headers) -> tuple[str, str]:
    return headers.event, headers.round


def _unpaired_event(name: str) -> str:
    return f"Board {name}"


def _is_unpaired(game: GameReport) -> bool:
    """Return whether no pairing ever named it. Lists of players may have."""
    return game.headers.event == _unpaired_event(_first_board_name(game))
