"""Removal of duplicate games: a game in several files of one folder counts once. No
I/O.

LiveChess writes each game to its own file and, in addition, all games to one file.
Synchronisation programs and people make copies: ``games (HALL-PC's conflicted
copy).pgn``, ``games - Copy.pgn``. A file's name does not show whether it is a copy, so
games are compared.

A game is read from the file that has the most of its moves: a copy might be old, but it
might also be the file that the hall continues to write. If a file withdraws moves that
it had, copies that still contain them are outdated until they change. If files have
equal moves, a file of a single game is preferred, then the file that was used before,
then the file that was written last.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from live.messages.from_sources import GameReport, Move
from live.sources.game_identity import (
    Identity,
    count_shared_plies,
    identify_games,
    is_same_line,
)
from live.sources.partial_reads import TextReading

#: Name of a file of one game, as LiveChess writes it.
_SINGLE = re.compile(r"game-\d+\.pgn", re.IGNORECASE)
#: Number of equal plies that prove two games to be the same, whatever the players'
#: names.
PROOF_PLIES = 20
#: Greatest number of last plies that can differ because only one of two files has been
#: corrected.
CORRECTED_PLIES = 2
#: With fewer plies than this, an unfinished game cannot be proved to be the same as a
#: finished one.
COMMON_PLIES = 10
#: Greatest number of games of one player in one round that a game is compared with.
MAX_ALIKE = 20

Readings = dict[Path, TextReading]
#: For each file with duplicate games: how many of its games are in each other file.
Doubles = dict[Path, Counter[Path]]
Seat = tuple[str, str, str]
#: A game in a file.
Place = tuple[Path, Identity]


def is_single_game_file(path: Path) -> bool:
    """Return whether a file's name is that of a file with a single game."""
    return _SINGLE.fullmatch(path.name) is not None


class FiledGame(NamedTuple):
    """A game as found in one file."""

    path: Path
    identity: Identity
    game: GameReport
    is_single: bool
    """Whether its file contains only this game, judged by the file's name."""
    is_whole: bool
    """False for the last game of a text that is still being written."""
    written_ns: int
    """Time at which its file was last written, nanoseconds since 1970."""
    seats: frozenset[Seat]
    """Round, colour and name of its players."""

    @property
    def place(self) -> Place:
        return self.path, self.identity


