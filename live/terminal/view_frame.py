"""What frames every view: title, feeds and engines, the last message, the keys. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from live.events import EngineHealth, EngineInfo, GainKind, PublicDelay
from live.terminal.palette import Palette
from live.terminal.text import WITHHELD, counted, fit, is_withheld, plain, spoken_time, styled
from live.terminal.view_context import KeyHint, ViewContext, asks

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


def title(context: ViewContext, view: str, width: int) -> Text:
    """The program, the view, how far the public is behind, where browsers find the same, and who
    measures.
    """
    state, palette, engine = context.state, context.palette, context.state.engine()
    unread = sum(map(asks, state.alerts()))
    withheld = is_withheld(engine)
    # Before what a narrow terminal cuts: what every figure is worth.
    worth = WITHHELD if withheld else "" if engine.models else "no model reads these scores"
    line = styled(" live-rate ", f"{palette.head} reverse")
    line.append(f" {view} ", palette.strong)
    for text, style in (
        (f"!! {counted(unread, 'alert')}" if unread else "", palette.bad),
        (delay_text(context.actions.public_delay(), context.wall_s()), palette.warn),
        (worth, palette.warn),
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
    line.append(shown, palette.accent)
    line.append(fitting[0] if fitting else "", palette.dim)
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
    feeds, engines, palette = context.state.feeds(), context.state.engines(), context.palette
    line = styled(" ")
    styles = {"live": palette.good, "finished": palette.good, "failed": palette.bad}
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
        line.append(f"{FEED_SIGNS[feed.state]} ", styles.get(feed.state, palette.warn))
        style = palette.text if feed in calm else palette.warn
        line.append(f"{name} {feed.state}{detail}  ", style)
    if engines.problem:
        line.append(f"! {plain(engines.problem, 80)}  ", palette.warn)
    if engines.restarts or engines.set_aside:
        line.append(f"! {engines.restarts} restarts, {engines.set_aside} given up  ", palette.warn)
    busy = sum(engine.state == "searching" for engine in engines.engines)
    speed = sum(engine.knodes_per_s or 0 for engine in engines.engines)
    said = [f"⚙ {busy} of {len(engines.engines)} searching"]
    said += [f"{speed:.0f} kn/s"] if speed else []
    said.append(f"queue {queue_text(engines)}")
    if engines.measuring is not None and engines.measuring.of:
        said.append(f"measuring {engines.measuring.done} of {engines.measuring.of}")
    line.append(" · ".join(said), palette.dim)
    line.truncate(width, overflow="ellipsis")
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


def footer(keys: Sequence[KeyHint], width: int, palette: Palette) -> Text:
    """The keys that do something here; those that do nothing now are dim and in brackets."""
    shown = []
    for key in keys:
        if key.disabled:
            shown.append((key, styled(f"({key.sign} {key.label})", palette.dim)))
        elif key.label:
            shown.append((key, styled(f" {key.sign}", palette.head)))
            shown[-1][1].append(f" {key.label}", palette.dim)
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


def help_lines(
    name: str, keys: Sequence[KeyHint], notes: Sequence[str], width: int, palette: Palette
) -> list[Text]:
    """Every key of a view in words, and what the signs mean."""
    lines = [styled(f" Keys: {name}", palette.head)]
    for key in keys:
        if not key.explained:
            continue
        line = styled(f" {key.sign:>7}  ", palette.strong)
        line.append(key.explained, palette.text)
        lines.append(line)
        if key.disabled:
            why = f"(not now: {key.disabled})"
            if line.cell_len + len(why) < width:
                line.append(f" {why}", palette.warn)
            else:
                lines += _wrapped(why, 10, width, palette.warn)
    for note in notes:
        lines += _wrapped(note, 1, width, palette.dim)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _wrapped(text: str, indent: int, width: int, style: str) -> list[Text]:
    return [styled(" " * indent + part, style) for part in wrap(text, max(20, width - indent - 1))]
