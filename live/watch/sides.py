"""The two sides of a game, and the side that wins by a result."""

from live.messages.from_sources import Result
from live.messages.values import Color


def find_opponent_color(color: Color) -> Color:
    """Return the colour of the opponent."""
    return "black" if color == "white" else "white"


def find_winner(result: Result) -> Color | None:
    """Return the side that won; None if no side won."""
    match result:
        case "1-0":
            return "white"
        case "0-1":
            return "black"
    return None
