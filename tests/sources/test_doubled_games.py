"""A game that is in several files counts once, whatever the files are called."""

import random
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.messages.from_sources import GameReport
from live.sources.doubled_games import DoubledGames, Doubles
from live.sources.partial_reads import TextReading
from tests.games.short_reports import change_headers, make_game
from tests.sources.fakes import GAMES

ROOT = Path("round-3")
NAMES = (
    "games (HALL-PC's conflicted copy 2026-03-01).pgn",
    "games - Copy.pgn",
    "games(1).pgn",
    "Kopie von games.pgn",
    "games.sync-conflict-20260301-101112-ABCDEFG.pgn",
    "games.pgn~1.pgn",
    "b.pgn",
    "backup/games.pgn",
)
HOME = ROOT / "games.pgn"
OPENING = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7"
)
LINE = OPENING.split()


def playing(plies: int, pair: str = "Anna Adams-Boris Berg", **more: Any) -> GameReport:
    return make_game(pair, " ".join(LINE[:plies]), round="3", **more)


class Looks:
    """A folder, read several times. A file counts as written when its games change."""

    def __init__(self) -> None:
        self._doubled = DoubledGames()
        self._before: Mapping[Path, tuple[GameReport, ...]] = {}
        self._written: dict[Path, int] = {}
        self._now = 0
        self.doubles: Doubles = {}

    def look(
        self, files: Mapping[Path, tuple[GameReport, ...]], *, cut: Path | None = None
    ) -> list[GameReport]:
        """Read these files; return the games without doubles. Of the file ``cut``, only
        the beginning can be read.
        """
        self._now += 1
        for path, games in files.items():
            if self._before.get(path) != games:
                self._written[path] = self._now
        self._before = files
        readings = {
            path: TextReading(games, whole=path != cut, name=str(path))
            for path, games in files.items()
        }
        found, self.doubles = self._doubled.drop_doubles(readings, self._written)
        return list(chain.from_iterable(reading.games for reading in found.values()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stale", [0, 1, 5, 9])
def test_a_copy_gives_no_second_board_and_is_named(name: str, stale: int) -> None:
    copy, case = ROOT / name, Looks()
    others = playing(3, "Cid Cole-Dora Dahl", board=2)
    now, before = playing(9, board=1), playing(9 - stale, board=1)
    assert case.look({HOME: (now, others)}) == [now, others] and not case.doubles
    assert case.look({HOME: (now, others), copy: (before, others)}) == [now, others]
    assert case.doubles == {copy: {HOME: 2}}
    # The original continues, and a move is taken back in it.
    for plies in (10, 9, 12):
        now = playing(plies, board=1)
        assert case.look({HOME: (now, others), copy: (before, others)}) == [now, others]
        assert case.doubles == {copy: {HOME: 2}}


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_that_goes_on_alone_is_read(name: str) -> None:
    copy, case = ROOT / name, Looks()
    held = playing(9)
    assert case.look({HOME: (held,), copy: (held,)}) == [held]
    for plies in (10, 11, 12, 13):
        assert case.look({HOME: (held,), copy: (playing(plies),)}) == [playing(plies)]
    assert case.doubles == {HOME: {copy: 1}}
    over = playing(13, result="1-0")
    assert case.look({HOME: (held,), copy: (over,)}) == [over]
    # After a takeback in the copy, the longer game of the other file does not come
    # back.
    assert case.look({HOME: (held,), copy: (playing(8),)}) == [playing(8)]


def test_a_correction_in_one_file_is_believed_and_parts_no_game_from_its_copy() -> None:
    copy, case = ROOT / "games - Copy.pgn", Looks()
    held = playing(15)
    case.look({HOME: (held,), copy: (held,)})
    other = [*LINE[:7], "b5", "Bb3", "Nf6"]
    corrected = make_game(sans=" ".join(other), round="3")
    assert case.look({HOME: (corrected,), copy: (held,)}) == [corrected]
    # A name that is corrected in one file does not separate the two games either.
    named = change_headers(
        playing(22), white=msgspec.structs.replace(held.headers.white, name="Ana Adams")
    )
    assert case.look({HOME: (named,), copy: (playing(22),)}) in ([named], [playing(22)])


def test_a_file_half_written_takes_nothing_from_its_copy() -> None:
    copy, case = ROOT / "games - Copy.pgn", Looks()
    first, second = playing(9, board=1), playing(12, "Cid Cole-Dora Dahl", board=2)
    files: dict[Path, tuple[GameReport, ...]]
    files = {HOME: (first, second), copy: (first, second)}
    case.look(files)
    half = (first, playing(5, "Cid Cole-Dora Dahl", board=2))
    assert set(case.look(files | {HOME: half}, cut=HOME)) == {first, second}
    assert set(case.look(files | {HOME: (first,)}, cut=HOME)) == {first, second}


@pytest.mark.parametrize(
    "other",
    [
        make_game("Boris Berg-Anna Adams", " ".join(LINE[:9]), round="3"),
        make_game("Anna Adams-Cid Cole", " ".join(LINE[:9]), round="3"),
        make_game(sans=" ".join(LINE[:9]), round="4"),
        make_game(sans=" ".join(LINE[:9]), round="3", event="Blitz"),
        make_game(sans="d4 d5 c4 e6 Nc3 Nf6 Bg5", round="3"),
        make_game(sans=" ".join(LINE[:9]), round="3", board=7),
        make_game("Cid Cole-Dora Dahl", " ".join(LINE), round="3"),
    ],
)
def test_two_games_stay_two(other: GameReport) -> None:
    game = playing(len(LINE), board=1)
    found = Looks().look({HOME: (game,), ROOT / "b.pgn": (other,)})
    assert found == [game, other]


def test_two_files_of_one_round_have_no_common_board() -> None:
    files = {ROOT / f"board-{at}.pgn": (game,) for at, game in enumerate(GAMES)}
    case = Looks()
    assert case.look(files) == GAMES and not case.doubles


def test_the_next_game_of_the_same_players_is_none_of_the_last() -> None:
    """In a match, each game has its own file, and all have the same round."""
    case, last, next_file = Looks(), ROOT / "a.pgn", ROOT / "b.pgn"
    first = playing(len(LINE), result="1/2-1/2")
    case.look({last: (first,)})
    for plies in (0, 1, 2):
        begun = playing(plies)
        assert case.look({last: (first,), next_file: (begun,)}) == [first, begun]
    # Doubles within one file are left to the reader of the file.
    assert Looks().look({HOME: (first, playing(2))}) == [first, playing(2)]


def test_rounds_in_folders_of_their_own_are_told_apart_without_a_number() -> None:
    games = {Path(f"round-{n}/games.pgn"): (make_game(sans=""),) for n in (1, 2)}
    games = {
        path: (change_headers(game, round="?"),) for path, (game,) in games.items()
    }
    assert len(Looks().look(games)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_however_copies_are_made_each_game_is_there_once_and_as_it_stands(
    seed: int,
) -> None:
    chance, case = random.Random(seed), Looks()
    pairs = ("Anna Adams-Boris Berg", "Cid Cole-Dora Dahl", "Eva Ek-Finn Falk")
    plies = dict.fromkeys(pairs, 0)
    files: dict[Path, tuple[GameReport, ...]] = {}
    case.look({HOME: ()})
    for _ in range(40):
        pair = chance.choice(pairs)
        plies[pair] = min(len(LINE), plies[pair] + 1)
        now = tuple(
            playing(each, pair, board=at)
            for at, (pair, each) in enumerate(plies.items(), 1)
        )
        files[HOME] = now
        if chance.random() < 0.2:
            files[ROOT / chance.choice(NAMES)] = now[chance.randint(0, 1) :]
        found = case.look(files)
        assert sorted(found, key=repr) == sorted(now, key=repr)
        assert HOME not in case.doubles
