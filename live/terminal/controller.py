"""The whole terminal without the terminal: keys in, frames of text out. Knows no Textual.

Draws title, one view, the last message or the health line, and the keys. Routes each key: an open
question first, then the view, then what holds everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from live.events import EngineHealth, EngineInfo, GainKind, GameId, PublicDelay
from live.terminal.alerts_view import AlertsView, IncidentsView
from live.terminal.board_view import BoardView
from live.terminal.boards_view import BoardsView
from live.terminal.players_view import PlayersView
from live.terminal.text import (
    PALETTES,
    WITHHELD,
    counted,
    filled,
    fit,
    is_withheld,
    plain,
    spoken_time,
    styled,
)
from live.terminal.view_context import KeyHint, TextPrompt, View, ViewContext, asks

#: Time between frames, seconds. A key is answered at once, whatever the rate.
FRAME_S = 0.25
#: Nobody is to press keys in vain.
NO_KEYS = "This display takes no keys; Ctrl-C ends it."
#: Sign of each feed state, beside the word.
FEED_SIGNS = {
    "connecting": "…",
    "waiting": "◌",
    "live": "●",
    "stale": "◔",
    "retrying": "↻",
    "failed": "✗",
    "finished": "✓",
}
#: Stands in what a source says between what is wrong and when it is tried again.
RETRY = ", trying again in "
#: What the signs on the screens mean.
SIGNS = (
    "○ White  ● Black  ★ pinned  • just changed  ▌ selected  ! something is wrong here",
    "~ provisional score  · not known yet",
    "Plays like: the rating that these moves look like, compared with what players of every rating "
    "lose in the same positions. Grey under ten counted moves: early. Strong: the game is over.",
    "usual: 8 of 10 games by players of this Elo lie there. Pct: better than so many of 100 such "
    "games. n: counted moves. Nothing within the usual band is unusual.",
    "A4: Ferreira's Algorithm 4 against the engine, on its own scale: it ranks, its distances are "
    "not Elo. v shows it in the curves.",
    "Odds: █ White wins ▒ draw ░ Black wins, for these two players from here.",
    "Swing: largest change of the score in four plies. Age: since the last move. 1st: first "
    "choices of the engine. Loss: mean loss of a move, centipawns.",
    "Jump: how far the score moved while the engine looked deeper: a hard position.",
    "Alerts: !! act now  ! act soon  ? worth a look  ✓ acknowledged  z muted  ✎ has a note.",
    "A clock in colour is low: under 5 minutes, then under 1; less where games are fast.",
    "A key in brackets does nothing now; here it says why. 3= is a tie: equal numbers.",
    "A rating says how good these moves were. It accuses nobody of anything.",
)
#: Smallest terminal that is drawn on, cells and lines.
LEAST = (60, 12)


class TerminalController:
    """``leave`` ends the terminal; ``command_list`` opens the list of commands."""

    def __init__(
        self,
        context: ViewContext,
        leave: Callable[[], None],
        command_list: Callable[[], None] = lambda: None,
    ) -> None:
        self.context = context
        self._leave = leave
        self._command_list = command_list
        self.boards = BoardsView(context)
        self.board = BoardView(context, self.boards)
        self.players = PlayersView(context)
        self.alerts = AlertsView(context)
        self.incidents = IncidentsView(context)
        self.view: View = self.boards
        self.helping = False
        self.asking = ""
        """What is to be typed in the line below the frame; empty when nothing is."""
        self._help_first = 0
        self.restyle: Callable[[], None] = lambda: None
        """Called when the palette changed."""
        self._behind: list[View] = []
        context.show = self._show
        context.list_boards = self._list_boards

    # --- frames -----------------------------------------------------------------------------------

    def frame(self, width: int, height: int) -> list[Text]:
        """Exactly ``height`` lines of at most ``width`` cells."""
        if width < LEAST[0] or height < LEAST[1]:
            return filled([styled(f"At least {LEAST[0]}x{LEAST[1]}, please"[:width])], height)
        body = (self._help if self.helping else self.view.draw)(width, height - 3)
        top = title(self.context, "Help" if self.helping else self.view.name, width)
        lines = [top, *body[: height - 3], self._status(width), self._bottom(width)]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return lines

    def _help(self, width: int, height: int) -> list[Text]:
        lines = help_lines(self.view.name, self._keys(), SIGNS, width)
        self._help_first = max(0, min(self._help_first, len(lines) - height))
        return filled(lines[self._help_first :], height)

    def _status(self, width: int) -> Text:
        context = self.context
        if trouble := context.actions.status():
            return styled(f" ↻ {trouble}", "warn")
        if message := context.message():
            return styled(f" {message}", "accent")
        caption = self.view.caption()
        line = styled(f" {caption}  " if caption else "", "text")
        rest = width - line.cell_len
        if rest > 20:
            line.append_text(health(context, rest))
        return line

    def _bottom(self, width: int) -> Text:
        context = self.context
        if context.keyless:
            return styled(f" {NO_KEYS}", "dim")
        if context.prompt is not None:
            return styled(f" {context.prompt.question}", "warn")
        if self.asking:
            return styled(f" {self.asking}  ⏎ done  esc as before", "warn")
        keys = self._keys()
        if self.helping:
            keys = [KeyHint("", "scroll", shown="↑↓"), KeyHint("", "close", shown="esc")]
        return footer(keys, width)

    # --- keys -------------------------------------------------------------------------------------

    def _keys(self) -> list[KeyHint]:
        return [*self.view.offers(), *self.everywhere()]

    def everywhere(self) -> list[KeyHint]:
        """Keys of every screen."""
        # The view of boards has no room for it; help names it there.
        views = "" if self.view is self.boards else "views"
        lists = "boards, players and standings, alerts, incident log"
        more = "every command, found by typing part of its name"
        figure = "show Algorithm 4 in the curves, or the perceived rating"
        bell = "the bell: silent, rings for alarms, rings for every alert"
        theme = "another theme: dusk, paper, signal (colour-blind safe), plain"
        return [
            KeyHint("1 2 3 4", views, lists, lambda key: self.go(self._lists()[int(key) - 1])),
            KeyHint("colon", "more", more, self._command_list),
            KeyHint("v", "", figure, self.context.next_figure),
            KeyHint("b", "", bell, lambda: self.context.notify(self.context.bell.next_choice())),
            KeyHint("t", "", theme, self._next_theme),
            KeyHint("q", "quit", "end, after asking", self._ask_to_leave),
            KeyHint("question_mark f1", "help", "this page", self._open_help),
            KeyHint("escape", act=self._back, shown=""),
        ]

    def _lists(self) -> tuple[View, ...]:
        return self.boards, self.players, self.alerts, self.incidents

    def press(self, key: str) -> None:
        """Carry out a key, as Textual names it."""
        context = self.context
        if context.prompt is not None:
            prompt, context.prompt = context.prompt, None
            prompt.answers.get(key, lambda: None)()
        elif self.helping:
            scrolled = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 10, "pageup": -10}
            self._help_first += scrolled.get(key, 0)
            self.helping = key not in ("escape", "question_mark", "q", "enter")
        else:
            self.view.press(key, self.everywhere())

    def interrupted(self) -> bool:
        """Ctrl-C: whether it is to end now. The first one asks: a hall depends on the service."""
        prompt = self.context.prompt
        if prompt is not None and prompt.question == self._leave_question():
            return True
        self._ask_to_leave()
        return False

    def _leave_question(self) -> str:
        return f"{self.context.actions.leave_question}  y yes  esc no"

    def _ask_to_leave(self) -> None:
        answers = dict.fromkeys(("y", "q", "enter"), self._leave)
        self.context.prompt = TextPrompt(self._leave_question(), answers)

    def _open_help(self, *_: str) -> None:
        self.helping = True
        self._help_first = 0

    def _back(self) -> None:
        self.view = self._behind.pop() if self._behind else self.boards

    def go(self, view: View) -> None:
        """Show one of the four lists."""
        self._behind.clear()
        self.helping = False
        self.view = view

    def _show(self, game: GameId) -> None:
        if self.view is not self.board:
            self._behind.append(self.view)
        self.board.open(game)
        self.view = self.board

    def _list_boards(self, query: str) -> None:
        self._behind = [self.view]
        self.boards.query = query
        self.view = self.boards

    def _next_theme(self) -> None:
        names = list(PALETTES)
        self.use_theme(names[(names.index(self.context.palette.name) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """This theme."""
        self.context.palette = PALETTES[name]
        self.restyle()
        self.context.notify(f"Theme {name}")

    def commands(self) -> list[tuple[str, str, Callable[[], None]]]:
        """Name, explanation and action of everything there is, for the list of commands."""
        explained = (
            "all boards",
            "players and standings by every method",
            "what an arbiter should know",
            "all alerts, notes and entries",
        )
        found: list[tuple[str, str, Callable[[], None]]] = [
            (view.name, words, partial(self.go, view))
            for view, words in zip(self._lists(), explained, strict=True)
        ]
        for each in self.view.offers():
            if each.keys and each.explained and not each.disabled:
                name = each.label.capitalize() or each.explained.partition(";")[0].capitalize()
                found.append((name, each.explained, partial(self.press, each.keys.split()[0])))
        found += [(f"Theme {name}", "colours", partial(self.use_theme, name)) for name in PALETTES]
        found.append(("Help", "every key", self._open_help))
        found.append(("Quit", "after asking", self._ask_to_leave))
        return found


# --- what frames every view -------------------------------------------------------------------


def title(context: ViewContext, view: str, width: int) -> Text:
    """The program, the view, how far the public is behind, where browsers find the same, and who
    measures.
    """
    state, engine = context.state, context.state.engine()
    unread = sum(map(asks, state.alerts()))
    withheld = is_withheld(engine)
    # Before what a narrow terminal cuts: what every figure is worth.
    worth = WITHHELD if withheld else "" if engine.models else "no model reads these scores"
    line = styled(" live-rate ", "title")
    line.append(f" {view} ", "strong")
    for text, style in (
        (f"!! {counted(unread, 'alert')}" if unread else "", "bad"),
        (delay_text(context.actions.public_delay(), context.wall_s()), "warn"),
        (worth, "warn"),
    ):
        line.append(f" {text} " if text else "", style)
    place = f" {plain(context.actions.address, 60)} "
    # What tells most stays whole: without an engine the figures say nothing, the address is known.
    measured = [] if withheld else _measured_by(engine, state.gain())
    room = width - line.cell_len
    for shown in (place, ""):
        fitting = [text for text in measured if len(shown) + cell_len(text) <= room]
        if fitting or not measured:
            break
    line.append(shown, "accent")
    line.append(fitting[0] if fitting else "", "dim")
    return line


def _measured_by(engine: EngineInfo, gain: GainKind) -> list[str]:
    """Who measures, and how: the whole of it first, then shorter and shorter."""
    name = plain(engine.name, 40)
    rating = f" at {engine.rating} Elo" if engine.rating else ""
    short = " ".join(name.split()[:2])
    return [
        f"· {name}{rating} · {engine.limit} · {gain} gain",
        f"· {name}{rating} · {engine.limit}",
        f"· {short}{rating} · {engine.limit}",
        f"· {short}{rating}",
        f"· {short}, {engine.rating} Elo" if engine.rating else f"· {short}",
    ]


def health(context: ViewContext, width: int) -> Text:
    """One line: trouble first, in words, and what is to be known of a source that works; then how
    busy the engines are.
    """
    feeds, engines = context.state.feeds(), context.state.engines()
    line = styled(" ")
    styles = {"live": "good", "finished": "good", "failed": "bad"}
    calm = [feed for feed in feeds if feed.state in ("live", "finished")]
    for feed in sorted(feeds, key=lambda feed: feed in calm):
        detail, name = "", plain(feed.feed, 36)
        if feed.detail and feed not in calm:
            name = fit(name, max(12, width // 3))
            room = width - line.cell_len - cell_len(name) - len(feed.state) - 7
            # What is wrong often begins with where, and that stands there already.
            detail = f": {trouble_text(feed.detail.removeprefix(feed.feed).strip(), room)}"
        elif note := feed.detail.partition("; ")[2]:
            detail = f": {plain(note, 120)}"
        line.append(f"{FEED_SIGNS[feed.state]} ", styles.get(feed.state, "warn"))
        style = "text" if feed in calm else "warn"
        line.append(f"{name} {feed.state}{detail}  ", style)
    for said_of_engines in filter(None, (engines.problem, engines.behind)):
        line.append(f"! {plain(said_of_engines, 80)}  ", "warn")
    if engines.restarts or engines.set_aside:
        line.append(f"! {engines.restarts} restarts, {engines.set_aside} given up  ", "warn")
    busy = sum(engine.state == "searching" for engine in engines.engines)
    speed = sum(engine.knodes_per_s or 0 for engine in engines.engines)
    said = [f"⚙ {busy} of {len(engines.engines)} searching"]
    said += [f"{speed:.0f} kn/s"] if speed else []
    said.append(f"queue {queue_text(engines)}")
    if engines.measuring is not None and engines.measuring.of:
        said.append(f"measuring {engines.measuring.done} of {engines.measuring.of}")
    line.append(" · ".join(said), "dim")
    return line


def trouble_text(detail: str, room: int) -> str:
    """What is wrong with a source in ``room`` cells: when it is tried again stays, whatever else
    is cut.
    """
    what, again, when = plain(detail, 200).rpartition(RETRY)
    if not again:
        return fit(when, min(80, max(12, room)))
    when = f", again in {when}"
    return fit(what, max(8, room - cell_len(when))) + when


def queue_text(engines: EngineHealth) -> str:
    """``14 (2 live, 12 behind)``: the classes are named where more than one waits."""
    waiting = engines.waiting
    classes = [
        f"{number} {name}"
        for number, name in (
            (waiting.head, "live"),
            (waiting.closing, "just over"),
            (waiting.backlog, "behind"),
            (waiting.finished, "of games over"),
        )
        if number
    ]
    return f"{engines.queued} ({', '.join(classes)})" if len(classes) > 1 else str(engines.queued)


def delay_text(delay: PublicDelay, now_s: float) -> str:
    """``2 of 7 running boards 15:00 behind, holding 12 moves on 2 boards``; empty where there is no
    delay and nothing is held back. ``now_s`` since 1970 UTC.
    """
    if not delay.delay_s and not delay.held_moves:
        return ""
    late, running = delay.late_boards, delay.running_boards
    count = f"{late} of {counted(running, 'running board')}"
    text = f"public: {count} {spoken_time(delay.delay_s)} behind"
    if not running:
        text = f"public: delay {spoken_time(delay.delay_s)}, no board runs"
    elif not late:
        text = f"public: no running board behind (delay {spoken_time(delay.delay_s)})"
    if delay.unmatched:
        text += f", for none is of round {delay.unmatched}"
    if delay.held_moves:
        moves, boards = counted(delay.held_moves, "move"), counted(delay.held_boards, "board")
        text += f", holding {moves} on {boards}"
    if delay.first_s is not None and delay.first_s > now_s:
        text += f", first moves in {spoken_time(delay.first_s - now_s)}"
    return text


def footer(keys: Sequence[KeyHint], width: int) -> Text:
    """The keys that do something here; those that do nothing now are dim and in brackets."""
    shown = []
    for key in keys:
        if key.disabled:
            shown.append((key, styled(f"({key.sign} {key.label})", "dim")))
        elif key.label:
            shown.append((key, styled(f" {key.sign}", "head")))
            shown[-1][1].append(f" {key.label}", "dim")
    # Help is the way to all the others: it is never the one that has no room.
    last = [text for key, text in shown if "question_mark" in key.keys]
    room = width - sum(text.cell_len for text in last)
    line = Text(no_wrap=True)
    for key, text in shown:
        if key.label and text not in last and line.cell_len + text.cell_len <= room:
            line.append_text(text)
    for text in last:
        line.append_text(text)
    return line


def help_lines(name: str, keys: Sequence[KeyHint], notes: Sequence[str], width: int) -> list[Text]:
    """Every key of a view in words, and what the signs mean."""
    lines = [styled(f" Keys: {name}", "head")]
    for key in keys:
        if not key.explained:
            continue
        line = styled(f" {key.sign:>7}  ", "strong")
        line.append(key.explained, "text")
        lines.append(line)
        if key.disabled:
            why = f"(not now: {key.disabled})"
            if line.cell_len + len(why) < width:
                line.append(f" {why}", "warn")
            else:
                lines += _wrapped(why, 10, width, "warn")
    for note in notes:
        lines += _wrapped(note, 1, width, "dim")
    return lines


def _wrapped(text: str, indent: int, width: int, style: str) -> list[Text]:
    return [styled(" " * indent + part, style) for part in wrap(text, max(20, width - indent - 1))]
