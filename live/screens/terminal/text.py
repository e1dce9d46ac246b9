"""Text for a terminal: cell widths, figures, clocks, filters, styles. Pure.

A line is a rich ``Text`` and a panel is a list of lines; no line of a panel of width w
is wider than w. Styles are named by their meaning, and the terminal's theme gives them
colours. Colour alone never carries a meaning: a sign or a word is beside it.
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
    explain_no_percentile,
    round_percent,
    write_cell,
    write_interval,
)
from live.games.game import number_move
from live.human.difficulty import format_share
from live.messages.alerts import Alert, Severity
from live.messages.figures import CurvePoint, EngineInfo, GameView, PlayerView, PlyView
from live.messages.from_sources import MATE_CP, NOT_READ, Player
from live.messages.health import FeedState
from live.messages.values import Color, Value
from live.watch.finding import format_hms

# --- text and its width in cells ------------------------------------------------------

#: Replacement for pictures whose width differs between terminals: emoji, flags, skin
#: tones.
_PICTURE = "□"
#: Maximum number of accents on one letter; more are no writing and would cover the
#: lines above and below.
_MARKS = 2
#: Number of characters that are read for each cell of a text's width, so that a hostile
#: text cannot cost much time.
_LOOK = 8
#: Minimum width in cells at which a name is shown with its title.
_TITLED = 16
#: Console used to wrap text; it prints nothing.
_CONSOLE = Console(quiet=True)
#: Lines of text, from top to bottom.
Panel = list[Text]


def plain(text: str, width: int | None = None) -> str:
    """Return text from a feed in a form that is safe for a terminal.

    Removes control, escape and direction characters, and replaces characters whose
    width differs between terminals. Cuts to ``width`` cells, with an ellipsis.
    """
    if text.isascii() and text.isprintable():
        return text if width is None else fit(text, width)
    if width is not None:
        text = text[: _LOOK * width + _LOOK]
    chars: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if not char.isprintable() and category != "Zs":
            continue  # it moves the cursor, reverses the line, or is invisible
        if category in ("Mn", "Me"):
            marks += 1
            # U+FE00 to U+FE0F select text or picture display, and so change the width.
            if marks > _MARKS or not chars or "\ufe00" <= char <= "\ufe0f":
                continue
        else:
            marks = 0
        chars.append(_PICTURE if _is_pictorial(char, category) else char)
    # Once more: a character left out can have stood between a letter and its mark.
    safe = unicodedata.normalize("NFC", "".join(chars))
    return safe if width is None else fit(safe, width)


def _is_pictorial(char: str, category: str) -> bool:
    if category in ("So", "Sk"):
        return char > "\uffff" or unicodedata.east_asian_width(char) == "W"
    # Vowels and final consonants of Korean syllables join the letter before them.
    return "\u1160" <= char <= "\u11ff"


def fit(text: str, width: int) -> str:
    """Return the text cut to at most ``width`` cells, with an ellipsis if something is
    cut.
    """
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…" if width > 0 else ""


def align_left(text: str, width: int) -> str:
    """Return the text in exactly ``width`` cells, aligned left."""
    return set_cell_size(fit(text, width), width)


def fit_name(name: str, width: int) -> str:
    """Return a player's name in at most ``width`` cells; shorten given names first."""
    family, _, given_names = name.partition(", ")
    for form in (name, f"{family}, {given_names[:1]}.", family):
        if cell_len(form) <= width:
            return form
    return fit(family, width)


def fit_parts(parts: Iterable[str], width: int) -> str:
    """Join the parts that are not empty into one line, as many from the left as fit.

    A part is shown whole or not at all; only the first is cut if it is too long by
    itself.
    """
    first, *rest = filter(None, parts)
    line = fit(first, width)
    for part in rest:
        longer = f"{line} · {part}"
        if cell_len(longer) > width:
            break
        line = longer
    return line


def align_right(text: str, width: int) -> str:
    """Return the text in exactly ``width`` cells, aligned right."""
    cut = fit(text, width)
    return " " * (width - cell_len(cut)) + cut


def begin_line(text: str, style: str = "") -> Text:
    """Return a line that begins with ``text``; text appended later does not inherit its
    style.
    """
    line = Text(no_wrap=True)
    line.append(text, style)
    return line


