"""Exports of a whole event: one JSON object, or one JSON line for each game. Pure.

``live-rate analyze --json`` writes the object. ``live-rate study add`` reads the lines,
to add the games to a corpus.
"""

from collections.abc import Collection, Sequence
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
from live.server.event_reader import EventReader, game_order
from live.server.filtered_reader import snapshot
from live.server.stream_filter import ALL
from live.server.wire import encode_with_defaults


class Analysis(Value):
    """All games with plies and curves, all players, and the engine that was used."""

    engine: EngineInfo
    gain: GainKind
    games: tuple[AnalysedGame, ...]
    players: tuple[AnalysedPlayer, ...]
    partial: bool = False
    """True if the analysis stopped before every position was searched; missing figures
    are null.
    """
    gains: tuple[PlayerGains, ...] = ()
    """The gains of all players over the event, in steps of one centipawn."""
    engine_gains: GainCounts = ()
    """The gains of the engine itself, with which players are compared."""
    in_doubt: tuple[GameId, ...] = ()
    """Ids of games that an open alert puts in doubt, or whose result is in doubt."""


def build_analysis(
    state: EventReader,
    methods: EventMethods = EventMethods({}, {}),  # noqa: B008 - frozen
    *,
    partial: bool = False,
    in_doubt: Collection[GameId] = (),
    order: Sequence[GameId] = (),
) -> Analysis:
    """Return the games, players and gains of an event as they are now.

    Games are sorted by event, round and board, then by ``order``, then by id; players
    by id.

    Args:
        state: the state of the event.
        methods: the figures of games and players that are computed on demand.
        partial: whether some positions were not searched.
        in_doubt: ids of games that open alerts put in doubt.
        order: ids of games in the order of their files.
    """
    whole = snapshot(state, ALL)
    places = {id: place for place, id in enumerate(order)}
    games = sorted(
        whole.games,
        key=lambda game: (game_order(game)[:-1], places.get(game.id, len(places))),
    )
    return Analysis(
        whole.engine,
        state.gain(),
        tuple(
            AnalysedGame(**asdict(game), methods=methods.games.get(game.id))
            for game in games
        ),
        tuple(
            AnalysedPlayer(**asdict(player), methods=methods.players.get(player.id))
            for player in whole.players
        ),
        partial,
        whole.gains,
        whole.engine_gains,
        tuple(game.id for game in games if game.id in in_doubt),
    )


def to_json(value: object, indent: int = 1) -> bytes:
    """Return indented JSON with all fields, and a newline at the end.

    Infinite and unknown numbers are null.
    """
    return msgspec.json.format(encode_with_defaults(value), indent=indent) + b"\n"


#: For each field of a study line, the field of the game, of its plies, or of the
#: complexity of its plies.
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
    """Return one line of JSON for each game, with the engine and its
    search limit.

    Games of chess variants and games with a ply without a final score are left out.
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
