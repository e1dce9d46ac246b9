"""The whole event as one object, as ``analyze --json`` writes it, and as lines of a
study. Pure.

The lines are what ``live-rate study add`` takes: live results in a corpus.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec.structs import asdict

from live.event.methods import EventMethods
from live.messages.figures import (
    AnalysedGame,
    AnalysedPlayer,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    PlayerGains,
)
from live.messages.values import GameId, Value
from live.server.event_reader import EventReader
from live.server.filtered_reader import snapshot
from live.server.stream_filter import ALL
from live.server.wire import encode_with_defaults


class Analysis(Value):
    """Every game with plies and curves, every player, and what they were
    measured with.
    """

    engine: EngineInfo
    gain: GainKind
    games: tuple[AnalysedGame, ...]
    players: tuple[AnalysedPlayer, ...]
    partial: bool = False
    """Whether the analysis stopped before every position was searched; what is missing
    is null.
    """
    gains: tuple[PlayerGains, ...] = ()
    """Everybody's gains over the event, at one centipawn."""
    engine_gains: GainCounts = ()
    """The engine's own, which players are measured against."""
    in_doubt: tuple[GameId, ...] = ()
    """Games that an open alert doubts, or whose result it doubts."""


def build_analysis(
    state: EventReader,
    methods: EventMethods = EventMethods({}, {}),  # noqa: B008  # frozen
    *,
    partial: bool = False,
    in_doubt: Collection[GameId] = (),
) -> Analysis:
    """Return the state as it stands; games and players in the order of a snapshot.
    ``methods``: what is made on demand. ``in_doubt``: games that alerts doubt.
    """
    whole = snapshot(state, ALL)
    return Analysis(
        whole.engine,
        state.gain(),
        tuple(
            AnalysedGame(**asdict(each), methods=methods.games.get(each.id))
            for each in whole.games
        ),
        tuple(
            AnalysedPlayer(**asdict(each), methods=methods.players.get(each.id))
            for each in whole.players
        ),
        partial,
        whole.gains,
        whole.engine_gains,
        tuple(game.id for game in whole.games if game.id in in_doubt),
    )


def to_json(value: object, indent: int = 1) -> bytes:
    """Encode readable JSON with every field and a newline at its end. Unbounded and
    unknown are null.
    """
    return msgspec.json.format(encode_with_defaults(value), indent=indent) + b"\n"


#: Fields of a line, and what they are of a game and of its plies.
_GAME_FIELDS = {
    **{name: name for name in ("event", "round", "date", "result", "start_fen")},
    "tc": "time_control",
    "start_cp": "start_score_cp",
}
_PLY_FIELDS = {
    **{name: name for name in ("mate", "depth", "best")},
    "moves": "uci",
    "cp": "score_cp",
    "played": "played_cp",
}
_COMPLEXITY_FIELDS = {
    "stability": "stability_cp",
    "jump": "jump_cp",
    "jump_depth": "jump_depth",
}


def write_study_lines(whole: Analysis) -> str:
    """Write one line a game, with engine and limit.

    Games with a ply that is not searched are left out, and so are games of variants.
    """
    lines = [
        msgspec.json.encode(_describe_game(whole, game)).decode() + "\n"
        for game in whole.games
        if _is_searched(game)
    ]
    return "".join(lines)


def _is_searched(game: GameDetail) -> bool:
    is_standard = game.variant == "standard"
    return is_standard and bool(game.plies) and all(ply.final for ply in game.plies)


def _describe_game(whole: Analysis, game: GameDetail) -> dict[str, Any]:
    line: dict[str, Any] = {
        "white": game.white.name or None,
        "black": game.black.name or None,
        "white_elo": game.white.elo,
        "black_elo": game.black.elo,
        "engine": whole.engine.name,
        "limit": whole.engine.limit,
    }
    for name, field in _GAME_FIELDS.items():
        line[name] = getattr(game, field)
    for name, field in _PLY_FIELDS.items():
        line[name] = [getattr(ply, field) for ply in game.plies]
    for name, field in _COMPLEXITY_FIELDS.items():
        line[name] = [getattr(ply.complexity, field, None) for ply in game.plies]
    return line
