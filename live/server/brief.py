"""The messages of a stream with ``detail=brief``: only what overlays show. Pure.

A grid of a whole round needs every game, but no gains, and figures only as precise as a
screen shows them. For the types in :data:`_SENT` only the listed fields are sent; for
other types all fields are sent. Every field that is left out has a default in
:mod:`live.messages`, so clients can use the same types. Each message is shortened
independently, so a snapshot and the changes after it are consistent.
"""

import math

import msgspec

from live.messages import figures, from_sources, health, to_clients
from live.server.wire import encode, list_defaults

_GAME = (
    "id feed event round board white black result start_fen start_score_cp problem "
    "site date eco opening termination restored"
)
#: For each of these types, the names of the fields that are sent.
_SENT: dict[type[msgspec.Struct], str] = {
    figures.GameView: _GAME,
    figures.GameDetail: f"{_GAME} plies curves",
    from_sources.Player: "name elo title fide_id federation team",
    figures.PlyView: "ply san uci clock_s score_cp mate final best win draw "
    "played_share played_elo difficulty mark",
    figures.DifficultyView: "elo best error_chance",
    figures.PlayerView: "id name elo games moves counted perceived usual_low "
    "usual_high percentile difference difference_low difference_high points finished",
    to_clients.ClockMessage: "game ply clock_s",
    figures.EngineInfo: "name limit rating rating_source",
    health.EngineHealth: "",
}
#: Types with ratings: fractions are rounded to whole numbers. Numbers below 1 and the
#: field ``points`` are rounded to three decimals.
_FIGURES = (figures.CurvePoint, figures.PlayerView)


def encode_brief(message: msgspec.Struct) -> bytes:
    """Return a message of a brief stream as JSON, without its number."""
    return encode(_select_fields(message))


def _select_fields(value: object) -> object:
    match value:
        case msgspec.Struct():
            kind = type(value)
            tag = kind.__struct_config__.tag
            fields: dict[str, object] = {} if tag is None else {"type": tag}
            elo = kind in _FIGURES
            usual = list_defaults(kind) if kind.__struct_config__.omit_defaults else {}
            for name in (
                _SENT[kind].split() if kind in _SENT else kind.__struct_fields__
            ):
                if (field_value := getattr(value, name)) != usual.get(name, value):
                    fields[name] = _shorten_number(
                        field_value, elo and name != "points"
                    )
            return fields
        case tuple():
            return [_select_fields(item) for item in value]
        case _:
            return value


def _shorten_number(value: object, elo: bool) -> object:
    if not isinstance(value, float):
        return _select_fields(value)
    if elo and abs(value) >= 1:
        return math.floor(value + 0.5)
    return round(value, 3)
