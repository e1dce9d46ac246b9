"""Completion of reports with a rating list and a pairing list.

Only the functions that find and read files do I/O.
"""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from live.errors import ConfigError
from live.games.pace_of_play import Pace, classify_pace
from live.games.pairing_list import Pairings, read_pairing_list
from live.games.player_identity import fill_missing, is_known
from live.games.rating_list import RatedPace, RatingList, read_rating_list
from live.games.rounds import normalise_round
from live.messages.from_sources import FeedReport, GameReport, Headers, Player
from live.settings import FeedsConfig
from live.user_files import read_regular

_RATED: dict[Pace | None, RatedPace] = {
    "bullet": "blitz",
    "blitz": "blitz",
    "rapid": "rapid",
    "classical": "standard",
    None: "standard",
}


log = logging.getLogger(__name__)

#: Beginnings of the names of files next to a PGN file that are read as lists.
_RATINGS = (
    "players_list",
    "standard_rating_list",
    "rapid_rating_list",
    "rating_list",
    "ratings",
)
_PAIRINGS = ("pairings", "pairing_list")
_SUFFIXES = (".xml", ".csv")


#: Maximum number of doubtful players named in a status line; the log names all.
MAX_NAMED = 5
T = TypeVar("T")


class PlayerLists:
    """A rating list and a pairing list, each of which can be missing."""

    def __init__(self, ratings: RatingList | None, pairings: Pairings | None) -> None:
        self._ratings = ratings
        self._pairings = pairings
        self.doubtful: dict[str, None] = {}
        """Messages for people about players that cannot be found in the list with
        certainty, without repetitions.
        """

    @property
    def size_text(self) -> str:
        """Return the number of entries in the lists, as text for display; empty without
        a list.
        """
        parts = []
        if self._ratings is not None:
            parts.append(f"{len(self._ratings)} rated players")
        if self._pairings is not None:
            parts.append(f"{len(self._pairings)} pairings")
        return ", ".join(parts)

    @property
    def doubt_text(self) -> str:
        """Return the messages about doubtful players, shortened; empty if there are
        none.
        """
        doubts = list(self.doubtful)
        rest = (
            f"; and {len(doubts) - MAX_NAMED} more, in the log"
            if len(doubts) > MAX_NAMED
            else ""
        )
        return "; ".join(doubts[:MAX_NAMED]) + rest

    def complete_report(self, report: FeedReport) -> FeedReport:
        """Return ``report`` with values from the lists where the source gives none."""
        if self._ratings is None and self._pairings is None:
            return report
        games = tuple(self._complete_game(game) for game in report.games)
        return replace(report, games=games)

    def _complete_game(self, game: GameReport) -> GameReport:
        headers = self._fill_paired_names(game.headers)
        if self._ratings is not None:
            pace = _RATED[classify_pace(headers.time_control, game.moves)]
            white = self._add_rating(headers.white, pace)
            black = self._add_rating(headers.black, pace)
            if (white, black) != (headers.white, headers.black):
                headers = replace(headers, white=white, black=black)
        return game if headers is game.headers else replace(game, headers=headers)

    def _fill_paired_names(self, headers: Headers) -> Headers:
        """Return the headers with the names of the pairing list, if both names are
        unknown.
        """
        if not headers.board or is_known(headers.white) or is_known(headers.black):
            return headers
        pairings = self._pairings or {}
        pairing = pairings.get((normalise_round(headers.round), headers.board))
        pairing = pairing or pairings.get(("", headers.board))
        if pairing is None:
            return headers
        return replace(headers, white=pairing[0], black=pairing[1])

    def _add_rating(self, player: Player, pace: RatedPace) -> Player:
        assert self._ratings is not None
        if (
            player.elo
            and player.title
            and player.federation
            and player.fide_id
            and player.k
        ):
            return player
        match = self._ratings.find_player(player)
        if match.doubt and match.doubt not in self.doubtful:
            self.doubtful[match.doubt] = None
            log.warning("rating list: %s; nothing is taken from it", match.doubt)
        row = match.player
        if row is None:
            return player
        elo, k = row.rating_for_pace(pace)
        listed = Player(row.name, elo, row.title, row.fide_id, row.federation, k=k)
        return fill_missing(
            player, listed, "elo", "title", "federation", "fide_id", "k"
        )


def open_player_lists(config: FeedsConfig) -> PlayerLists:
    """Return the lists that the settings name, read from their files.

    Raises:
        ConfigError: a list cannot be read, or is not a list.
    """
    return PlayerLists(
        _open_list("feeds.rating_list", config.rating_list, _open_ratings),
        _open_list("feeds.pairing_list", config.pairing_list, _open_pairings),
    )


Stamp = tuple[int, int]
"""Time of a file's last change in nanoseconds, and its size in bytes."""


# FIDE's list takes seconds to read, so a list next to the games is not read twice.
@lru_cache(maxsize=1)
def _open_ratings(path: Path, stamp: Stamp) -> RatingList:
    return read_rating_list(read_regular(path))


@lru_cache(maxsize=1)
def _open_pairings(path: Path, stamp: Stamp) -> Pairings:
    return read_pairing_list(read_regular(path))


_REMEDIES = {
    "feeds.rating_list": (
        "Give FIDE's list (XML), or a CSV with the columns Name and Rating"
    ),
    "feeds.pairing_list": "Give a CSV whose first line names the columns",
}


def _open_list(key: str, path: str, open_list: Callable[[Path, Stamp], T]) -> T | None:
    if not path:
        return None
    remedy = _REMEDIES[key]
    try:
        file = Path(path).expanduser()
        status = file.stat()
        return open_list(file, (status.st_mtime_ns, status.st_size))
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        remedy = "Correct the path"
    except ValueError as error:
        problem = str(error)
    raise ConfigError(f"{key} {path}", problem, remedy)


def add_neighbouring_lists(paths: Sequence[Path], config: FeedsConfig) -> FeedsConfig:
    """Return the settings, with lists found next to the games where the settings name
    none.

    A file that is not a list is left out, and the log reports it.
    """
    neighbours: dict[str, str] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        try:
            files = [
                file for file in folder.iterdir() if file.suffix.lower() in _SUFFIXES
            ]
        except OSError:
            continue
        if not config.rating_list and "rating_list" not in neighbours:
            neighbours |= _find_list(
                "rating_list", sorted(files), _RATINGS, _open_ratings
            )
        if not config.pairing_list and "pairing_list" not in neighbours:
            neighbours |= _find_list(
                "pairing_list", sorted(files), _PAIRINGS, _open_pairings
            )
    for key, file in neighbours.items():
        log.info("%s found beside the games: %s", key.replace("_", " "), file)
    return replace(config, **neighbours) if neighbours else config


def _find_list(
    key: str,
    files: Sequence[Path],
    starts: tuple[str, ...],
    open_list: Callable[[Path, Stamp], T],
) -> dict[str, str]:
    """Return the setting ``key`` with the first file that can be read as such a list;
    empty if there is none.
    """
    for file in files:
        if not file.name.lower().startswith(starts):
            continue
        try:
            _open_list(f"feeds.{key}", str(file), open_list)
        except ConfigError as error:
            log.warning("%s left out: %s", file, error.problem)
        else:
            return {key: str(file)}
    return {}
