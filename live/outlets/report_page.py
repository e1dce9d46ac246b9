"""The report as a self-contained page to read or print, a sheet of the results, and how figures,
names, tables and the curves of a game stand on paper. Pure.

Nothing of it is loaded from elsewhere and nothing runs; whatever came from a source is escaped. A
figure that is not known is an empty cell, never a zero. White's curve and Black's differ by the
kind of line, not by colour alone, so a grey print says the same.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib import resources

import msgspec

from live.alerts.alert_desk import LEAST_MOVES
from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    Figure,
    View,
    cell,
    ends_cell,
    is_final,
    sentence,
    standings,
)
from live.events import CurvePoint, GameDetail, GameId, Mark, Player, PlyView
from live.games.game import board_number, main_round, move_number
from live.human.difficulty import in_words
from live.publish.exports import Analysis, printable
from live.publish.published_state import game_order

# --- on paper -----------------------------------------------------------------------------------

#: Longest name on paper, characters; the longest real one has about 60.
NAME_CHARS = 80
MINUS = "\N{MINUS SIGN}"


def plain(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source without control characters and not endless."""
    words = " ".join(printable(text[: 4 * most]).split())
    return words if len(words) <= most else words[: most - 1] + "…"


def html(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source for a page: never markup, and kept from turning its neighbours around."""
    return f"<bdi>{escape(plain(text, most))}</bdi>"


def signed(value: float | None) -> str:
    """``+1.2``, with a real minus sign."""
    return "" if value is None else f"{value:+.1f}".replace("-", MINUS)


def percent(share: float) -> str:
    """``61 %``."""
    return f"{100 * share:.0f} %"


Column = tuple[str, str]
"""The head, and the classes of the cells: ``n`` figures, ``c`` centred, empty for text."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already: whoever fills them has escaped what came from a source."""
    classes = [f' class="{kind}"' if kind else "" for _, kind in columns]

    def line(name: str, cells: Iterable[str]) -> str:
        pairs = zip(classes, cells, strict=True)
        return f"<tr>{''.join(f'<{name}{kind}>{cell}</{name}>' for kind, cell in pairs)}</tr>"

    head = line("th", (escape(head) for head, _ in columns))
    body = "\n".join(line("td", row) for row in rows)
    return f"<table><thead>{head}</thead><tbody>\n{body}\n</tbody></table>"


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'"


def document(title: str, *parts: str) -> str:
    """A whole page that loads nothing and runs nothing, under its ``title``; ``parts`` as HTML."""
    style = resources.files("live.outlets").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(plain(title, 160))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<h1>{html(title, 160)}</h1>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


# --- the curves of a game -----------------------------------------------------------------------

WIDTH, HEIGHT = 340, 150
#: Room for what stands beside the plot: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 34, 46, 6, 16
#: Never less than this over the height: noise must not look like drama.
LEAST_SPAN_ELO = 400.0


def ratings(game: GameDetail) -> str:
    """Both perceived ratings in their usual bands; empty where there is no point."""
    sides = [("White", "w", game.curves.white), ("Black", "b", game.curves.black)]
    bounds = [each.perceived for _, _, curve in sides for each in curve]
    # Not the first half of the bands: they begin as wide as the page.
    late = [each for _, _, curve in sides for each in curve[len(curve) // 2 :]]
    bounds += [end for each in late for end in (each.usual_low, each.usual_high)]
    known = [each for each in bounds if each is not None]
    if not known:
        return ""
    middle, span = (min(known) + max(known)) / 2, max(LEAST_SPAN_ELO, max(known) - min(known))
    low, right, plies = middle - span / 2, WIDTH - RIGHT, max(1, len(game.plies))

    def x(ply: float) -> float:
        return LEFT + (right - LEFT) * ply / plies

    def y(elo: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, (elo - low) / span)))

    def line(places: Iterable[tuple[int, float | None]]) -> str:
        known = ((ply, elo) for ply, elo in places if elo is not None)
        return " ".join(f"{x(ply):.1f},{y(elo):.1f}" for ply, elo in known)

    step = next(each for each in (100, 200, 500, 1000, 5000, 10**9) if span / each <= 5)
    marks = range(math.ceil(low / step), int((low + span) // step) + 1)
    parts = [
        f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y(elo):.1f}" y2="{y(elo):.1f}"/>'
        f'<text class="ax" x="{LEFT - 4}" y="{y(elo) + 3:.1f}" text-anchor="end">{elo}</text>'
        for elo in (step * each for each in marks)
    ]
    moves = (plies + 1) // 2
    step = 5 if moves <= 30 else 10 if moves <= 70 else 20
    parts += [
        f'<text class="ax" x="{x(2 * at):.1f}" y="{HEIGHT - 3}" text-anchor="middle">{at}</text>'
        for at in range(step, moves + 1, step)
    ]
    bands, lines, ends = [], [], []
    for name, color, curve in sides:
        upper = [(each.ply, each.usual_high) for each in curve]
        lower = [(each.ply, each.usual_low) for each in reversed(curve)]
        if band := line(upper + lower):
            bands.append(f'<polygon class="band {color}" points="{band}"/>')
        if places := line((each.ply, each.perceived) for each in curve):
            lines.append(f'<polyline class="line {color}" points="{places}"/>')
            ends.append((float(places.rpartition(",")[2]), name, color))
    parts += bands + lines
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 10:
        # The names are kept apart.
        centre = (ends[0][0] + ends[1][0]) / 2
        ends = [(centre - 5, *ends[0][1:]), (centre + 5, *ends[1][1:])]
    parts += [
        f'<text class="end {color}" x="{right + 4}" y="{height + 3:.1f}">{name}</text>'
        for height, name, color in ends
    ]
    label = 'role="img" aria-label="Playing like, by ply"'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {label}>{"".join(parts)}</svg>'


# --- the report ---------------------------------------------------------------------------------

#: Losses of a move, in centipawns, that are written beside it, and that stand out.
TOLD_CP, BAD_CP = 30, 200
#: Beside a find and a trap.
SIGNS: dict[Mark, str] = {"find": "!", "trap": "!?"}
#: Beyond this a figure says no more than that the game was thrown away.
LOST_CP = 1000


def page(event: Analysis, *, written: str, arbiter: bool = False, each_game: bool = True) -> str:
    """The report; ``written`` says when. Screening figures only where ``arbiter`` asks for them,
    and methods and the games move by move where ``each_game`` does: without them a round of thirty
    boards has four pages.
    """
    games = in_order(event.games)
    parts = [_lead(event, written)]
    if len(games) > 1:
        parts += ["<h2>Games</h2>", _games(games, event.in_doubt), _doubt_note(event)]
    usual = [figure for figure in FIGURES if figure.usual]
    note = "Equal numbers are ties. Under ten counted moves nobody has a place."
    parts += ["<h2>Players</h2>", _figures(event, usual) + f'<p class="soft">{note}</p>']
    if each_game and _has_methods(event):
        parts += ["<h3>Methods</h3>", _figures(event, [BY_ID[name] for name in _METHODS])]
    if arbiter:
        parts += ["<h2>Screening</h2>", _screening(event)]
    if each_game:
        parts.append(f"<h2>{'Game by game' if len(games) > 1 else 'The game'}</h2>")
        parts += map(_game, games)
    parts += ["<h2>What the figures mean</h2>", _notes(event, each_game)]
    return document(_title(games), *parts)


def results_page(event: Analysis, *, written: str) -> str:
    """The results alone, to hang out; those in doubt are marked."""
    columns = [("Rd.Bd", "n"), ("White", ""), ("Result", "c"), ("Black", "")]
    rows = [
        (
            _board(game),
            _player(game.white),
            _result(game, event.in_doubt),
            _player(game.black),
        )
        for game in in_order(event.games)
    ]
    title = _title(event.games, "Results")
    lead = _lead(event, written)
    return document(title, lead, table(columns, rows), _doubt_note(event))


def _doubt_note(event: Analysis) -> str:
    """What the sign beside a result means, where there is one."""
    return "<p>? in doubt: ask the arbiter</p>" if event.in_doubt else ""


def in_order(games: Iterable[GameDetail]) -> list[GameDetail]:
    """Round and board before anything else: some sources name every game an event of its own."""
    return sorted(games, key=lambda game: game_order(msgspec.structs.replace(game, event="")))


def _title(games: Sequence[GameDetail], nameless: str = "Perceived ratings") -> str:
    if len(games) == 1:
        return f"{games[0].white.name} – {games[0].black.name}"
    events = {game.event for game in games if game.event}
    return events.pop() if len(events) == 1 else nameless


def _lead(event: Analysis, written: str) -> str:
    """Of which games, read by what, and when."""
    games = event.games
    rounds = list(dict.fromkeys(main_round(game.round) for game in games if game.round))
    dates = sorted({game.date for game in games if game.date and "?" not in game.date})
    unscored = sum(game.plies_played - game.plies_scored for game in games)
    moves = sum(game.plies_played for game in games)
    said = [
        html(games[0].event) if len(games) == 1 and games[0].event else "",
        f"round {html(', '.join(rounds))}" if 0 < len(rounds) <= 3 else "",
        html(" to ".join(dict.fromkeys((dates[0], dates[-1])))) if dates else "",
        f"{len(games)} game{'s' if len(games) != 1 else ''}, {moves} moves",
        f"<b>{unscored} moves not scored yet</b>" if unscored else "",
        f"{html(event.engine.name)}, {html(event.engine.limit)}",
        f"written {html(written)} by live-rate",
    ]
    return f'<p class="lead">{" · ".join(filter(None, said))}</p>'


# --- tables -------------------------------------------------------------------------------------


def _games(games: Iterable[GameDetail], in_doubt: Collection[GameId]) -> str:
    like = [("Plays like", "n like"), ("usual", "n range")]
    white, black = [("White", ""), *like], [("Black", ""), *like]
    columns = [("Rd.Bd", "n"), *white, ("Result", "c"), *black, ("Moves", "n")]
    rows = [
        [
            _board(game),
            _player(game.white),
            *_last(game.curves.white),
            _result(game, in_doubt),
            _player(game.black),
            *_last(game.curves.black),
            str((game.plies_played + 1) // 2),
        ]
        for game in games
    ]
    return table(columns, rows)


_METHODS = ("tournament", "mean_gain", "centipawn_loss", "accuracy", "first_choice", "conformance")


def _figures(event: Analysis, shown: Sequence[Figure]) -> str:
    """Everybody by the perceived rating, each figure with its interval."""
    columns = [("", "n"), ("Player", "")]
    for figure in shown:
        columns.append((figure.head, "n like" if figure.id == "perceived" else "n"))
        if figure.low:
            columns.append((figure.interval, "n range"))
    rows = []
    for each in standings(event.players):
        row = [each.text, html(each.view.name)]
        for figure in shown:
            row += _cells(figure, each.view, event.engine.rating)
        rows.append(row)
    return table(columns, rows)


def _has_methods(event: Analysis) -> bool:
    return any(view.methods is not None for view in event.players)


def _cells(figure: Figure, view: View, engine_rating: int = 0) -> list[str]:
    """The figure, grey while it is early, and its interval where it can have one."""
    text = escape(cell(figure, view, engine_rating))
    if text and figure.id == "perceived" and getattr(view, "counted", 0) < EARLY_MOVES:
        text = f'<span class="soft">{text}</span>'
    return [text, ends_cell(figure, view, engine_rating)] if figure.low else [text]


def _last(points: Sequence[CurvePoint]) -> list[str]:
    """The perceived rating after the last move, and what is usual."""
    return _cells(BY_ID["perceived"], points[-1]) if points else ["", ""]


def _player(player: Player) -> str:
    return html(player.name or "?") + (f" <small>{player.elo}</small>" if player.elo else "")


def _board(game: GameDetail) -> str:
    return html(board_number(game), 12)


def _result(game: GameDetail, in_doubt: Collection[GameId] = ()) -> str:
    """The result as it is printed, with the sign of one that is in doubt."""
    text = escape(game.result.replace("1/2", "½").replace("-", "–"))
    return f"{text} ?" if game.id in in_doubt else text


# --- one game -----------------------------------------------------------------------------------


def _game(game: GameDetail) -> str:
    about = [each for each in (board_number(game), game.date, game.time_control) if each]
    problems = [f"<b>{html(game.problem, 200)}</b>"] if game.problem else []
    if game.also:
        sources = " and ".join((game.feed, *game.also))
        problems.append(html(f"One game, from {sources}", 300))
    if game.dispute:
        problems.append(f"<b>{html(f'Its sources contradict each other: {game.dispute}', 300)}</b>")
    curves = ratings(game)
    caption = "<figcaption>Playing like, by move; bands: usual for the Elo</figcaption>"
    return (
        '<section class="game"><header>'
        f"<h3>{_player(game.white)} – {_player(game.black)} &nbsp;{_result(game)}</h3>"
        f'<span class="soft">{html(" · ".join(about), 120)}</span></header>'
        f"{''.join(f'<p>{each}</p>' for each in problems)}{_said(game)}"
        f"{f'<figure>{curves}{caption}</figure>' if curves else ''}"
        f'<p class="moves">{_moves(game)}</p>{_finds_and_traps(game)}</section>'
    )


def _said(game: GameDetail) -> str:
    """A sentence for each player: what the figure means in this game."""
    sides = (
        (game.white, game.black, game.curves.white),
        (game.black, game.white, game.curves.black),
    )
    lines = [
        f"<b>{html(player.name or '?')}</b> {escape(said)}"
        for player, other, points in sides
        if points and (said := sentence(points[-1], player.elo, other.elo, final=is_final(game)))
    ]
    return f'<p class="note">{".<br>".join(lines)}.</p>' if lines else ""


def _number(game: GameDetail, ply: PlyView) -> tuple[str, bool]:
    """``23.`` or ``23…``, and whether White moved."""
    number, white = move_number(game, ply.ply)
    return f"{number}{'.' if white else '…'}", white


def _finds_and_traps(game: GameDetail) -> str:
    """Moves that few would have found, and those in reply to which many would err."""
    said: dict[str, list[str]] = {"Finds": [], "Traps": []}
    for ply in game.plies:
        move = f"{_number(game, ply)[0]}&nbsp;{escape(plain(ply.san, 12))}"
        hard = ply.difficulty
        if ply.mark == "find" and ply.played_share is not None:
            said["Finds"].append(f"{move} ({in_words(ply.played_share)}{_rated(ply.played_elo)})")
        elif ply.mark == "trap" and hard is not None and hard.error_chance is not None:
            said["Traps"].append(f"{move} ({in_words(hard.error_chance)}{_rated(hard.elo)} err)")
    lines = [f"<b>{name}:</b> {', '.join(each)}." for name, each in said.items() if each]
    return f'<p class="note">{" ".join(lines)}</p>' if lines else ""


def _rated(elo: int | None) -> str:
    return "" if elo is None else f" rated {elo}"


def _moves(game: GameDetail) -> str:
    parts: list[str] = []
    for ply in game.plies:
        number, white = _number(game, ply)
        lead = f"<b>{number}</b>&nbsp;" if white or not parts else ""
        sign = f"<b>{SIGNS[ply.mark]}</b>" if ply.mark else ""
        parts.append(f"<span>{lead}{escape(plain(ply.san, 12))}{sign}{_loss(ply)}</span>")
    return " ".join(parts) or '<span class="soft">No moves.</span>'


def _loss(ply: PlyView) -> str:
    if ply.gain_cp is None or ply.gain_cp > -TOLD_CP:
        return ""
    mark = "bad" if ply.gain_cp <= -BAD_CP else "soft"
    lost = f"{-ply.gain_cp / 100:.2f}" if ply.gain_cp > -LOST_CP else f"{LOST_CP // 100} or more"
    return f'<i class="{mark}">&nbsp;{MINUS}{lost}</i>'


# --- what the figures mean ------------------------------------------------------------------------

_SOURCES = {
    "fixed": "set by hand",
    "calibration": "a stored value",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def _notes(event: Analysis, each_game: bool) -> str:
    """What stands in the tables, in the order of reading."""
    engine = event.engine
    how = (
        "the score of the move played minus that of the engine's own choice, both searched from "
        "the position before the move; never above 0"
        if event.gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    rating = f"{engine.rating} Elo, {_SOURCES.get(engine.rating_source, 'as its source says')}"
    shown = (*_EXPLAINED, *(_METHODS if each_game and _has_methods(event) else ()))
    readers = ", ".join(engine.models) or "no model, so nobody is playing like anything"
    said = {
        "Engine": f"Scores are those of {plain(engine.name)} ({plain(engine.limit)}), which "
        f"counts as {rating}.",
        "Gain": f"What a move gained or lost, in pawns: {how}. Losses of 0.30 or more stand beside "
        "the moves.",
        "Read by": f"{readers}. {plain(engine.note, 300)}".strip(),
        **{BY_ID[name].name: BY_ID[name].meaning for name in shown},
        "Finds, traps": "By a network that learned from rated games what players of a rating play. "
        "Find (!): as good as the engine's best, and fewer than 1 in 4 of the mover's rating would "
        "play it. Trap (!?): the reply that looks most natural loses a pawn or more. No rating "
        "rests on it.",
        "What it is not": "None of these figures is an official rating, FIDE's performance rating "
        "(that goes by results alone) or evidence of anything but how close the moves were to one "
        "engine's choices.",
    }
    lines = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in said.items()
    )
    return f'<dl class="note">{lines}</dl>'


_EXPLAINED = ("perceived", "percentile", "algorithm4")


#: What stands above the screening table.
_WARNING = (
    "Screening figures for arbiters only. They say where to look, with how much data, and "
    "accuse nobody: of many players some are far out by chance. A figure alone is never "
    "evidence. First choices are those of {}; moves 1 to 8, forced moves, repeated positions and "
    "those decided by more than three pawns are left out. By chance: at most in this share of "
    "events of this size the evidence about somebody who plays fair ever gets so far."
)


# --- screening ----------------------------------------------------------------------------------


def _screening(event: Analysis) -> str:
    """Everybody with enough choices, those with most evidence first.

    "By chance" is the most that the share of events of this size can be in which the evidence about
    somebody who plays fair ever gets so far.
    """
    watched = max(1, sum(view.agreement is not None for view in event.players))
    turns = {view.id: view.methods.intrinsic for view in event.players if view.methods}
    lines = any(turns.values())
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        found = view.agreement
        if view.elo is None or found is None or found.moves < LEAST_MOVES:
            continue
        share, expected = found.matches / found.moves, found.expected / found.moves
        z = (found.matches - found.expected) / math.sqrt(found.moves * expected * (1 - expected))
        chance = _chance(min(1.0, watched * math.exp(-found.log_e_value)))
        row = [html(view.name), str(view.elo), str(found.moves)]
        row += [percent(share), percent(expected), signed(z), chance]
        if lines:
            among = turns.get(view.id)
            both = (None, None) if among is None else (among.match_z, among.difference_z)
            row += map(signed, both)
        rows.append((-found.log_e_value, row))
    rows.sort()
    engine = f"{plain(event.engine.name)}, {plain(event.engine.limit)}"
    warning = f'<p class="warn">{escape(_WARNING.format(engine))}</p>'
    if not rows:
        nobody = f"Nobody has {LEAST_MOVES} choices that count and a forecast of them"
        return (
            f"{warning}<p>{nobody}: there is one for the embedded engine and its usual limit.</p>"
        )
    heads = ["Elo", "Moves", "First choices", "Expected", "z", "By chance"]
    # Where several lines were searched: z of move matches and of the average difference.
    heads += ["z match", "z diff."] if lines else []
    columns = [("Player", ""), *((head, "n") for head in heads)]
    return warning + table(columns, [row for _, row in rows])


def _chance(rate: float) -> str:
    if rate >= 0.995:
        return "always"
    return f"{100 * rate:.0f} %" if rate >= 0.01 else "&lt; 1 %"
