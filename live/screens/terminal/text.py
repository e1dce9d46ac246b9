"""How things are written on a terminal: text by its cells, figures, clocks, filters,
styles. Pure.

A line is a rich ``Text``, a panel a list of lines; a panel of width w has no line wider
than w. Styles are named by what they mean, and a theme of the terminal makes colours of
them. No meaning stands in colour alone: a sign or a word stands beside it.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    cell,
    ends_cell,
)
from live.games.game import number_move
from live.human.difficulty import format_share
from live.messages.alerts import Alert, Severity
from live.messages.figures import CurvePoint, EngineInfo, GameView, PlayerView, PlyView
from live.messages.from_sources import MATE_CP, NOT_READ, Player
from live.messages.health import FeedState
from live.messages.values import Color, Value
from live.watch.finding import dial

# --- text by its cells ----------------------------------------------------------------

#: Stands for pictures on whose width terminals disagree: emoji, flags, skin tones.
_PICTURE = "□"
#: Marks over or under one letter; more are no writing, they are paint over other lines.
_MARKS = 2
#: Characters of a hostile text looked at for each cell that is shown.
_LOOK = 8
#: A name has its title from this width on.
_TITLED = 16
#: Wraps text; it draws nothing.
_CONSOLE = Console(quiet=True)
#: Lines one below the other.
Panel = list[Text]


def plain(text: str, width: int | None = None) -> str:
    """Make feed text safe for a terminal: no control, escape or direction characters,
    nothing whose width is a matter of opinion; cut to ``width`` cells with an ellipsis.
    """
    if text.isascii() and text.isprintable():
        return text if width is None else fit(text, width)
    if width is not None:
        text = text[: _LOOK * width + _LOOK]
    kept: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if not char.isprintable() and category != "Zs":
            continue  # it moves the cursor, turns the line, or shows nothing
        if category in ("Mn", "Me"):
            marks += 1
            # U+FE00 to U+FE0F choose between text and picture, and with that the width.
            if marks > _MARKS or not kept or "\ufe00" <= char <= "\ufe0f":
                continue
        else:
            marks = 0
        kept.append(_PICTURE if _is_pictorial(char, category) else char)
    safe = "".join(kept)
    return safe if width is None else fit(safe, width)


def _is_pictorial(char: str, category: str) -> bool:
    if category in ("So", "Sk"):
        return char > "\uffff" or unicodedata.east_asian_width(char) == "W"
    return (
        "\u1160" <= char <= "\u11ff"
    )  # parts of a Korean syllable that found no whole


def fit(text: str, width: int) -> str:
    """Return at most ``width`` cells, with an ellipsis where something is cut."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…" if width > 0 else ""


def align_left(text: str, width: int) -> str:
    """Return exactly ``width`` cells, set to the left."""
    return set_cell_size(fit(text, width), width)


def fit_name(name: str, width: int) -> str:
    """Return a player's name in at most ``width`` cells; given names give way first."""
    family, _, given = name.partition(", ")
    for form in (name, f"{family}, {given[:1]}.", family):
        if cell_len(form) <= width:
            return form
    return fit(family, width)


def fit_parts(parts: Iterable[str], width: int) -> str:
    """Return the parts that are not empty as one line, whole, as many as there is room
    for from the left; the first is cut where it alone is too long.
    """
    first, *more = filter(None, parts)
    line = fit(first, width)
    for part in more:
        longer = f"{line} · {part}"
        if cell_len(longer) > width:
            break
        line = longer
    return line


def align_right(text: str, width: int) -> str:
    """Return exactly ``width`` cells, set to the right."""
    shown = fit(text, width)
    return " " * (width - cell_len(shown)) + shown


def begin_line(text: str, style: str = "") -> Text:
    """Return a line that begins with ``text``. Its style ends where the text ends: what
    is appended has its own.
    """
    line = Text(no_wrap=True)
    line.append(text, style)
    return line


def write_player(player: Player, width: int) -> str:
    """Return a title, where there is room for it, and as much of the name."""
    title = f"{plain(player.title or '', 4)} ".lstrip() if width >= _TITLED else ""
    return title + fit_name(plain(player.name, 40), width - cell_len(title))


