"""Data from which a measure is computed: the games of a table, searched with one engine
and limit.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple

from live.messages.figures import GainKind
from live.ratings.predictions import Prediction
from live.ratings.score_interval import compute_score_interval
from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import CorpusGames, ListedGame
from live.studies.papers.printed import PrintedPaper, PrintedTable
from live.studies.searched_games import SearchedGame, SearchSetting
from live.studies.study_data import ChosenGames, Selection, StudyData

#: Smallest share of an occasion's games that must be searched: with fewer, a figure
#: would not represent the occasion.
ENOUGH = 0.75

Key = tuple[str, str, str]
Figures = Mapping[Key, Measured | None]
"""Figures by the keys of printed rows; None for a figure that is unknown."""


class Evidence:
    """Games of a corpus, with the search results of one setting and one kind of
    gain.
    """

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
        """Return the searched games of a table; empty if they are too few.

        For a random draw, only the games before the first one that is not searched are
        used, so that the draw stays random.
        """
        if table.least:
            first = [*takewhile(lambda game: game.game in self.searched, needed)]
            return first if len(first) >= table.least else []
        searched = [game for game in needed if game.game in self.searched]
        return searched if len(searched) >= ENOUGH * len(needed) else []

    def list_games(self, table: PrintedTable) -> list[ListedGame]:
        """Return the games from which a table is computed: the searched ones, or all if
        the table needs no engine.
        """
        needed = list_needed_games(table, self.paper, self.games)
        return (
            self.choose_searched(table, needed)
            if MEASURES[table.measure].gains
            else needed
        )

    def find_people(self, occasion: str) -> dict[str, list[int]]:
        """Return the players of an occasion who are in the corpus: their numbers by the
        names that the paper uses.
        """
        return self.games.find_people(self.paper.occasions[occasion])

    def list_games_of_occasion(self, occasion: str) -> list[ListedGame]:
        """Return the games of an occasion that are in the corpus."""
        return self.games.list_games_of_occasion(self.paper.occasions[occasion])

    def has_enough_of(self, occasion: str) -> bool:
        """Return whether enough games of an occasion are searched, so that figures
        represent it.
        """
        games = self.list_games_of_occasion(occasion)
        n = sum(game.game in self.searched for game in games)
        return n >= ENOUGH * self.paper.occasions[occasion].games

    def read_searched_games(
        self, games: Iterable[ListedGame]
    ) -> Iterator[tuple[NumberedGame, SearchedGame]]:
        """Yield those of the games that were searched, with their search results."""
        for game in games:
            if self._number is not None:
                yield from self._database.read_searched_games(
                    self._number, game.game, game.game + 1
                )

    def open_study(
        self, games: Sequence[ListedGame], people: Mapping[str, Sequence[int]]
    ) -> StudyData:
        """Return the data of the searched games among ``games``. ``people`` contains
        the selected players: their numbers by name.
        """
        numbers = [game.game for game in games if game.game in self.searched]
        chosen_games = ChosenGames(numbers, people)
        return StudyData(
            self._database,
            self._number,
            self.setting,
            Selection(gain=self.gain),
            chosen_games,
        )


Grouping = Callable[[ListedGame], Sequence[Hashable]]
"""Function that returns the groups to which a game belongs."""
Measure = Callable[[PrintedTable, Evidence], Figures]
Needs = Callable[[PrintedTable, PrintedPaper, CorpusGames], list[ListedGame]]


def need_no_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return an empty list: the table is computed from printed numbers alone."""
    return []


class MeasureKind(NamedTuple):
    """Definition of a measure: how the figures of a printed table are computed here."""

    make: Measure
    games: Needs = need_no_games
    """Function that returns the games that a table needs, searched or not."""
    gains: tuple[GainKind, ...] = ()
    """Kinds of gain with which the measure is computed; empty if it needs no engine."""
    lines: int = 1
    """Smallest number of lines that the searches must have."""


#: Every measure by its name; a module adds its measures when it is imported.
MEASURES: dict[str, MeasureKind] = {}


def measure(*names: str, **needs: Any) -> Callable[[Measure], Measure]:
    """Return a decorator that adds the decorated function to ``MEASURES`` under each of
    these names. ``needs`` are fields of :class:`MeasureKind`.
    """

    def add(make: Measure) -> Measure:
        for name in names:
            MEASURES[name] = MeasureKind(make, **needs)
        return make

    return add


@lru_cache(maxsize=256)
def list_needed_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return the games that a table needs, searched or not."""
    return MEASURES[table.measure].games(table, paper, games)


def measure_share(count: float, n: float) -> Measured:
    """Return ``count`` of ``n`` as a share, 0 to 1, with its interval."""
    return Measured(count / n, *compute_score_interval(n, count, count))


def measure_mean_score(scores: Sequence[float]) -> Measured:
    """Return the mean of scores of 0, 1/2 or 1, with its interval."""
    squares = [score * score for score in scores]
    ends = compute_score_interval(len(scores), sum(scores), sum(squares))
    return Measured(fmean(scores), *ends)


def measure_known(
    value: float | None, low: float | None = None, high: float | None = None
) -> Measured | None:
    """Return a figure with its interval; None if the figure is unknown."""
    return None if value is None else Measured(value, low, high)


def measure_prediction(prediction: Prediction) -> Measured | None:
    """Return an expected score with its interval; None if it is unknown."""
    return measure_known(prediction.expected_score, prediction.low, prediction.high)


def draw_in_turn(
    games: Iterable[ListedGame], groups: Grouping, most_games: int
) -> list[ListedGame]:
    """Return at most ``most_games`` games of each group, the first game of every group
    before the second of any; all games if ``most_games`` is 0.

    A game belongs to all groups that ``groups`` returns for it.
    """
    drawn: Counter[Hashable] = Counter()
    places: dict[int, tuple[int, ListedGame]] = {}
    for game in games:
        unfilled_groups = [
            group
            for group in groups(game)
            if not most_games or drawn[group] < most_games
        ]
        if unfilled_groups:
            places[game.game] = min(drawn[group] for group in unfilled_groups), game
            drawn.update(groups(game))
    return [game for _, game in sorted(places.values(), key=itemgetter(0))]


def list_occasion_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return the games of all occasions that the table names, including its
    reference.
    """
    names = {table.at, table.than, table.reference} | {row.at for row in table.rows}
    listed = {}
    for name in sorted(names - {""}):
        for game in games.list_games_of_occasion(paper.occasions[name]):
            listed[game.game] = game
    return list(listed.values())
