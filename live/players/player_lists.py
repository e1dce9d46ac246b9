"""What the lists add to every report: names, ratings, titles, federations and FIDE ids.

A shell at its edge: the functions that look for files and read them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from live.config import FeedsConfig
from live.errors import ConfigError
from live.events import FeedReport, GameReport, Player
from live.players.pairing_list import PairingList, read_pairing_list
from live.players.rating_list import Pace, RatingList, pace_of, read_rating_list

log = logging.getLogger(__name__)

#: Files beside a PGN that are taken for lists, by the beginning of their names (FIDE's own, ours).
_RATINGS = ("players_list", "standard_rating_list", "rapid_rating_list", "rating_list", "ratings")
_PAIRINGS = ("pairings", "pairing_list")
_SUFFIXES = (".xml", ".txt", ".csv")


#: Doubtful players named where there is little room; the log names all.
SHOWN = 5


class PlayerLists:
    """Both lists, or either, or none."""

    def __init__(
        self, ratings: RatingList | None = None, pairings: PairingList | None = None
    ) -> None:
        self._ratings = ratings
        self._pairings = pairings
        self.doubtful: dict[str, None] = {}
        """Whom the list may mean or not, each said once, in words for people."""

    @property
    def size_text(self) -> str:
        """How much is in them, for people; empty where there is no list."""
        parts = []
        if self._ratings is not None:
            parts.append(f"{len(self._ratings)} rated players")
        if self._pairings is not None:
            parts.append(f"{len(self._pairings)} pairings")
        return ", ".join(parts)

    @property
    def doubt_text(self) -> str:
        """Whom the list may mean or not, and what to do, for people; empty where all is clear."""
        doubts = list(self.doubtful)
        more = f"; and {len(doubts) - SHOWN} more, in the log" if len(doubts) > SHOWN else ""
        return "; ".join(doubts[:SHOWN]) + more

    def applied(self, report: FeedReport) -> FeedReport:
        """``report`` with what the lists add; what a source says itself is never replaced."""
        if self._ratings is None and self._pairings is None:
            return report
        games = tuple(self._applied(game) for game in report.games)
        return msgspec.structs.replace(report, games=games)

    def _applied(self, game: GameReport) -> GameReport:
        headers = game.headers
        if self._pairings is not None:
            headers = self._pairings.seated(headers)
        if self._ratings is not None:
            pace = pace_of(headers.time_control)
            white, black = (self._rated(each, pace) for each in (headers.white, headers.black))
            if (white, black) != (headers.white, headers.black):
                headers = msgspec.structs.replace(headers, white=white, black=black)
        return game if headers is game.headers else msgspec.structs.replace(game, headers=headers)

    def _rated(self, player: Player, pace: Pace) -> Player:
        assert self._ratings is not None
        if player.elo and player.title and player.federation and player.fide_id and player.k:
            return player
        found = self._ratings.find(player)
        if found.doubt and found.doubt not in self.doubtful:
            self.doubtful[found.doubt] = None
            log.warning("rating list: %s; nothing is taken from it", found.doubt)
        row = found.player
        if row is None:
            return player
        return msgspec.structs.replace(
            player,
            elo=player.elo or row.rating(pace),
            title=player.title or row.title,
            federation=player.federation or row.federation,
            fide_id=player.fide_id or row.fide_id,
            k=player.k or row.development(pace),
        )


def open_player_lists(config: FeedsConfig) -> PlayerLists:
    """Read the lists that the settings name.

    Raises:
        ConfigError: one of them cannot be read, or is no list.
    """
    ratings = _read("feeds.rating_list", config.rating_list)
    pairings = _read("feeds.pairing_list", config.pairing_list)
    try:
        rated = read_rating_list(ratings) if ratings is not None else None
    except ValueError as error:
        remedy = "Give FIDE's list (XML or TXT), or a CSV with the columns Name and Rating"
        raise _unusable("feeds.rating_list", config.rating_list, str(error), remedy) from None
    try:
        paired = read_pairing_list(pairings) if pairings is not None else None
    except ValueError as error:
        remedy = "Give a CSV whose first line names the columns"
        raise _unusable("feeds.pairing_list", config.pairing_list, str(error), remedy) from None
    return PlayerLists(rated, paired)


def _read(key: str, path: str) -> bytes | None:
    if not path:
        return None
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        why = f"cannot be read ({error.strerror})"
        raise _unusable(key, path, why, "Correct the path") from None


def _unusable(key: str, path: str, why: str, remedy: str) -> ConfigError:
    return ConfigError(f"{key} {path}", why, remedy)


def beside(paths: Sequence[Path], config: FeedsConfig) -> FeedsConfig:
    """The settings, with the lists that lie beside the games where none are named."""
    found: dict[str, str] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        try:
            names = sorted(each for each in folder.iterdir() if each.suffix.lower() in _SUFFIXES)
        except OSError:
            continue
        for key, starts in (("rating_list", _RATINGS), ("pairing_list", _PAIRINGS)):
            here = [each for each in names if each.name.lower().startswith(starts)]
            if here and not getattr(config, key):
                found.setdefault(key, str(here[0]))
    for key, file in found.items():
        log.info("%s taken from beside the games: %s", key.replace("_", " "), file)
    return msgspec.structs.replace(config, **found) if found else config