def is_same(one: Text | None, other: Text | None) -> bool:
    """Return whether two lines look alike: texts that differ only in their style are
    equal.
    """
    return (
        one == other
        and one is not None
        and other is not None
        and one.style == other.style
    )


def wrap_texts(parts: Sequence[tuple[str, str]], width: int, indent: int = 1) -> Panel:
    """Return texts, each in its style, as lines of at most ``width`` cells."""
    lines = []
    for text, style in parts:
        found = Text(text, style).wrap(_CONSOLE, max(20, width - indent - 1))
        lines += [begin_line(" " * indent).append_text(line) for line in found]
    return lines


def wrap_beside(head: Text, parts: Sequence[tuple[str, str]], width: int) -> Panel:
    """Return texts as :func:`wrap_texts` does, the first line of them behind a head."""
    first, *more = wrap_texts(parts, width, head.cell_len)
    return [head.append_text(first[head.cell_len :]), *more]


class Column(Value):
    """A column of a table; where ``sided`` one of White and one of Black beside it."""

    head: str
    width: int
    figure: str = ""
    """Whose cells :func:`write_figure` has."""
    sided: bool = False
    to_right: bool = True

    @property
    def cells(self) -> int:
        return 2 * self.width + 1 if self.sided else self.width

    def align(self, text: str) -> str:
        """Return a text in the cells of one side, aligned as in this column."""
        return (
            align_right(text, self.width)
            if self.to_right
            else align_left(text, self.width)
        )


def write_heads(first: str, columns: Iterable[Column], sorted_by: str) -> Text:
    """Return the heads of the columns behind ``first``; that of the one that lines are
    sorted by is strong and has a sign.
    """
    line = begin_line(first, "dim")
    for column in columns:
        here = column.head == sorted_by
        align = align_right if column.to_right else align_left
        line.append(align(column.head, column.cells), "head" if here else "dim")
        line.append("▾" if here else " ", "accent")
    line.rstrip()
    return line


def fit_columns(columns: Sequence[Column], room: int, gap: int = 1) -> Sequence[Column]:
    """Return as many as there is room for, from the left, each behind a gap."""
    ends = accumulate(column.cells + gap for column in columns)
    return columns[: sum(end <= room for end in ends)]


# --- figures --------------------------------------------------------------------------

#: Shown where a service sends neither scores nor ratings (``--hide-scores``): empty is
#: not unknown.
WITHHELD = "this service withholds scores and ratings"
#: Sign of each state of a source, beside the word.
FEED_SIGNS = {
    "connecting": "…",
    "waiting": "◌",
    "live": "●",
    "stale": "◔",
    "retrying": "↻",
    "failed": "✗",
    "finished": "✓",
}


def choose_feed_style(state: FeedState) -> str:
    """Return how a source in this state is drawn."""
    return {"live": "good", "finished": "good", "failed": "bad"}.get(state, "warn")


#: Where the engine's rating comes from, for people.
RATING_SOURCES = {
    "field": "by the field",
    "calibration": "a stored value",
    "fixed": "as configured",
}


def write_score(ply: PlyView) -> str:
    """Return ``+0.35``, ``-12.04``, ``#5``, ``#-3`` from White's side, with ``~`` while
    it is provisional; ``·`` while unknown.
    """
    if ply.score_cp is None:
        return "·"
    digits = 0 if abs(ply.score_cp) == MATE_CP else 2
    text = f"{ply.score_cp / 100:+.{digits}f}"
    if ply.mate is not None:
        text = f"#{ply.mate or ''}"
    return text if ply.final else f"{text}~"


def is_withheld(engine: EngineInfo) -> bool:
    """Return whether scores and ratings are kept from us
    (:mod:`live.server.visibility`).
    """
    return engine.rating_source == "withheld"


def interval_text(low: float | None, high: float | None) -> str:
    """Return ``1890–2370``; empty where an end is open."""
    return "" if low is None or high is None else f"{low:.0f}–{high:.0f}"


def is_early(view: CurvePoint | PlayerView | None) -> bool:
    """Return whether too few moves are counted."""
    return view is None or view.counted < EARLY_MOVES


_PLACE_STYLES = {"▲": "above", "▼": "below", " ": "strong"}


