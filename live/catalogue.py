"""The catalogue of figures: the name of each figure, its format, its meaning, and the
reason when it is missing.

The terminal, the page, the overlays, reports, CSV, the glossary and the schema take
their words from these rows. The page receives the rows of live screens as JSON
(:func:`encode_catalogue`). A new figure needs its formula, a row here, a test and a
line of the manual.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from live.messages.figures import CurvePoint, GameView, PlayerView
from live.messages.values import Value

#: Minimum number of counted moves for a perceived rating; with fewer there is none.
LEAST_MOVES = 5
#: Minimum number of counted moves for a reliable rating. A rating with fewer is called
#: early, and is shown small and without its usual range.
EARLY_MOVES = 10
#: Range of published perceived ratings, in Elo; an end of the range means *or beyond*.
LEAST_SHOWN_ELO, MOST_SHOWN_ELO = 800, 3200

Kind = Literal["elo", "rating", "count", "points", "share", "number"]
"""Kinds of figures. An ``elo`` is limited to 800 to 3200, a ``rating`` is Elo without
limits, and a ``share``, from 0 to 1, is written in per cent.
"""


class Figure(Value, kw_only=True):
    """One figure of a player over the event."""

    id: str
    name: str
    head: str
    """Head of the figure's column."""
    kind: Kind
    value: str
    """Field of the view with the value; dots separate nested names
    (``methods.accuracy``).
    """
    low: str = ""
    """Names of the fields with the ends of the interval; empty without an interval."""
    high: str = ""
    interval: str = ""
    """What the interval means, as shown to people: ``usual``, ``95 %``."""
    digits: int = 0
    unit: str = ""
    missing: str = "not known yet"
    """Reason shown when the figure is missing."""
    meaning: str
    """Explanation of the figure in one or two sentences."""
    usual: bool = False
    """Whether the figure is shown if no figures are chosen."""
    above_engine: bool = False
    """Whether the value is Elo relative to the engine, whose rating is added for
    display.
    """


def _make_figure(
    id: str,
    name: str,
    head: str,
    kind: Kind,
    meaning: str,
    *,
    value: str = "",
    **fields: Any,
) -> Figure:
    """Return a row of the catalogue.

    ``value`` is by default the field with the same name as ``id``.

    ``ends`` is the common prefix of the names of the interval's two fields.
    """
    if ends := fields.pop("ends", ""):
        fields = {
            "low": f"{ends}low",
            "high": f"{ends}high",
            "interval": "95 %",
            **fields,
        }
    return Figure(
        id=id,
        name=name,
        head=head,
        kind=kind,
        meaning=meaning,
        value=value or id,
        **fields,
    )


def _make_share(id: str, name: str, head: str, meaning: str) -> Figure:
    """Return the row of a share of moves, with its interval, from the papers'
    methods.
    """
    field = f"methods.{id}."
    return _make_figure(
        id, name, head, "share", meaning, value=f"{field}share", ends=field
    )


