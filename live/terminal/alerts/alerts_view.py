"""The view of alerts: take note, mute, write a note, go to the board."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from live.events import Alert, GameView
from live.terminal.alerts.alert_list import AlertListOptions, alerts, listed
from live.terminal.text_cells import counted
from live.terminal.view_context import AlertActions, TextPrompt, TextQuestion, ViewContext
from live.terminal.view_frame import KeyHint


class AlertsView:
    name = "Alerts"

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self.query = ""
        self.cursor: str | None = None
        self.show_muted = False
        self._listed: list[Alert] = []
        self._muted = 0

    def draw(self, width: int, height: int) -> list[Text]:
        context = self._context
        held = list(context.state.alerts())
        self._muted = sum(alert.muted for alert in held)
        self._listed = listed(held, self.query, show_muted=self.show_muted)
        if self._listed:
            self.cursor = self._listed[self._at()].id
        views: dict[str, GameView] = {view.id: view for view in context.state.games()}
        look = AlertListOptions(
            palette=context.palette,
            cursor=self.cursor,
            first=0,
            show_muted=self.show_muted,
            now_s=context.wall_s(),
            game=views.get,
            unknown=context.actions.no_alerts(),
        )
        return alerts(self._listed, self._muted, width, height, look)

    def _at(self) -> int:
        for index, alert in enumerate(self._listed):
            if alert.id == self.cursor:
                return index
        return 0

    def caption(self) -> str:
        if unknown := self._context.actions.no_alerts():
            return f"alerts are not known: {unknown}"
        text = counted(len(self._listed), "alert")
        if self._muted and not self.show_muted:
            text += f", {self._muted} muted: M shows them"
        return text + (f" · filter {self.query!r}" if self.query else "")

    def offers(self) -> list[KeyHint]:
        none = "" if self._listed else "there is no alert"
        why = none or (
            "" if self._context.actions.alert_actions else self._context.actions.no_alert_actions
        )
        board = none or ("" if self._game() else "this alert is about no board")
        return [
            KeyHint("a", "a", "acknowledge", "you took note: it stands below what is new", why),
            KeyHint("m", "m", "mute", "show it no more until it is unmuted", why),
            KeyHint("n", "n", "note", "write something to it, kept in the log with the time", why),
            KeyHint("M", "M", "muted", "show what is muted, too"),
            KeyHint("enter", "⏎", "board", "look at the board", board),
            KeyHint("slash", "/", "filter", "list only alerts with these words"),
            KeyHint("up", "↑↓ j k", "", "from alert to alert", none),
            *self._context.board_keys(self._game()),
        ]

    def _game(self) -> str | None:
        return self._listed[self._at()].game if self._listed else None

    def press(self, key: str) -> bool:
        if key in ("down", "j"):
            self._move(1)
        elif key in ("up", "k"):
            self._move(-1)
        elif key == "M":
            self.show_muted = not self.show_muted
        elif key == "slash":
            self._context.ask_filter(self.query, self._filter)
        elif key == "escape" and self.query:
            self.query = ""
        elif key in ("a", "m", "n") and self._listed:
            self._act(key, self._listed[self._at()])
        elif key == "enter" and (game := self._game()):
            self._context.show(game)
        else:
            return self._context.press_board(key, self._game())
        return True

    def _filter(self, text: str) -> None:
        self.query = text

    def _move(self, by: int) -> None:
        if self._listed:
            at = max(0, min(len(self._listed) - 1, self._at() + by))
            self.cursor = self._listed[at].id

    def _act(self, key: str, alert: Alert) -> None:
        context = self._context
        desk_actions = context.actions.alert_actions
        if desk_actions is None:
            context.notify(f"{key} does nothing: {context.actions.no_alert_actions}")
        elif key == "a":
            self._stay()
            desk_actions.acknowledge(alert.id)
            context.notify("Acknowledged; it asks for notice again when it happens again")
        elif key == "m":
            self._mute(desk_actions, alert)
        else:
            context.ask = TextQuestion(
                f"Note to {self._about(alert)}:",
                alert.note,
                lambda text: desk_actions.note(alert.id, text),
            )

    def _about(self, alert: Alert) -> str:
        view = self._context.state.game(alert.game) if alert.game else None
        board = f"board {view.board}, " if view is not None and view.board is not None else ""
        return f"{board}{alert.kind}"

    def _stay(self) -> None:
        """The cursor goes to the next alert: this one moves below what is new."""
        at = self._at() + 1
        self.cursor = self._listed[at if at < len(self._listed) else max(0, at - 2)].id

    def _mute(self, desk_actions: AlertActions, alert: Alert) -> None:
        context = self._context
        if alert.muted:
            desk_actions.mute(alert.id, False)
            desk_actions.mute_kind(alert.kind, False)
            if alert.game is not None:
                desk_actions.mute_board(alert.game, False)
            context.notify("Unmuted")
            return

        def muted(what: str, act: Callable[[], None]) -> Callable[[], None]:
            def done() -> None:
                act()
                context.notify(f"{what} is muted; M shows what is muted, m there unmutes")

            return done

        game = alert.game
        answers = {
            "a": muted("This alert", lambda: desk_actions.mute(alert.id, True)),
            "k": muted(f"Kind {alert.kind}", lambda: desk_actions.mute_kind(alert.kind, True)),
        }
        question = f"Mute  a this alert  k all of kind {alert.kind}"
        if game is not None:
            answers["b"] = muted("This board", lambda: desk_actions.mute_board(game, True))
            question += "  b all of this board"
        context.prompt = TextPrompt(f"{question}  esc none", answers)