def find_place_sign(view: CurvePoint | PlayerView | None) -> str:
    """Return ``▲`` for a figure above what is usual, ``▼`` below it; else a blank."""
    if view is None or is_early(view) or view.perceived is None:
        return " "
    if view.usual_high is not None and view.perceived > view.usual_high:
        return "▲"
    if view.usual_low is not None and view.perceived < view.usual_low:
        return "▼"
    return " "


#: What is not a figure itself, but the ends of one.
_ENDS = {"usual": "perceived", "interval": "algorithm4"}


def write_figure(
    name: str, view: CurvePoint | PlayerView | None, engine_rating: int = 0
) -> str:
    """Return what a list says of a player or of one side of a game: a figure of the
    catalogue, ``usual``, the band of the perceived rating, or ``interval``, that of
    Algorithm 4.
    """
    unknown = "·" if name in ("perceived", "algorithm4") else ""
    if view is None:
        return unknown
    if name in _ENDS:
        return ends_cell(BY_ID[_ENDS[name]], view, engine_rating)
    if name == "percentile" and view.perceived is not None and is_early(view):
        return "early"
    return cell(BY_ID[name], view, engine_rating) or unknown


def write_styled_figure(
    name: str, view: CurvePoint | PlayerView | None, engine_rating: int
) -> tuple[str, str]:
    """Return a :func:`write_figure`, with the sign of its place, and its style."""
    text = write_figure(name, view, engine_rating)
    if name != "perceived":
        return text, "dim" if name in _ENDS else "text"
    sign = find_place_sign(view)
    style = "dim" if is_early(view) else _PLACE_STYLES[sign]
    return f"{text}{sign}", style


def odds_text(win: float, draw: float) -> str:
    """Return ``45/40/15``: win, draw and loss of White in per cent, 100 together."""
    won = round(100 * win)
    level = round(100 * (win + draw)) - won
    return f"{won}/{level}/{100 - won - level}"


def write_move(game: GameView, ply: PlyView, dots: str = "...") -> str:
    """Return ``23.Nf3`` or ``23...Qd4``, counted from the starting position's move
    number.
    """
    number, white = number_move(game, ply.ply)
    return f"{number}{'.' if white else dots}{ply.san}"


def is_whites_clock_running(game: GameView, plies: int) -> bool | None:
    """Return whether it is White's clock that runs after so many plies; None where none
    is known to: the game is over or adjourned, has not begun, or its end was not sent.
    """
    is_whole = not game.problem or game.problem.startswith(NOT_READ)
    if not game.running or game.adjourned or not is_whole or game.restored or not plies:
        return None
    return number_move(game, plies + 1)[1]


def write_clock(clock_s: float | None) -> str:
    """Return a :func:`dial`; empty while unknown."""
    return "" if clock_s is None else dial(clock_s)


def write_age(age_s: float | None) -> str:
    """Return ``7s``, ``12m``, ``3h``, ``9d``, three cells; empty while unknown."""
    if age_s is None:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if age_s >= size:
            return f"{min(int(age_s // size), 99)}{unit}"
    return f"{max(0, int(age_s))}s"


def write_share(share: float) -> str:
    """Return how many players, short: ``1 in 12``, ``4 in 10``, ``half``, ``< 1 in
    200``.
    """
    return format_share(share).removeprefix("about ").replace("fewer than", "<")


# --- alerts ---------------------------------------------------------------------------

SEVERITY_STYLES: dict[Severity, str] = {
    "alarm": "bad",
    "warning": "warn",
    "look": "accent",
}


def shorten_alert(alert: Alert, view: GameView | None) -> str:
    """Return an alert's text where the board stands beside it: without the board's
    name, and its players by their colours.
    """
    if view is None:
        return alert.text
    text = alert.text
    for name in (f"Board {view.board}: ", f"{view.white.name} - {view.black.name}: "):
        text = text.removeprefix(name)
    text = name_by_color(
        text, alert.player, "white" if alert.player == view.white.name else "black"
    )
    return f"{text[:1].upper()}{text[1:]}"


def name_by_color(text: str, player: str | None, color: Color | None) -> str:
    """Name the player in a text by the colour: the names of both stand beside it."""
    return text.replace(player, color.capitalize()) if player and color else text


