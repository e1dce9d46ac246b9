"""What the other methods say of both players of one game. Pure."""

from __future__ import annotations

from rich.text import Text

from live.events import GameDetail, Share, SideMethods, UsualAccuracy
from live.ledger.players.leading_figure import LEAST_MOVES
from live.terminal.figure_text import so_far
from live.terminal.palette import Palette
from live.terminal.text_cells import left, plain, styled

_NAME_CELLS = 18


def side_figures(game: GameDetail, width: int, palette: Palette) -> list[Text]:
    """A line for each method, White's figure beside Black's; why where there is none."""
    room = max(10, (width - _NAME_CELLS) // 2)
    white, black = game.methods.white, game.methods.black
    lines = [_line("", "○ White", "● Black", room, palette.dim, palette)]
    rows = (
        ("p(30 cp)", "conformance"),
        ("p(20 cp), level", "guid_bratko"),
        ("p(30 cp), weighed", "ponderated"),
        ("first choice", "first_choice"),
    )
    for name, field in rows:
        of_white, of_black = (_share(side, field, room - 1) for side in (white, black))
        lines.append(_line(name, of_white, of_black, room, "", palette))
    lines.append(_line("loss, accuracy", _accuracy(white), _accuracy(black), room, "", palette))
    usual = (white.usual_accuracy, black.usual_accuracy)
    if any(each is not None for each in usual):
        of_white, of_black = (_usual(each, room - 1) for each in usual)
        lines.append(_line("players so rated", of_white, of_black, room, "", palette))
    expected = game.methods.expected_score
    if min(white.conformance.moves, black.conformance.moves) < LEAST_MOVES:
        pass  # one move decides nothing
    elif expected is not None:
        ends = ""
        if game.methods.low is not None and game.methods.high is not None:
            ends = f" ({game.methods.low:.2f}–{game.methods.high:.2f})"
        text = f"White expects {expected:.2f}{ends} by p(30 cp)"
        lines.append(styled(text))
    elif game.methods.missing:
        lines.append(styled(plain(game.methods.missing, width), palette.dim))
    return lines


def _line(name: str, white: str, black: str, room: int, style: str, palette: Palette) -> Text:
    line = styled(left(name, _NAME_CELLS), palette.dim)
    line.append(left(white, room - 1) + " ", style)
    line.append(left(black, room), style)
    return line


def _share(side: SideMethods, field: str, room: int) -> str:
    found: Share = getattr(side, field)
    if found.share is None:
        return side.missing.get(field, "·")
    ends = "" if found.low is None or found.high is None else f" {found.low:.2f}–{found.high:.2f}"
    text = f"{found.share:.2f}{ends} of {found.moves}"
    # Digits never give way to the next column, the zeros before the point do.
    return text if len(text) <= room else f" {text}".replace(" 0.", " .").replace("–0.", "–.")[1:]


def _usual(found: UsualAccuracy | None, room: int) -> str:
    """Accuracy of players of this rating in the same positions, and how far the player is above."""
    if found is None:
        return "·"
    above = round(found.own - found.usual)
    spread = f"{round(found.low):+d} to {round(found.high):+d}"
    text = f"{found.usual:.0f} %, here {above:+d} ({spread})"
    return text if len(text) <= room else f"{found.usual:.0f} %, {above:+d}"


def _accuracy(side: SideMethods) -> str:
    loss, accuracy = side.centipawn_loss_so_far, side.accuracy_so_far
    if loss is None or accuracy is None:
        return "·"
    return (
        f"{so_far(f'{loss:.0f}', side.centipawn_loss)} cp, "
        f"{so_far(f'{accuracy:.0f}', side.accuracy)} %"
    )