class DoubledGames:
    """Selector of the file from which each game of a folder is read, updated at each
    scan.
    """

    def __init__(self) -> None:
        # For each game that is in several files: its moves in each file at the last
        # scan, and the number of its group of duplicates.
        self._lines: dict[Place, tuple[Move, ...]] = {}
        self._group_numbers: dict[Place, int] = {}
        # Input of the last scan, and the results computed from it.
        self._readings: Readings = {}
        self._left_out: dict[Path, set[Identity]] = {}
        self._doubles: Doubles = {}
        # Number of the scan at which each file was first seen.
        self._first_scans: dict[Path, int] = {}
        self._scans = 0
        # Places from which games are read, and places that are ignored until they
        # change.
        self._read: set[Place] = set()
        self._outdated: set[Place] = set()

    def drop_doubles(
        self, readings: Readings, written_ns: Mapping[Path, int]
    ) -> tuple[Readings, Doubles]:
        """Return the readings with each game only once, and the duplicates: for each
        file, how many of its games are in which other file.
        """
        self._scans += 1
        self._first_scans = {
            path: self._first_scans.get(path, self._scans) for path in readings
        }
        if not self._is_unchanged(readings):
            self._compare_files(
                _list_games(readings, written_ns) if len(readings) > 1 else ()
            )
        remaining = dict(readings)
        for path, games in self._left_out.items():
            remaining[path] = _drop_games(readings[path], games)
        return remaining, self._doubles

    def _is_unchanged(self, readings: Readings) -> bool:
        """Return whether the readings equal those of the last scan, and remember
        them.
        """
        before = self._readings
        self._readings = dict(readings)
        return before.keys() == readings.keys() and all(
            before[path].games is reading.games and before[path].whole == reading.whole
            for path, reading in readings.items()
        )

    def _compare_files(self, copies: Iterable[FiledGame]) -> None:
        groups = [group for group in self._group_games(copies) if len(group) > 1]
        outdated = map(self._find_outdated, groups)
        self._outdated = set(chain.from_iterable(outdated))
        left_out: dict[Path, set[Identity]] = defaultdict(set)
        doubles: Doubles = defaultdict(Counter)
        chosen = set()
        for group in groups:
            first = max(group, key=self._rank_source)
            chosen.add(first.place)
            original = self._choose_original(group, first)
            for copy in group:
                if copy is not first:
                    left_out[copy.path].add(copy.identity)
                if copy is not original:
                    doubles[copy.path][original.path] += 1
        self._read = chosen
        self._lines = {}
        self._group_numbers = {}
        for number, group in enumerate(groups):
            for copy in group:
                self._lines[copy.place] = copy.game.moves
                self._group_numbers[copy.place] = number
        self._left_out = left_out
        self._doubles = doubles

    def _group_games(self, copies: Iterable[FiledGame]) -> list[list[FiledGame]]:
        """Group the games so that each group contains one game and its duplicates in
        other files.
        """
        groups: list[list[FiledGame]] = []
        by_key: dict[object, list[int]] = defaultdict(list)
        by_former: dict[int, int] = {}
        for copy in copies:
            former = self._find_former_group(copy)
            keys = list(_lookup_keys(copy))
            number = by_former.get(former) if former is not None else None
            if number is not None and any(
                copy.path is other.path for other in groups[number]
            ):
                number = None
            if number is None:
                candidates = dict.fromkeys(
                    chain.from_iterable(by_key[key] for key in keys)
                )
                number = next(
                    (
                        number
                        for number in candidates
                        if _is_in_group(copy, groups[number])
                    ),
                    None,
                )
            if number is None:
                number = len(groups)
                groups.append([])
            groups[number].append(copy)
            if former is not None:
                by_former.setdefault(former, number)
            for key in keys:
                with_key = by_key[key]
                if len(with_key) < MAX_ALIKE and number not in with_key:
                    with_key.append(number)
        return groups

    def _find_former_group(self, copy: FiledGame) -> int | None:
        """Return the group of a game at the last scan; None if it was in none. A game
        that has been corrected since then is still in its group; a game with another
        first move is a different game.
        """
        before = self._lines.get(copy.place)
        if before is None or (before and copy.game.moves[:1] != before[:1]):
            return None
        return self._group_numbers[copy.place]

    def _find_outdated(self, group: list[FiledGame]) -> Iterator[Place]:
        """Yield the places of games that still contain moves which another file had and
        has since withdrawn or corrected.
        """
        for copy in group:
            unchanged = self._lines.get(copy.place) == copy.game.moves
            if unchanged and (
                copy.place in self._outdated
                or any(
                    self._is_taken_back(copy, other)
                    for other in group
                    if other is not copy
                )
            ):
                yield copy.place

    def _is_taken_back(self, copy: FiledGame, other: FiledGame) -> bool:
        """Return whether ``other``, read to its end, has withdrawn moves that ``copy``
        still contains.
        """
        before = self._lines.get(other.place)
        now = other.game.moves
        return (
            other.is_whole
            and before is not None
            and count_shared_plies(now, before) < len(before)
            and count_shared_plies(now, copy.game.moves) < len(copy.game.moves)
        )

    def _choose_original(self, group: list[FiledGame], first: FiledGame) -> FiledGame:
        """Return the game whose file is shown to people as the original.

        The choice must not change with every move, so a file that appeared later or has
        a longer name counts as the copy. If only the copy is continued, the copy is
        shown as the original.
        """
        usual = min(group, key=self._copy_likelihood)
        lacking_plies = len(first.game.moves) - len(usual.game.moves)
        is_read = usual.place not in self._outdated and lacking_plies <= CORRECTED_PLIES
        return usual if is_read else first

    def _copy_likelihood(self, copy: FiledGame) -> tuple[object, ...]:
        """Return a sort key that is greater for likelier copies; a file that was seen
        later is likelier to be the copy.
        """
        path = copy.path
        return (
            not copy.is_single,
            self._first_scans[path],
            len(path.parts),
            len(path.name),
            path,
        )

    def _rank_source(self, copy: FiledGame) -> tuple[object, ...]:
        return (
            copy.place not in self._outdated,
            len(copy.game.moves),
            copy.is_whole,
            copy.game.result != "*",
            copy.is_single,
            copy.place in self._read,
            copy.written_ns,
        )


