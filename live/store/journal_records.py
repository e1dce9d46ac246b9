"""What a journal keeps, as values. Steps of games are those of :mod:`live.games.game`. Pure.

Figures of a game are kept ready, so that a restart need not work them out again. They count only
under the very measure they were made with; under any other they are made anew from changes and
results.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from live import __version__
from live.engine.search import SearchResult
from live.events import FeedName, GameId
from live.games.game import Game, Step, game_after
from live.human.question import HumanAnswer, HumanQuestion
from live.ledger.game.archived_game import ArchivedDetails, ArchivedValues
from live.ledger.measure import Measure
from live.ratings.engine_scale import MeasuredEngine

#: Of notes that say by how many milliseconds the machine's clock was put forward just then.
CLOCK = "clock"


class JournalRun(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the service: by whom, and what everything since was measured with."""

    version: str
    engine_name: str
    identity: str
    """Engine name and options: what results depend on besides the question."""
    limit: str
    """As it is shown to people."""
    feeds: tuple[FeedName, ...] = ()
    settings: dict[str, object] = {}
    """Of ``[engine]`` and ``[rating]``, as they were."""
    engine_scores: bool = True
    measured: MeasuredEngine | None = None
    """What reference positions have shown of the engine, where figures rest on that."""
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


class RecordedScore(msgspec.Struct, frozen=True):
    """A result as the journal has it."""

    result: SearchResult
    identity: str | None
    """None where it was taken over from a cache of searches."""
    at_ms: int | None


class RecordedAnswer(msgspec.Struct, frozen=True):
    """What players would play in a position, as it was shown."""

    at_ms: int
    question: HumanQuestion
    answer: HumanAnswer


class JournalStanding(msgspec.Struct, frozen=True):
    """A game to go on with: as kept, if it is, and what happened to it since."""

    game: GameId
    opened: int
    """Number of the change that opened it: games are shown in this order."""
    at_ms: int
    """Of its last change."""
    kept: StoredGame | None
    since: tuple[RecordedChange, ...]
    damaged: bool = False
    """Whether it had been kept, and that cannot be used any more."""


def _numbers_out(value: object) -> object:
    """Arrays, which msgpack does not know: numbers of eight bytes, as the machine has them."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    raise NotImplementedError(f"{type(value).__name__} cannot be kept")


def _numbers_in(kind: type, value: Any) -> object:
    shape, numbers = value
    return np.frombuffer(numbers).reshape(shape)


encode = msgspec.msgpack.Encoder(enc_hook=_numbers_out).encode
step_of = msgspec.msgpack.Decoder(Step | Restated).decode
run_of = msgspec.msgpack.Decoder(JournalRun).decode
result_of = msgspec.msgpack.Decoder(SearchResult).decode
answer_of = msgspec.msgpack.Decoder(HumanAnswer).decode


log = logging.getLogger(__name__)

_decode_rest = msgspec.msgpack.Decoder(ArchivedValues, dec_hook=_numbers_in).decode
_decode_details = msgspec.msgpack.Decoder(ArchivedDetails).decode


def measure_digest(identity: str, limit: str, measure: Measure) -> bytes:
    """Equal where figures are: of whatever decides over them, and the shape they are kept in."""
    _, shapes = msgspec.json.schema_components(
        (ArchivedValues, ArchivedDetails), schema_hook=lambda kind: {"type": "string"}
    )
    models, results = measure.models, [each.model for each in measure.results]
    deciding = (
        __version__,
        identity,
        limit,
        measure.gain,
        measure.search_options,
        models.models,
        models.scale,
        models.note,
        results,
        measure.forecast,
        measure.human,
        measure.engine_gains.counts,
        shapes,
    )
    return hashlib.blake2b(encode(deciding), digest_size=16).digest()


def packed(details: ArchivedDetails) -> bytes:
    """A tenth of its size; fast rather than small."""
    return zlib.compress(encode(details), 1)


def details_of(game: GameId, data: bytes) -> ArchivedDetails | None:
    """What :func:`packed` made; None for what it cannot have made."""
    try:
        return _decode_details(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError, TypeError, UnicodeError) as error:
        log.error("game %s: what was kept of it cannot be read (%s)", game, error)
        return None


def rest_of(kept: StoredGame) -> ArchivedValues | None:
    """A game as it was kept; None for what cannot be read."""
    try:
        return _decode_rest(kept.rest)
    except msgspec.MsgspecError as error:
        log.error("game %s: what was kept of it cannot be read (%s)", kept.game, error)
        return None


def game_of(id: GameId, changes: Iterable[RecordedChange]) -> Game | None:
    """The game as its changes leave it; None where they do not fit together."""
    game: Game | None = None
    try:
        for change in changes:
            step = change.step
            game = None if isinstance(step, Restated) else game_after(game, step)
    except (ValueError, IndexError) as error:
        log.error("game %s cannot be restored: %s", id, error)
        return None
    return game
