"""The two sides of a game, and which of them a result is a win for."""

from live.messages.from_sources import Result
from live.messages.values import Color


def other(color: Color) -> Color:
    """Return the colour of the opponent."""
    return "black" if color == "white" else "white"


def find_winner(result: Result) -> Color | None:
    """Return the side that won; None if neither side has."""
    match result:
        case "1-0":
            return "white"
        case "0-1":
            return "black"
    return None
