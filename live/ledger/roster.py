"""Who plays: teams and their matches, and players under two names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from live.events import RESULT_POINTS, GameView, PlayerView
from live.games.game import main_round
from live.games.player_identity import name_words

# --- team matches -------------------------------------------------------------------------------

# Team events: who leads which match, and the table of teams, from results alone. Pure.
#
# A match is all games of one round between two teams, as the headers WhiteTeam and BlackTeam name
# them. It counts in the table of its event once none of its games runs: 2 points for more than
# half of the board points, 1 for half. Board points count as soon as their game is over. Byes and
# matches whose boards nobody follows are not in it.


class TeamMatch(msgspec.Struct, frozen=True):
    """One match as it stands."""

    event: str
    round: str
    teams: tuple[str, str]
    """In the order of their names."""
    points: tuple[float, float]
    """Board points of finished games."""
    running: int
    """Games without a result."""


class TeamStanding(msgspec.Struct, frozen=True):
    """One team in one event."""

    event: str
    team: str
    matches: int
    """Finished ones."""
    match_points: int
    """Of finished matches."""
    board_points: float
    """Of finished games, those of matches that still run too."""


def team_matches(games: Iterable[GameView]) -> list[TeamMatch]:
    """Every match, by event, round and teams; empty where the headers give no teams."""
    held: dict[tuple[str, str, tuple[str, str]], tuple[tuple[float, float], int]] = {}
    for game in games:
        white, black = game.white.team, game.black.team
        if not white or not black or white == black:
            continue
        first, second = sorted((white, black))
        key = main_event(game), main_round(game.round), (first, second)
        points, running = held.get(key, ((0.0, 0.0), 0))
        result = RESULT_POINTS.get(game.result)
        if result is not None:
            points = points[0] + result[white != first], points[1] + result[white == first]
        held[key] = points, running + (result is None)
    matches = [
        TeamMatch(event, round, teams, points, running)
        for (event, round, teams), (points, running) in held.items()
    ]
    return sorted(matches, key=lambda each: (each.event, _number(each.round), each.teams))


def team_table(matches: Iterable[TeamMatch]) -> list[TeamStanding]:
    """All teams, event by event, each by match points, then board points."""
    table: dict[tuple[str, str], TeamStanding] = {}
    for match in matches:
        ours, theirs = match.points
        for team, mine, other in zip(match.teams, match.points, (theirs, ours), strict=True):
            key = match.event, team
            held = table.get(key, TeamStanding(*key, 0, 0, 0.0))
            won = 0 if match.running else 2 if mine > other else int(mine == other)
            table[key] = TeamStanding(
                *key,
                held.matches + (not match.running),
                held.match_points + won,
                held.board_points + mine,
            )
    return sorted(
        table.values(),
        key=lambda each: (each.event, -each.match_points, -each.board_points, each.team),
    )


def main_event(game: GameView) -> str:
    """The event; empty when it is only the pairing, as lichess names each game of a broadcast."""
    white, black = game.white.name, game.black.name
    return "" if white and black and f"{white} - {black}" in game.event else game.event


def _number(round: str) -> tuple[int, str]:
    plain = round.isascii() and round.isdigit() and len(round) < 10
    return (int(round), "") if plain else (-1, round)


# --- namesakes ----------------------------------------------------------------------------------

# Players under two names who might be one person: reported, never put together. Pure.
#
# Who is one person for sure is decided by :mod:`live.games.player_identity`: equal FIDE ids, else
# equal names. What is left here are names that a source may have written shorter, or with a slip.


#: A word this long is hardly the same as another by chance.
_TELLING = 3
#: From so many letters on, one wrong letter is a slip rather than another name.
_SLIP_FROM = 5


def namesakes(
    players: Iterable[PlayerView], met: Collection[frozenset[str]]
) -> tuple[tuple[str, str], ...]:
    """Pairs of names, in order, that might be one person's; O(players²).

    ``met`` holds the ids of those who played each other, and so are two. Two FIDE ids are two
    persons.
    """
    known = [(view, name_words(view.name).split()) for view in players]
    found = []
    for index, (one, words) in enumerate(known):
        for other, others in known[index + 1 :]:
            if one.id.startswith("fide-") and other.id.startswith("fide-"):
                continue
            if frozenset((one.id, other.id)) not in met and might_be_one(words, others):
                found.append((min(one.name, other.name), max(one.name, other.name)))
    return tuple(sorted(found))


def might_be_one(words: list[str], others: list[str]) -> bool:
    """Whether every word of the shorter name is one of the longer's, or its initial, or but a
    letter off, and one of some length is shared.
    """
    short, long = sorted((words, others), key=len)
    left = list(long)
    distinctive = False
    # Longer words first: an initial must not take the match of a longer word.
    for word in sorted(short, key=len, reverse=True):
        found = next((candidate for candidate in left if _alike(word, candidate)), None)
        if found is None:
            return False
        left.remove(found)
        distinctive |= len(word) >= _TELLING and len(found) >= _TELLING
    return distinctive


def _alike(one: str, other: str) -> bool:
    initial = min(len(one), len(other)) == 1 and one[0] == other[0]
    return one == other or initial or _slip(one, other)


def _slip(one: str, other: str) -> bool:
    """One letter too many, too few, or wrong, or two in the wrong order."""
    if min(len(one), len(other)) < _SLIP_FROM or abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, other_rest = one[start:], other[start:]
    if len(one) == len(other):
        turned = rest[1::-1] + rest[2:]
        return rest[1:] == other_rest[1:] or turned == other_rest
    longer, shorter = (rest, other_rest) if len(one) > len(other) else (other_rest, rest)
    return longer[1:] == shorter
