"""What the lists add to every report: names, ratings, titles, federations and FIDE ids.

A pairing list in CSV says who sits at which board of which round, for boards without names.

A shell at its edge: the functions that look for files and read them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from live.config import FeedsConfig
from live.errors import ConfigError
from live.events import FeedReport, GameReport, Headers, Player
from live.feeds.pgn.charset import decode
from live.games.player_identity import is_known
from live.games.round_number import main_round
from live.players.rating_list import Pace, RatingList, csv_fields, pace_of, read_rating_list

log = logging.getLogger(__name__)

#: Files beside a PGN that are taken for lists, by the beginning of their names (FIDE's own, ours).
_RATINGS = ("players_list", "standard_rating_list", "rapid_rating_list", "rating_list", "ratings")
_PAIRINGS = ("pairings", "pairing_list")
_SUFFIXES = (".xml", ".txt", ".csv")


#: Doubtful players named where there is little room; the log names all.
SHOWN = 5


T = TypeVar("T")

_PAIRING_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("round", "rd", "runde"), "round"),
    **dict.fromkeys(("board", "bo", "table", "brett"), "board"),
    **dict.fromkeys(("white", "whitename", "whiteplayer"), "white"),
    **dict.fromkeys(("black", "blackname", "blackplayer"), "black"),
    **dict.fromkeys(("whiteteam", "teamwhite"), "white team"),
    **dict.fromkeys(("blackteam", "teamblack"), "black team"),
    **dict.fromkeys(("whitefideid", "whiteid"), "white id"),
    **dict.fromkeys(("blackfideid", "blackid"), "black id"),
    **dict.fromkeys(("whiteelo", "whiterating"), "white elo"),
    **dict.fromkeys(("blackelo", "blackrating"), "black elo"),
}


class PairingList:
    """Pairings by board, and by round where the list names rounds."""

    def __init__(self, pairings: dict[tuple[str, int], tuple[Player, Player]]) -> None:
        self._pairings = pairings

    def __len__(self) -> int:
        return len(self._pairings)

    def seated(self, told: Headers) -> Headers:
        """``told`` with the names and teams it lacks; unchanged where the list has no such board.

        Only boards without any name are filled in: a name of the source is never replaced.
        """
        if told.board is None or is_known(told.white) or is_known(told.black):
            return told
        round_ = main_round(told.round)
        found = self._pairings.get((round_, told.board)) or self._pairings.get(("", told.board))
        if found is None:
            return told
        return msgspec.structs.replace(told, white=found[0], black=found[1])


def read_pairing_list(data: bytes) -> PairingList:
    """Read a CSV with the columns Board, White, Black, and maybe Round, WhiteTeam, WhiteFideId,
    WhiteElo and the same of Black.

    Raises:
        ValueError: there is no pairing in it.
    """
    pairings: dict[tuple[str, int], tuple[Player, Player]] = {}
    for fields in csv_fields(decode(data), _PAIRING_COLUMNS):
        board = fields.get("board", "").strip()
        if not board.isdecimal():
            continue
        players = tuple(_player(fields, side) for side in ("white", "black"))
        pairings[main_round(fields.get("round", "").strip()), int(board)] = (players[0], players[1])
    if not pairings:
        raise ValueError("holds no pairing: it has the columns Board, White, Black")
    return PairingList(pairings)


def _player(fields: dict[str, str], side: str) -> Player:
    def number(name: str) -> int | None:
        text = fields.get(f"{side} {name}", "").strip()
        return int(text) or None if text.isdecimal() and len(text) < 11 else None

    return Player(
        name=fields.get(side, "").strip()[:100] or "?",
        elo=number("elo"),
        fide_id=number("id"),
        team=fields.get(f"{side} team", "").strip()[:100] or None,
    )


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
    rated = "Give FIDE's list (XML or TXT), or a CSV with the columns Name and Rating"
    paired = "Give a CSV whose first line names the columns"
    return PlayerLists(
        _opened("feeds.rating_list", config.rating_list, read_rating_list, rated),
        _opened("feeds.pairing_list", config.pairing_list, read_pairing_list, paired),
    )


def _opened(key: str, path: str, read: Callable[[bytes], T], remedy: str) -> T | None:
    if not path:
        return None
    try:
        return read(Path(path).expanduser().read_bytes())
    except OSError as error:
        why, remedy = f"cannot be read ({error.strerror})", "Correct the path"
    except ValueError as error:
        why = str(error)
    raise ConfigError(f"{key} {path}", why, remedy)


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
