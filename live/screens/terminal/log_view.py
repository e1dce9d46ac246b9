"""The screen of the incident log, which records alerts and what arbiters did."""

import datetime as dt
from collections.abc import Mapping

from rich.text import Text
from textual.binding import Binding

from live.messages.alerts import Incident
from live.screens.terminal.desk_list import NAMES_FROM, DeskList, read_number
from live.screens.terminal.text import (
    SEVERITY_STYLES,
    Panel,
    align_left,
    begin_line,
    build_matcher,
    plain,
    replace_name_by_color,
    wrap_texts,
)
from live.watch.alert_kinds import COUNTED
from live.watch.finding import format_count
from live.watch.incident_log import (
    OWN_KINDS,
    build_search_text,
    incident_sign,
    kind_name,
    name_board_and_players,
    name_boards,
)

#: Maximum number of lines for the history of one incident.
_MOST_LINES = 8


class LogView(DeskList[Incident]):
    """List of all incidents, the newest first; it can be searched and written to."""

    empty = "the log is empty"
    BINDINGS = [
        Binding(
            "e",
            "print",
            "print",
            tooltip="write the whole log as a page to print and sign",
        )
    ]

    def find_items(self) -> Mapping[str, Incident]:
        boards = {
            view.id: name_board_and_players(view) for view in self.context.state.games()
        }
        matches = build_matcher(self.query_text)
        incidents = {}
        for incident in reversed(name_boards(self.context.incidents(), boards)):
            if matches(_build_filter_text(incident), read_number(incident.board)):
                incidents[str(incident.number)] = incident
        return incidents

    def write_head(self) -> str:
        kind = align_left("What", self._find_kind_cells())
        return f"    {align_left('Time', 8)} {kind} Board and text"

    def _find_kind_cells(self) -> int:
        return 22 if self.size.width >= NAMES_FROM else 16

    def write_row(self, item: Incident) -> Text:
        is_own, is_over = item.kind in OWN_KINDS, item.over_s is not None
        board = f"{self.write_board(item.board)}: " if item.board else ""
        # Show an incident's first text, since a duration in it would change all the
        # time. Incidents with a count show their latest text, since a new count is
        # news.
        first = item.text if item.kind in COUNTED else item.changes[0].text
        text = replace_name_by_color(
            first.removeprefix(f"Board {read_number(item.board)}: "),
            item.player,
            item.color,
        )
        sign = " " if is_over and not is_own else incident_sign(item)
        return Text.assemble(
            (align_left(sign, 3), SEVERITY_STYLES[item.severity]),
            (f"{format_time(item.began_s)} ", "dim"),
            (
                f"{align_left(kind_name(item.kind), self._find_kind_cells())} ",
                "" if is_own else "dim",
            ),
            (f"{board}{plain(text, 300)}", "dim" if is_over and not is_own else ""),
            (f"  ✎ {plain(item.note, 100)}" if item.note else "", "accent"),
        )

    def explain(self, item: Incident) -> Panel:
        parts = []
        for change in item.changes:
            text = f"{format_time(change.at_s)} {change.what}"
            text += f": {change.text}" if change.text else ""
            parts.append((plain(text, 600), "text"))
        lines = wrap_texts(parts, self.size.width)
        if len(lines) > _MOST_LINES:
            # Leave out the middle: the first change and the latest ones matter most.
            lines = [lines[0], begin_line(" …", "text"), *lines[2 - _MOST_LINES :]]
        return lines

    def describe(self) -> str:
        open_count = sum(incident.over_s is None for incident in self.listed.values())
        return self.write_caption(
            f"{format_count(len(self.listed), 'incident')}, {open_count} open"
        )

    def action_print(self) -> None:
        self.context.write_report(self.context.export_log)


def _build_filter_text(incident: Incident) -> str:
    """Return the text that a filter searches; it contains times, so ``15:04`` finds
    changes of that minute.
    """
    times = " ".join(format_time(change.at_s) for change in incident.changes)
    state = "open" if incident.over_s is None else "over"
    return plain(f"{build_search_text(incident)} {times} {state}", 4000)


def format_time(at_s: float) -> str:
    """Return the time of day in this machine's time zone."""
    return dt.datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M:%S")
