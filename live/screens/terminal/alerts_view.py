"""The screen of open alerts, and the keys with which an arbiter answers them."""

from collections.abc import Mapping
from functools import partial

from rich.text import Text
from textual.binding import Binding

from live.catalogue import round_percent
from live.messages.alerts import Alert
from live.messages.figures import GameView
from live.messages.from_clients import DeskCommand
from live.screens.terminal.desk_list import BOARD_CELLS, NAMES_FROM, DeskList
from live.screens.terminal.text import (
    SEVERITY_STYLES,
    Panel,
    align_left,
    align_right,
    build_matcher,
    plain,
    shorten_alert,
    wrap_texts,
    write_age,
)
from live.watch.finding import SIGNS, format_count, sort_by_urgency
from live.watch.incident_log import name_board_and_players

#: Width in cells of the column Board where it has no room for players' names.
_NUMBER_CELLS = 9
#: Width in cells of all other columns: signs of alert and note, age, and gaps.
_REST_CELLS = 14


class AlertsView(DeskList[Alert]):
    """List of alerts: unanswered ones first, the most urgent and newest on top; muted
    ones last.
    """

    empty = "there is no alert"
    BINDINGS = [
        Binding("a", "acknowledge", "ack", tooltip="you have seen it"),
        Binding("m", "mute", "mute", tooltip="list it below all others, or as before"),
        Binding("n", "note", "note", tooltip="write a note on it, kept in the log"),
    ]

    def find_items(self) -> Mapping[str, Alert]:
        matches = build_matcher(self.query_text)
        alerts = {}
        for alert in sort_by_urgency(self.context.state.alerts()):
            searched = f"{alert.kind} {plain(alert.text)} {plain(alert.player or '')}"
            if alert.cleared_s is None and matches(searched, None):
                alerts[alert.id] = alert
        return alerts

    def _find_cells(self) -> tuple[int, int]:
        """Return the widths of the columns Board and What, in cells."""
        board = BOARD_CELLS if self.size.width >= NAMES_FROM else _NUMBER_CELLS
        return board, max(8, self.size.width - board - _REST_CELLS)

    def write_head(self) -> str:
        board_cells, what_cells = self._find_cells()
        board = align_left("Board", board_cells)
        return f"    {board} {align_left('What', what_cells)}  For"

    def write_row(self, item: Alert) -> Text:
        board_cells, what_cells = self._find_cells()
        view = self._find_view(item)
        quiet = "dim" if item.muted or item.acknowledged_s is not None else ""
        style = quiet or SEVERITY_STYLES[item.severity]
        sign = SIGNS[item.severity]
        if item.muted:
            sign = "z"
        elif item.acknowledged_s is not None:
            sign = "✓"
        board = name_board_and_players(view) if view else item.feed or item.player or ""
        times = f" ×{item.times}" if item.times > 1 else ""
        text = plain(shorten_alert(item, view), 300) + times
        return Text.assemble(
            (align_left(sign, 3), style),
            (f"{align_left(self.write_board(board), board_cells)} ", quiet),
            (align_left(text, what_cells), style),
            ("✎" if item.note else " ", "accent"),
            (
                align_right(write_age(self.context.wall_s() - item.first_seen_s), 4),
                "dim",
            ),
        )

    def explain(self, item: Alert) -> Panel:
        view = self._find_view(item)
        text = (
            f"{name_board_and_players(view)}: {shorten_alert(item, view)}"
            if view
            else item.text
        )
        parts = [(plain(text, 400), "strong"), (plain(item.advice, 400), "text")]
        if (figure := item.agreement) is not None:
            share = round_percent(100 * figure.share)
            expected = round_percent(100 * figure.expected)
            explanation = (
                f"A screening figure, which accuses nobody: {share}% of "
                f"{figure.moves} moves, expected {expected}%, {figure.z:.1f} "
                f"standard deviations above. Of events with {figure.boards} boards "
                f"where all play fair, {figure.false_alarms:.1%} show such an alert. "
                f"{plain(figure.rests_on, 200)}"
            )
            parts.append((explanation, "dim"))
        if item.note:
            parts.append((f"✎ {plain(item.note, 500)}", "accent"))
        return wrap_texts(parts, self.size.width)

    def _find_view(self, alert: Alert) -> GameView | None:
        return self.context.state.game(alert.game) if alert.game else None

    def describe(self) -> str:
        muted = sum(alert.muted for alert in self.listed.values())
        text = format_count(len(self.listed), "alert")
        return self.write_caption(f"{text}, {muted} of them muted" if muted else text)

    # --- keys -------------------------------------------------------------------------

    def find_board(self) -> str | None:
        alert = self.find_selected()
        return alert.game if alert else None

    def _find_answerable(self) -> Alert | None:
        """Return the alert under the cursor; if there is none, show a message and
        return None.
        """
        if not self.context.is_desk_known():
            return None
        here = self.find_selected()
        if here is None:
            self.context.notify(f"Not possible now: {self.empty}")
        return here

    def action_acknowledge(self) -> None:
        alert = self._find_answerable()
        if alert is None:
            return
        # An acknowledged alert disappears if its cause is over, and the next row moves
        # under the cursor. A repeated key must not acknowledge that row.
        if not self.rows.moved or alert.acknowledged_s is not None:
            self.context.notify("Already acknowledged; ↑↓ go to another alert")
            return
        self.rows.moved = False
        self.context.command(DeskCommand("acknowledge", alert.id))
        self.context.notify("Acknowledged; the alert returns if this happens again")

    def action_note(self) -> None:
        alert = self._find_answerable()
        if alert is None:
            return
        id, view = alert.id, self._find_view(alert)
        board = f"board {view.board}, " if view and view.board is not None else ""

        def write(text: str) -> None:
            self.context.command(DeskCommand("note", id, text))

        self.context.ask(f"Note on {board}{alert.kind}:", alert.note, write)

    def action_mute(self) -> None:
        alert = self._find_answerable()
        if alert is None:
            return
        choices = {
            "a": ("this alert", DeskCommand("mute", alert.id)),
            "k": (f"all of kind {alert.kind}", DeskCommand("mute-kind", alert.kind)),
        }
        if alert.game is not None:
            choices["b"] = ("all of this board", DeskCommand("mute-board", alert.game))
        if alert.muted:
            for _, command in choices.values():
                self.context.command(
                    DeskCommand(command.act, command.about, muted=False)
                )
            self.context.notify("Unmuted")
            return
        answers = {}
        for key, (words, command) in choices.items():
            answers[key] = words, partial(self._send_mute_command, command)
        self.context.choose("Mute", answers)

    def _send_mute_command(self, asked: DeskCommand) -> None:
        self.context.command(asked)
        self.context.notify("Muted: listed below all others; press m there to unmute")
