"""The numbers that the papers print, as data: tables by name, and the games they are
about.
"""

from functools import cache
from importlib import resources

import msgspec

from live.messages.values import Value

#: Files beside this module, in the order of their tables.
PAPERS = ("match-results", "ferreira-2012", "alliot-2017", "regan-haworth-2011")


class PrintedRow(Value, array_like=True):
    """One printed number."""

    value: float
    one: str
    """Whom or what it is about: a player, or a line of the table."""
    other: str = ""
    """The opponent, or the column."""
    at: str = ""
    """The occasion or year, where it differs from row to row."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the row from others of its table."""
        return self.one, self.other, self.at


class PrintedTable(Value, kw_only=True, eq=False):
    """One table or figure of a paper, or one column of it."""

    name: str
    title: str
    where: str
    page: int
    """0: the text in hand has no pages."""
    measure: str
    """The name of what makes the same figures here."""
    rows: tuple[PrintedRow, ...]
    digits: int = 0
    agreement: str = ""
    """What can be kept: ``order`` of the rows, ``winner`` of each, ``winner-by-match``
    of two rows of one occasion; empty for neither.
    """
    long: bool = False
    """Too long for the page, which sums it up."""
    other_scale: bool = False
    """Ours are on another scale: only order and winner can agree."""
    note: str = ""
    at: str = ""
    """Name of the occasion."""
    than: str = ""
    """Of the occasion of the second players, where that is another."""
    reference: str = ""
    """Of the occasion over whose players the engine is measured."""
    solves: str = ""
    """The table whose printed differences are solved for ratings."""
    elos: dict[str, int] = msgspec.field(default_factory=dict)
    year: int = 0
    first_year: int = 0
    last_year: int = 9999
    fill_year: int = 0
    """Years up to this one stand in where those above have too few games."""
    color: str = ""
    by: str = ""
    """How pairings are predicted."""
    sample: int = 0
    """So many games are drawn from all, or from each group; 0: all of them."""
    least: int = 0
    """It is made once so many are searched, in the order drawn; 0: once three quarters
    are.
    """


class Occasion(Value, kw_only=True, eq=False):
    """Games that a table is about."""

    title: str
    event: tuple[str, ...]
    """Parts of the names that sources give the event; one of them is enough."""
    first_year: int
    last_year: int
    games: int
    """As the paper has them."""
    players: dict[str, tuple[str, ...]]
    """How sources spell each: one word is the family name, several are the whole
    name.
    """
    is_career: bool = False
    """One of the players in a game is enough."""

    def has_event(self, name: str) -> bool:
        """Tell whether it is played under this name, given in small letters."""
        return any(part in name for part in self.event)


class PrintedChains(Value):
    """Two matrices of Alliot (2017), from White's side."""

    classes: tuple[str, ...]
    """Middles of the classes of evaluation, pawns."""
    fischer_1971: tuple[tuple[float, ...], ...]
    spassky_1971: tuple[tuple[float, ...], ...]


class PrintedPaper(Value, kw_only=True, eq=False):
    """One paper."""

    paper: str
    title: str
    engine: str
    pages: str
    """What pages are counted by."""
    occasions: dict[str, Occasion]
    tables: tuple[PrintedTable, ...]
    evaluations_cp: tuple[int, ...] = ()
    """Of Figure 1 of Ferreira (2012), the start first, White's side."""
    chains: PrintedChains | None = None
    predictions: dict[str, tuple[PrintedRow, ...]] = msgspec.field(default_factory=dict)
    """Columns of Table 5 of Alliot (2017)."""

    def find_table(self, name: str) -> PrintedTable:
        """Return the table of this name."""
        return next(table for table in self.tables if table.name == name)


@cache
def read_papers() -> tuple[PrintedPaper, ...]:
    """Read all papers."""
    folder = resources.files(__package__)
    texts = [folder.joinpath(f"{name}.json").read_bytes() for name in PAPERS]
    return tuple(msgspec.json.decode(text, type=PrintedPaper) for text in texts)