def write_player(player: Player, width: int) -> str:
    """Return the name of a player, with the title if there is room."""
    title = f"{plain(player.title or '', 4)} ".lstrip() if width >= _TITLED else ""
    return title + fit_name(plain(player.name, 40), width - cell_len(title))


def is_same(line: Text | None, other: Text | None) -> bool:
    """Return whether two lines look the same.

    Rich counts texts as equal that differ only in their style, so the style is compared
    as well.
    """
    if line is None or other is None:
        return False
    return line == other and line.style == other.style


def wrap_texts(parts: Sequence[tuple[str, str]], width: int, indent: int = 1) -> Panel:
    """Wrap texts, each in its style, into lines of at most ``width`` cells."""
    lines = []
    for text, style in parts:
        wrapped = Text(text, style).wrap(_CONSOLE, max(20, width - indent - 1))
        lines += [begin_line(" " * indent).append_text(line) for line in wrapped]
    return lines


def wrap_beside(head: Text, parts: Sequence[tuple[str, str]], width: int) -> Panel:
    """Wrap texts as :func:`wrap_texts` does, with ``head`` in front of the first
    line.
    """
    first, *rest = wrap_texts(parts, width, head.cell_len)
    return [head.append_text(first[head.cell_len :]), *rest]


class Column(Value):
    """A column of a table; a ``sided`` one has a cell for White and a cell for
    Black.
    """

    head: str
    width: int
    figure: str = ""
    """Name of the column's figure, as :func:`write_figure` accepts it."""
    sided: bool = False
    to_right: bool = True

    @property
    def cells(self) -> int:
        return 2 * self.width + 1 if self.sided else self.width

    def align(self, text: str) -> str:
        """Return a text in the cells of one side, aligned as the column is."""
        return (
            align_right(text, self.width)
            if self.to_right
            else align_left(text, self.width)
        )


def write_heads(first: str, columns: Iterable[Column], sorted_by: str) -> Text:
    """Return the line of column heads, after ``first``; the head of the sorted column
    is strong and has a sign.
    """
    line = begin_line(first, "dim")
    for column in columns:
        is_sorted = column.head == sorted_by
        align = align_right if column.to_right else align_left
        line.append(align(column.head, column.cells), "head" if is_sorted else "dim")
        line.append("▾" if is_sorted else " ", "accent")
    line.rstrip()
    return line


def fit_columns(columns: Sequence[Column], room: int, gap: int = 1) -> Sequence[Column]:
    """Return as many columns as fit, from the left, each with a gap before it."""
    ends = accumulate(column.cells + gap for column in columns)
    return columns[: sum(end <= room for end in ends)]


# --- figures --------------------------------------------------------------------------

#: Text shown for a service that sends neither scores nor ratings (``--hide-scores``),
#: so that empty cells are not taken for unknown values.
WITHHELD = "this service withholds scores and ratings"
#: Sign of each state of a source; the word is shown beside it.
FEED_SIGNS = {
    "connecting": "◌",
    "waiting": "◌",
    "live": "●",
    "stale": "◔",
    "retrying": "↻",
    "failed": "✗",
    "finished": "✓",
}


def choose_feed_style(state: FeedState) -> str:
    """Return the style for a source in this state."""
    return {"live": "good", "finished": "good", "failed": "bad"}.get(state, "warn")


#: Origin of the engine's rating, as shown to people.
RATING_SOURCES = {
    "field": "from the field",
    "calibration": "a stored value",
    "fixed": "as configured",
}


def write_score(ply: PlyView) -> str:
    """Return a score from White's side: ``+0.35``, ``-12.04``, ``#5`` or ``#-3``.

    ``~`` marks a provisional score; ``·`` stands for an unknown one.
    """
    if ply.score_cp is None:
        return "·"
    digits = 0 if abs(ply.score_cp) == MATE_CP else 2
    text = f"{ply.score_cp / 100:+.{digits}f}"
    if ply.mate is not None:
        text = f"#{ply.mate or ''}"
    return text if ply.final else f"{text}~"


def is_withheld(engine: EngineInfo) -> bool:
    """Return whether the service withholds scores and ratings
    (:mod:`live.server.visibility`).
    """
    return engine.rating_source == "withheld"


