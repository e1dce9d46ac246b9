"""Removal of duplicate games: a game in several files of one folder counts once. Pure.

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
from live.sources.pgn_snapshots import TextReading

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
#: By file with duplicate games: the number of its games that are in each other file.
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
    who: Identity
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
        return self.path, self.who


class DoubledGames:
    """Selector of the file from which each game of a folder is read, updated at each
    scan.
    """

    def __init__(self) -> None:
        # Moves of each game that is in several files, as each file had them at the last
        # scan; and by such a game, the number of its group of duplicates.
        self._lines: dict[Place, tuple[Move, ...]] = {}
        self._known: dict[Place, int] = {}
        # Input of the last scan, and the results computed from it.
        self._given: Readings = {}
        self._left_out: dict[Path, set[Identity]] = {}
        self._doubles: Doubles = {}
        # By file, the number of the scan at which it was first seen.
        self._come: dict[Path, int] = {}
        self._looks = 0
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
        self._looks += 1
        self._come = {path: self._come.get(path, self._looks) for path in readings}
        if not self._is_unchanged(readings):
            self._compare_files(
                _list_games(readings, written_ns) if len(readings) > 1 else ()
            )
        found = dict(readings)
        for path, games in self._left_out.items():
            found[path] = _drop_games(readings[path], games)
        return found, self._doubles

    def _is_unchanged(self, readings: Readings) -> bool:
        """Return whether the readings equal those of the last scan, and remember
        them.
        """
        before = self._given
        self._given = dict(readings)
        return before.keys() == readings.keys() and all(
            before[path].games is reading.games and before[path].whole == reading.whole
            for path, reading in readings.items()
        )

    def _compare_files(self, filed: Iterable[FiledGame]) -> None:
        groups = [group for group in self._group_games(filed) if len(group) > 1]
        outdated = map(self._find_outdated, groups)
        self._outdated = set(chain.from_iterable(outdated))
        left_out: dict[Path, set[Identity]] = defaultdict(set)
        doubles: Doubles = defaultdict(Counter)
        chosen = set()
        for group in groups:
            first = max(group, key=self._rank_source)
            chosen.add(first.place)
            named = self._choose_original(group, first)
            for each in group:
                if each is not first:
                    left_out[each.path].add(each.who)
                if each is not named:
                    doubles[each.path][named.path] += 1
        self._read = chosen
        self._lines = {}
        self._known = {}
        for at, group in enumerate(groups):
            for each in group:
                self._lines[each.place] = each.game.moves
                self._known[each.place] = at
        self._left_out = left_out
        self._doubles = doubles

    def _group_games(self, filed: Iterable[FiledGame]) -> list[list[FiledGame]]:
        """Group the games so that each group contains one game and its duplicates in
        other files.
        """
        groups: list[list[FiledGame]] = []
        by_key: dict[object, list[int]] = defaultdict(list)
        by_former: dict[int, int] = {}
        for each in filed:
            former = self._find_former_group(each)
            keys = list(_lookup_keys(each))
            at = by_former.get(former) if former is not None else None
            if at is not None and any(each.path is other.path for other in groups[at]):
                at = None
            if at is None:
                near = dict.fromkeys(chain.from_iterable(by_key[key] for key in keys))
                at = next((at for at in near if _is_in_group(each, groups[at])), None)
            if at is None:
                at = len(groups)
                groups.append([])
            groups[at].append(each)
            if former is not None:
                by_former.setdefault(former, at)
            for key in keys:
                with_key = by_key[key]
                if len(with_key) < MAX_ALIKE and at not in with_key:
                    with_key.append(at)
        return groups

    def _find_former_group(self, each: FiledGame) -> int | None:
        """Return the group of a game at the last scan; None if it was in none. A game
        that has been corrected since then is still in its group; a game with another
        first move is a different game.
        """
        before = self._lines.get(each.place)
        if before is None or (before and each.game.moves[:1] != before[:1]):
            return None
        return self._known[each.place]

    def _find_outdated(self, group: list[FiledGame]) -> Iterator[Place]:
        """Yield the places of games that still contain moves which another file had and
        has since withdrawn or corrected.
        """
        for each in group:
            unchanged = self._lines.get(each.place) == each.game.moves
            if unchanged and (
                each.place in self._outdated
                or any(
                    self._is_taken_back(each, other)
                    for other in group
                    if other is not each
                )
            ):
                yield each.place

    def _is_taken_back(self, each: FiledGame, other: FiledGame) -> bool:
        """Return whether ``other``, read to its end, has withdrawn moves that ``each``
        still contains.
        """
        before = self._lines.get(other.place)
        now = other.game.moves
        return (
            other.is_whole
            and before is not None
            and count_shared_plies(now, before) < len(before)
            and count_shared_plies(now, each.game.moves) < len(each.game.moves)
        )

    def _choose_original(self, group: list[FiledGame], first: FiledGame) -> FiledGame:
        """Return the game shown to people as the original of a group, so that the name
        does not change with every move. A copy appears later or has a longer name. If
        only the copy is continued, the copy is named and the older file counts as left
        out.
        """
        usual = min(group, key=self._copy_likelihood)
        behind = len(first.game.moves) - len(usual.game.moves)
        is_read = usual.place not in self._outdated and behind <= CORRECTED_PLIES
        return usual if is_read else first

    def _copy_likelihood(self, each: FiledGame) -> tuple[object, ...]:
        """Return a sort key that is greater for likelier copies; a file that was seen
        later is likelier to be the copy.
        """
        path = each.path
        return (
            not each.is_single,
            self._come[path],
            len(path.parts),
            len(path.name),
            path,
        )

    def _rank_source(self, each: FiledGame) -> tuple[object, ...]:
        return (
            each.place not in self._outdated,
            len(each.game.moves),
            each.is_whole,
            each.game.result != "*",
            each.is_single,
            each.place in self._read,
            each.written_ns,
        )


def _list_games(
    readings: Readings, written_ns: Mapping[Path, int]
) -> Iterator[FiledGame]:
    """Yield the games of all files; files with a single game come first."""
    for path in sorted(readings, key=lambda path: not is_single_game_file(path)):
        reading, has_one = readings[path], is_single_game_file(path)
        games = reading.games
        for who, game in zip(identify_games(games), games, strict=True):
            is_whole = reading.whole or game is not games[-1]
            seats = frozenset(_list_seats(game))
            yield FiledGame(
                path, who, game, has_one, is_whole, written_ns.get(path, 0), seats
            )


def _drop_games(reading: TextReading, games: set[Identity]) -> TextReading:
    named = zip(identify_games(reading.games), reading.games, strict=True)
    return replace(
        reading, games=tuple(game for who, game in named if who not in games)
    )


def _is_in_group(each: FiledGame, group: list[FiledGame]) -> bool:
    """Return whether a game is the same as a game of the group; False if the group
    already has a game from its file.
    """
    return all(each.path is not other.path for other in group) and any(
        _is_double(each, other) for other in group
    )


def _is_double(one: FiledGame, other: FiledGame) -> bool:
    """Return whether two games from different files are the same game.

    A file of a single game and a collection in the same folder are two outputs of one
    program: a common player in one round is enough, or :data:`PROOF_PLIES` equal plies.
    For other files, the two players, event, round and date must be the same, or one
    player and :data:`PROOF_PLIES` plies, since names are often corrected in only one
    file at first.
    """
    a, b = one.game, other.game
    common = min(len(a.moves), len(b.moves))
    has_common_player = not one.seats.isdisjoint(other.seats)
    if one.is_single != other.is_single and one.path.parent == other.path.parent:
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
    if common < COMMON_PLIES and _may_be_next_game(one, other):
        return False
    corrected = CORRECTED_PLIES if common >= COMMON_PLIES else 0
    return _is_same_pairing(one, other) and is_same_line(a, b, corrected)


def _is_same_pairing(one: FiledGame, other: FiledGame) -> bool:
    a, b = one.game.headers, other.game.headers
    return (
        bool(one.seats)
        and one.seats == other.seats
        and _fold_text(a.event) == _fold_text(b.event)
        and _fold_text(a.round) == _fold_text(b.round)
        # If the round is unknown, games in different folders are from different rounds.
        and (
            bool(_fold_text(a.round).strip("?-"))
            or one.path.parent == other.path.parent
        )
        and (a.date == b.date or "" in (a.date, b.date))
        and (a.board == b.board or None in (a.board, b.board))
    )


def _may_be_next_game(one: FiledGame, other: FiledGame) -> bool:
    """Return whether one game has ended and the other might be the next game of the
    same players: it was written later and has fewer moves.
    """
    over, next_one = sorted((one, other), key=lambda each: each.game.result == "*")
    return (
        over.game.result != "*"
        and next_one.game.result == "*"
        and len(next_one.game.moves) < len(over.game.moves)
        and next_one.written_ns > over.written_ns
    )


def _lookup_keys(each: FiledGame) -> Iterator[object]:
    """Yield keys that duplicates share: each player in a round and, for a long enough
    game, some of its moves.
    """
    yield from sorted(each.seats)
    start_fen, moves = each.game.start_fen, each.game.moves
    if len(moves) >= PROOF_PLIES:
        # A sample of the moves distinguishes games well enough.
        yield start_fen, *(moves[at].uci for at in range(3, PROOF_PLIES, 4))


def _list_seats(game: GameReport) -> Iterator[Seat]:
    headers = game.headers
    round = headers.round.partition(".")[0]
    for color, name in (("white", headers.white.name), ("black", headers.black.name)):
        if name:
            yield round, color, _fold_text(name)


@lru_cache(maxsize=8192)
def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())