def _list_games(
    readings: Readings, written_ns: Mapping[Path, int]
) -> Iterator[FiledGame]:
    """Yield the games of all files; files with a single game come first."""
    for path in sorted(readings, key=lambda path: not is_single_game_file(path)):
        reading, has_one = readings[path], is_single_game_file(path)
        games = reading.games
        for identity, game in zip(identify_games(games), games, strict=True):
            is_whole = reading.whole or game is not games[-1]
            seats = frozenset(_list_seats(game))
            yield FiledGame(
                path, identity, game, has_one, is_whole, written_ns.get(path, 0), seats
            )


def _drop_games(reading: TextReading, games: set[Identity]) -> TextReading:
    identified = zip(identify_games(reading.games), reading.games, strict=True)
    return replace(
        reading,
        games=tuple(game for identity, game in identified if identity not in games),
    )


def _is_in_group(copy: FiledGame, group: list[FiledGame]) -> bool:
    """Return whether a game is the same as a game of the group; False if the group
    already has a game from its file.
    """
    return all(copy.path is not other.path for other in group) and any(
        _is_double(copy, other) for other in group
    )


def _is_double(first: FiledGame, second: FiledGame) -> bool:
    """Return whether two games from different files are the same game.

    A file of a single game and a collection in the same folder are two outputs of one
    program: a common player in one round is enough, or :data:`PROOF_PLIES` equal plies.
    For other files, the two players, event, round and date must be the same, or one
    player and :data:`PROOF_PLIES` plies, since names are often corrected in only one
    file at first.
    """
    a, b = first.game, second.game
    common = min(len(a.moves), len(b.moves))
    has_common_player = not first.seats.isdisjoint(second.seats)
    if first.is_single != second.is_single and first.path.parent == second.path.parent:
        shared = count_shared_plies(a.moves, b.moves)
        if a.start_fen == b.start_fen and shared >= PROOF_PLIES:
            return True
        return has_common_player and is_same_line(a, b, CORRECTED_PLIES)
    if (
        common >= PROOF_PLIES
        and has_common_player
        and is_same_line(a, b, CORRECTED_PLIES)
    ):
        return True
    if a.result != b.result and "*" not in (a.result, b.result):
        return False
    if common < COMMON_PLIES and _may_be_successive_games(first, second):
        return False
    corrected = CORRECTED_PLIES if common >= COMMON_PLIES else 0
    return _is_same_pairing(first, second) and is_same_line(a, b, corrected)


def _is_same_pairing(first: FiledGame, second: FiledGame) -> bool:
    a, b = first.game.headers, second.game.headers
    return (
        bool(first.seats)
        and first.seats == second.seats
        and _fold_text(a.event) == _fold_text(b.event)
        and _fold_text(a.round) == _fold_text(b.round)
        # If the round is unknown, games in different folders are from different rounds.
        and (
            bool(_fold_text(a.round).strip("?-"))
            or first.path.parent == second.path.parent
        )
        and (a.date == b.date or "" in (a.date, b.date))
        and (a.board == b.board or None in (a.board, b.board))
    )


def _may_be_successive_games(first: FiledGame, second: FiledGame) -> bool:
    """Return whether one of two games might be the next game of the same players: the
    other one has ended, and this one was written later and has fewer moves.
    """
    ended, next_copy = sorted((first, second), key=lambda copy: copy.game.result == "*")
    return (
        ended.game.result != "*"
        and next_copy.game.result == "*"
        and len(next_copy.game.moves) < len(ended.game.moves)
        and next_copy.written_ns > ended.written_ns
    )


def _lookup_keys(copy: FiledGame) -> Iterator[object]:
    """Yield keys that duplicates share: each player in a round and, for a long enough
    game, some of its moves.
    """
    yield from sorted(copy.seats)
    start_fen, moves = copy.game.start_fen, copy.game.moves
    if len(moves) >= PROOF_PLIES:
        # A sample of the moves distinguishes games well enough.
        yield start_fen, *(moves[ply].uci for ply in range(3, PROOF_PLIES, 4))


def _list_seats(game: GameReport) -> Iterator[Seat]:
    headers = game.headers
    round = headers.round.partition(".")[0]
    for color, name in (("white", headers.white.name), ("black", headers.black.name)):
        if name:
            yield round, color, _fold_text(name)


@lru_cache(maxsize=8192)
def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())