def is_early(view: CurvePoint | PlayerView | None) -> bool:
    """Return whether too few moves are counted for the figures to be reliable."""
    return view is None or view.counted < EARLY_MOVES


_PLACE_STYLES = {"▲": "above", "▼": "below", " ": "strong"}


def find_unusual_sign(view: CurvePoint | PlayerView | None) -> str:
    """Return ``▲`` for a rating above its usual range, ``▼`` for one below, else a
    blank.
    """
    if view is None or is_early(view) or view.perceived is None:
        return " "
    if view.usual_high is not None and view.perceived > view.usual_high:
        return "▲"
    if view.usual_low is not None and view.perceived < view.usual_low:
        return "▼"
    return " "


#: Names of intervals, each with the figure that the interval belongs to.
_ENDS = {"usual": "perceived", "interval": "algorithm4"}


def write_figure(
    name: str, view: CurvePoint | PlayerView | None, engine_rating: int = 0
) -> str:
    """Return the cell of a figure of a player, or of one side of a game.

    ``name`` is a figure of the catalogue, ``usual`` for the usual range of the
    perceived rating, or ``interval`` for the interval of Algorithm 4.
    """
    unknown = "·" if name in ("perceived", "algorithm4") else ""
    if view is None:
        return unknown
    if name in _ENDS:
        return write_interval(BY_ID[_ENDS[name]], view, engine_rating)
    if name == "percentile" and (reason := explain_no_percentile(view)):
        return reason
    return write_cell(BY_ID[name], view, engine_rating) or unknown


def write_styled_figure(
    name: str, view: CurvePoint | PlayerView | None, engine_rating: int
) -> tuple[str, str]:
    """Return the cell as :func:`write_figure` does, with ``▲`` or ``▼``, and its
    style.
    """
    text = write_figure(name, view, engine_rating)
    if name != "perceived":
        return text, "dim" if name in _ENDS else "text"
    sign = find_unusual_sign(view)
    style = "dim" if is_early(view) else _PLACE_STYLES[sign]
    return f"{text}{sign}", style


def write_odds(win: float, draw: float) -> str:
    """Return White's win, draw and loss in per cent, such as ``45/40/15``; they add up
    to 100.
    """
    won = round_percent(100 * win)
    level = round_percent(100 * (win + draw)) - won
    return f"{won}/{level}/{100 - won - level}"


def write_move(game: GameView, ply: PlyView, dots: str = "...") -> str:
    """Return a move such as ``23.Nf3`` or ``23...Qd4``, numbered from the starting
    position's move number.
    """
    number, white = number_move(game, ply.ply)
    return f"{number}{'.' if white else dots}{ply.san}"


def is_whites_clock_running(game: GameView, plies: int) -> bool | None:
    """Return whether White's clock runs after this many plies; False if Black's runs.

    None means that no clock is known to run: the game has ended, is adjourned or has
    not begun, or its source does not send all of it.
    """
    is_whole = not game.problem or game.problem.startswith(NOT_READ)
    if not game.running or game.adjourned or not is_whole or game.restored or not plies:
        return None
    return number_move(game, plies + 1)[1]


def write_clock(clock_s: float | None) -> str:
    """Return a clock such as ``1:40:00`` or ``0:07``; empty if it is unknown."""
    return "" if clock_s is None else format_hms(clock_s)


def write_age(age_s: float | None) -> str:
    """Return an age such as ``7s``, ``12m``, ``3h`` or ``9d`` in three cells; an empty
    string if it is unknown.
    """
    if age_s is None:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if age_s >= size:
            return f"{min(int(age_s // size), 99)}{unit}"
    return f"{max(0, int(age_s))}s"


