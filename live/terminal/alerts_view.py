"""The views of alerts and of the incident log: what an arbiter should know, and what was done."""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Callable, Sequence
from functools import partial

from rich.text import Text

from live.alerts.finding import SIGNS, in_order
from live.alerts.incident_log import board_words, kind_name, said_of, with_boards
from live.events import Alert, GameView, Incident, Severity
from live.games.player_identity import family_name
from live.terminal.text import age_text, counted, left, matcher, plain, right, styled
from live.terminal.view_context import (
    AlertActions,
    KeyHint,
    ListView,
    TextPrompt,
    TextQuestion,
    ViewContext,
)

#: Lines for what is known of the one under the cursor.
_ALERT_LINES, _INCIDENT_LINES = 7, 8
_BOARD_CELLS = 24
#: On a terminal narrower than this the board's number has to do: what is the matter says more.
_NAMES_FROM = 100


_STYLES: dict[Severity, str] = {"alarm": "bad", "warning": "warn", "look": "accent"}


def point_of(alert: Alert, view: GameView | None) -> str:
    """Its text without the name of the board, which stands beside it."""
    if view is None:
        return alert.text
    names = (f"Board {view.board}: ", f"{view.white.name} - {view.black.name}: ")
    start = next((name for name in names if alert.text.startswith(name)), "")
    text = alert.text.removeprefix(start)
    return text[:1].upper() + text[1:]


def family_name_only(text: str, player: str | None) -> str:
    """The family name has to do in a list; the rest stands below it."""
    return text.replace(player, family_name(player), 1) if player else text


def _wrapped(parts: Sequence[tuple[str, str]], width: int) -> list[Text]:
    return [styled(f" {x}", style) for text, style in parts for x in textwrap.wrap(text, width - 2)]


