"""The screen of sources, engines and public delay, and their summary as one line at the
foot of the other screens.
"""

from collections import Counter

from rich.cells import cell_len
from rich.text import Text

from live.messages.figures import EngineInfo, GainKind
from live.messages.health import (
    EngineHealth,
    FeedHealth,
    MeasuringProgress,
    PublicDelay,
)
from live.screens.terminal.text import (
    FEED_SIGNS,
    RATING_SOURCES,
    WITHHELD,
    Panel,
    begin_line,
    choose_feed_style,
    fit,
    fit_parts,
    is_withheld,
    plain,
    wrap_texts,
)
from live.screens.terminal.view_context import ViewContext
from live.screens.terminal.widgets import TextView
from live.watch.finding import format_count, format_hms, span

#: Words between the problem and the time of the next attempt in a source's text.
RETRY = ", trying again in "
#: Width in cells of a source's name in the line at the foot; a long name loses its
#: start.
_NAME_CELLS = 20


class SourcesView(TextView):
    """Screen of every source with address, state and full reason, of the engines, and
    of the public delay.
    """

    def write(self, width: int) -> Panel:
        context, state = self.context, self.context.state
        boards: Counter[str] = Counter()
        for view in state.games():
            boards.update((view.feed, *view.also))
        lines = [begin_line(" Sources, and parts of the service", "head")]
        if lost := context.status():
            lines.append(begin_line(fit(f" As last known: {lost}", width), "warn"))
        for feed in state.feeds():
            note = "" if feed.part else f", {format_count(boards[feed.feed], 'board')}"
            for_s = context.changes.measure_silence_s(feed.feed)
            if for_s >= 1:
                note += f", not live for {span(for_s)}"
            lines += write_feed_panel(feed, width, note)
        engine, health = state.engine(), state.engines()
        lines += [Text(), begin_line(" Engines", "head")]
        lines += wrap_texts([(f"⚙ {' · '.join(write_engines(health))}", "text")], width)
        if health.measuring is not None:
            percent = write_progress(health.measuring)
            text = f"figures can still change: the engine is {percent} measured"
            lines += wrap_texts([(text, "accent")], width, 3)
        if not is_withheld(engine):
            lines += wrap_texts(
                [(describe_engine_and_gain(engine, state.gain()), "text")], width, 3
            )
        for trouble in find_engine_troubles(health):
            lines.append(begin_line(f"   ! {plain(trouble, 200)}", "warn"))
        lines += [Text(), begin_line(" The public", "head")]
        text = write_public_view(context.public_delay(), context.hides_scores())
        lines += wrap_texts([(text, "text")], width)
        return [*lines, begin_line(f" reads {plain(context.address, 200)}", "accent")]


def is_healthy(feed: FeedHealth) -> bool:
    """Return whether a source has no problem."""
    return feed.state in ("live", "finished")


def write_feed_panel(feed: FeedHealth, width: int, note: str = "") -> Panel:
    """Return a line with a source's state and ``note``, and lines with the reason
    below.
    """
    headline = f"{FEED_SIGNS[feed.state]} {plain(feed.feed)}: {feed.state}{note}"
    lines = wrap_texts([(headline, choose_feed_style(feed.state))], width)
    if reason := explain_feed(feed):
        lines += wrap_texts([(reason, "text")], width, 3)
    return lines


def explain_feed(feed: FeedHealth) -> str:
    """Return the reason for a source's state, without the address at its beginning."""
    return plain(feed.detail.removeprefix(feed.feed).strip())


def describe_engine_and_gain(engine: EngineInfo, gain: GainKind) -> str:
    """Return the engine's name, rating and limit and the kind of gain, as text."""
    parts = [plain(engine.name, 40)]
    if engine.rating:
        source = RATING_SOURCES[engine.rating_source]
        parts.append(f"counts as {engine.rating} ({source})")
    return " · ".join((*parts, engine.limit, f"{gain} gain"))


