"""What a journal keeps, as values. Steps of games are those of :mod:`live.games.steps`."""

from __future__ import annotations

import msgspec

from live.engine.question import Question
from live.engine.search import SearchResult
from live.events import FeedName, GameId
from live.games.steps import Step


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the service: by whom, and what everything since was measured with."""

    version: str
    engine_name: str
    identity: str
    """Engine name and options: what results depend on besides the question."""
    limit: str
    """As people are told it."""
    feeds: tuple[FeedName, ...] = ()
    settings: dict[str, object] = {}
    """Of ``[engine]`` and ``[rating]``, as they were."""
    engine_scores: bool = True
    measure: bytes = b""
    """Equal where figures kept ready are still right."""


class Restated(msgspec.Struct, frozen=True, tag=True):
    """All games follow as they stand now, since changes before could not be written."""


class Change(msgspec.Struct, frozen=True):
    """A step, in its place."""

    n: int
    at_ms: int
    step: Step | Restated


class Kept(msgspec.Struct, frozen=True):
    """A game as it stood after change ``n``, with figures kept ready."""

    game: GameId
    n: int
    measure: bytes
    rest: bytes
    """What is always at hand; see :mod:`live.ledger.resting`."""


class Note(msgspec.Struct, frozen=True):
    """Something said about the event or one game, with its time. ``body`` is JSON."""

    n: int
    at_ms: int
    run: int
    game: GameId
    """Empty: about no single game."""
    kind: str
    body: bytes


class Result(msgspec.Struct, frozen=True):
    """What one search found."""

    question: Question
    identity: str
    result: SearchResult


class Scored(msgspec.Struct, frozen=True):
    """A result as the journal has it."""

    result: SearchResult
    identity: str | None
    """None where it was taken over from a cache of searches."""
    at_ms: int | None


class Standing(msgspec.Struct, frozen=True):
    """A game to go on with: as kept, if it is, and what happened to it since."""

    game: GameId
    opened: int
    """Number of the change that opened it: games are shown in this order."""
    at_ms: int
    """Of its last change."""
    kept: Kept | None
    since: tuple[Change, ...]


encode = msgspec.msgpack.Encoder().encode
step_of = msgspec.msgpack.Decoder(Step | Restated).decode
run_of = msgspec.msgpack.Decoder(Run).decode
result_of = msgspec.msgpack.Decoder(SearchResult).decode