FIGURES: tuple[Figure, ...] = (
    _make_figure(
        "elo",
        "Elo",
        "Elo",
        "rating",
        "The player's own rating, from the source or the rating list.",
        missing="the source gives no rating",
        usual=True,
    ),
    _make_figure(
        "perceived",
        "Playing like",
        "Plays like",
        "elo",
        "The rating at which these moves are likeliest, by what players of every"
        " rating lose in the same positions, when both players start at the level of"
        " the game. Usual: 8 of 10 games by players of the own rating.",
        ends="usual_",
        interval="usual",
        unit="Elo",
        missing="under five counted moves, or nothing reads these scores",
        usual=True,
    ),
    _make_figure(
        "percentile",
        "Percentile",
        "Better than",
        "number",
        "How many of 100 games by players of the own rating are worse than this one:"
        " the place of “playing like” within what is usual.",
        unit="%",
        missing="needs an own rating and ten counted moves",
        usual=True,
    ),
    _make_figure(
        "algorithm4",
        "Algorithm 4",
        "Algorithm 4",
        "rating",
        "Algorithm 4 as published (Ferreira 2012): the player's gains against the"
        " engine's, added to the engine's rating. A scale of its own: it ranks, its"
        " distances are not Elo.",
        value="difference",
        ends="difference_",
        above_engine=True,
        missing="unbounded, or no move rated yet",
        usual=True,
    ),
    _make_figure(
        "counted",
        "Moves counted",
        "Moves",
        "count",
        "Moves that “playing like” rests on: forced moves and moves without a score"
        " are not counted. Under ten it is early.",
        usual=True,
    ),
    _make_figure(
        "points",
        "Points",
        "Pts",
        "points",
        "Points of this event's finished games, as their results say, without byes.",
        missing="no game is finished",
        usual=True,
    ),
    _make_figure("games", "Games", "Gm", "count", "Games of this event.", usual=True),
    _make_figure(
        "fide_performance",
        "FIDE performance",
        "FIDE",
        "rating",
        "Rating performance by FIDE's table: finished games against rated opponents, "
        "results alone.",
        missing="needs a finished game against a rated opponent",
    ),
    _make_figure(
        "rating_change",
        "Rating change",
        "±Elo",
        "number",
        "What these games change of the own rating by FIDE's rules, with the K of the "
        "rating list, or else 10 from 2400 on and 20 below.",
        digits=1,
        missing="needs an own rating and a finished game against a rated opponent",
    ),
    _make_figure(
        "score",
        "Score against the engine",
        "p",
        "number",
        "The chance that a move of the player gains more than one of the engine, ties "
        "counting half (Ferreira 2012, section 4). The engine itself has 0.5.",
        digits=3,
        missing="no move rated yet",
    ),
    _make_figure(
        "mean_gain",
        "Mean gain",
        "Gain",
        "number",
        "What an average move falls short of the engine's choice.",
        value="mean_gain_cp",
        digits=1,
        unit="cp",
        missing="no move rated yet",
    ),
    _make_figure(
        "tournament",
        "Algorithm 2",
        "A2",
        "rating",
        "Algorithm 2 (Ferreira 2012): everybody's gains compared with everybody's, the "
        "mean of the rated players kept.",
        value="methods.tournament_rating",
        ends="methods.tournament_",
        missing="no opponent with a bounded comparison yet, or nobody is rated",
    ),
    _make_figure(
        "accuracy",
        "Accuracy",
        "Acc.",
        "number",
        "Accuracy of the moves scored so far, by the formula that lichess publishes.",
        value="methods.accuracy",
        digits=1,
        unit="%",
    ),
    _make_figure(
        "centipawn_loss",
        "Loss per move",
        "Loss",
        "number",
        "Average loss of the moves scored so far, scores capped at ten pawns. Sharp"
        " games cost everybody more.",
        value="methods.centipawn_loss",
        digits=1,
        unit="cp",
    ),
    _make_share(
        "first_choice",
        "First choice",
        "1st",
        "How many moves were the engine's first choice, from move 9 on, without forced"
        " moves and decided positions. It accuses nobody.",
    ),
    _make_share(
        "conformance",
        "Conformance",
        "p30",
        "How many moves fall at most 0.30 pawns short of the engine's, from move 10 on "
        "(Alliot 2017, section 4.2).",
    ),
    _make_share(
        "guid_bratko",
        "Guid-Bratko",
        "p20",
        "How many moves fall at most 0.20 pawns short where the position is within two"
        " pawns of level (after Guid and Bratko).",
    ),
    _make_share(
        "ponderated",
        "Ponderated",
        "p30w",
        "As conformance, but what is lost counts less the more the mover is ahead or"
        " behind already (Alliot 2017).",
    ),
    _make_figure(
        "intrinsic",
        "Intrinsic rating",
        "IPR",
        "rating",
        "The rating whose players would most probably have chosen these moves among "
        "several lines (Regan and Haworth 2011). It accuses nobody.",
        value="methods.intrinsic.rating",
        ends="methods.intrinsic.",
        missing="needs several lines (Multi-PV)",
    ),
    _make_figure(
        "markov_moves",
        "Markov moves",
        "Mk",
        "count",
        "Moves that count for Alliot's Markov predictor, which needs 500 of a player; "
        "`live-rate compare` shows it.",
        value="methods.markov_moves",
    ),
)

BY_ID = {figure.id: figure for figure in FIGURES}

