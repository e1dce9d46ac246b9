"""A list of rated players: FIDE's own (XML) or a CSV, found by FIDE id or by name. Pure.

FIDE's lists have 200,000 to 1,500,000 players, of whom a tournament needs a few hundred. So a list
is indexed in one pass over its bytes, and a player is read only when somebody asks for them.

What the lists add to every report: names, ratings, titles, federations and FIDE ids.

A pairing list in CSV says who sits at which board of which round, for boards without names.

A shell at its edge: the functions that look for files and read them.
"""

import csv
import html
import io
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

from msgspec.structs import replace

from live.config import FeedsConfig
from live.errors import ConfigError
from live.events import FeedReport, GameReport, Player, Value
from live.feeds.charset import PlainLines, decode
from live.feeds.charset_guess import likely_charset
from live.feeds.pgn_headers import player
from live.games.game import normalise_round
from live.games.pace_of_play import SPENT_PLIES, ClockedGame, Pace, classify_pace
from live.games.player_identity import fide_id_of, fill_missing, is_known, normalise_name
from live.user_files import read_regular

#: Which of FIDE's three ratings a game counts for.
RatedPace = Literal["standard", "rapid", "blitz"]
_RATED: dict[Pace | None, RatedPace] = {
    "bullet": "blitz",
    "blitz": "blitz",
    "rapid": "rapid",
    "classical": "standard",
    None: "standard",
}

_XML_PLAYER = re.compile(rb"<player>\s*<fideid>\s*(\d{1,10})\s*</fideid>\s*<name>\s*([^<,\s-]*)")
_XML_FIELD = re.compile(rb"<(\w+)>([^<]*)</")


