"""The report as one self-contained page to read or print. Pure.

Nothing of it is loaded from elsewhere and nothing runs; whatever came from a source is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import msgspec

from live.alerts.event_alerts import LEAST_MOVES
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
from live.events import (
    CurvePoint,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    Mark,
    PlyView,
)
from live.games.game import main_round, move_number
from live.human.difficulty import in_words
from live.publish.exports import Analysis
from live.publish.published_state import gain_counts, game_order
from live.report.printed import (
    MINUS,
    HtmlColumn,
    clock,
    document,
    evaluation,
    gain_chart,
    html,
    odds,
    pawns,
    percent,
    plain,
    ratings,
    signed,
    table,
)

#: Losses of a move from which they are written beside it, and from which they stand out, pawns.
TOLD_CP, BAD_CP = 30, 200
#: Beside a find and a trap.
SIGNS: dict[Mark, str] = {"find": "!", "trap": "!?"}
#: Beyond this a figure says no more than that the game was thrown away.
LOST_CP = 1000


def page(whole_event: Analysis, *, written: str, arbiter: bool = False) -> str:
    """The report; ``written`` says when. Screening figures only where ``arbiter`` asks for them."""
    games = tuple(sorted(whole_event.games, key=_order))
    whole_event = msgspec.structs.replace(whole_event, games=games)
    title = _title(games)
    parts = [
        f"<h1>{html(title, 160)}</h1>",
        f'<p class="lead">{_lead(whole_event, written)}</p>',
    ]
    if len(games) > 1:
        parts += ["<h2>Games</h2>", _games(whole_event)]
    parts += ["<h2>Players</h2>", _players(whole_event)]
    parts += ["<h3>Methods</h3>", _methods(whole_event)]
    if whole_event.gains:
        parts += ["<h3>Gains</h3>", _gains(whole_event)]
    if arbiter:
        parts += ["<h2>Screening</h2>", _screening(whole_event)]
    parts.append(f"<h2>{'Game by game' if len(games) > 1 else 'The game'}</h2>")
    parts += [_game(game, whole_event.engine_gains) for game in games]
    parts += ["<h2>What the figures mean</h2>", _notes(whole_event)]
    return document(plain(title, 160), *parts)


def _order(game: GameDetail) -> tuple[object, ...]:
    """Round and board before anything else: some sources name every game an event of its own."""
    return game_order(msgspec.structs.replace(game, event=""))


def _title(games: Sequence[GameDetail]) -> str:
    if len(games) == 1:
        return f"{games[0].white.name} – {games[0].black.name}"
    events = list(dict.fromkeys(game.event for game in games if game.event))
    return events[0] if len(events) == 1 else "Perceived ratings"


def _lead(event: Analysis, written: str) -> str:
    games = event.games
    rounds = list(dict.fromkeys(main_round(game.round) for game in games if game.round))
    dates = sorted({game.date for game in games if game.date and "?" not in game.date})
    events = list(dict.fromkeys(game.event for game in games if game.event))
    plies = sum(game.plies_played for game in games)
    scored = sum(game.plies_scored for game in games)
    said = [html(events[0])] if len(games) == 1 and events else []
    # Some sources name every game an event of its own.
    if 1 < len(events) < len(games):
        said.append(f"{len(events)} events")
    if rounds and len(rounds) <= 3:
        said.append(f"round {html(', '.join(rounds))}")
    if dates:
        said.append(html(dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"))
    said.append(f"{len(games)} game{'s' if len(games) != 1 else ''}, {plies} moves")
    if scored < plies:
        said.append(f"<b>{plies - scored} moves not scored yet</b>")
    said.append(f"{html(event.engine.name)}, {html(event.engine.limit)}")
    said.append(f"written {html(written)} by live-rate")
    return " · ".join(said)


# --- tables -------------------------------------------------------------------------------------


def _games(event: Analysis) -> str:
    like = [HtmlColumn("Plays like", "n like"), HtmlColumn("usual", "n range")]
    columns = [
        HtmlColumn("Rd.Bd", "n"),
        HtmlColumn("White"),
        *like,
        HtmlColumn("Result", "c"),
        HtmlColumn("Black"),
        *like,
        HtmlColumn("Moves", "n"),
    ]
    rows = [
        [
            html(_board(game), 12),
            _player(game.white.name, game.white.elo),
            *_last(game.curves.white),
            escape(_result(game)),
            _player(game.black.name, game.black.elo),
            *_last(game.curves.black),
            str((game.plies_played + 1) // 2),
        ]
        for game in event.games
    ]
    return table(columns, rows)


def _players(event: Analysis) -> str:
    note = "Equal numbers are ties. Under ten counted moves nobody has a place."
    usual = [figure for figure in FIGURES if figure.usual]
    return _figures(event, usual) + f'<p class="soft">{escape(note)}</p>'


_METHODS = ("tournament", "mean_gain", "centipawn_loss", "accuracy", "first_choice", "conformance")


def _methods(event: Analysis) -> str:
    """What the methods of the papers say, in the same order."""
    return _figures(event, [BY_ID[name] for name in _METHODS])


def _figures(event: Analysis, shown: Sequence[Figure]) -> str:
    """Everybody by the perceived rating, each figure with its interval."""
    columns = [HtmlColumn("", "n"), HtmlColumn("Player")]
    for figure in shown:
        columns.append(HtmlColumn(figure.head, "n like" if figure.id == "perceived" else "n"))
        if figure.low:
            columns.append(HtmlColumn(figure.interval, "n range"))
    rows = []
    for each in standings(event.players):
        row = [each.text, html(each.view.name)]
        for figure in shown:
            row += _cells(figure, each.view, event.engine.rating)
        rows.append(row)
    return table(columns, rows)


def _cells(figure: Figure, view: View, engine_rating: int = 0) -> list[str]:
    """The figure, grey while it is early, and its interval where it can have one."""
    text = escape(cell(figure, view, engine_rating))
    if text and figure.id == "perceived" and getattr(view, "counted", 0) < EARLY_MOVES:
        text = f'<span class="soft">{text}</span>'
    return [text, ends_cell(figure, view, engine_rating)] if figure.low else [text]


def _gains(event: Analysis) -> str:
    """Everybody's histogram, in the order of the other tables."""
    held = {each.player: each.counts for each in event.gains}
    views = [each.view for each in standings(event.players) if each.view.id in held]
    figures = "".join(
        f"<figure>{gain_chart(held[view.id], event.engine_gains)}"
        f"<figcaption>{html(view.name)}</figcaption></figure>"
        for view in views
    )
    own = "0 in every move" if event.engine_gains == ((0, 1),) else "below, as measured"
    note = (
        "How many moves had which gain, a bar for each centipawn; the spike at 0 is cut off. "
        f"The engine's own gains: {own}."
    )
    return f'<p class="soft">{note}</p><div class="charts gains">{figures}</div>'


