"""Games that stand in several files of one folder: each counts once. Pure.

LiveChess writes its games one by one and, beside them, all in one file. Programs that
keep folders in step, and people, make copies: ``games (HALL-PC's conflicted
copy).pgn``, ``games - Copy.pgn``. What a file is called says nothing about a copy, so
games are compared.

Of one game the file is read that has most of its moves: a copy may have been made long
ago, and a copy may be what the hall goes on to write. Where a file takes moves back
that it had itself, copies that still hold them are outdated until they change. With
equal moves a single game's file comes before others, then the file that was read
before, then the one that was written last.
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

#: A file of one game, as LiveChess calls it.
_SINGLE = re.compile(r"game-\d+\.pgn", re.IGNORECASE)
#: Plies of one line that show two games to be one, whatever the names.
PROOF_PLIES = 20
#: How many of the last plies may be in correction in one of two files.
CORRECTED_PLIES = 2
#: Fewer plies than this are no proof that a game which goes on is one that is over.
COMMON_PLIES = 10
#: Games of one player in one round that a game is compared with.
MAX_ALIKE = 20

Readings = dict[Path, TextReading]
#: Of files that hold doubles: how many, by the files that hold these games, too.
Doubles = dict[Path, Counter[Path]]
Seat = tuple[str, str, str]
#: A game in one file.
Place = tuple[Path, Identity]


def is_single_game_file(path: Path) -> bool:
    """Return whether a file is called like one of a single game."""
    return _SINGLE.fullmatch(path.name) is not None


class FiledGame(NamedTuple):
    """A game as one file has it."""

    path: Path
    who: Identity
    game: GameReport
    is_single: bool
    """Whether it has a file of its own, by its name."""
    is_whole: bool
    """False for the last game of a text that is still being written."""
    written_ns: int
    """When its file was written last."""
    seats: frozenset[Seat]
    """Who plays which colour in which round."""

    @property
    def place(self) -> Place:
        return self.path, self.who


class DoubledGames:
    """Which file each game of a folder is read from, from one look to the next."""

    def __init__(self) -> None:
        # Of games that stand in several files: what each file had at the last look, and
        # with which others it was one.
        self._lines: dict[Place, tuple[Move, ...]] = {}
        self._known: dict[Place, int] = {}
        # What was given at the last look, and what followed from it.
        self._given: Readings = {}
        self._left_out: dict[Path, set[Identity]] = {}
        self._doubles: Doubles = {}
        # By the looks at which files came.
        self._come: dict[Path, int] = {}
        self._looks = 0
        # What is read, and what is not until it changes.
        self._read: set[Place] = set()
        self._outdated: set[Place] = set()

    def drop_doubles(
        self, readings: Readings, written_ns: Mapping[Path, int]
    ) -> tuple[Readings, Doubles]:
        """Return the readings with each game once, and which files are doubles of
        which: how many of their games stand in these.
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
        """Return whether the readings are those of the last look; remember them."""
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
        """Group the games, each with its doubles in other files."""
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
        """Return the group that a game was in at the last look. One that has been
        corrected since is still in it; where it goes on from other moves altogether it
        is another game.
        """
        before = self._lines.get(each.place)
        if before is None or (before and each.game.moves[:1] != before[:1]):
            return None
        return self._known[each.place]

    def _find_outdated(self, group: list[FiledGame]) -> Iterator[Place]:
        """Yield the places of games with moves that another file had, and has taken
        back or corrected.
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
        """Return whether the other file has lost moves, as a whole, that this one still
        holds.
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
        """Return the game whose doubles people are told of: not another one with each
        move. A copy comes later, or has the longer name; where it goes on alone it is
        the other that is left out.
        """
        usual = min(group, key=self._copy_likelihood)
        behind = len(first.game.moves) - len(usual.game.moves)
        is_read = usual.place not in self._outdated and behind <= CORRECTED_PLIES
        return usual if is_read else first

    def _copy_likelihood(self, each: FiledGame) -> tuple[object, ...]:
        """Return a sort key: a file that comes later is likelier to be the copy."""
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
    """Yield all games, those that have a file of their own first."""
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
    """Return whether a game is one with those of a group, of which none is in its own
    file.
    """
    return all(each.path is not other.path for other in group) and any(
        _is_double(each, other) for other in group
    )


def _is_double(one: FiledGame, other: FiledGame) -> bool:
    """Return whether two files hold one game.

    Between a single game and another file beside it a common player of one round is
    enough, or :data:`PROOF_PLIES` plies of one line: they are two outputs of one
    program. Between others both players, event, round and date are the same, or one
    player and so many plies: names are put right in one file first.
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
        # Without a round, folders tell rounds apart.
        and (
            bool(_fold_text(a.round).strip("?-"))
            or one.path.parent == other.path.parent
        )
        and (a.date == b.date or "" in (a.date, b.date))
        and (a.board == b.board or None in (a.board, b.board))
    )


def _may_be_next_game(one: FiledGame, other: FiledGame) -> bool:
    """Return whether one is over, and the other may be the next game of the same
    players: it is written later, and has hardly begun.
    """
    over, next_one = sorted((one, other), key=lambda each: each.game.result == "*")
    return (
        over.game.result != "*"
        and next_one.game.result == "*"
        and len(next_one.game.moves) < len(over.game.moves)
        and next_one.written_ns > over.written_ns
    )


def _lookup_keys(each: FiledGame) -> Iterator[object]:
    """Yield what doubles have in common: a player in a round, or a line that is long
    enough.
    """
    yield from sorted(each.seats)
    start_fen, moves = each.game.start_fen, each.game.moves
    if len(moves) >= PROOF_PLIES:
        # Few of these moves tell lines apart well enough.
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
