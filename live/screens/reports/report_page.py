"""The report and the results sheet as self-contained pages to read or print: figures,
names, tables and each game's curves. Pure.

The pages load nothing and run no scripts; all text from a source is escaped. An unknown
figure is an empty cell, never a zero. White's and Black's curves differ in line style
as well as in colour, so they can be told apart in a grey print.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib import resources

import msgspec

from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    RANKED_BY,
    Figure,
    View,
    explain_no_percentile,
    is_final,
    rank_players,
    round_percent,
    write_cell,
    write_interval,
    write_sentence,
)
from live.games.game import number_move
from live.games.rounds import format_round_and_board, normalise_round
from live.human.difficulty import format_share
from live.messages.figures import CurvePoint, GameDetail, Mark, PlyView
from live.messages.from_sources import Player
from live.messages.values import GameId
from live.server.analysis import Analysis
from live.server.event_reader import game_order
from live.server.pgn_writer import replace_unprintable
from live.watch.agreement_alerts import LEAST_MOVES

# --- texts on paper -------------------------------------------------------------------

#: Longest name on paper, in characters; the longest real one has about 60.
NAME_CHARS = 80
MINUS = "\N{MINUS SIGN}"


def sanitise_text(text: str, max_chars: int = NAME_CHARS) -> str:
    """Return a source's text without control characters, shortened to ``max_chars``
    characters.
    """
    words = " ".join(replace_unprintable(text[: 4 * max_chars]).split())
    return words if len(words) <= max_chars else words[: max_chars - 1] + "…"


def escape_html(text: str, max_chars: int = NAME_CHARS) -> str:
    """Return a source's text as HTML: escaped, and isolated from the writing direction
    of the text around it.
    """
    return f"<bdi>{escape(sanitise_text(text, max_chars))}</bdi>"


def format_signed(value: float | None) -> str:
    """Return the number with its sign, such as ``+1.2``, with a typographic minus."""
    return "" if value is None else f"{value:+.1f}".replace("-", MINUS)


def format_percent(share: float) -> str:
    """Return a share as a percentage, such as ``61 %``."""
    return f"{round_percent(100 * share)} %"


Column = tuple[str, str]
"""A column's head and the CSS class of its cells: ``n`` for figures, ``c`` for centred,
empty for text.
"""


def render_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table. Cells are HTML: the caller has escaped all text from
    sources.
    """
    classes = [f' class="{kind}"' if kind else "" for _, kind in columns]

    def line(name: str, cells: Iterable[str]) -> str:
        pairs = zip(classes, cells, strict=True)
        row = "".join(f"<{name}{kind}>{cell}</{name}>" for kind, cell in pairs)
        return f"<tr>{row}</tr>"

    head = line("th", (escape(head) for head, _ in columns))
    body = "\n".join(line("td", row) for row in rows)
    return f"<table><thead>{head}</thead><tbody>\n{body}\n</tbody></table>"


_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'"
)


def render_document(title: str, *parts: str) -> str:
    """Return a whole HTML page that loads and runs nothing.

    Args:
        title: the title, as plain text.
        parts: the content, as HTML.
    """
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(sanitise_text(title, 160))}</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{escape_html(title, 160)}</h1>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


# --- the curves of a game -------------------------------------------------------------

WIDTH = 340
HEIGHT = 150
#: Margins around the plot, in SVG units: left, right, top, bottom.
LEFT = 34
RIGHT = 46
TOP = 6
BOTTOM = 16
#: Minimum Elo range of the vertical axis, so that noise does not look like drama.
LEAST_SPAN_ELO = 400.0


