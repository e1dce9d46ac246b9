"""The data of a moment, before sentences about it are written."""

from collections.abc import Mapping
from typing import NamedTuple

from live.messages.moments import MomentKind
from live.messages.values import Color


class MomentDraft(NamedTuple):
    """The data of a moment, before sentences about it are written."""

    kind: MomentKind
    ply: int
    color: Color | None
    weight: float
    figures: Mapping[str, float]
