"""Tables over the whole state that the JSON interface gives: events, standings. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from live.events import GameView, PlayerView


class EventView(msgspec.Struct, frozen=True):
    """One event: its games by name, and how far they are."""

    name: str
    rounds: tuple[str, ...]
    games: int
    running: int
    """Games without a result."""
    plies_played: int
    plies_scored: int


def events(games: Iterable[GameView]) -> list[EventView]:
    """One row for each event name, in the order of the names."""
    by_name: dict[str, list[GameView]] = {}
    for game in games:
        by_name.setdefault(game.event, []).append(game)
    return [
        EventView(
            name=name,
            rounds=tuple(sorted({game.round for game in found})),
            games=len(found),
            running=sum(game.result == "*" for game in found),
            plies_played=sum(game.plies_played for game in found),
            plies_scored=sum(game.plies_scored for game in found),
        )
        for name, found in sorted(by_name.items())
    ]


def standings(players: Iterable[PlayerView]) -> list[PlayerView]:
    """The strongest first, by Algorithm 4's expected score; who has none yet comes last, by name.

    The expected score ranks as the rating does (Ferreira 2012, Eq. 2 is increasing in it) and is
    finite where the rating is unbounded.
    """
    return sorted(
        players,
        key=lambda player: (
            player.expected_score is None,
            -(player.expected_score or 0.0),
            -player.moves,
            player.name,
            player.id,
        ),
    )
