"""The view of the incident log: everything arbiters were shown and did, searched and added to."""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Sequence

from rich.text import Text

from live.alerts.incident_log import board_words, kind_name, said_of, with_boards
from live.errors import LiveRateError
from live.events import Incident
from live.terminal.alerts.alert_list import family_name_only
from live.terminal.line_filter import matcher
from live.terminal.text_cells import counted, left, plain, styled, window
from live.terminal.view_context import ViewContext
from live.terminal.view_frame import KeyHint

#: Lines for what has happened to the incident under the cursor.
DETAIL = 8
_SIGNS = {"alarm": "!!", "warning": "!", "look": "?"}


class IncidentsView:
    name = "Log"

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self.query = ""
        self.open_only = False
        self.cursor: int | None = None
        """Number of the incident."""
        self._listed: list[Incident] = []

    def draw(self, width: int, height: int) -> list[Text]:
        context = self._context
        palette = context.palette
        boards = {view.id: board_words(view) for view in context.state.games()}
        self._listed = listed(
            with_boards(context.actions.incidents(), boards), self.query, open_only=self.open_only
        )
        at = self._at()
        if self._listed:
            self.cursor = self._listed[at].number
        body = max(1, height - 2 - DETAIL)
        first = window(len(self._listed), at, body, 0)
        head = f"    {left('Time', 8)} {left('What', _kind_cells(width))} Board and text"
        lines = [styled(head, palette.dim)]
        for index, each in enumerate(self._listed[first : first + body], first):
            lines.append(self._line(each, index == at, width))
        if context.actions.no_incidents:
            said = textwrap.wrap(context.actions.no_incidents, width - 4)
            lines += [styled(f"  {line}", palette.warn) for line in said[:body]]
        elif not self._listed:
            lines.append(styled("  ✓ nothing is in the log", palette.good))
        lines += [Text() for _ in range(body + 1 - len(lines))]
        lines.append(styled("─" * width, palette.dim))
        return lines + self._detail(self._listed[at] if self._listed else None, width)

    def _line(self, each: Incident, here: bool, width: int) -> Text:
        palette = self._context.palette
        style = {"alarm": palette.bad, "warning": palette.warn, "look": palette.accent}
        over = each.over_s is not None
        line = styled("▌" if here else " ", palette.accent)
        own = each.kind in ("entry", "mute")
        sign = "✎" if own else " " if over else _SIGNS[each.severity]
        line.append(left(sign, 3), style[each.severity])
        line.append(f"{clock_time(each.began_s)} ", palette.dim)
        kind = left(kind_name(each.kind), _kind_cells(width))
        line.append(f"{kind} ", "" if own else palette.dim)
        number = _number(each.board)
        # The board's number has to do on a narrow terminal: what is the matter says more.
        board = each.board if number is None or width >= 100 else str(number)
        about = f"{plain(board, 30)}: " if board else ""
        text = each.text.removeprefix(f"Board {number}: ") if number is not None else each.text
        text = family_name_only(text, each.player)
        line.append(f"{about}{plain(text, 300)}", palette.dim if over and not own else "")
        if each.note:
            line.append(f"  ✎ {plain(each.note, 100)}", palette.accent)
        line.truncate(width, overflow="ellipsis")
        if here:
            line.stylize_before(palette.cursor)
        return line

    def _detail(self, each: Incident | None, width: int) -> list[Text]:
        if each is None:
            return [Text() for _ in range(DETAIL)]
        said = [
            f"{clock_time(change.at_s)} {change.what}" + (f": {change.text}" if change.text else "")
            for change in each.changes
        ]
        wrapped = [part for text in said for part in textwrap.wrap(plain(text, 600), width - 2)]
        if len(wrapped) > DETAIL:
            # How it began and how it goes on says more than what lies between.
            wrapped = [wrapped[0], "…", *wrapped[-(DETAIL - 2) :]]
        lines = [styled(f" {text}", self._context.palette.text) for text in wrapped]
        return [*lines, *(Text() for _ in range(DETAIL - len(lines)))]

    def _at(self) -> int:
        for index, each in enumerate(self._listed):
            if each.number == self.cursor:
                return index
        return 0

    def caption(self) -> str:
        text = counted(len(self._listed), "incident") + (" open" if self.open_only else "")
        return text + (f" · filter {self.query!r}" if self.query else "")

    def offers(self) -> list[KeyHint]:
        actions = self._context.actions
        why = "" if actions.enter is not None else actions.no_alert_actions
        none = "" if self._listed else "the log is empty"
        board = none or ("" if self._game() else "this is about no board")
        return [
            KeyHint("w", "w", "write", "write an entry of your own, kept with the time", why),
            KeyHint("slash", "/", "filter", "list only what has these words, or this board"),
            KeyHint(
                "e",
                "e",
                "print",
                "write the whole log as a page to print and sign",
                none or ("" if actions.export_log else actions.no_export),
            ),
            KeyHint("O", "O", "open", "list only what is not over, or everything"),
            KeyHint("enter", "⏎", "board", "look at the board", board),
            KeyHint("up", "↑↓ j k", "", "from incident to incident", none),
        ]

    def _game(self) -> str | None:
        return self._listed[self._at()].game if self._listed else None

    def press(self, key: str) -> bool:
        if key in ("down", "j", "up", "k"):
            if self._listed:
                by = 1 if key in ("down", "j") else -1
                at = max(0, min(len(self._listed) - 1, self._at() + by))
                self.cursor = self._listed[at].number
        elif key == "O":
            self.open_only = not self.open_only
        elif key == "slash":
            self._context.ask_filter(self.query, self._filter)
        elif key == "escape" and self.query:
            self.query = ""
        elif key == "w":
            self._context.write_entry(None)
        elif key == "e" and (export := self._context.actions.export_log) is not None:
            try:
                self._context.notify(f"Wrote {export()}")
            except LiveRateError as error:
                self._context.notify(str(error))
        elif key == "enter" and (game := self._game()):
            self._context.show(game)
        else:
            return False
        return True

    def _filter(self, text: str) -> None:
        self.query = text


def _kind_cells(width: int) -> int:
    return 22 if width >= 100 else 16


def listed(incidents: Sequence[Incident], query: str, *, open_only: bool) -> list[Incident]:
    """Those to show, the newest first. A time such as ``15:04`` finds what happened then."""
    matches = matcher(query)

    def text(each: Incident) -> str:
        times = " ".join(clock_time(change.at_s) for change in each.changes)
        return plain(f"{said_of(each)} {times}", 4000)

    return [
        each
        for each in reversed(incidents)
        if not (open_only and each.over_s is not None) and matches(text(each), _number(each.board))
    ]


def _number(board: str) -> int | None:
    first = board.partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) < 9 else None


def clock_time(at_s: float) -> str:
    """The time of day on this machine."""
    return dt.datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M:%S")