def _last(points: Sequence[CurvePoint]) -> list[str]:
    """The perceived rating after the last move, and what is usual."""
    return _cells(BY_ID["perceived"], points[-1]) if points else ["", ""]


def _player(name: str, elo: int | None) -> str:
    return html(name or "?") + (f" <small>{elo}</small>" if elo else "")


def _board(game: GameDetail) -> str:
    if "." in game.round or game.board is None:
        return game.round
    return f"{game.round}.{game.board}" if game.round else str(game.board)


def _result(game: GameDetail) -> str:
    return game.result.replace("1/2", "½").replace("-", "–")


# --- one game -----------------------------------------------------------------------------------


def _game(game: GameDetail, engine: GainCounts) -> str:
    about = [each for each in (_board(game), game.date, game.time_control) if each]
    likely, curves = odds(game), ratings(game)
    scores = likely or evaluation(game)
    said = (
        "Expected result by move: White wins (below), draw (between), Black wins (above)"
        if likely
        else "White's expected score, by move"
    )
    charts = "".join(
        f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"
        for svg, caption in (
            (scores, said),
            (curves, "Playing like, by move; bands: usual for the Elo"),
            (gain_chart(gain_counts(game.curves.white), engine, "w"), "White's gains, centipawns"),
            (gain_chart(gain_counts(game.curves.black), engine, "b"), "Black's gains, centipawns"),
        )
        if svg
    )
    problem = f"<p><b>{html(game.problem, 200)}</b></p>" if game.problem else ""
    if game.also:
        sources = " and ".join((game.feed, *game.also))
        problem += f'<p class="soft">{html(f"One game, from {sources}", 300)}</p>'
    if game.dispute:
        dispute = f"Its sources contradict each other: {game.dispute}"
        problem += f"<p><b>{html(dispute, 300)}</b></p>"
    return (
        '<section class="game"><header><h3>'
        f"{_player(game.white.name, game.white.elo)} – "
        f"{_player(game.black.name, game.black.elo)} &nbsp;{escape(_result(game))}</h3>"
        f'<span class="soft">{html(" · ".join(about), 120)}</span></header>'
        f'{problem}{_said(game)}<div class="charts">{charts}</div>'
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


def _finds_and_traps(game: GameDetail) -> str:
    """Moves that few would have found, and those in reply to which many would err."""
    said: dict[Mark, list[str]] = {"find": [], "trap": []}
    for ply in game.plies:
        number, white = move_number(game, ply.ply)
        move = f"{number}{'.' if white else '…'}&nbsp;{escape(plain(ply.san, 12))}"
        hard = ply.difficulty
        if ply.mark == "find" and ply.played_share is not None:
            said["find"].append(f"{move} ({in_words(ply.played_share)}{_rated(ply.played_elo)})")
        elif ply.mark == "trap" and hard is not None and hard.error_chance is not None:
            said["trap"].append(f"{move} ({in_words(hard.error_chance)}{_rated(hard.elo)} err)")
    names: dict[Mark, str] = {"find": "Finds", "trap": "Traps"}
    lines = [f"<b>{names[mark]}:</b> {', '.join(each)}." for mark, each in said.items() if each]
    return f'<p class="note">{" ".join(lines)}</p>' if lines else ""


def _rated(elo: int | None) -> str:
    return "" if elo is None else f" rated {elo}"


def _moves(game: GameDetail) -> str:
    parts: list[str] = []
    for ply in game.plies:
        number, white = move_number(game, ply.ply)
        lead = f"<b>{number}{'.' if white else '…'}</b>&nbsp;" if white or not parts else ""
        parts.append(f"<span>{lead}{escape(plain(ply.san, 12))}{_sign(ply)}{_loss(ply)}</span>")
    if game.plies and (left := _clocks(game)):
        parts.append(f"<i>{left}</i>")
    return " ".join(parts) or '<span class="soft">No moves.</span>'


def _sign(ply: PlyView) -> str:
    return f"<b>{SIGNS[ply.mark]}</b>" if ply.mark else ""


def _loss(ply: PlyView) -> str:
    if ply.gain_cp is None or ply.gain_cp > -TOLD_CP:
        return ""
    mark = "bad" if ply.gain_cp <= -BAD_CP else "soft"
    lost = pawns(ply.gain_cp) if ply.gain_cp > -LOST_CP else f"{MINUS}{LOST_CP // 100} or more"
    return f'<i class="{mark}">&nbsp;{lost}</i>'


def _clocks(game: GameDetail) -> str:
    last: dict[bool, float | None] = {}
    for ply in game.plies[-2:]:
        last[move_number(game, ply.ply)[1]] = ply.clock_s
    parts = [
        f"{name} {clock(last[side])}"
        for side, name in ((True, "White"), (False, "Black"))
        if last.get(side) is not None
    ]
    return f"Clocks at the end: {', '.join(parts)}." if parts else ""


def _notes(event: Analysis) -> str:
    lines = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>"
        for term, text in _explained(event.engine, event.gain)
    )
    return f'<dl class="note">{lines}</dl>'


