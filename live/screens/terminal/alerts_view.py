"""The views of the arbiter's desk: open alerts, the incident log, and the sources with all that is
wrong with them.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding

from live.messages.alerts import Alert, Incident
from live.messages.figures import EngineInfo, GainKind, GameView
from live.messages.from_clients import DeskCommand
from live.messages.health import EngineHealth, PublicDelay
from live.messages.values import GameId
from live.screens.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    Panel,
    age_text,
    by_color,
    counted,
    feed_style,
    fit,
    is_withheld,
    left,
    matcher,
    plain,
    point_of,
    right,
    styled,
    wrapped,
)
from live.screens.terminal.view_context import ViewContext
from live.screens.terminal.widgets import Lines, ListView, TextView
from live.watch.alert_kinds import COUNTED
from live.watch.finding import SIGNS, dial, in_order, span
from live.watch.incident_log import (
    OWN_KINDS,
    board_words,
    incident_sign,
    kind_name,
    said_of,
    with_boards,
)

_BOARD_CELLS = 24
#: On a terminal narrower than this the board's number has to do: what is the matter says more.
_NAMES_FROM = 100


class DeskList(ListView):
    """Rows of the desk, and below a rule what is known of the one under the cursor."""

    empty = ""
    """Said where there is none."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self._heads = Lines(id="heads")
        self._about = Lines(id="about")

    def compose(self) -> ComposeResult:
        yield self._heads
        yield self.rows
        yield self._about

    def show_rows(
        self, head: str, ids: Sequence[str], draw: Callable[[int], Text], about: Callable[[], Panel]
    ) -> None:
        """Show the whole screen; ``head`` stands above the rows."""
        lines = [styled(head, "dim")]
        if unknown := self.context.no_desk():
            lines += wrapped([(f"Not known: {unknown}", "warn")], self.size.width, 2)
        elif not ids:
            lines.append(styled(f"  ✓ {self.empty}", "good"))
        self._heads.show(lines)
        self.rows.show(ids, draw)
        self._about.show(about() if ids else [])

    def count(self, text: str) -> str:
        """A caption; without the number where nothing can be known."""
        unknown = not self.rows.ids and self.context.no_desk()
        return self.filtered("not known here" if unknown else text)

    def find_row_board(self) -> GameId | None:
        """Return the board that the row under the cursor is about."""
        raise NotImplementedError

    def open_row(self) -> None:
        if (game := self.find_row_board()) is not None:
            self.context.show("board", game)
        else:
            self.context.notify("This is about no board")