def write_share(share: float) -> str:
    """Return a share of players as text: ``1 in 12``, ``4 in 10``, ``half`` or ``< 1 in
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
    """Return an alert's text for use beside its board, where both names are already
    shown.

    The board's name is removed, and the player's colour replaces the name.
    """
    if view is None:
        return alert.text
    text = alert.text
    for name in (f"Board {view.board}: ", f"{view.white.name} - {view.black.name}: "):
        text = text.removeprefix(name)
    text = replace_name_by_color(
        text, alert.player, "white" if alert.player == view.white.name else "black"
    )
    return f"{text[:1].upper()}{text[1:]}"


def replace_name_by_color(text: str, player: str | None, color: Color | None) -> str:
    """Return a text with the player's colour in place of the player's name."""
    return text.replace(player, color.capitalize()) if player and color else text


# --- filters --------------------------------------------------------------------------

#: Longest filter that is used, in characters.
MAX_CHARS = 200


def strip_accents(text: str) -> str:
    """Return the text in lower case without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def build_matcher(query: str) -> Callable[[str, int | None], bool]:
    """Return a function that decides whether a line matches a filter.

    The function accepts the line's text and its board number, if it has one. All words
    of the filter must occur, in any order; ``!word`` must not occur. Accents and case
    do not matter. A number also matches the board number.
    """
    words = strip_accents(query[:MAX_CHARS]).split()
    required = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!") and len(word) > 1]

    def matches(text: str, board: int | None) -> bool:
        line = strip_accents(text)

        def is_in_line(word: str) -> bool:
            if word.isdecimal():
                return board == int(word) or any(part == word for part in line.split())
            return word in line

        return all(map(is_in_line, required)) and not any(map(is_in_line, unwanted))

    return matches


# --- styles ---------------------------------------------------------------------------

#: Styles: meaning, style without colours, on a dark ground, and on a light ground.
_STYLES = (
    ("text", "", "#d7dae0", "#23272e"),
    ("dim", "dim", "#8a919e", "#686f7a"),
    # Column heads; also the program's name, in reverse.
    ("head", "bold", "bold #9ecbff", "bold #1b4f8a"),
    ("strong", "bold", "bold #ffffff", "bold #000000"),
    ("accent", "bold", "#7fd1c7", "#0d6e63"),
    # A key in the last line.
    ("key", "bold", "bold #7fd1c7", "bold #0d6e63"),
    ("good", "", "#8fd18a", "#1c6b22"),
    ("warn", "bold", "#f0c36a", "#8a5a00"),
    ("bad", "bold underline", "bold #ff8b80", "bold #b3261e"),
    # A figure outside the player's usual range, marked by ``▲`` or ``▼``.
    ("above", "bold", "bold #8fd18a", "bold #1c6b22"),
    ("below", "", "#f0906f", "#a8431c"),
    # Something that has just changed, marked by ``•``.
    ("changed", "bold reverse", "bold #15181d on #f0c36a", "bold #23272e on #ffd75e"),
    ("cursor", "reverse", "on #2f3b4e", "on #d5e3f5"),
    # White's and Black's parts of a graph.
    ("white", "bold", "#f2efe6", "#b07d2b"),
    ("black", "", "#6f9bd1", "#2f5d94"),
    # The usual range, or the 95 % interval, around a curve.
    ("band", "dim", "#8391ad", "#7b879c"),
    ("light_square", "", "on #a58b6a", "on #e3cfae"),
    ("dark_square", "", "on #7d6448", "on #b58d62"),
    ("last_move", "underline", "on #8f9a3c", "on #cdd26a"),
    ("white_piece", "bold", "bold #ffffff", "bold #ffffff"),
    ("black_piece", "", "#101010", "#101010"),
)


class Palette(Value):
    """The appearance of every style."""

    name: str
    styles: dict[str, str]
    ground: str = ""
    """Background as ``#rrggbb``; if empty, the terminal keeps its own."""

    @property
    def theme(self) -> Theme:
        """Theme for Textual."""
        return Theme(self.styles)


_PLAIN = {row[0]: row[1] for row in _STYLES}
_DUSK = {row[0]: row[2] for row in _STYLES}
_PAPER = {row[0]: row[3] for row in _STYLES}
#: No colours: only bold, dim, underlined and reversed text.
PLAIN = Palette("plain", _PLAIN)
DUSK = Palette("dusk", _DUSK, "#15181d")
PAPER = Palette("paper", _PAPER, "#fbfaf6")
#: Colours for people who cannot tell red from green (after Okabe and Ito 2008, "Color
#: Universal Design").
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
        "key": "bold #cc79a7",
    },
    "#15181d",
)
PALETTES = {palette.name: palette for palette in (DUSK, PAPER, SIGNAL, PLAIN)}
