"""Which games of a corpus a printed table is about, and who in them is who."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from live.games.player_identity import normalise_name
from live.studies.corpus_database import CorpusDatabase
from live.studies.papers.printed import Occasion


class ListedGame(NamedTuple):
    """What tells whether a game belongs to an occasion."""

    game: int
    white: int
    black: int
    white_elo: int | None
    black_elo: int | None
    event: str
    """In small letters."""
    year: int
    """0 where unknown."""
    score: float | None
    """White's points; None without a result, or with two that contradict each other."""
    moves: bytes
    """Packed: files that spell the players differently have the same ones."""


_POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


class CorpusGames:
    """All games of a corpus between named players, without forfeits, and who is called
    what.
    """

    def __init__(self, database: CorpusDatabase) -> None:
        rows = database.execute(
            "SELECT game, white, black, white_elo, black_elo, ifnull(name, ''),"
            " ifnull(year, 0), CASE WHEN other_result IS NULL THEN result END, moves"
            " FROM games LEFT JOIN events USING (event) WHERE white NOT NULL AND"
            " black NOT NULL AND plies > 1 ORDER BY digest"
        )
        self.games: list[ListedGame] = []
        """In an order by chance that every copy of the corpus has."""
        for *people, event, year, result, moves in rows:
            about = event.casefold(), year, _POINTS.get(result), moves
            self.games.append(ListedGame._make((*people, *about)))
        self.words = {
            player: set(normalise_name(name).split())
            for player, name in database.read_players().items()
        }
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for player, words in self.words.items():
            for word in words:
                self._by_word[word].append(player)

    @cache  # noqa: B019  # as long as the corpus is compared
    def find_people(self, occasion: Occasion) -> dict[str, list[int]]:
        """Return numbers of those players of the occasion whom the corpus has, by the
        paper's names.
        """
        found: dict[str, list[int]] = {}
        for name, spellings in occasion.players.items():
            called: set[int] = set()
            for spelling in filter(None, map(_split_words, spellings)):
                known = self._by_word.get(min(spelling), [])
                called.update(p for p in known if _is_called(self.words[p], spelling))
            if called:
                found[name] = sorted(called)
        return found

    @cache  # noqa: B019
    def list_of_occasion(self, occasion: Occasion) -> list[ListedGame]:
        """List games in which both players belong to the occasion, in its event and
        years, each once: two files may spell the players of one game differently.
        """
        names = name_people(self.find_people(occasion))
        needed = 1 if occasion.is_career else 2
        found: dict[tuple[str, str, bytes], ListedGame] = {}
        for game in self.games:
            members = (game.white in names) + (game.black in names)
            is_in_years = occasion.first_year <= game.year <= occasion.last_year
            if members >= needed and is_in_years and occasion.has_event(game.event):
                key = names.get(game.white, ""), names.get(game.black, ""), game.moves
                found.setdefault(key, game)
        return list(found.values())

    def list_of_players(
        self, players: Iterable[int], years: range | None = None
    ) -> Iterator[ListedGame]:
        """Yield games that any of these played, in these years."""
        known = set(players)
        for game in self.games:
            is_theirs = game.white in known or game.black in known
            if is_theirs and (years is None or game.year in years):
                yield game


def _split_words(spelling: str) -> set[str]:
    return set(normalise_name(spelling).split())


def _is_called(words: set[str], spelling: set[str]) -> bool:
    """Tell whether a name has the family name of a spelling, or is all of it."""
    return spelling <= words if len(spelling) == 1 else spelling == words


def name_people(people: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Return the paper's name of each number."""
    found: dict[int, str] = {}
    for name, numbers in people.items():
        found |= dict.fromkeys(numbers, name)
    return found


def count_results(
    games: Iterable[ListedGame], one: Sequence[int], other: Sequence[int]
) -> tuple[int, int, int]:
    """Count wins, draws and losses of one person against another."""
    won = 0
    drawn = 0
    lost = 0
    for game in games:
        if game.score is None:
            continue
        is_white = game.white in one and game.black in other
        is_black = game.black in one and game.white in other
        if is_white or is_black:
            score = game.score if is_white else 1 - game.score
            won += score == 1
            drawn += score == 0.5
            lost += score == 0
    return won, drawn, lost
