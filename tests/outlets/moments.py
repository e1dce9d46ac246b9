"""A made-up moment."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import Moment, MomentText


def moment(game: str = "g", ply: int = 1, **more: Any) -> Moment:
    text = msgspec.convert(
        {code: f"It happened ({code})." for code in MomentText.__struct_fields__}, MomentText
    )
    fields: dict[str, Any] = {
        "id": f"{game}:turn:{ply}",
        "game": game,
        "ply": ply,
        "kind": "turn",
        "color": "white",
        "at_s": 100.0,
        "weight": 0.8,
        "figures": (),
        "text": text,
        **more,
    }
    return Moment(**fields)
