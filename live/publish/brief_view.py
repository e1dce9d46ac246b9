"""What a stream with ``detail=brief`` carries: what overlays show, and nothing else. Pure.

A grid of a whole round needs every game, but no gains, no other methods, and no figure finer than a
screen shows it. Of the types below the fields listed are sent, of all others all; what is not sent
has a default in :mod:`live.events`, or an empty value here, so a client needs no second set of
types. Every message is made brief by itself, so a snapshot and the changes after it agree.
"""

from __future__ import annotations

import math

import msgspec

from live import events
from live.publish import wire

_GAME = (
    "id feed event round board white black result url start_fen start_score_cp head_to_head "
    "plies_played plies_scored problem site date eco opening restored"
)
#: What is sent of these types.
_SENT: dict[type[msgspec.Struct], str] = {
    events.GameView: _GAME,
    events.GameDetail: f"{_GAME} plies curves",
    events.Player: "name elo title fide_id federation team",
    events.PlyView: "ply san uci clock_s score_cp mate final best win draw loss played_share "
    "played_elo difficulty mark",
    events.DifficultyView: "elo best error_chance",
    events.PlayerView: "id name elo games moves mean_gain_cp counted perceived usual_low "
    "usual_high percentile difference difference_low difference_high points finished",
    events.EngineInfo: "name limit rating rating_source",
    events.EngineHealth: "",
}
#: What no overlay shows, but no client can do without.
_EMPTY: dict[tuple[type[msgspec.Struct], str], object] = {
    **{
        (kind, name): empty
        for kind in (events.GameView, events.GameDetail)
        for name, empty in {
            "url": "",
            "head_to_head": {},
            "plies_played": 0,
            "plies_scored": 0,
        }.items()
    },
    (events.PlayerView, "mean_gain_cp"): None,
    (events.ClockMessage, "spent_s"): None,
}
#: Their numbers are sent whole, but for shares and points.
_FIGURES = (events.CurvePoint, events.PlayerView)


def brief(message: msgspec.Struct) -> bytes:
    """The message as a brief stream carries it, as JSON without its number."""
    return wire.encode(_brief(message))


def _brief(value: object) -> object:
    match value:
        case msgspec.Struct():
            kind = type(value)
            tag = kind.__struct_config__.tag
            found: dict[str, object] = {} if tag is None else {"type": tag}
            elo = kind in _FIGURES
            for name in _SENT[kind].split() if kind in _SENT else kind.__struct_fields__:
                if (kind, name) in _EMPTY:
                    found[name] = _EMPTY[kind, name]
                else:
                    found[name] = _number(getattr(value, name), elo and name != "points")
            return found
        case tuple():
            return [_brief(each) for each in value]
        case _:
            return value


def _number(value: object, elo: bool) -> object:
    if not isinstance(value, float):
        return _brief(value)
    if elo and abs(value) >= 1:
        return math.floor(value + 0.5)
    return round(value, 3)
