"""Alerts as lines: what an arbiter should know, most urgent first. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

import msgspec
from rich.text import Text

from live.alerts.finding import in_order
from live.alerts.incident_log import board_words
from live.events import Alert, GameId, GameView, Severity
from live.games.player_names import family_name
from live.terminal.figure_text import age_text
from live.terminal.line_filter import matcher
from live.terminal.palette import Palette
from live.terminal.text_cells import left, plain, right, styled, window

#: A sign and a word for each urgency: never by colour alone.
SIGNS: dict[Severity, str] = {"alarm": "!!", "warning": "!", "look": "?"}
#: Lines for what is known of the alert under the cursor.
DETAIL = 7
_BOARD_CELLS = 24
#: On a terminal narrower than this the board's number has to do: what is the matter says more.
_NAMES_FROM = 100


class AlertListOptions(msgspec.Struct, frozen=True):
    """How the alerts are looked at now."""

    palette: Palette
    cursor: str | None
    first: int
    show_muted: bool
    now_s: float
    """Seconds since 1970 UTC."""
    game: Callable[[str], GameView | None]
    unknown: str = ""
    """Why nobody knows whether there are others; empty where that is known."""


def listed(alerts: Sequence[Alert], query: str, *, show_muted: bool) -> list[Alert]:
    """Those to show: what nobody took note of yet first, then the most urgent, then the newest."""
    matches = matcher(query)
    taken = [
        alert
        for alert in alerts
        if alert.cleared_s is None
        and (show_muted or not alert.muted)
        and matches(f"{alert.kind} {plain(alert.text)} {plain(alert.player or '')}", None)
    ]
    return in_order(taken)


def unread(alerts: Iterable[Alert]) -> int:
    """How many ask for notice."""
    return sum(map(asks, alerts))


def asking(alerts: Iterable[Alert]) -> set[GameId]:
    """Boards with an alert that asks for notice."""
    return {alert.game for alert in alerts if alert.game is not None and asks(alert)}


def asks(alert: Alert) -> bool:
    """Whether it stands and nobody took note of it."""
    return alert.cleared_s is None and alert.acknowledged_s is None and not alert.muted


def alerts(
    found: Sequence[Alert], muted: int, width: int, height: int, look: AlertListOptions
) -> list[Text]:
    """A line for each alert, and below the one under the cursor in full."""
    palette = look.palette
    body = max(1, height - 2 - DETAIL)
    name = _name_cells(width)
    at = next((index for index, alert in enumerate(found) if alert.id == look.cursor), 0)
    first = window(len(found), at, body, look.first)
    lines = [
        styled(
            "    " + left("Board", name) + " " + left("What", max(8, width - name - 14)) + "  For",
            palette.dim,
        )
    ]
    for index, alert in enumerate(found[first : first + body], first):
        lines.append(_line(alert, index == at, width, look))
    if look.unknown and not found:
        said = textwrap.wrap(f"Not known: {look.unknown}", width - 4)
        lines += [styled(f"  {line}", palette.warn) for line in said[:body]]
    elif not found:
        text = "no alert"
        lines.append(styled(f"  ✓ {text}" + (f", {muted} muted" if muted else ""), palette.good))
    lines += [Text() for _ in range(body + 1 - len(lines))]
    lines.append(styled("─" * width, palette.dim))
    return lines + (_detail(found[at], width, look) if found else [Text()] * DETAIL)


def _line(alert: Alert, here: bool, width: int, look: AlertListOptions) -> Text:
    palette = look.palette
    style = {"alarm": palette.bad, "warning": palette.warn, "look": palette.accent}[alert.severity]
    quiet = alert.muted or alert.acknowledged_s is not None
    line = styled("▌" if here else " ", palette.accent)
    sign = (
        "✓" if alert.acknowledged_s is not None else "z" if alert.muted else SIGNS[alert.severity]
    )
    line.append(left(sign, 3), palette.dim if quiet else style)
    cells = _name_cells(width)
    line.append(left(board_name(alert, look), cells) + " ", palette.dim if quiet else "")
    text = plain(point_of(alert, look.game(alert.game) if alert.game else None), 300)
    text = family_name_only(text, alert.player)
    text += f" ×{alert.times}" if alert.times > 1 else ""
    line.append(left(text, max(8, width - cells - 14)), palette.dim if quiet else style)
    line.append("✎" if alert.note else " ", palette.accent)
    line.append(right(age_text(look.now_s - alert.first_seen_s), 4), palette.dim)
    if here:
        line.stylize_before(palette.cursor)
    return line


def family_name_only(text: str, player: str | None) -> str:
    """The family name has to do in a list; the rest stands below it."""
    return text.replace(player, family_name(player), 1) if player else text


def _name_cells(width: int) -> int:
    return _BOARD_CELLS if width >= _NAMES_FROM else 9


def point_of(alert: Alert, view: GameView | None) -> str:
    """Its text without the name of the board, which stands beside it."""
    if view is None:
        return alert.text
    names = (f"Board {view.board}: ", f"{view.white.name} - {view.black.name}: ")
    start = next((name for name in names if alert.text.startswith(name)), "")
    text = alert.text.removeprefix(start)
    return text[:1].upper() + text[1:]


def board_name(alert: Alert, look: AlertListOptions) -> str:
    """Whom or what it is about."""
    view = look.game(alert.game) if alert.game else None
    if view is None:
        return plain(alert.feed or alert.player or "", _BOARD_CELLS)
    number = f"{view.board} " if view.board is not None else ""
    return f"{number}{plain(view.white.name, 12)}–{plain(view.black.name, 12)}"


def _detail(alert: Alert, width: int, look: AlertListOptions) -> list[Text]:
    palette = look.palette
    view = look.game(alert.game) if alert.game else None
    text = f"{board_words(view)}: {point_of(alert, view)}" if view else alert.text
    parts: list[tuple[str, str]] = [(plain(text, 400), palette.strong)]
    parts.append((plain(alert.advice, 400), palette.text))
    found = alert.agreement
    if found is not None:
        parts.append(
            (
                f"Screening figure, which accuses nobody: {found.share:.0%} of {found.moves} "
                f"moves, expected {found.expected:.0%}, {found.z:.1f} standard deviations above. "
                f"Of events with {found.boards} boards in which all is right, "
                f"{found.false_alarms:.1%} show such an alert. {plain(found.rests_on, 200)}",
                palette.dim,
            )
        )
    if alert.note:
        parts.append((f"✎ {plain(alert.note, 500)}", palette.accent))
    lines = [
        styled(f" {line}", style)
        for text, style in parts
        for line in textwrap.wrap(text, max(20, width - 2))
    ]
    return [*lines[:DETAIL], *(Text() for _ in range(DETAIL - len(lines)))]
