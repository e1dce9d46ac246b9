"""Numbers printed in the papers, as data: tables by name, and the games they are
about.
"""

from functools import cache
from importlib import resources

import msgspec

from live.messages.values import Value

#: Names of the files beside this module, in the order of their tables.
PAPERS = ("match-results", "ferreira-2012", "alliot-2017", "regan-haworth-2011")


class PrintedRow(Value, array_like=True):
    """One printed number."""

    value: float
    one: str
    """Subject of the number: a player, or a line of the table."""
    other: str = ""
    """The opponent, or the column."""
    at: str = ""
    """The occasion or year, if it differs from row to row."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that identifies the row within its table."""
        return self.one, self.other, self.at


class PrintedTable(Value, kw_only=True, eq=False):
    """One table or figure of a paper, or one column of it."""

    name: str
    title: str
    where: str
    page: int
    """Page in the paper; 0 if the text used here has no pages."""
    measure: str
    """Name of the measure that computes the same figures here."""
    rows: tuple[PrintedRow, ...]
    digits: int = 0
    agreement: str = ""
    """Agreement that is compared: ``order`` of the rows, ``winner`` of each row,
    ``winner-by-match`` of two rows of one occasion; empty for none.
    """
    long: bool = False
    """True if the table is too long for the page, which then only summarises it."""
    other_scale: bool = False
    """True if our figures are on a different scale: only order and winner can agree."""
    note: str = ""
    at: str = ""
    """Name of the occasion (an entry of the paper's ``occasions``) that the table is
    about.
    """
    than: str = ""
    """Name of the second players' occasion, if it is a different one."""
    reference: str = ""
    """Name of the occasion whose players serve to measure the engine."""
    solves: str = ""
    """Name of the table whose printed differences are solved for ratings."""
    elos: dict[str, int] = msgspec.field(default_factory=dict)
    year: int = 0
    first_year: int = 0
    last_year: int = 9999
    fill_year: int = 0
    """Last year of a longer period, whose games are added if the period above has too
    few.
    """
    color: str = ""
    by: str = ""
    """Name of the predictor of pairings."""
    sample: int = 0
    """Number of games that are drawn, from all games or from each group; 0 to use all
    games.
    """
    least: int = 0
    """Smallest number of searched games, counted in the order of the draw, from which
    the table is computed; 0 if three quarters of the games must be searched.
    """


class Occasion(Value, kw_only=True, eq=False):
    """Occasion that a table is about: the games of an event or a period, and its
    players.
    """

    title: str
    event: tuple[str, ...]
    """Parts of the names that sources give the event; one matching part is enough."""
    first_year: int
    last_year: int
    games: int
    """Number of games of this occasion that the paper states."""
    players: dict[str, tuple[str, ...]]
    """Spellings of each player in sources. A single word is the family name; several
    words are the whole name.
    """
    is_career: bool = False
    """True if it is enough that one of the two players of a game belongs to the
    occasion.
    """

    def has_event(self, name: str) -> bool:
        """Return whether an event of this name, in lower case, belongs to the
        occasion.
        """
        return any(part in name for part in self.event)


class PrintedChains(Value):
    """Two transition matrices of Alliot (2017), from White's side."""

    classes: tuple[str, ...]
    """Middles of the classes of evaluation, pawns."""
    fischer_1971: tuple[tuple[float, ...], ...]
    spassky_1971: tuple[tuple[float, ...], ...]


class PrintedPaper(Value, kw_only=True, eq=False):
    """One paper with its printed tables."""

    paper: str
    occasions: dict[str, Occasion]
    tables: tuple[PrintedTable, ...]
    evaluations_cp: tuple[int, ...] = ()
    """Evaluations of Figure 1 of Ferreira (2012), from the starting position on,
    White's side.
    """
    chains: PrintedChains | None = None
    predictions: dict[str, tuple[PrintedRow, ...]] = msgspec.field(default_factory=dict)
    """Columns of Table 5 of Alliot (2017), by name."""

    def find_table(self, name: str) -> PrintedTable:
        """Return the table with this name."""
        return next(table for table in self.tables if table.name == name)


@cache
def read_papers() -> tuple[PrintedPaper, ...]:
    """Read all papers."""
    folder = resources.files(__package__)
    texts = [folder.joinpath(f"{name}.json").read_bytes() for name in PAPERS]
    return tuple(msgspec.json.decode(text, type=PrintedPaper) for text in texts)
