"""List of rated players, FIDE's own (XML) or a CSV, searched by FIDE id or name. No
I/O.

FIDE's lists have 200,000 to 1,500,000 players, of whom a tournament needs a few
hundred. So a list is indexed in one pass over its bytes, and a player's row is read
only when asked for.
"""

import html
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Literal

from live.games.csv_rows import index_aliases, read_csv_rows, read_number
from live.games.player_identity import fide_id_of, normalise_name
from live.messages.from_sources import Player
from live.messages.values import Value
from live.sources.charset import decode

#: Name of the FIDE rating, one of three, that applies to a game.
RatedPace = Literal["standard", "rapid", "blitz"]
_XML_PLAYER = re.compile(
    rb"<player>\s*<fideid>\s*(\d{1,10})\s*</fideid>\s*<name>\s*([^<,\s-]*)"
)
_XML_FIELD = re.compile(rb"<(\w+)>([^<]*)</")
#: Possible names of the CSV's columns, in lower case and without punctuation.
_COLUMNS = index_aliases(
    {
        "fideid": ("fideid", "id", "idnumber", "fide", "fidenumber", "fideno"),
        "name": ("name", "player", "fullname"),
        "country": ("fed", "federation", "country", "nat"),
        "title": ("title", "tit"),
        "rating": (
            "rating",
            "elo",
            "standard",
            "srtng",
            "std",
            "standardrating",
            "rtg",
            "rtgi",
        ),
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
        """Return the rating of a pace and its coefficient; without one, the standard
        ones.
        """
        if pace == "rapid" and self.rapid:
            return self.rapid, self.rapid_k
        if pace == "blitz" and self.blitz:
            return self.blitz, self.blitz_k
        return self.standard, self.k


class ListMatch(Value):
    """Result of a search for one player."""

    player: ListedPlayer | None = None
    doubt: str = ""
    """Reason why no row was chosen although the list can contain the player, as text
    for display.
    """


class RatingList:
    """One indexed list.

    Args:
        ids: position of each player's row, by FIDE id.
        names: positions of rows by each word of the normalised name; for FIDE's lists
            only by the first word.
        row: reads the row at a position.
        size: number of players.
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
        # Matches are cached, because every report contains the same players.
        self._remembered = lru_cache(maxsize=4096)(self._match_player)

    def __len__(self) -> int:
        return self._size

    def find_player(self, player: Player) -> ListMatch:
        """Return the row of one player, or the reason for doubt."""
        return self._remembered(player.name, fide_id_of(player), player.federation)

    def _match_player(
        self, name: str, number: int | None, federation: str | None
    ) -> ListMatch:
        words = normalise_name(name).split()
        if number in self._ids:
            row = self._row(self._ids[number])
            if not words or set(words) & set(normalise_name(row.name).split()):
                return ListMatch(row)
            return ListMatch(
                doubt=f"{name} has the FIDE id {number}, which is {row.name} in the"
                " list: correct the id or the name in the source"
            )
        places = chain.from_iterable(self._names.get(word, ()) for word in words)
        related = [self._row(place) for place in dict.fromkeys(places)]
        same = [row for row in related if normalise_name(row.name).split() == words]
        if len(same) > 1 and federation:
            same = [row for row in same if row.federation == federation] or same
        if len(same) == 1:
            return ListMatch(same[0])
        if same:
            return ListMatch(
                doubt=f"{name} is the name of {len(same)} players in the list:"
                " give the FIDE id or the federation in the source"
            )
        alike = [
            row
            for row in related
            if _is_similar_name(words, normalise_name(row.name).split())
        ]
        if alike:
            candidates = ", ".join(
                f"{row.name} ({row.fide_id or 'no id'})" for row in alike[:3]
            )
            return ListMatch(
                doubt=f"{name} is perhaps {candidates} in the list:"
                " give the FIDE id in the source, or the name as the list has it"
            )
        return ListMatch()


def _is_similar_name(first: list[str], second: list[str]) -> bool:
    """Return whether two names differ only by additional words, or by initials instead
    of words.
    """
    short, long = sorted((first, second), key=len)
    whole = [word for word in short if word in long]
    first_letters = {word[0] for word in long}
    initials = [word for word in short if len(word) == 1 and word in first_letters]
    return bool(whole) and len(whole) + len(initials) == len(short) and len(long) > 1


def read_rating_list(data: bytes) -> RatingList:
    """Return a rating list as an index of its players. The format is recognised from
    the beginning of the list.

    Raises:
        ValueError: the data is not a list of players; the message gives the reason.
    """
    head = data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if head.startswith(b"PK\x03\x04"):
        raise ValueError("is a ZIP archive: unpack it first")
    if head.startswith(b"<"):
        return _read_xml(data)
    if head.lower().startswith(b"id number"):
        raise ValueError("is FIDE's list as text: use the XML list")
    return _read_csv(data)


def _read_xml(data: bytes) -> RatingList:
    ids: dict[int, int] = {}
    names: defaultdict[str, list[int]] = defaultdict(list)
    for match in _XML_PLAYER.finditer(data):
        start = match.start()
        ids[int(match[1])] = start
        names[_first_word(match[2])].append(start)
    if not ids:
        raise ValueError("contains no players")
    return RatingList(
        ids, names, lambda start: _read_xml_row(data, start), size=len(ids)
    )


def _first_word(raw: bytes) -> str:
    """Return the first word of the normalised name; fast for plain ASCII."""
    if raw.isalpha() and raw.isascii():
        plain = (
            raw.lower().replace(b"ae", b"a").replace(b"oe", b"o").replace(b"ue", b"u")
        )
        return plain.decode("ascii")
    words = normalise_name(html.unescape(decode(raw))).split()
    return words[0] if words else ""


def _read_fields(fields: dict[str, str]) -> ListedPlayer:
    def read_field(name: str) -> str:
        return fields.get(name, "").strip()[:100]

    return ListedPlayer(
        read_field("name") or "?",
        read_number(read_field("fideid")),
        read_field("country") or None,
        read_field("title").upper() or None,
        standard=read_number(read_field("rating")),
        rapid=read_number(read_field("rapid_rating")),
        blitz=read_number(read_field("blitz_rating")),
        k=read_number(read_field("k")),
        rapid_k=read_number(read_field("rapid_k")),
        blitz_k=read_number(read_field("blitz_k")),
    )


def _read_xml_row(data: bytes, start: int) -> ListedPlayer:
    end = data.find(b"</player>", start)
    block = data[start : end if end >= 0 else start + 2000]
    fields = {
        m[1].decode(): html.unescape(decode(m[2])) for m in _XML_FIELD.finditer(block)
    }
    return _read_fields(fields)


def _read_csv(data: bytes) -> RatingList:
    rows = list(map(_read_fields, read_csv_rows(data, _COLUMNS)))
    ids = {
        row.fide_id: index for index, row in enumerate(rows) if row.fide_id is not None
    }
    names: defaultdict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        # A list can have the surname first or last.
        for word in normalise_name(row.name).split():
            names[word].append(index)
    if not names:
        raise ValueError("has no column of names: its first line names the columns")
    return RatingList(ids, names, rows.__getitem__, size=len(rows))
