"""The base class of the values that packages exchange, and types that all use."""

from typing import Literal, dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """Base class of all values that packages exchange. Instances are immutable."""


Color = Literal["white", "black"]

GameId = str

FeedName = str