def render_curves(game: GameDetail) -> str:
    """Return both players' perceived ratings with their usual bands as SVG; an empty
    string if no rating is known.
    """
    sides = [("White", "w", game.curves.white), ("Black", "b", game.curves.black)]
    bounds: list[int | None] = []
    for _, _, curve in sides:
        bounds += (point.perceived for point in curve)
        # After the first moves a band is so wide that it would flatten the curves, so
        # only its second half sets the scale.
        for point in curve[len(curve) // 2 :]:
            bounds += (point.usual_low, point.usual_high)
    elos = [bound for bound in bounds if bound is not None]
    if not elos:
        return ""
    middle = (min(elos) + max(elos)) / 2
    span = max(LEAST_SPAN_ELO, max(elos) - min(elos))
    low = middle - span / 2
    right = WIDTH - RIGHT
    plies = max(1, len(game.plies))

    def x(ply: float) -> float:
        return LEFT + (right - LEFT) * ply / plies

    def y(elo: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (
            1 - min(1.0, max(0.0, (elo - low) / span))
        )

    def line(places: Iterable[tuple[int, float | None]]) -> str:
        points = ((ply, elo) for ply, elo in places if elo is not None)
        return " ".join(f"{x(ply):.1f},{y(elo):.1f}" for ply, elo in points)

    step = next(size for size in (100, 200, 500, 1000, 5000, 10**9) if span / size <= 5)
    marks = range(math.ceil(low / step), int((low + span) // step) + 1)
    parts: list[str] = []
    for mark in marks:
        elo = step * mark
        height = y(elo)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{right}"'
            f' y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text class="ax" x="{LEFT - 4}" y="{height + 3:.1f}"'
            f' text-anchor="end">{elo}</text>'
        )
    moves = (plies + 1) // 2
    step = 5 if moves <= 30 else 10 if moves <= 70 else 20
    parts += [
        f'<text class="ax" x="{x(2 * at):.1f}" y="{HEIGHT - 3}"'
        f' text-anchor="middle">{at}</text>'
        for at in range(step, moves + 1, step)
    ]
    bands = []
    lines = []
    ends = []
    for name, color, curve in sides:
        upper = [(point.ply, point.usual_high) for point in curve]
        lower = [(point.ply, point.usual_low) for point in reversed(curve)]
        if band := line(upper + lower):
            bands.append(f'<polygon class="band {color}" points="{band}"/>')
        if places := line((point.ply, point.perceived) for point in curve):
            lines.append(f'<polyline class="line {color}" points="{places}"/>')
            ends.append((float(places.rpartition(",")[2]), name, color))
    parts += bands + lines
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 10:
        # Move the two names apart if they would overlap.
        centre = (ends[0][0] + ends[1][0]) / 2
        ends = [(centre - 5, *ends[0][1:]), (centre + 5, *ends[1][1:])]
    parts += [
        f'<text class="end {color}" x="{right + 4}" y="{height + 3:.1f}">{name}</text>'
        for height, name, color in ends
    ]
    label = 'role="img" aria-label="Playing like, by ply"'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {label}>{"".join(parts)}</svg>'


# --- the report -----------------------------------------------------------------------

#: Losses in centipawns: from ``PRINTED_LOSS_CP`` the loss is written beside the move,
#: from ``BAD_CP`` the move is also highlighted.
PRINTED_LOSS_CP = 30
BAD_CP = 200
#: Sign written after a move that is a find or a trap.
SIGNS: dict[Mark, str] = {"find": "!", "trap": "!?"}
#: Loss in centipawns from which only "10 or more" (pawns) is written.
LOST_CP = 1000


def render_report(
    event: Analysis, *, written: str, arbiter: bool = False, each_game: bool = True
) -> str:
    """Return the report as an HTML page.

    Args:
        event: the event, or part of it.
        written: the time of the report, as shown to people.
        arbiter: whether to add screening figures.
        each_game: whether to add the papers' methods and every game move by move;
            without them a round of thirty boards fits on four pages.
    """
    games = sort_games(event.games)
    parts = [_render_lead(event, written)]
    if len(games) > 1:
        parts += [
            "<h2>Games</h2>",
            _render_games(games, event.in_doubt),
            _render_doubt_note(event),
        ]
    usual = [figure for figure in FIGURES if figure.usual]
    parts += [
        "<h2>Players</h2>",
        _render_players(event, usual) + f'<p class="soft">{RANKED_BY}</p>',
    ]
    if each_game and _has_methods(event):
        parts += [
            "<h3>Methods</h3>",
            _render_players(event, [BY_ID[name] for name in _REPORTED_METHODS]),
        ]
    if arbiter:
        parts += ["<h2>Screening</h2>", _render_screening(event)]
    if each_game:
        parts.append(f"<h2>{'Game by game' if len(games) > 1 else 'The game'}</h2>")
        parts += map(_render_game, games)
    parts += ["<h2>What the figures mean</h2>", _render_notes(event, each_game)]
    return render_document(_choose_title(games), *parts)


def render_results(event: Analysis, *, written: str) -> str:
    """Return an HTML page with the results only, to put on a wall.

    Results in doubt are marked.
    """
    columns = [("Rd.Bd", "n"), ("White", ""), ("Result", "c"), ("Black", "")]
    rows = [
        (
            _render_board(game),
            _render_player(game.white),
            _render_result(game, event.in_doubt),
            _render_player(game.black),
        )
        for game in sort_games(event.games)
    ]
    title = _choose_title(event.games, "Results")
    lead = _render_lead(event, written)
    return render_document(
        title, lead, render_table(columns, rows), _render_doubt_note(event)
    )


def _render_doubt_note(event: Analysis) -> str:
    """Return what the sign beside a doubtful result means; empty if no result is in
    doubt.
    """
    return "<p>? in doubt: ask the arbiter</p>" if event.in_doubt else ""


def sort_games(games: Iterable[GameDetail]) -> list[GameDetail]:
    """Return the games sorted by round and board, whatever their event. Games of equal
    round and board keep their order.

    Some sources name a separate event for every game.
    """
    return sorted(
        games,
        key=lambda game: game_order(msgspec.structs.replace(game, event=""))[:-1],
    )


def _choose_title(
    games: Sequence[GameDetail], nameless: str = "Perceived ratings"
) -> str:
    if len(games) == 1:
        return f"{games[0].white.name} – {games[0].black.name}"
    events = {game.event for game in games if game.event}
    return events.pop() if len(events) == 1 else nameless


def _render_lead(event: Analysis, written: str) -> str:
    """Return the line below the title: event, rounds, dates, counts, engine, time."""
    games = event.games
    rounds = list(
        dict.fromkeys(normalise_round(game.round) for game in games if game.round)
    )
    dates = sorted({game.date for game in games if game.date and "?" not in game.date})
    unscored = sum(game.plies_played - game.plies_scored for game in games)
    moves = sum(game.plies_played for game in games)
    parts = [
        escape_html(games[0].event) if len(games) == 1 and games[0].event else "",
        f"round {escape_html(', '.join(rounds))}" if 0 < len(rounds) <= 3 else "",
        escape_html(" to ".join(dict.fromkeys((dates[0], dates[-1])))) if dates else "",
        f"{len(games)} game{'s' if len(games) != 1 else ''}, {moves} moves",
        f"<b>{unscored} moves not scored yet</b>" if unscored else "",
        f"{escape_html(event.engine.name)}, {escape_html(event.engine.limit)}",
        f"written {escape_html(written)} by live-rate",
    ]
    return f'<p class="lead">{" · ".join(filter(None, parts))}</p>'


# --- tables ---------------------------------------------------------------------------


def _render_games(games: Iterable[GameDetail], in_doubt: Collection[GameId]) -> str:
    like = [("Plays like", "n like"), ("usual", "n range")]
    white = [("White", ""), *like]
    black = [("Black", ""), *like]
    columns = [("Rd.Bd", "n"), *white, ("Result", "c"), *black, ("Moves", "n")]
    rows = [
        [
            _render_board(game),
            _render_player(game.white),
            *_render_last_figure(game.curves.white),
            _render_result(game, in_doubt),
            _render_player(game.black),
            *_render_last_figure(game.curves.black),
            str((game.plies_played + 1) // 2),
        ]
        for game in games
    ]
    return render_table(columns, rows)


_REPORTED_METHODS = (
    "tournament",
    "mean_gain",
    "centipawn_loss",
    "accuracy",
    "first_choice",
    "conformance",
)


def _render_players(event: Analysis, figures: Sequence[Figure]) -> str:
    """Return a table of all players in the order of
    :func:`live.catalogue.rank_players`, each figure with its interval.
    """
    columns = [("", "n"), ("Player", "")]
    for figure in figures:
        columns.append((figure.head, "n like" if figure.id == "perceived" else "n"))
        if figure.low:
            columns.append((figure.interval, "n range"))
    rows = []
    for ranked in rank_players(event.players):
        row = [ranked.place_text, escape_html(ranked.view.name)]
        for figure in figures:
            row += _render_cells(figure, ranked.view, event.engine.rating)
        rows.append(row)
    return render_table(columns, rows)


def _has_methods(event: Analysis) -> bool:
    return any(view.methods is not None for view in event.players)


def _render_cells(figure: Figure, view: View, engine_rating: int = 0) -> list[str]:
    """Return a cell with the figure, grey while it is early, and a cell with its
    interval if this kind of figure has an interval.
    """
    text = escape(write_cell(figure, view, engine_rating))
    if figure.id == "percentile" and not text:
        text = f'<span class="soft">{explain_no_percentile(view)}</span>'
    if text and figure.id == "perceived" and getattr(view, "counted", 0) < EARLY_MOVES:
        text = f'<span class="soft">{text}</span>'
    return [text, write_interval(figure, view, engine_rating)] if figure.low else [text]


def _render_last_figure(points: Sequence[CurvePoint]) -> list[str]:
    """Return a cell with the perceived rating after the last move, and a cell with the
    usual range.
    """
    return _render_cells(BY_ID["perceived"], points[-1]) if points else ["", ""]


def _render_player(player: Player) -> str:
    return escape_html(player.name or "?") + (
        f" <small>{player.elo}</small>" if player.elo else ""
    )


def _render_board(game: GameDetail) -> str:
    return escape_html(format_round_and_board(game), 12)


def _render_result(game: GameDetail, in_doubt: Collection[GameId] = ()) -> str:
    """Return the result as printed, with a sign if it is in doubt."""
    text = escape(game.result.replace("1/2", "½").replace("-", "–"))
    return f"{text} ?" if game.id in in_doubt else text


# --- one game -------------------------------------------------------------------------


def _render_game(game: GameDetail) -> str:
    facts = [
        text
        for text in (format_round_and_board(game), game.date, game.time_control)
        if text
    ]
    problems = [f"<b>{escape_html(game.problem, 200)}</b>"] if game.problem else []
    if game.also:
        sources = " and ".join((game.feed, *game.also))
        problems.append(escape_html(f"One game, from {sources}", 300))
    if game.dispute:
        dispute = f"Its sources contradict each other: {game.dispute}"
        problems.append(f"<b>{escape_html(dispute, 300)}</b>")
    paragraphs = "".join(f"<p>{problem}</p>" for problem in problems)
    curves = render_curves(game)
    caption = "<figcaption>Playing like, by move; bands: usual for the Elo</figcaption>"
    return (
        '<section class="game"><header>'
        f"<h3>{_render_player(game.white)} – {_render_player(game.black)}"
        f" &nbsp;{_render_result(game)}</h3>"
        f'<span class="soft">{escape_html(" · ".join(facts), 120)}</span></header>'
        f"{paragraphs}{_render_sentences(game)}"
        f"{f'<figure>{curves}{caption}</figure>' if curves else ''}"
        f'<p class="moves">{_render_moves(game)}</p>'
        f"{_render_finds_and_traps(game)}</section>"
    )


def _render_sentences(game: GameDetail) -> str:
    """Return a sentence for each player that explains the player's figure in this
    game.
    """
    sides = (
        (game.white, game.black, game.curves.white),
        (game.black, game.white, game.curves.black),
    )
    final = is_final(game)
    lines = []
    for player, opponent, points in sides:
        last = points[-1] if points else None
        text = last and write_sentence(last, player.elo, opponent.elo, final=final)
        if text:
            name = escape_html(player.name or "?")
            lines.append(f"<b>{name}</b> {escape(text)}")
    return f'<p class="note">{".<br>".join(lines)}.</p>' if lines else ""


def _format_move_number(game: GameDetail, ply: PlyView) -> tuple[str, bool]:
    """Return the move number as ``23.`` or ``23…``, and whether White moved."""
    number, white = number_move(game, ply.ply)
    return f"{number}{'.' if white else '…'}", white


def _render_finds_and_traps(game: GameDetail) -> str:
    """Return a note that lists a game's traps and its finds, which are good moves that
    few players would have found.
    """
    moves: dict[str, list[str]] = {"Finds": [], "Traps": []}
    for ply in game.plies:
        number, _ = _format_move_number(game, ply)
        move = f"{number}&nbsp;{escape(sanitise_text(ply.san, 12))}"
        difficulty = ply.difficulty
        if ply.mark == "find" and ply.played_share is not None:
            share = format_share(ply.played_share)
            moves["Finds"].append(f"{move} ({share}{_format_rated(ply.played_elo)})")
        elif (
            ply.mark == "trap"
            and difficulty is not None
            and difficulty.error_chance is not None
        ):
            share = format_share(difficulty.error_chance)
            moves["Traps"].append(
                f"{move} ({share}{_format_rated(difficulty.elo)} err)"
            )
    lines = [
        f"<b>{name}:</b> {', '.join(texts)}." for name, texts in moves.items() if texts
    ]
    return f'<p class="note">{" ".join(lines)}</p>' if lines else ""


def _format_rated(elo: int | None) -> str:
    return "" if elo is None else f" rated {elo}"


def _render_moves(game: GameDetail) -> str:
    parts: list[str] = []
    for ply in game.plies:
        number, white = _format_move_number(game, ply)
        lead = f"<b>{number}</b>&nbsp;" if white or not parts else ""
        sign = f"<b>{SIGNS[ply.mark]}</b>" if ply.mark else ""
        san = escape(sanitise_text(ply.san, 12))
        parts.append(f"<span>{lead}{san}{sign}{_render_loss(ply)}</span>")
    return " ".join(parts) or '<span class="soft">No moves.</span>'


def _render_loss(ply: PlyView) -> str:
    if ply.gain_cp is None or ply.gain_cp > -PRINTED_LOSS_CP:
        return ""
    mark = "bad" if ply.gain_cp <= -BAD_CP else "soft"
    loss = (
        f"{-ply.gain_cp / 100:.2f}"
        if ply.gain_cp > -LOST_CP
        else f"{LOST_CP // 100} or more"
    )
    return f'<i class="{mark}">&nbsp;{MINUS}{loss}</i>'


# --- explanations of the figures ------------------------------------------------------

_SOURCES = {
    "fixed": "set by hand",
    "calibration": "a stored value",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def _render_notes(event: Analysis, each_game: bool) -> str:
    """Return explanations of the figures, in the order of the report."""
    engine = event.engine
    basis = (
        "the score of the move played minus that of the engine's own choice, both"
        " searched from "
        "the position before the move; never above 0"
        if event.gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    source = _SOURCES.get(engine.rating_source, "as its source says")
    ids = list(_EXPLAINED)
    if each_game and _has_methods(event):
        ids += _REPORTED_METHODS
    readers = ", ".join(engine.models) or "no model, so there are no perceived ratings"
    name = sanitise_text(engine.name)
    limit = sanitise_text(engine.limit)
    texts = {
        "Engine": f"Scores are those of {name} ({limit}), which counts as"
        f" {engine.rating} Elo, {source}.",
        "Gain": f"What a move gained or lost, in pawns: {basis}. Losses of 0.30 or more"
        " stand beside the moves.",
        "Read by": f"{readers}. {sanitise_text(engine.note, 300)}".strip(),
        **{BY_ID[name].name: BY_ID[name].meaning for name in ids},
        "Finds, traps": _FINDS_AND_TRAPS,
        "What it is not": _WHAT_IT_IS_NOT,
    }
    lines = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>"
        for term, text in texts.items()
    )
    return f'<dl class="note">{lines}</dl>'


_EXPLAINED = ("perceived", "percentile", "algorithm4")


_FINDS_AND_TRAPS = (
    "From a neural network that learned from rated games what players of each rating "
    "play. Find (!): as good as the engine's best, and fewer than 1 in 4 of the "
    "mover's rating would play it. Trap (!?): the reply that looks most natural loses "
    "a pawn or more. Ratings do not depend on this."
)
_WHAT_IT_IS_NOT = (
    "None of these figures is an official rating, FIDE's performance rating (which "
    "uses results only) or evidence of anything but how close the moves were to one "
    "engine's choices."
)
#: Text above the screening table.
_WARNING = (
    "Screening figures for arbiters only. They say where to look, with how much data, "
    "and accuse nobody: among many players, some are far off by chance. A figure alone "
    "is never evidence. First choices are those of {}; moves 1 to 8, forced moves, "
    "repeated positions and those decided by more than three pawns are left out. By "
    "chance: in at most this share of events of this size does the evidence about "
    "somebody who plays fair ever get this far."
)


# --- screening ------------------------------------------------------------------------


def _render_screening(event: Analysis) -> str:
    """Return an HTML table of players, those with the strongest evidence first.

    A player with too few counted moves is left out.

    The column "By chance" is an upper bound: the share of events of this size, with
    fair players only, in which the evidence about any player ever becomes as strong.
    """
    watched = max(1, sum(view.agreement is not None for view in event.players))
    turns = {view.id: view.methods.intrinsic for view in event.players if view.methods}
    lines = any(turns.values())
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        agreement = view.agreement
        if view.elo is None or agreement is None or agreement.moves < LEAST_MOVES:
            continue
        share = agreement.matches / agreement.moves
        expected = agreement.expected / agreement.moves
        z = (agreement.matches - agreement.expected) / math.sqrt(
            agreement.moves * expected * (1 - expected)
        )
        chance = _format_chance(min(1.0, watched * math.exp(-agreement.log_e_value)))
        row = [escape_html(view.name), str(view.elo), str(agreement.moves)]
        row += [
            format_percent(share),
            format_percent(expected),
            format_signed(z),
            chance,
        ]
        if lines:
            intrinsic = turns.get(view.id)
            match_z = None if intrinsic is None else intrinsic.match_z
            difference_z = None if intrinsic is None else intrinsic.difference_z
            row += [format_signed(match_z), format_signed(difference_z)]
        rows.append((-agreement.log_e_value, row))
    rows.sort()
    engine = f"{sanitise_text(event.engine.name)}, {sanitise_text(event.engine.limit)}"
    warning = f'<p class="warn">{escape(_WARNING.format(engine))}</p>'
    if not rows:
        nobody = f"Nobody has {LEAST_MOVES} choices that count and a forecast of them"
        return (
            f"{warning}<p>{nobody}: there is one for the embedded engine and its usual"
            " limit.</p>"
        )
    heads = ["Elo", "Moves", "First choices", "Expected", "z", "By chance"]
    # These standard scores (z) need several searched lines per position.
    heads += ["z match", "z diff."] if lines else []
    columns = [("Player", ""), *((head, "n") for head in heads)]
    return warning + render_table(columns, [row for _, row in rows])


def _format_chance(rate: float) -> str:
    if rate >= 0.995:
        return "always"
    return f"{round_percent(100 * rate)} %" if rate >= 0.01 else "&lt; 1 %"
