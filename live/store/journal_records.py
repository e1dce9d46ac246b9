"""What a journal keeps, as values. Steps of games are those of :mod:`live.games.game_steps`."""

from __future__ import annotations

import msgspec

from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.events import FeedName, GameId
from live.games.game_steps import Step


class JournalRun(msgspec.Struct, frozen=True, kw_only=True):
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


class RecordedChange(msgspec.Struct, frozen=True):
    """A step, in its place."""

    n: int
    at_ms: int
    step: Step | Restated


class StoredGame(msgspec.Struct, frozen=True):
    """A game as it stood after change ``n``, with figures kept ready."""

    game: GameId
    n: int
    measure: bytes
    rest: bytes
    """What is always at hand; see :mod:`live.ledger.game.archived_game`."""


class RecordedNote(msgspec.Struct, frozen=True):
    """Something said about the event or one game, with its time. ``body`` is JSON."""

    n: int
    at_ms: int
    run: int
    game: GameId
    """Empty: about no single game."""
    kind: str
    body: bytes


class RecordedResult(msgspec.Struct, frozen=True):
    """What one search found."""

    question: SearchKey
    identity: str
    result: SearchResult


class RecordedScore(msgspec.Struct, frozen=True):
    """A result as the journal has it."""

    result: SearchResult
    identity: str | None
    """None where it was taken over from a cache of searches."""
    at_ms: int | None


class JournalStanding(msgspec.Struct, frozen=True):
    """A game to go on with: as kept, if it is, and what happened to it since."""

    game: GameId
    opened: int
    """Number of the change that opened it: games are shown in this order."""
    at_ms: int
    """Of its last change."""
    kept: StoredGame | None
    since: tuple[RecordedChange, ...]


encode = msgspec.msgpack.Encoder().encode
step_of = msgspec.msgpack.Decoder(Step | Restated).decode
run_of = msgspec.msgpack.Decoder(JournalRun).decode
result_of = msgspec.msgpack.Decoder(SearchResult).decode