# --- what the figures mean ------------------------------------------------------------------------

_SOURCES = {
    "fixed": "set by hand",
    "calibration": "a stored value",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def _explained(engine: EngineInfo, gain: GainKind) -> list[tuple[str, str]]:
    """Term and explanation, in the order of reading; plain text."""
    how = (
        "the score of the move played minus that of the engine's own choice, both searched from "
        "the position before the move; never above 0"
        if gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    return [
        (
            "Engine",
            f"Scores are those of {plain(engine.name)} ({plain(engine.limit)}), which counts as "
            f"{engine.rating} Elo, {_SOURCES.get(engine.rating_source, 'as its source says')}.",
        ),
        (
            "Gain",
            f"What a move gained or lost, in pawns: {how}. Losses of 0.30 or more stand beside the "
            "moves.",
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in ("perceived", "percentile")),
        (
            "Read by",
            f"{', '.join(engine.models) or 'no model, so nobody is playing like anything'}. "
            f"{plain(engine.note, 300)}".strip(),
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in _EXPLAINED),
        (
            "Finds, traps",
            "By a network that learned from rated games what players of a rating play, weighed by "
            "what the moves lose. Find (!): no worse than the engine's best, fewer than 1 in 4 of "
            "the mover's rating would play it, and the others lose 0.40 pawns or more on average. "
            "Trap (!?): it costs little, the reply that looks most natural loses a pawn or more, "
            "and at least 1 in 10 of the opponent's rating would err. No rating rests on it.",
        ),
        (
            "What it is not",
            "None of these figures is an official rating, FIDE's performance rating (that goes by "
            "results alone) or evidence of anything but how close the moves were to one engine's "
            "choices.",
        ),
    ]


_EXPLAINED = (
    "algorithm4",
    "tournament",
    "conformance",
    "first_choice",
    "centipawn_loss",
    "accuracy",
)


def _warning(engine: EngineInfo) -> str:
    """What stands above the screening table."""
    return (
        "Screening figures for arbiters only. They say where to look, with how much data, and "
        "accuse nobody: of many players some are far out by chance. A figure alone is never "
        f"evidence. First choices are those of {plain(engine.name)}, {plain(engine.limit)}; moves "
        "1 to 8, forced moves, repeated positions and those decided by more than three pawns are "
        "left out. By chance: at most in this share of events of this size the evidence about "
        "somebody who plays fair ever gets so far."
    )


# --- screening ----------------------------------------------------------------------------------


def _screening(event: Analysis) -> str:
    """Everybody with enough choices, those with most evidence first.

    "By chance" is the most that the share of events of this size can be in which the evidence about
    somebody who plays fair ever gets so far.
    """
    watched = max(1, sum(view.agreement is not None for view in event.players))
    lines = any(view.methods.intrinsic is not None for view in event.players)
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        found = view.agreement
        if view.elo is None or found is None or found.moves < LEAST_MOVES:
            continue
        share, expected = found.matches / found.moves, found.expected / found.moves
        z = (found.matches - found.expected) / math.sqrt(found.moves * expected * (1 - expected))
        row = [
            html(view.name),
            str(view.elo),
            str(found.moves),
            percent(share),
            percent(expected),
            signed(z, 1),
            _chance(min(1.0, watched * math.exp(-found.log_e_value))),
        ]
        if lines:
            among = view.methods.intrinsic
            zs = (None, None) if among is None else (among.match_z, among.difference_z)
            row += [signed(z, 1) for z in zs]
        rows.append((found.log_e_value, row))
    rows.sort(key=lambda each: -each[0])
    warning = f'<p class="warn">{escape(_warning(event.engine))}</p>'
    if not rows:
        return (
            warning
            + f"<p>Nobody has {LEAST_MOVES} choices that count and a forecast of them: there is "
            "one for the embedded engine and its usual limit.</p>"
        )
    heads = ["Elo", "Moves", "First choices", "Expected", "z", "By chance"]
    # Where several lines were searched: z of move matches and of the average difference.
    heads += ["z match", "z diff."] if lines else []
    columns = [HtmlColumn("Player"), *(HtmlColumn(head, "n") for head in heads)]
    return warning + table(columns, [row for _, row in rows])


def _chance(rate: float) -> str:
    if rate >= 0.995:
        return "always"
    return f"{100 * rate:.0f} %" if rate >= 0.01 else "&lt; 1 %"
