"""What a measure is made from: the games of a table, searched with one engine and
limit.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

from live.messages.figures import GainKind
from live.ratings.score_interval import compute_score_interval
from live.studies.corpus_database import (
    CorpusDatabase,
    NumberedGame,
    SearchedGame,
    SearchSetting,
)
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import CorpusGames, ListedGame
from live.studies.papers.printed import PrintedPaper, PrintedTable
from live.studies.study_data import (
    ChosenGames,
    Row,
    Rows,
    Selection,
    StudyData,
    TableHead,
)

#: Share of an occasion's games, below which a figure would be about something else.
ENOUGH = 0.75

Key = tuple[str, str, str]
Figures = dict[Key, Measured]


class Evidence:
    """The games of a corpus as one setting and one gain show them."""

    def __init__(
        self,
        paper: PrintedPaper,
        games: CorpusGames,
        database: CorpusDatabase,
        setting: tuple[int, SearchSetting] | None,
        gain: GainKind,
    ) -> None:
        self.paper = paper
        self.games = games
        self.gain: GainKind = gain
        self._database = database
        self._number = None if setting is None else setting[0]
        self.setting = SearchSetting("", "") if setting is None else setting[1]

    @cached_property
    def searched(self) -> frozenset[int]:
        """Numbers of the games that have results of this setting."""
        query = "SELECT game FROM results WHERE setting = ?"
        return frozenset(
            game for (game,) in self._database.execute(query, (self._number,))
        )

    def choose_searched(
        self, table: PrintedTable, needed: Sequence[ListedGame]
    ) -> list[ListedGame]:
        """Return those games of a table that are searched; none where they are too few.

        A draw of games stays a draw by chance only up to the first that is not
        searched.
        """
        if table.least:
            first = [*takewhile(lambda game: game.game in self.searched, needed)]
            return first if len(first) >= table.least else []
        known = [game for game in needed if game.game in self.searched]
        return known if len(known) >= ENOUGH * len(needed) else []

    def list_games(self, table: PrintedTable) -> list[ListedGame]:
        """Return the games that a table is made from; all, where no engine has a
        say.
        """
        needed = list_needed_games(table, self.paper, self.games)
        return (
            self.choose_searched(table, needed)
            if MEASURES[table.measure].gains
            else needed
        )

    def has_enough_of(self, occasion: str) -> bool:
        """Tell whether so many of its games are searched that figures are about it."""
        about = self.paper.occasions[occasion]
        games = self.games.list_of_occasion(about)
        known = sum(game.game in self.searched for game in games)
        return known >= ENOUGH * about.games

    def read_searched_games(
        self, games: Iterable[ListedGame]
    ) -> Iterator[tuple[NumberedGame, SearchedGame]]:
        """Yield those that are searched, with what was found."""
        for game in games:
            if self._number is not None:
                yield from self._database.read_searched_games(
                    self._number, game.game, game.game + 1
                )

    def open_study(
        self, games: Sequence[ListedGame], people: Mapping[str, Sequence[int]]
    ) -> StudyData:
        """Open the moves of those games that are searched, of the people named."""
        numbers = [game.game for game in games if game.game in self.searched]
        chosen = ChosenGames(numbers, people)
        return StudyData(
            self._database,
            self._number,
            self.setting,
            Selection(gain=self.gain),
            chosen,
        )


Grouping = Callable[[ListedGame], Sequence[Hashable]]
"""The groups that a game belongs to."""
Measure = Callable[[PrintedTable, Evidence], Figures]
Needs = Callable[[PrintedTable, PrintedPaper, CorpusGames], list[ListedGame]]


class MeasureKind(NamedTuple):
    """How the figures of a printed table are made here."""

    make: Measure
    games: Needs
    """What it needs, searched or not."""
    gains: tuple[GainKind, ...]
    """By which gains it is made; empty: no engine has a say."""
    lines: int = 1
    """Fewest lines that the searches must have."""


#: Every measure by its name; a module adds its own when it is imported.
MEASURES: dict[str, MeasureKind] = {}


def need_no_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return none: the table follows from printed numbers."""
    return []


def measure(
    *names: str,
    games: Needs = need_no_games,
    gains: tuple[GainKind, ...] = (),
    lines: int = 1,
) -> Callable[[Measure], Measure]:
    """Put the function below among ``MEASURES``, under each of these names."""

    def add(make: Measure) -> Measure:
        for name in names:
            MEASURES[name] = MeasureKind(make, games, gains, lines)
        return make

    return add


@lru_cache(maxsize=256)
def list_needed_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return the games that a table is made from, searched or not."""
    return MEASURES[table.measure].games(table, paper, games)


def measure_share(count: float, n: float) -> Measured:
    """Return ``count`` of ``n`` as a share, 0 to 1, with its interval."""
    return Measured(count / n, *compute_score_interval(n, count, count))


def read_figure(cells: Sequence[object]) -> Measured | None:
    """Return a figure of a study's table, with its interval where there is one; None
    where a cell is empty.
    """
    numbers = [cell for cell in cells if isinstance(cell, float)]
    return Measured(*numbers) if len(numbers) == len(cells) else None


def keep_known(figures: Mapping[Key, Measured | None]) -> Figures:
    """Return those that could be made."""
    return {key: figure for key, figure in figures.items() if figure is not None}


def read_rows(table: Rows) -> Iterator[Row]:
    """Yield the rows of a study's table without its texts and heads."""
    for cells in table:
        if isinstance(cells, tuple) and not isinstance(cells, TableHead):
            yield cells


def draw_in_turn(
    games: Iterable[ListedGame], groups: Grouping, most: int
) -> list[ListedGame]:
    """Return at most so many games of each group, the first of every group before the
    second.

    A game belongs to as many groups as are named for it.
    """
    drawn: Counter[Hashable] = Counter()
    places: dict[int, tuple[int, ListedGame]] = {}
    for game in games:
        lacking = [group for group in groups(game) if not most or drawn[group] < most]
        if lacking:
            places[game.game] = min(drawn[group] for group in lacking), game
            drawn.update(groups(game))
    return [game for _, game in sorted(places.values(), key=itemgetter(0))]


def list_occasion_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """List games of all occasions that the table names, its reference among them."""
    names = {table.at, table.than, table.reference} | {row.at for row in table.rows}
    found = {}
    for name in sorted(names - {""}):
        for game in games.list_of_occasion(paper.occasions[name]):
            found[game.game] = game
    return list(found.values())
