"""The games of a playing hall: by key, by pairing and by the board on which they began.
No I/O.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, count

import chess

from live.messages.from_sources import IN_DOUBT, GameReport, Headers, Player, Result
from live.messages.values import Value
from live.sources.hall_board import HallBoard

#: Greatest number of games remembered; games that are not on a board are forgotten
#: first.
MAX_GAMES = 2000

#: Problem shown for a game that keeps its moves although its board has fewer.
SET_BACK = f"{IN_DOUBT} the pieces were set back, but there is no result yet"


class Seat(Value):
    """Pairing of one board in one round."""

    headers: Headers
    """Headers of the game; its round is written as round and table: ``2.14``."""
    result: Result = "*"
    is_begun: bool = True
    """Whether the game is in progress or has a result."""


Seats = Mapping[str, tuple[Seat, ...]]
"""The pairings of each board in the order of rounds, by the board's serial number."""


def _is_person(first: Player, second: Player) -> bool:
    if first.fide_id is not None and first.fide_id == second.fide_id:
        return True
    return first.name.casefold() == second.name.casefold() != "?"


def count_same_players(first: Headers, second: Headers) -> int:
    """Return the number of players with unchanged seats: 0 to 2."""
    return _is_person(first.white, second.white) + _is_person(first.black, second.black)


def shares_player(first: Headers, second: Headers) -> bool:
    """Return whether the two games have a common player, with either colour."""
    has_swapped = _is_person(first.white, second.black) or _is_person(
        first.black, second.white
    )
    return has_swapped or count_same_players(first, second) > 0


def is_same_round(first: Headers, second: Headers) -> bool:
    """Return whether two games are of the same round. Their tables can differ, since
    tables are exchanged.
    """
    rounds = [headers.round.partition(".")[0] for headers in (first, second)]
    return rounds[0] == rounds[1] and (
        first.event == second.event or shares_player(first, second)
    )


def may_be_same_pairing(game: GameReport, seat: Seat, *, is_on_board: bool) -> bool:
    """Return whether a game with a pairing may be the one that its board's present
    pairing names, although names, colours or result differ.

    ``is_on_board`` means that the game's moves are still on the board.
    """
    if not is_same_round(game.headers, seat.headers):
        return False
    if game.result == "*":
        return True  # names and colours can change during a game
    alike = count_same_players(game.headers, seat.headers)
    # The pairing has no result: it was withdrawn, or the next two players have sat
    # down.
    if seat.result == "*":
        return alike == 2 or (alike == 1 and is_on_board)
    return is_on_board or shares_player(game.headers, seat.headers)


class HallGames:
    """All known games of a hall, and which of them have changed."""

    def __init__(self) -> None:
        self.ended_s: dict[str, float] = {}
        """Clock time at which the result of each game was first seen, by the game's
        key.
        """
        self.set_back: set[str] = set()
        """Keys of the games whose problem is :data:`SET_BACK`."""
        self._games: dict[str, GameReport] = {}
        self._rounds: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        """Keys of games, by event and by round and table."""
        self._own: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Keys of games, by the name of the board on which they began."""
        self._reported: dict[str, GameReport] = {}
        self._changed: dict[str, None] = {}

    def take_changed_games(self) -> list[GameReport]:
        """Return the games that have changed since the last call."""
        games = [self._games[key] for key in self._changed if key in self._games]
        self._reported.update((game.key, game) for game in games)
        self._changed.clear()
        return games

    def __getitem__(self, key: str) -> GameReport:
        return self._games[key]

    def get(self, key: str) -> GameReport | None:
        """Return the present state of a game; None if it is unknown."""
        return self._games.get(key)

    def games_begun_on(self, board: HallBoard) -> list[GameReport]:
        """Return the games that began on a board, the last one last."""
        return [self._games[key] for key in self._own.get(board.name, ())]

    def find_paired_game(self, seat: Seat) -> GameReport | None:
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

    def create_game(self, board: HallBoard, headers: Headers) -> GameReport:
        """Return a new game without moves for a board; it is not stored yet."""
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

    def update_game(self, game: GameReport) -> None:
        """Store the present state of a game, and mark it as changed if it differs from
        the state reported last.
        """
        self.store_game(game)
        if self._reported.get(game.key) != game:
            self._changed[game.key] = None
        else:
            self._changed.pop(game.key, None)

    def store_game(self, game: GameReport) -> None:
        """Store the present state of a game without marking it as changed."""
        before = self._games.get(game.key)
        self._games[game.key] = game
        if before is not None and _table_key(before.headers) != _table_key(
            game.headers
        ):
            self._rounds[_table_key(before.headers)].pop(game.key, None)
        if game.headers.round:
            self._rounds[_table_key(game.headers)][game.key] = None
        self._own[_first_board_name(game)][game.key] = None
        if game.problem == SET_BACK:
            self.set_back.add(game.key)
        else:
            self.set_back.discard(game.key)

    def forget_oldest(self, seated_keys: Collection[str]) -> None:
        """Forget the oldest games beyond :data:`MAX_GAMES`, except those on boards."""
        if len(self._games) <= MAX_GAMES:
            return
        unseated = [game for key, game in self._games.items() if key not in seated_keys]
        for game in unseated[: len(self._games) - MAX_GAMES]:
            del self._games[game.key]
            self._reported.pop(game.key, None)
            self.ended_s.pop(game.key, None)
            self.set_back.discard(game.key)
            self._rounds[_table_key(game.headers)].pop(game.key, None)
            self._own[_first_board_name(game)].pop(game.key, None)


def _first_board_name(game: GameReport) -> str:
    """Return the name of the board on which the game began."""
    return game.key.partition("/")[0]


def _table_key(headers: Headers) -> tuple[str, str]:
    return headers.event, headers.round


def _unpaired_event(name: str) -> str:
    return f"Board {name}"


def unpaired_headers(board: HallBoard) -> Headers:
    """Return the headers of a game without a pairing."""
    event = _unpaired_event(board.name)
    return Headers(Player("?"), Player("?"), event=event, board=board.number)


def is_unpaired(game: GameReport) -> bool:
    """Return whether a game never had a pairing. Its players might still be known from
    a list.
    """
    return game.headers.event == _unpaired_event(_first_board_name(game))
