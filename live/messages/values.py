"""The base of all values that rooms exchange, and words that all of them use."""

from typing import Literal, dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """What is made once and never changed: base of all values that rooms exchange."""


Color = Literal["white", "black"]

GameId = str

FeedName = str
