"""What goes wrong during a rehearsal, decided from a seed. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Literal

import msgspec

from live.events import GameReport
from live.feeds.game_timeline import PlannedIncident
from live.feeds.simulated_board_mistakes import Mistake

#: Connections after this many are good: a rehearsal has to come to its end.
BAD_CONNECTIONS = 6


BAD_REQUESTS = 60
BAD_MESSAGES = 400

#: ``drop``: the connection breaks off first; ``repeat``: it is sent twice; ``garble``: something
#: unreadable comes before it; ``stall``: it comes only with the next of its game.
Mishap = Literal["", "drop", "repeat", "garble", "stall"]
_MISHAPS: tuple[Mishap, ...] = ("drop", "repeat", "garble", "stall")

ALL_WELL: Iterator[Mishap] = repeat("")


class ConnectionFaults(msgspec.Struct, frozen=True):
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
    half: bool = False
    """Only the first half comes and nothing says so: a file that was just being written."""


GOOD = ConnectionFaults()


def connections(seed: int | None) -> Iterator[ConnectionFaults]:
    """Each connection's fate in turn, without end; all good when ``seed`` is None.

    Only one asks for fewer requests: a follower stays away for a minute then, and after four of
    them in a row a short rehearsal is over before anybody has seen it.
    """
    if seed is not None:
        chance = random.Random(seed)
        asked = False
        for _ in range(chance.randint(1, BAD_CONNECTIONS)):
            fate = _bad(chance)
            if fate.refuse == 429 and asked:
                continue
            asked = asked or fate.refuse == 429
            yield fate
        cuts = tuple(chance.randint(1, 3000) for _ in range(17))
        while True:
            yield ConnectionFaults(cuts=cuts)
    while True:
        yield GOOD


def _bad(chance: random.Random) -> ConnectionFaults:
    cuts = tuple(chance.randint(1, 200) for _ in range(17))
    after = chance.randint(0, 30_000)
    match chance.choice(["refuse", "refuse politely", "broken", "drop", "drop", "stall"]):
        case "refuse":
            return ConnectionFaults(refuse=429)
        case "refuse politely":
            return ConnectionFaults(refuse=429, retry_after_s=chance.randint(1, 90))
        case "broken":
            return ConnectionFaults(refuse=chance.choice([500, 502, 503]))
        case "drop":
            return ConnectionFaults(drop_after=after, cuts=cuts, repeat=chance.random() < 0.3)
        case _:
            return ConnectionFaults(stall_after=after, cuts=cuts)


def requests(seed: int | None, *, half: bool = True) -> Iterator[ConnectionFaults]:
    """The fate of each answer of a server that is asked again and again: now and then a bad one.

    Without end; all are good after :data:`BAD_REQUESTS`, and when ``seed`` is None. ``half``: a
    text may be cut where nothing says so.
    """
    if seed is not None:
        chance = random.Random(seed)
        for _ in range(BAD_REQUESTS):
            if chance.random() < 0.75:
                yield GOOD
            elif half and chance.random() < 0.3:
                yield ConnectionFaults(half=True)
            else:
                yield _bad(chance)
    while True:
        yield GOOD


def mishaps(seed: int | None) -> Iterator[Mishap]:
    """What goes wrong with each message of a source that speaks by itself; without end.

    All is well after :data:`BAD_MESSAGES`, and when ``seed`` is None.
    """
    if seed is not None:
        chance = random.Random(seed)
        rate = chance.choice([0.02, 0.1, 0.3])
        for _ in range(BAD_MESSAGES):
            bad = chance.random() < rate
            yield chance.choice(_MISHAPS) if bad else ""
    while True:
        yield ""


def mistakes(kinds: Sequence[Mistake], games: Sequence[GameReport]) -> list[PlannedIncident]:
    """One mistake each on the first boards, in the middle of the game; what the alerts are for."""
    played = [(index, game) for index, game in enumerate(games) if len(game.moves) > 2]
    return [
        PlannedIncident(kind, index, len(game.moves) // 2)
        for kind, (index, game) in zip(kinds, played, strict=False)
    ]


def incidents(seed: int | None, games: Sequence[GameReport]) -> list[PlannedIncident]:
    """Which boards take a move back or send a wrong one first; none when ``seed`` is None."""
    if seed is None:
        return []
    chance = random.Random(seed)
    found = []
    for index, game in enumerate(games):
        if game.moves and chance.random() < 0.5:
            kind = "slip" if chance.random() < 0.7 else "takeback"
            ply = chance.randint(1, len(game.moves))
            found.append(PlannedIncident("slip" if kind == "slip" else "takeback", index, ply))
    return found