#: Figures shown on live screens; all others are computed on demand, for reports.
LIVE_FIGURES = tuple(
    figure for figure in FIGURES if not figure.value.startswith("methods.")
)


class Reading(NamedTuple):
    """A figure's value and the two ends of its interval.

    None stands for an unknown value or an open end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


View = PlayerView | CurvePoint


def read(figure: Figure, view: View, engine_rating: int = 0) -> Reading:
    """Return a figure of a player or of a curve point.

    ``engine_rating`` is added to figures that are relative to the engine.
    """
    offset = engine_rating if figure.above_engine else 0

    def number(path: str) -> float | None:
        value = _read_number_at_path(view, path) if path else None
        return None if value is None else value + offset

    return Reading(number(figure.value), number(figure.low), number(figure.high))


def _read_number_at_path(view: object, path: str) -> float | None:
    for name in path.split("."):
        view = getattr(view, name, None)
    return view if isinstance(view, int | float) else None


def write_value(figure: Figure, value: float | None) -> str:
    """Return a value as text; empty if it is unknown.

    Only a share has a unit, as in ``62 %``.
    """
    if value is None:
        return ""
    match figure.kind:
        case "elo":
            return write_elo(value)
        case "rating" | "count":
            return f"{value:.0f}"
        case "points":
            return write_points(value)
        case "share":
            return f"{round_percent(100 * value)} %"
        case _:
            return f"{value:.{figure.digits}f}".replace("-", "−")


def write_cell(figure: Figure, view: View, engine_rating: int = 0) -> str:
    """Return a figure's value as a column shows it; empty if it is unknown."""
    value = read(figure, view, engine_rating).value
    if figure.id == "percentile" and value is not None:
        return write_percentile(value)
    return write_value(figure, value)


def write_interval(figure: Figure, view: View, engine_rating: int = 0) -> str:
    """Return the interval of a figure, such as ``1950–2550``; empty if it has none, an
    end is open, or the figure itself is missing.
    """
    reading = read(figure, view, engine_rating)
    if None in reading:
        return ""
    if figure.kind == "elo":
        return write_band(reading.low, reading.high)
    low = write_value(figure, reading.low).removesuffix(" %")
    high = write_value(figure, reading.high).removesuffix(" %")
    return f"{low}–{high}"


class RankedPlayer(NamedTuple):
    """A player with the player's place in a ranking."""

    view: PlayerView
    place: int | None
    """1 + the number of players with a higher number; None for a player without one."""
    tied: bool = False
    """Whether other players have the same number."""

    @property
    def place_text(self) -> str:
        """The place, such as ``3``, or ``3=`` for a tie; empty without a place."""
        return "" if self.place is None else f"{self.place}{'=' if self.tied else ''}"


def read_percentile(view: PlayerView) -> int | None:
    """Return the player's percentile, in whole per cent; None if it is unknown."""
    return None if view.percentile is None else round_percent(view.percentile)


def rank_players(
    views: Iterable[PlayerView],
    value: Callable[[PlayerView], float | None] = read_percentile,
) -> list[RankedPlayer]:
    """Rank players by how far they are above their usual level, or by another
    ``value``.

    The highest come first, and equal numbers share a place. Players without a number
    come last, without a place, those with the highest perceived rating first. The
    default number is the percentile and not the perceived rating, so a player rated
    1655 can lead.
    """
    by_name = sorted(views, key=lambda view: (view.name, view.id))
    values = {view.id: value(view) for view in by_name}
    negated = sorted(-number for number in values.values() if number is not None)

    def rank(view: PlayerView) -> RankedPlayer:
        number = values[view.id]
        if number is None:
            return RankedPlayer(view, None)
        higher_count = bisect_left(negated, -number)
        return RankedPlayer(
            view, higher_count + 1, bisect_right(negated, -number) > higher_count + 1
        )

    def find_order(ranked: RankedPlayer) -> tuple[int, int]:
        if ranked.place is not None:
            return ranked.place, 0
        return len(by_name) + 1, -(ranked.view.perceived or 0)

    return sorted(map(rank, by_name), key=find_order)


#: Text about the order of players in tables.
RANKED_BY = (
    "Ranked by “better than”, how far the play is above what is usual for the player's"
    " Elo; equal numbers are ties. Players without an Elo, or with under ten counted"
    " moves, have no place: they follow, by “playing like”."
)