# --- filters --------------------------------------------------------------------------

#: Longest filter taken, characters.
MAX_CHARS = 200


def strip_accents(text: str) -> str:
    """Return small letters without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def build_matcher(query: str) -> Callable[[str, int | None], bool]:
    """Return what takes a line's text and its board number, if it has one, and says
    whether it is listed.

    Words in any order, all of which must be found; accents and case do not matter;
    ``!word`` must not be found; a number is also a board's number.
    """
    words = strip_accents(query[:MAX_CHARS]).split()
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!") and len(word) > 1]

    def matches(text: str, board: int | None) -> bool:
        line = strip_accents(text)

        def is_in_line(word: str) -> bool:
            if word.isdecimal():
                return board == int(word) or any(part == word for part in line.split())
            return word in line

        return all(map(is_in_line, wanted)) and not any(map(is_in_line, unwanted))

    return matches


# --- styles ---------------------------------------------------------------------------

#: A style by its meaning; how it is drawn without colours, on dusk, and on paper.
_STYLES = (
    ("text", "", "#d7dae0", "#23272e"),
    ("dim", "dim", "#8a919e", "#686f7a"),
    # Column heads, and turned round the program's name.
    ("head", "bold", "bold #9ecbff", "bold #1b4f8a"),
    ("strong", "bold", "bold #ffffff", "bold #000000"),
    ("accent", "bold", "#7fd1c7", "#0d6e63"),
    ("good", "", "#8fd18a", "#1c6b22"),
    ("warn", "bold", "#f0c36a", "#8a5a00"),
    ("bad", "bold underline", "bold #ff8b80", "bold #b3261e"),
    # A figure beside what is usual for its player, with ``▲`` or ``▼``.
    ("above", "bold", "bold #8fd18a", "bold #1c6b22"),
    ("below", "", "#f0906f", "#a8431c"),
    # What has just changed, beside the sign ``•``.
    ("changed", "bold reverse", "bold #15181d on #f0c36a", "bold #23272e on #ffd75e"),
    ("cursor", "reverse", "on #2f3b4e", "on #d5e3f5"),
    # Either side's share of a graph.
    ("white", "bold", "#f2efe6", "#b07d2b"),
    ("black", "", "#6f9bd1", "#2f5d94"),
    # What is usual, or the 95 % interval, around a curve.
    ("band", "dim", "#8391ad", "#7b879c"),
    ("light_square", "", "on #a58b6a", "on #e3cfae"),
    ("dark_square", "", "on #7d6448", "on #b58d62"),
    ("last_move", "underline", "on #8f9a3c", "on #cdd26a"),
    ("white_piece", "bold", "bold #ffffff", "bold #ffffff"),
    ("black_piece", "", "#101010", "#101010"),
)


class Palette(Value):
    """How each style is drawn."""

    name: str
    styles: dict[str, str]
    ground: str = ""
    """Background as ``#rrggbb``; empty leaves the terminal's."""

    @property
    def theme(self) -> Theme:
        """The theme that Textual draws with."""
        return Theme(self.styles)


_PLAIN = {row[0]: row[1] for row in _STYLES}
_DUSK = {row[0]: row[2] for row in _STYLES}
_PAPER = {row[0]: row[3] for row in _STYLES}
#: No colour at all, only what a terminal of 1980 could do.
PLAIN = Palette("plain", _PLAIN)
DUSK = Palette("dusk", _DUSK, "#15181d")
PAPER = Palette("paper", _PAPER, "#fbfaf6")
#: For eyes that do not distinguish red from green (colours after Okabe and Ito 2008,
#: "Color Universal Design").
SIGNAL = Palette(
    "signal",
    {
        **_DUSK,
        "good": "#56b4e9",
        "warn": "#f0e442",
        "bad": "bold #e69f00",
        "above": "bold #56b4e9",
        "below": "#e69f00",
        "changed": "bold #000000 on #f0e442",
        "white": "#e69f00",
        "black": "#56b4e9",
        "accent": "#cc79a7",
    },
    "#15181d",
)
PALETTES = {each.name: each for each in (DUSK, PAPER, SIGNAL, PLAIN)}
