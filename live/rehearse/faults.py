"""What goes wrong during a rehearsal, decided from a seed. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import msgspec

from live.events import GameReport
from live.feeds.replay import Incident

#: Connections after this many are good: a rehearsal has to come to its end.
BAD_CONNECTIONS = 6


class Connection(msgspec.Struct, frozen=True):
    """How one connection fares."""

    refuse: int = 0
    """HTTP status it is refused with; 0 for none."""
    retry_after_s: int | None = None
    drop_after: int | None = None
    """Bytes of the body after which it breaks off, in mid-line as it happens."""
    stall_after: int | None = None
    """Bytes of the body after which nothing more comes, though the connection stays."""
    cuts: tuple[int, ...] = ()
    """Lengths of the pieces that the bytes come in, again and again; empty: uncut."""
    repeat: bool = False
    """Every game comes twice."""


GOOD = Connection()


def connections(seed: int | None) -> Iterator[Connection]:
    """Each connection's fate in turn, without end; all good when ``seed`` is None."""
    if seed is not None:
        chance = random.Random(seed)
        for _ in range(chance.randint(1, BAD_CONNECTIONS)):
            yield _bad(chance)
        cuts = tuple(chance.randint(1, 3000) for _ in range(17))
        while True:
            yield Connection(cuts=cuts)
    while True:
        yield GOOD


def _bad(chance: random.Random) -> Connection:
    cuts = tuple(chance.randint(1, 200) for _ in range(17))
    after = chance.randint(0, 30_000)
    match chance.choice(["refuse", "refuse politely", "broken", "drop", "drop", "stall"]):
        case "refuse":
            return Connection(refuse=429)
        case "refuse politely":
            return Connection(refuse=429, retry_after_s=chance.randint(1, 90))
        case "broken":
            return Connection(refuse=chance.choice([500, 502, 503]))
        case "drop":
            return Connection(drop_after=after, cuts=cuts, repeat=chance.random() < 0.3)
        case _:
            return Connection(stall_after=after, cuts=cuts)


def incidents(seed: int | None, games: Sequence[GameReport]) -> list[Incident]:
    """Which boards take a move back or tell a wrong one first; none when ``seed`` is None."""
    if seed is None:
        return []
    chance = random.Random(seed)
    found = []
    for index, game in enumerate(games):
        if game.moves and chance.random() < 0.5:
            kind = "slip" if chance.random() < 0.7 else "takeback"
            ply = chance.randint(1, len(game.moves))
            found.append(Incident("slip" if kind == "slip" else "takeback", index, ply))
    return found