def _index_aliases(names: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {alias: name for name, aliases in names.items() for alias in aliases}


#: How the columns of a CSV may be called, in lower case and without signs.
_COLUMNS = _index_aliases(
    {
        "fideid": ("fideid", "id", "idnumber", "fide", "fidenumber", "fideno"),
        "name": ("name", "player", "fullname"),
        "country": ("fed", "federation", "country", "nat"),
        "title": ("title", "tit"),
        "rating": ("rating", "elo", "standard", "srtng", "std", "standardrating", "rtg", "rtgi"),
        "rapid_rating": ("rapid", "rapidrating", "rrtng"),
        "blitz_rating": ("blitz", "blitzrating", "brtng"),
        "k": ("k", "kfactor", "sk"),
        "rapid_k": ("rk",),
        "blitz_k": ("bk",),
    }
)


class ListedPlayer(Value):
    """One row of a list."""

    name: str
    fide_id: int | None = None
    federation: str | None = None
    title: str | None = None
    standard: int | None = None
    rapid: int | None = None
    blitz: int | None = None
    k: int | None = None
    """FIDE's development coefficient of the standard rating."""
    rapid_k: int | None = None
    blitz_k: int | None = None

    def rating_for_pace(self, pace: RatedPace) -> tuple[int | None, int | None]:
        """The rating that counts, and its coefficient; the standard ones where the player has no
        other.
        """
        standard = self.standard, self.k
        other = {"rapid": (self.rapid, self.rapid_k), "blitz": (self.blitz, self.blitz_k)}
        found = other.get(pace, standard)
        return found if found[0] else standard


class ListMatch(Value):
    """What a list knows of one player."""

    player: ListedPlayer | None = None
    doubt: str = ""
    """Why nobody was taken although the list may have them, for people."""


class RatingList:
    """One list, indexed.

    Args:
        ids: where each player stands, by FIDE id.
        names: where players stand, by a word of their name, as compared: the first of FIDE's lists.
        row: reads one of them.
    """

    def __init__(
        self,
        ids: dict[int, int],
        names: Mapping[str, list[int]],
        row: Callable[[int], ListedPlayer],
        size: int,
    ) -> None:
        self._size = size
        self._ids = ids
        self._names = names
        self._row = row
        # Every report asks again.
        self._remembered = lru_cache(maxsize=4096)(self._match_player)

    def __len__(self) -> int:
        return self._size

    def find_player(self, player: Player) -> ListMatch:
        """The row of one player."""
        return self._remembered(player.name, fide_id_of(player), player.federation)

    def _match_player(self, name: str, number: int | None, federation: str | None) -> ListMatch:
        words = normalise_name(name).split()
        if number in self._ids:
            row = self._row(self._ids[number])
            if not words or set(words) & set(normalise_name(row.name).split()):
                return ListMatch(row)
            return ListMatch(
                doubt=f"{name} has the FIDE id {number}, which is {row.name} in the list:"
                " correct the id or the name in the source"
            )
        places = dict.fromkeys(at for word in words for at in self._names.get(word, ()))
        near = [self._row(at) for at in places]
        same = [row for row in near if normalise_name(row.name).split() == words]
        if len(same) > 1 and federation:
            same = [row for row in same if row.federation == federation] or same
        if len(same) == 1:
            return ListMatch(same[0])
        if same:
            return ListMatch(
                doubt=f"{name} is the name of {len(same)} players in the list:"
                " give the FIDE id or the federation in the source"
            )
        alike = [row for row in near if _is_similar_name(words, normalise_name(row.name).split())]
        if alike:
            named = ", ".join(f"{row.name} ({row.fide_id or 'no id'})" for row in alike[:3])
            return ListMatch(
                doubt=f"{name} is perhaps {named} in the list:"
                " give the FIDE id in the source, or the name as the list has it"
            )
        return ListMatch()


def _is_similar_name(one: list[str], other: list[str]) -> bool:
    """One name has more words than the other, or an initial where the other has a name."""
    short, long = sorted((one, other), key=len)
    whole = [word for word in short if word in long]
    initials = [w for w in short if len(w) == 1 and any(o.startswith(w) for o in long)]
    return bool(whole) and len(whole) + len(initials) == len(short) and len(long) > 1


def read_rating_list(data: bytes) -> RatingList:
    """Index a list; its kind is recognised from its beginning.

    Raises:
        ValueError: it is no list of players; the message says why.
    """
    head = data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if head.startswith(b"PK\x03\x04"):
        raise ValueError("is a ZIP archive: unpack it first")
    if head.startswith(b"<"):
        return _read_xml(data)
    if head.lower().startswith(b"id number"):
        raise ValueError("is FIDE's list as text: take its XML list")
    return _read_csv(data)


def _read_xml(data: bytes) -> RatingList:
    ids: dict[int, int] = {}
    names: defaultdict[str, list[int]] = defaultdict(list)
    for found in _XML_PLAYER.finditer(data):
        at = found.start()
        ids[int(found[1])] = at
        names[_first_word(found[2])].append(at)
    if not ids:
        raise ValueError("holds no players")
    return RatingList(ids, names, lambda at: _read_xml_row(data, at), size=len(ids))


def _first_word(raw: bytes) -> str:
    """The first word of a name, as :func:`normalise_name` has it; fast for the plain ones."""
    if raw.isalpha() and raw.isascii():
        plain = raw.lower().replace(b"ae", b"a").replace(b"oe", b"o").replace(b"ue", b"u")
        return plain.decode("ascii")
    words = normalise_name(html.unescape(decode(raw))).split()
    return words[0] if words else ""


def _read_number(text: str) -> int | None:
    return int(text) or None if text.isascii() and text.isdigit() and len(text) < 11 else None


def _read_fields(fields: dict[str, str]) -> ListedPlayer:
    def text(name: str) -> str:
        return fields.get(name, "").strip()[:100]

    columns = ("rating", "rapid_rating", "blitz_rating", "k", "rapid_k", "blitz_k")
    return ListedPlayer(
        text("name") or "?",
        _read_number(text("fideid")),
        text("country") or None,
        text("title").upper() or None,
        *(_read_number(text(column)) for column in columns),
    )


def _read_xml_row(data: bytes, at: int) -> ListedPlayer:
    end = data.find(b"</player>", at)
    block = data[at : end if end >= 0 else at + 2000]
    fields = {m[1].decode(): html.unescape(decode(m[2])) for m in _XML_FIELD.finditer(block)}
    return _read_fields(fields)


def _read_csv(data: bytes) -> RatingList:
    rows = list(map(_read_fields, _read_csv_rows(data, _COLUMNS)))
    ids = {row.fide_id: at for at, row in enumerate(rows) if row.fide_id is not None}
    names: defaultdict[str, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        # Surname first or last: nobody knows whose list it is.
        for word in normalise_name(row.name).split():
            names[word].append(at)
    if not names:
        raise ValueError("has no column of names: its first line names the columns")
    return RatingList(ids, names, rows.__getitem__, size=len(rows))


#: What Excel writes into the first line for other Excels.
_SEPARATOR = re.compile(r"\s*\"?sep=(.)\"?\s*\n", re.IGNORECASE)


def _read_csv_rows(data: bytes, columns: dict[str, str]) -> Iterator[dict[str, str]]:
    """The fields of each row below the heading, by the names that ``columns`` has for them.

    Raises:
        ValueError: a row cannot be read.
    """
    plain = PlainLines().feed(data, final=True)
    text = decode(plain, likely_charset(plain) or "cp1252").lstrip()
    separator = _SEPARATOR.match(text)
    text = text[separator.end() :] if separator else text
    heading = text.partition("\n")[0]
    delimiter = separator[1] if separator else max(",;\t|", key=heading.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        names = [columns.get(re.sub(r"[^a-z]", "", name.lower())) for name in next(reader, [])]
        for row in reader:
            if not "".join(row).strip():
                continue
            yield {name: value for name, value in zip(names, row, strict=False) if name}
    except csv.Error as error:  # no ValueError
        raise ValueError(f"cannot be read in line {reader.line_num} ({error})") from None


log = logging.getLogger(__name__)

#: Files beside a PGN that are taken for lists, by the beginning of their names (FIDE's own, ours).
_RATINGS = ("players_list", "standard_rating_list", "rapid_rating_list", "rating_list", "ratings")
_PAIRINGS = ("pairings", "pairing_list")
_SUFFIXES = (".xml", ".csv")


#: Doubtful players named where there is little room; the log names all.
SHOWN = 5


T = TypeVar("T")

_PAIRING_COLUMNS = _index_aliases(
    {
        "round": ("round", "rd", "runde"),
        "board": ("board", "bo", "table", "brett"),
        "white": ("white", "whitename", "whiteplayer"),
        "black": ("black", "blackname", "blackplayer"),
        "white team": ("whiteteam", "teamwhite"),
        "black team": ("blackteam", "teamblack"),
        "white id": ("whitefideid", "whiteid"),
        "black id": ("blackfideid", "blackid"),
        "white elo": ("whiteelo", "whiterating"),
        "black elo": ("blackelo", "blackrating"),
    }
)


#: Who sits there, White first, by round (empty where the list names none) and board.
Pairings = dict[tuple[str, int], tuple[Player, Player]]


def read_pairing_list(data: bytes) -> Pairings:
    """Read a CSV with the columns Board, White, Black, and maybe Round, WhiteTeam, WhiteFideId,
    WhiteElo and the same of Black.

    Raises:
        ValueError: there is no pairing in it.
    """
    pairings: Pairings = {}
    for fields in _read_csv_rows(data, _PAIRING_COLUMNS):
        board = fields.get("board", "").strip()
        if not board.isdecimal():
            continue
        seat = normalise_round(fields.get("round", "").strip()), int(board)
        pairings[seat] = _read_player(fields, "white"), _read_player(fields, "black")
    if not pairings:
        raise ValueError("holds no pairing: it has the columns Board, White, Black")
    return pairings


def _read_player(fields: dict[str, str], side: str) -> Player:
    return player(
        fields.get(side),
        elo=_read_number(fields.get(f"{side} elo", "").strip()),
        fide_id=fields.get(f"{side} id", "").strip(),
        team=fields.get(f"{side} team"),
    )


class PlayerLists:
    """Both lists, or either, or none."""

    def __init__(self, ratings: RatingList | None, pairings: Pairings | None) -> None:
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

    def complete_report(self, report: FeedReport) -> FeedReport:
        """``report`` with what the lists add; what a source says itself is never replaced."""
        if self._ratings is None and self._pairings is None:
            return report
        games = tuple(self._complete_game(game) for game in report.games)
        return replace(report, games=games)

    def _complete_game(self, game: GameReport) -> GameReport:
        headers = game.headers
        # Only boards without any name are filled in: a name of the source is never replaced.
        if headers.board and not (is_known(headers.white) or is_known(headers.black)):
            pairings, board = self._pairings or {}, headers.board
            found = pairings.get((normalise_round(headers.round), board)) or pairings.get(("", board))
            if found is not None:
                headers = replace(headers, white=found[0], black=found[1])
        if self._ratings is not None:
            plies = [ClockedGame(move.clock_s, move.spent_s) for move in game.moves[:SPENT_PLIES]]
            pace = _RATED[classify_pace(headers.time_control, plies)]
            white, black = (self._add_rating(each, pace) for each in (headers.white, headers.black))
            if (white, black) != (headers.white, headers.black):
                headers = replace(headers, white=white, black=black)
        return game if headers is game.headers else replace(game, headers=headers)

    def _add_rating(self, player: Player, pace: RatedPace) -> Player:
        assert self._ratings is not None
        if player.elo and player.title and player.federation and player.fide_id and player.k:
            return player
        found = self._ratings.find_player(player)
        if found.doubt and found.doubt not in self.doubtful:
            self.doubtful[found.doubt] = None
            log.warning("rating list: %s; nothing is taken from it", found.doubt)
        row = found.player
        if row is None:
            return player
        elo, k = row.rating_for_pace(pace)
        listed = Player(row.name, elo, row.title, row.fide_id, row.federation, k=k)
        return fill_missing(player, listed, "elo", "title", "federation", "fide_id", "k")


def open_player_lists(config: FeedsConfig) -> PlayerLists:
    """Read the lists that the settings name.

    Raises:
        ConfigError: one of them cannot be read, or is no list.
    """
    return PlayerLists(
        _open_list("feeds.rating_list", config.rating_list, _open_ratings),
        _open_list("feeds.pairing_list", config.pairing_list, _open_pairings),
    )


Stamp = tuple[int, int]
"""When a file was changed last, nanoseconds, and its size in bytes."""


# A list of FIDE's takes seconds: what was found beside the games is not read twice.
@lru_cache(maxsize=1)
def _open_ratings(path: Path, stamp: Stamp) -> RatingList:
    return read_rating_list(read_regular(path))


@lru_cache(maxsize=1)
def _open_pairings(path: Path, stamp: Stamp) -> Pairings:
    return read_pairing_list(read_regular(path))


_REMEDIES = {
    "feeds.rating_list": "Give FIDE's list (XML), or a CSV with the columns Name and Rating",
    "feeds.pairing_list": "Give a CSV whose first line names the columns",
}


def _open_list(key: str, path: str, open_list: Callable[[Path, Stamp], T]) -> T | None:
    if not path:
        return None
    remedy = _REMEDIES[key]
    try:
        file = Path(path).expanduser()
        found = file.stat()
        return open_list(file, (found.st_mtime_ns, found.st_size))
    except OSError as error:
        why, remedy = f"cannot be read ({error.strerror})", "Correct the path"
    except ValueError as error:
        why = str(error)
    raise ConfigError(f"{key} {path}", why, remedy)


def add_neighbouring_lists(paths: Sequence[Path], config: FeedsConfig) -> FeedsConfig:
    """The settings, with the lists that lie beside the games where none are named. A file that is
    no list is left out, and named in the log: nobody has asked for it.
    """
    found: dict[str, str] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        try:
            names = sorted(each for each in folder.iterdir() if each.suffix.lower() in _SUFFIXES)
        except OSError:
            continue
        if not config.rating_list and "rating_list" not in found:
            found |= _find_list("rating_list", names, _RATINGS, _open_ratings)
        if not config.pairing_list and "pairing_list" not in found:
            found |= _find_list("pairing_list", names, _PAIRINGS, _open_pairings)
    for key, file in found.items():
        log.info("%s taken from beside the games: %s", key.replace("_", " "), file)
    return replace(config, **found) if found else config


def _find_list(
    key: str,
    files: Sequence[Path],
    starts: tuple[str, ...],
    open_list: Callable[[Path, Stamp], T],
) -> dict[str, str]:
    """Return the setting and the first of the files that is such a list."""
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