def write_engines(engines: EngineHealth) -> list[str]:
    """Return texts about the engines' load, the most important first."""
    busy = sum(engine.state == "searching" for engine in engines.engines)
    speed = sum(engine.knodes_per_s or 0 for engine in engines.engines)
    texts = [f"{busy} of {len(engines.engines)} searching"]
    if speed:
        texts.append(f"{speed:.0f} kn/s")
    texts.append(f"queue {engines.queued}")
    return texts


def write_progress(progress: MeasuringProgress) -> str:
    """Return the progress of the measurement of the engine, in whole per cent."""
    return f"{100 * progress.done // max(1, progress.of)} %"


def find_engine_troubles(engines: EngineHealth) -> list[str]:
    """Return texts about the engines' problems and delays."""
    texts = [text for text in (engines.problem, engines.behind) if text]
    if engines.restarts or engines.set_aside:
        texts.append(f"{engines.restarts} restarts, {engines.set_aside} given up")
    return texts


def write_delay(delay: PublicDelay) -> str:
    """Return a text such as ``15:00 behind, holding 12 moves on 2 boards``; empty
    without a delay.
    """
    if not delay.delay_s and not delay.held_moves:
        return ""
    text = f"{format_hms(delay.delay_s)} behind"
    if delay.held_moves:
        moves = format_count(delay.held_moves, "move")
        text += f", holding {moves} on {format_count(delay.held_boards, 'board')}"
    return text


def write_public_view(delay: PublicDelay, hides_scores: bool) -> str:
    """Return a text about what the public sees, and when."""
    late = write_delay(delay)
    if hides_scores:
        return f"{late or 'sees moves at once'}; scores and ratings are hidden"
    return late or "sees everything at once"


# --- the line at the foot -------------------------------------------------------------


def write_health(context: ViewContext, width: int) -> Text:
    """Return one line: problems first, then notes and the engines' load; last, and only
    where there is room, that the engine is being measured.
    """
    state, engines = context.state, context.state.engines()
    line = begin_line(" ")
    if is_withheld(state.engine()):
        line.append(f"{WITHHELD}  ", "warn")
    elif not state.engine().models:
        line.append("no model reads these scores  ", "warn")
    for feed in state.feeds():
        if not is_healthy(feed):
            line.append(f"{FEED_SIGNS[feed.state]} ", choose_feed_style(feed.state))
            line.append(f"{_write_trouble(feed, width - line.cell_len)}  ", "warn")
    for trouble in find_engine_troubles(engines):
        text = f"! {plain(trouble)}"
        if cell_len(text) > width - line.cell_len:
            text = text.partition(": ")[0]  # the remedy is on the screen of sources
        line.append(f"{text}  ", "warn")
    for feed in filter(is_healthy, state.feeds()):
        note = plain(feed.detail.partition("; ")[2])
        text = f"{FEED_SIGNS[feed.state]} {plain(feed.feed, 36)}: {note}"
        if note and cell_len(text) <= width - line.cell_len:
            line.append(f"{text}  ", "text")
    busy = write_engines(engines)
    room = width - line.cell_len - 2
    if room >= cell_len(busy[0]):
        line.append(f"⚙ {fit_parts(busy, room)}  ", "dim")
    if engines.measuring is not None:
        percent = write_progress(engines.measuring)
        for text in (f"figures can change: {percent} measured", f"{percent} measured"):
            if cell_len(text) <= width - line.cell_len:
                line.append(text, "accent")
                break
    return line


def _write_trouble(feed: FeedHealth, width: int) -> str:
    """Return a source's problem; the time of the next attempt is never cut."""
    name = plain(feed.feed)
    while cell_len(name) > _NAME_CELLS + 1:
        name = f"…{name[2:]}"  # addresses differ most at their end
    state = f"{name} {feed.state}"
    problem, again, when = plain(explain_feed(feed), 200).rpartition(RETRY)
    end = f", again in {when}" if again else ""
    room = width - cell_len(state) - cell_len(end) - 6
    reason = fit(problem if again else when, min(80, max(8, room)))
    return f"{state}: {reason}{end}" if reason else state