class AlertsView(ListView[Alert]):
    """What asks for notice first, then the most urgent, then the newest."""

    name = "Alerts"
    empty = "there is no alert"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.show_muted = False
        self._muted = 0

    def draw(self, width: int, height: int) -> list[Text]:
        alerts = list(self._context.state.alerts())
        self._muted = sum(alert.muted for alert in alerts)
        matches = matcher(self.query)
        self.listed = in_order(
            alert
            for alert in alerts
            if alert.cleared_s is None
            and (self.show_muted or not alert.muted)
            and matches(f"{alert.kind} {plain(alert.text)} {plain(alert.player or '')}", None)
        )
        views = {view.id: view for view in self._context.state.games()}
        name = _BOARD_CELLS if width >= _NAMES_FROM else 9
        what = max(8, width - name - 14)
        head = styled(f"    {left('Board', name)} {left('What', what)}  For", "dim")
        rows = [
            self.pointed(alert, self._line(alert, views.get(alert.game or ""), name, what))
            for alert in self.seen(max(1, height - 2 - _ALERT_LINES))
        ]
        if not self.listed:
            muted = f", {self._muted} muted" if self._muted else ""
            rows.append(styled(f"  ✓ no alert{muted}", "good"))
            if unknown := self._context.actions.no_alerts():
                rows = _wrapped([(f" Not known: {unknown}", "warn")], width - 2)
        here = self.selected()
        detail = _about_alert(here, views.get(here.game or ""), width) if here else []
        return self.with_detail(head, rows, detail, (width, height), _ALERT_LINES)

    def _line(self, alert: Alert, view: GameView | None, name: int, what: int) -> Text:
        taken = alert.acknowledged_s is not None
        quiet = "dim" if alert.muted or taken else ""
        style = quiet or _STYLES[alert.severity]
        sign = "✓" if taken else "z" if alert.muted else SIGNS[alert.severity]
        board = plain(alert.feed or alert.player or "", _BOARD_CELLS)
        if view is not None:
            number = f"{view.board} " if view.board is not None else ""
            board = f"{number}{plain(view.white.name, 12)}–{plain(view.black.name, 12)}"
        text = family_name_only(plain(point_of(alert, view), 300), alert.player)
        return Text.assemble(
            (left(sign, 3), style),
            (left(board, name) + " ", quiet),
            (left(text + (f" ×{alert.times}" if alert.times > 1 else ""), what), style),
            ("✎" if alert.note else " ", "accent"),
            (right(age_text(self._context.wall_s() - alert.first_seen_s), 4), "dim"),
        )

    def caption(self) -> str:
        if unknown := self._context.actions.no_alerts():
            return f"alerts are not known: {unknown}"
        text = counted(len(self.listed), "alert")
        if self._muted and not self.show_muted:
            text += f", {self._muted} muted: M shows them"
        return self.filtered(text)

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        context, here, none = self._context, self.selected(), self.none()
        desk, game = context.actions.alert_actions, here.game if here else None
        why = none or ("" if desk else context.actions.no_alert_actions)

        def act(do: Callable[[AlertActions, Alert], None]) -> Callable[..., object]:
            return partial(do, desk, here) if desk is not None and here is not None else str

        take = "you took note: it stands below what is new"
        mute = "show it no more until it is unmuted"
        note = "write something to it, kept in the log with the time"
        return [
            KeyHint("a", "acknowledge", take, act(self._acknowledge), why),
            KeyHint("m", "mute", mute, act(self._mute), why),
            KeyHint("n", "note", note, act(self._note), why),
            KeyHint("M", "muted", "show what is muted, too", self.turn("show_muted")),
            context.open_key(game, none or ("" if game else "this alert is about no board")),
            *self.filter_keys("list only alerts with these words"),
            self.move_key("from alert to alert"),
            *context.board_keys(game),
        ]

    def _acknowledge(self, desk: AlertActions, alert: Alert) -> None:
        # The cursor goes to the next alert: this one moves below what is new.
        at = self.at() + 1
        self.cursor = self.listed[at if at < len(self.listed) else max(0, at - 2)].id
        desk.acknowledge(alert.id)
        self._context.notify("Acknowledged; it asks for notice again when it happens again")

    def _note(self, desk: AlertActions, alert: Alert) -> None:
        view = self._context.state.game(alert.game) if alert.game else None
        board = f"board {view.board}, " if view is not None and view.board is not None else ""
        self._context.ask = TextQuestion(
            f"Note to {board}{alert.kind}:", alert.note, lambda text: desk.note(alert.id, text)
        )

    def _mute(self, desk: AlertActions, alert: Alert) -> None:
        context, game = self._context, alert.game
        if alert.muted:
            desk.mute(alert.id, False)
            desk.mute_kind(alert.kind, False)
            if game is not None:
                desk.mute_board(game, False)
            context.notify("Unmuted")
            return

        def muted(what: str, mute: Callable[..., None], *about: str) -> None:
            mute(*about, True)
            context.notify(f"{what} is muted; M shows what is muted, m there unmutes")

        answers = {
            "a": partial(muted, "This alert", desk.mute, alert.id),
            "k": partial(muted, f"Kind {alert.kind}", desk.mute_kind, alert.kind),
        }
        question = f"Mute  a this alert  k all of kind {alert.kind}"
        if game is not None:
            answers["b"] = partial(muted, "This board", desk.mute_board, game)
            question += "  b all of this board"
        context.prompt = TextPrompt(f"{question}  esc none", answers)


def _about_alert(alert: Alert, view: GameView | None, width: int) -> list[Text]:
    text = f"{board_words(view)}: {point_of(alert, view)}" if view else alert.text
    parts = [(plain(text, 400), "strong"), (plain(alert.advice, 400), "text")]
    if (found := alert.agreement) is not None:
        said = (
            f"Screening figure, which accuses nobody: {found.share:.0%} of {found.moves} "
            f"moves, expected {found.expected:.0%}, {found.z:.1f} standard deviations above. "
            f"Of events with {found.boards} boards in which all is right, "
            f"{found.false_alarms:.1%} show such an alert. {plain(found.rests_on, 200)}"
        )
        parts.append((said, "dim"))
    if alert.note:
        parts.append((f"✎ {plain(alert.note, 500)}", "accent"))
    return _wrapped(parts, width)[:_ALERT_LINES]


