"""Games of a corpus that a printed table is about, and the identity of the players in
them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from live.games.player_identity import normalise_name
from live.studies.corpus_database import CorpusDatabase
from live.studies.papers.printed import Occasion


class ListedGame(NamedTuple):
    """Data of a game that decide whether it belongs to an occasion (an event or a
    period).
    """

    game: int
    white: int
    black: int
    white_elo: int | None
    black_elo: int | None
    event: str
    """Name of the event in lower case."""
    year: int
    """Year of the game; 0 if unknown."""
    score: float | None
    """White's points; None without a result, or with two results that contradict each
    other.
    """
    moves: bytes
    """Packed moves. They identify a game even if files spell its players
    differently.
    """


_POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


class CorpusGames:
    """All games of a corpus between named players, without forfeits, and the names of
    the players.
    """

    def __init__(self, database: CorpusDatabase) -> None:
        rows = database.execute(
            "SELECT game, white, black, white_elo, black_elo, ifnull(name, ''),"
            " ifnull(year, 0), CASE WHEN other_result IS NULL THEN result END, moves"
            " FROM games LEFT JOIN events USING (event) WHERE white NOT NULL AND"
            " black NOT NULL AND plies > 1 ORDER BY digest"
        )
        self.games: list[ListedGame] = []
        """All games, in a random order that is the same in every copy of the corpus."""
        for *people, event, year, result, moves in rows:
            rest = event.casefold(), year, _POINTS.get(result), moves
            self.games.append(ListedGame._make((*people, *rest)))
        self.words = {
            player: set(normalise_name(name).split())
            for player, name in database.read_players().items()
        }
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for player, words in self.words.items():
            for word in words:
                self._by_word[word].append(player)

    @cache  # noqa: B019  # kept as long as the corpus is compared
    def find_people(self, occasion: Occasion) -> dict[str, list[int]]:
        """Return the players of an occasion who are in the corpus: their numbers by the
        names that the paper uses.
        """
        people: dict[str, list[int]] = {}
        for name, spellings in occasion.players.items():
            numbers: set[int] = set()
            for spelling in filter(None, map(_split_words, spellings)):
                candidates = self._by_word.get(min(spelling), [])
                numbers.update(
                    p for p in candidates if _is_called(self.words[p], spelling)
                )
            if numbers:
                people[name] = sorted(numbers)
        return people

    @cache  # noqa: B019
    def list_games_of_occasion(self, occasion: Occasion) -> list[ListedGame]:
        """Return the games of an occasion: in its event and years, with both players
        (for a career, at least one) from the occasion. Each game is listed once, even
        if two files spell its players differently.
        """
        names = index_names_by_number(self.find_people(occasion))
        needed = 1 if occasion.is_career else 2
        games_by_key: dict[tuple[str, str, bytes], ListedGame] = {}
        for game in self.games:
            members = (game.white in names) + (game.black in names)
            is_in_years = occasion.first_year <= game.year <= occasion.last_year
            if members >= needed and is_in_years and occasion.has_event(game.event):
                key = names.get(game.white, ""), names.get(game.black, ""), game.moves
                games_by_key.setdefault(key, game)
        return list(games_by_key.values())

    def list_games_of_players(
        self, players: Iterable[int], years: range | None = None
    ) -> Iterator[ListedGame]:
        """Yield the games that any of these players played, in these years."""
        numbers = set(players)
        for game in self.games:
            is_theirs = game.white in numbers or game.black in numbers
            if is_theirs and (years is None or game.year in years):
                yield game


def _split_words(spelling: str) -> set[str]:
    return set(normalise_name(spelling).split())


def _is_called(words: set[str], spelling: set[str]) -> bool:
    """Return whether a player's name fits a spelling: a spelling of one word must be
    among the words of the name, and a longer spelling must have exactly its words.
    """
    return spelling <= words if len(spelling) == 1 else spelling == words


def index_names_by_number(people: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Return the paper's name for the number of each player."""
    names: dict[int, str] = {}
    for name, numbers in people.items():
        names |= dict.fromkeys(numbers, name)
    return names


def count_results(
    games: Iterable[ListedGame], own: Sequence[int], opponents: Sequence[int]
) -> tuple[int, int, int]:
    """Return the wins, draws and losses of one person against another."""
    won = 0
    drawn = 0
    lost = 0
    for game in games:
        if game.score is None:
            continue
        is_white = game.white in own and game.black in opponents
        is_black = game.black in own and game.white in opponents
        if is_white or is_black:
            score = game.score if is_white else 1 - game.score
            won += score == 1
            drawn += score == 0.5
            lost += score == 0
    return won, drawn, lost