def explain_no_percentile(view: View) -> str:
    """Return in two words why there is no percentile; empty if there is one.

    Without a model the whole figure is missing, which is explained once for all.
    """
    if view.percentile is not None or view.reason == "no-model":
        return ""
    return "early" if view.counted < EARLY_MOVES else "no Elo"


def write_elo(elo: float) -> str:
    """Return whole Elo; at an end of the range, ``3200+`` or ``≤800``, which mean *or
    beyond*.
    """
    if elo >= MOST_SHOWN_ELO:
        return f"{MOST_SHOWN_ELO}+"
    return f"≤{LEAST_SHOWN_ELO}" if elo <= LEAST_SHOWN_ELO else f"{elo:.0f}"


def write_band(low: float | None, high: float | None) -> str:
    """Return a range in whole Elo, such as ``1950–2550``; empty if an end is
    unknown.
    """
    return "" if low is None or high is None else f"{low:.0f}–{high:.0f}"


def round_percent(percent: float) -> int:
    """Return whole per cent, with a half rounded up, as the pages round it.

    Python's own ``round`` and formats would make 28 of 28.5, where the pages have 29.
    """
    return math.floor(percent + 0.5)


def write_percentile(percentile: float) -> str:
    """Return a percentile in whole per cent, but never 0 or 100: nothing is that
    certain.
    """
    return f"{min(max(round_percent(percentile), 1), 99)} %"


def write_points(points: float) -> str:
    """Return points such as ``2½``."""
    whole, half = int(points), points % 1
    return f"{whole or ('' if half else 0)}{'½' if half else ''}"


def is_final(game: GameView, *, is_measuring: bool = False) -> bool:
    """Return whether a game's figures are final: it has ended, every move is rated, and
    the engine is not still to be measured.
    """
    is_rated = game.plies_scored >= game.plies_played
    return game.result != "*" and is_rated and not is_measuring


def find_event_name(game: GameView) -> str:
    """Return the name of a game's event; empty if the name is only the pairing.

    lichess names each game of a broadcast by its pairing.
    """
    white, black = game.white.name, game.black.name
    return "" if white and black and f"{white} - {black}" in game.event else game.event


def write_sentence(
    view: CurvePoint | PlayerView,
    elo: int | None,
    opponent_elo: int | None = None,
    *,
    final: bool = False,
) -> str:
    """Return a sentence about a perceived rating; empty if there is none.

    An example is ``playing like 2340 · usual for 2251: 1950–2550 · better than 62 % of
    games by players of 2251``. A ``final`` rating begins with ``played like``. A rating
    of few moves is marked ``early``.
    """
    if view.perceived is None:
        return ""
    parts = [f"{'played' if final else 'playing'} like {write_elo(view.perceived)}"]
    early = view.counted < EARLY_MOVES
    if early:
        parts.append(f"early: {view.counted} move{'' if view.counted == 1 else 's'}")
    if elo is not None and view.usual_low is not None and view.usual_high is not None:
        # If the ratings are far apart, the usual range is shifted towards the
        # opponent's rating, which must be mentioned.
        is_far = opponent_elo is not None and abs(opponent_elo - elo) > 400
        against = f" against {opponent_elo}" if is_far else ""
        parts.append(
            f"usual for {elo}{against}: {write_band(view.usual_low, view.usual_high)}"
        )
        if view.percentile is not None:
            games = "games" if isinstance(view, CurvePoint) else "such events"
            percent = write_percentile(view.percentile)
            parts.append(f"better than {percent} of {games} by players of {elo}")
    return " · ".join(parts)


def explain_no_rating(view: View, note: str = "") -> str:
    """Return why there is no perceived rating; empty if there is one.

    ``note`` is the note of the game or of the engine, which knows why no model reads
    the scores.
    """
    if view.perceived is not None:
        return ""
    if view.reason == "no-model":
        return note or "no model reads these scores"
    return f"it needs {LEAST_MOVES} counted moves of the player"


def encode_catalogue() -> bytes:
    """Return the rows of :data:`LIVE_FIGURES` as JSON for the web page."""
    return msgspec.json.encode({"figures": LIVE_FIGURES})
