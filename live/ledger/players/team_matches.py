"""Team events: who leads which match, and the table of teams, from results alone. Pure.

A match is all games of one round between two teams, as the headers WhiteTeam and BlackTeam name
them. It counts in the table of its event once none of its games runs: 2 points for more than half
of the board points, 1 for half. Board points count as soon as their game is over. Byes and matches
whose boards nobody follows are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from live.events import RESULT_POINTS, GameView
from live.games.round_number import main_round


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