class AlertsView(DeskList):
    """What asks for notice first, then the most urgent, then the newest; what is muted last."""

    empty = "there is no alert"
    BINDINGS = [
        Binding("a", "acknowledge", "ack", tooltip="you took note of it"),
        Binding("m", "mute", "mute", tooltip="show it below all others, or as before"),
        Binding("n", "note", "note", tooltip="write something to it, kept in the log"),
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self._listed: Sequence[Alert] = ()

    def redraw(self) -> None:
        matches = matcher(self.query_text)
        self._listed = in_order(
            alert
            for alert in self.context.state.alerts()
            if alert.cleared_s is None
            and matches(f"{alert.kind} {plain(alert.text)} {plain(alert.player or '')}", None)
        )
        width = self.size.width
        name = _BOARD_CELLS if width >= _NAMES_FROM else 9
        what = max(8, width - name - 14)
        self.show_rows(
            f"    {left('Board', name)} {left('What', what)}  For",
            [alert.id for alert in self._listed],
            lambda row: self._line(self._listed[row], name, what),
            self._explain,
        )

    def _view(self, alert: Alert) -> GameView | None:
        return self.context.state.game(alert.game) if alert.game else None

    def _explain(self) -> Panel:
        here = self.selected()
        return _about_alert(here, self._view(here), self.size.width) if here else []

    def selected(self) -> Alert | None:
        """The alert under the cursor."""
        return next((each for each in self._listed if each.id == self.rows.cursor), None)

    def _line(self, alert: Alert, name: int, what: int) -> Text:
        view = self._view(alert)
        taken = alert.acknowledged_s is not None
        quiet = "dim" if alert.muted or taken else ""
        style = quiet or SEVERITY_STYLES[alert.severity]
        sign = "z" if alert.muted else "✓" if taken else SIGNS[alert.severity]
        board = plain(alert.feed or alert.player or "", _BOARD_CELLS)
        if view is not None:
            number = f"{view.board} " if view.board is not None else ""
            board = f"{number}{plain(view.white.name, 12)}–{plain(view.black.name, 12)}"
        text = plain(point_of(alert, view), 300)
        return Text.assemble(
            (left(sign, 3), style),
            (f"{left(board, name)} ", quiet),
            (left(text + (f" ×{alert.times}" if alert.times > 1 else ""), what), style),
            ("✎" if alert.note else " ", "accent"),
            (right(age_text(self.context.wall_s() - alert.first_seen_s), 4), "dim"),
        )

    def caption(self) -> str:
        muted = sum(alert.muted for alert in self._listed)
        text = counted(len(self._listed), "alert")
        return self.count(f"{text}, {muted} of them muted" if muted else text)

    # --- keys -------------------------------------------------------------------------------------

    def find_row_board(self) -> GameId | None:
        here = self.selected()
        return here.game if here else None

    def find_board(self) -> GameId | None:
        return self.find_row_board()

    def _ask_for(self) -> Alert | None:
        """The alert that a key is about; where there is none, say so."""
        here = self.selected()
        if not self.context.is_desk_known():
            return None
        if here is None:
            self.context.notify(f"It does nothing now: {self.empty}")
        return here

    def action_acknowledge(self) -> None:
        alert = self._ask_for()
        if alert is None:
            return
        # What is merely past is gone by this, and another line under the cursor.
        if not self.rows.moved or alert.acknowledged_s is not None:
            self.context.notify("Acknowledged already; ↑↓ go to another alert")
            return
        self.rows.moved = False
        self.context.command(DeskCommand("acknowledge", alert.id))
        self.context.notify("Acknowledged; it asks for notice again when it happens again")

    def action_note(self) -> None:
        alert, context = self._ask_for(), self.context
        if alert is None:
            return
        view = self._view(alert)
        board = f"board {view.board}, " if view is not None and view.board is not None else ""

        def done(text: str) -> None:
            context.command(DeskCommand("note", alert.id, text))

        context.ask(f"Note to {board}{alert.kind}:", alert.note, done)

    def action_mute(self) -> None:
        alert, context = self._ask_for(), self.context
        if alert is None:
            return
        every = {
            "a": ("this alert", DeskCommand("mute", alert.id)),
            "k": (f"all of kind {alert.kind}", DeskCommand("mute-kind", alert.kind)),
        }
        if alert.game is not None:
            every["b"] = ("all of this board", DeskCommand("mute-board", alert.game))
        if alert.muted:
            for _, asked in every.values():
                context.command(DeskCommand(asked.act, asked.about, muted=False))
            context.notify("Unmuted")
            return

        def mute(asked: DeskCommand) -> None:
            context.command(asked)
            context.notify("Muted: it stands below all others; m there unmutes")

        answers = {key: (words, partial(mute, asked)) for key, (words, asked) in every.items()}
        context.choose("Mute", answers)


def _about_alert(alert: Alert, view: GameView | None, width: int) -> Panel:
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
    return wrapped(parts, width)


class LogView(DeskList):
    """Everything arbiters were shown and did, the newest first, searched and added to."""

    empty = "the log is empty"
    BINDINGS = [
        Binding("e", "print", "print", tooltip="write the whole log as a page to print and sign")
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self._listed: Sequence[Incident] = ()

    def redraw(self) -> None:
        context = self.context
        boards = {view.id: board_words(view) for view in context.state.games()}
        matches = matcher(self.query_text)
        self._listed = [
            each
            for each in reversed(with_boards(context.incidents(), boards))
            if matches(_searched(each), _number(each.board))
        ]
        wide = self.size.width >= _NAMES_FROM
        kind = 22 if wide else 16
        self.show_rows(
            f"    {left('Time', 8)} {left('What', kind)} Board and text",
            [str(each.number) for each in self._listed],
            lambda row: _incident_line(self._listed[row], kind, wide=wide),
            self._explain,
        )

    def selected(self) -> Incident | None:
        """The incident under the cursor."""
        return next((each for each in self._listed if str(each.number) == self.rows.cursor), None)

    def _explain(self) -> Panel:
        here = self.selected()
        return _about_incident(here, self.size.width, 8) if here else []

    def caption(self) -> str:
        going = sum(each.over_s is None for each in self._listed)
        return self.count(f"{counted(len(self._listed), 'incident')}, {going} open")

    def find_row_board(self) -> GameId | None:
        here = self.selected()
        return here.game if here else None

    def action_print(self) -> None:
        self.context.written(self.context.export_log)


def _incident_line(each: Incident, kind: int, *, wide: bool) -> Text:
    own, over = each.kind in OWN_KINDS, each.over_s is not None
    number = _number(each.board)
    board = each.board if number is None or wide else str(number)
    about = f"{plain(board, 30)}: " if board else ""
    # As it was then: how long something lasts goes on, but how many there are is news.
    first = each.text if each.kind in COUNTED else each.changes[0].text
    text = first.removeprefix(f"Board {number}: ")
    text = plain(by_color(text, each.player, each.color), 300)
    sign = " " if over and not own else incident_sign(each)
    return Text.assemble(
        (left(sign, 3), SEVERITY_STYLES[each.severity]),
        (f"{clock_time(each.began_s)} ", "dim"),
        (f"{left(kind_name(each.kind), kind)} ", "" if own else "dim"),
        (f"{about}{text}", "dim" if over and not own else ""),
        (f"  ✎ {plain(each.note, 100)}" if each.note else "", "accent"),
    )


def _about_incident(each: Incident, width: int, most: int) -> Panel:
    said = [
        f"{clock_time(change.at_s)} {change.what}{change.text and f': {change.text}'}"
        for change in each.changes
    ]
    lines = wrapped([(plain(text, 600), "text") for text in said], width)
    if len(lines) > most:
        # How it began and how it goes on says more than what lies between.
        lines = [lines[0], styled(" …", "text"), *lines[2 - most :]]
    return lines


def _searched(each: Incident) -> str:
    """What a filter looks at: a time such as ``15:04`` finds what happened then."""
    times = " ".join(clock_time(change.at_s) for change in each.changes)
    return plain(f"{said_of(each)} {times} {'open' if each.over_s is None else 'over'}", 4000)


def _number(board: str) -> int | None:
    first = board.partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) < 9 else None


def clock_time(at_s: float) -> str:
    """The time of day on this machine."""
    return dt.datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M:%S")


# --- sources ----------------------------------------------------------------------------------


class SourcesView(TextView):
    """Every source with address, state and reason, whole; engines, and what the public sees."""

    def write(self) -> Panel:
        width = self.size.width
        context, state = self.context, self.context.state
        boards = Counter(feed for view in state.games() for feed in (view.feed, *view.also))
        lines = [styled(" Sources, and parts of the service", "head")]
        if lost := context.status():
            lines.append(styled(fit(f" As last known: {lost}", width), "warn"))

        def say(text: str, style: str = "text", indent: int = 1) -> None:
            lines.extend(wrapped([(text, style)], width, indent))

        for feed in state.feeds():
            style = feed_style(feed.state)
            number = f", {counted(boards[feed.feed], 'board')}" if not feed.part else ""
            for_s = context.changes.silent_s(feed.feed)
            number += f", not live for {span(for_s)}" if for_s >= 1 else ""
            say(f"{FEED_SIGNS[feed.state]} {plain(feed.feed)}: {feed.state}{number}", style)
            say(plain(feed.detail.removeprefix(feed.feed).strip()), indent=3)
        engine, health = state.engine(), state.engines()
        lines += [Text(), styled(" Engines", "head")]
        say(f"⚙ {engines_text(health)}")
        if not is_withheld(engine):
            say(measured_by(engine, state.gain()), indent=3)
        lines += [styled(f"   ! {plain(text, 200)}", "warn") for text in engine_troubles(health)]
        lines += [Text(), styled(" The public", "head")]
        say(delay_text(context.public_delay()) or "sees everything at once")
        return [*lines, styled(f" reads {plain(context.address, 200)}", "accent")]


def measured_by(engine: EngineInfo, gain: GainKind) -> str:
    """Who measures, and how."""
    rating = f" at {engine.rating} Elo" if engine.rating else ""
    return f"{plain(engine.name, 40)}{rating} · {engine.limit} · {gain} gain"


def engines_text(engines: EngineHealth) -> str:
    """How busy the engines are."""
    busy = sum(engine.state == "searching" for engine in engines.engines)
    speed = sum(engine.knodes_per_s or 0 for engine in engines.engines)
    said = [f"{busy} of {len(engines.engines)} searching"]
    said += [f"{speed:.0f} kn/s"] if speed else []
    said.append(f"queue {engines.queued}")
    if engines.measuring is not None and engines.measuring.of:
        done, of = engines.measuring.done, engines.measuring.of
        said.append(f"measuring {done} of {of}, ratings move a little until then")
    return " · ".join(said)


def engine_troubles(engines: EngineHealth) -> list[str]:
    """What is wrong with the engines, or late."""
    said = [each for each in (engines.problem, engines.behind) if each]
    if engines.restarts or engines.set_aside:
        said.append(f"{engines.restarts} restarts, {engines.set_aside} given up")
    return said


def delay_text(delay: PublicDelay, *, brief: bool = False) -> str:
    """Say it as ``15:00 behind, holding 12 moves on 2 boards``; empty where there is no
    delay and nothing is held back. ``brief``: without what waits, and beside other
    words.
    """
    if not delay.delay_s and not delay.held_moves:
        return ""
    text = f"{dial(delay.delay_s)} behind"
    if brief:
        return f"public {text}"
    if delay.held_moves:
        moves, boards = counted(delay.held_moves, "move"), counted(delay.held_boards, "board")
        text += f", holding {moves} on {boards}"
    return text