class IncidentsView(ListView[Incident]):
    """Everything arbiters were shown and did, the newest first, searched and added to."""

    name = "Log"
    empty = "the log is empty"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.open_only = False

    def id_of(self, line: Incident) -> int:
        return line.number

    def draw(self, width: int, height: int) -> list[Text]:
        actions = self._context.actions
        boards = {view.id: board_words(view) for view in self._context.state.games()}
        matches = matcher(self.query)
        self.listed = [
            each
            for each in reversed(with_boards(actions.incidents(), boards))
            if not (self.open_only and each.over_s is not None)
            and matches(_searched(each), _number(each.board))
        ]
        wide = width >= _NAMES_FROM
        kind = 22 if wide else 16
        head = styled(f"    {left('Time', 8)} {left('What', kind)} Board and text", "dim")
        rows = [
            self.pointed(each, _incident_line(each, kind, wide=wide))
            for each in self.seen(max(1, height - 2 - _INCIDENT_LINES))
        ]
        if actions.no_incidents:
            rows += _wrapped([(actions.no_incidents, "warn")], width - 2)
        elif not rows:
            rows.append(styled("  ✓ nothing is in the log", "good"))
        here = self.selected()
        detail = _about_incident(here, width) if here else []
        return self.with_detail(head, rows, detail, (width, height), _INCIDENT_LINES)

    def caption(self) -> str:
        text = counted(len(self.listed), "incident") + (" open" if self.open_only else "")
        return self.filtered(text)

    def offers(self) -> list[KeyHint]:
        context, here, none = self._context, self.selected(), self.none()
        actions, game = context.actions, here.game if here else None
        export, write = actions.export_log, "write an entry of your own, kept with the time"
        why = "" if actions.enter else actions.no_alert_actions
        page = "write the whole log as a page to print and sign"
        no_page = none or ("" if export else actions.no_export)
        return [
            KeyHint("w", "write", write, partial(context.write_entry, None), why),
            *self.filter_keys("list only what has these words, or this board"),
            KeyHint("e", "print", page, partial(context.written, export or str), no_page),
            KeyHint(
                "O", "open", "list only what is not over, or everything", self.turn("open_only")
            ),
            context.open_key(game, none or ("" if game else "this is about no board")),
            self.move_key("from incident to incident"),
        ]


def _incident_line(each: Incident, kind: int, *, wide: bool) -> Text:
    own, over = each.kind in ("entry", "mute"), each.over_s is not None
    number = _number(each.board)
    board = each.board if number is None or wide else str(number)
    about = f"{plain(board, 30)}: " if board else ""
    text = each.text.removeprefix(f"Board {number}: ") if number is not None else each.text
    text = plain(family_name_only(text, each.player), 300)
    return Text.assemble(
        (left("✎" if own else " " if over else SIGNS[each.severity], 3), _STYLES[each.severity]),
        (f"{clock_time(each.began_s)} ", "dim"),
        (f"{left(kind_name(each.kind), kind)} ", "" if own else "dim"),
        (f"{about}{text}", "dim" if over and not own else ""),
        (f"  ✎ {plain(each.note, 100)}" if each.note else "", "accent"),
    )


def _about_incident(each: Incident, width: int) -> list[Text]:
    said = [
        f"{clock_time(change.at_s)} {change.what}" + (f": {change.text}" if change.text else "")
        for change in each.changes
    ]
    lines = _wrapped([(plain(text, 600), "text") for text in said], width)
    if len(lines) > _INCIDENT_LINES:
        # How it began and how it goes on says more than what lies between.
        lines = [lines[0], styled(" …", "text"), *lines[2 - _INCIDENT_LINES :]]
    return lines


def _searched(each: Incident) -> str:
    """What a filter looks at: a time such as ``15:04`` finds what happened then."""
    times = " ".join(clock_time(change.at_s) for change in each.changes)
    return plain(f"{said_of(each)} {times}", 4000)


def _number(board: str) -> int | None:
    first = board.partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) < 9 else None


def clock_time(at_s: float) -> str:
    """The time of day on this machine."""
    return dt.datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M:%S")
