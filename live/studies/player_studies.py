"""Studies of finished games: who would beat whom, who played best, what a match shows;
and ``live-rate calibrate``: the engine's rating and models of perceived ratings from
games of rated players, and how well a model does on players it never saw.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.catalogue import FIGURES, Figure, cell, ends_cell
from live.errors import InputError
from live.event import comparisons
from live.event.comparisons import PredictorRow, Rank, TableFour, compare, rank
from live.event.event import Event
from live.games.game import is_played
from live.games.player_identity import normalise_name, person_key
from live.messages.figures import EngineInfo, GainKind, PlayerView
from live.messages.from_sources import GameReport, Player
from live.messages.values import Value
from live.ratings.ferreira import PlayedGains, estimate_engine_rating
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.match import (
    GameCounts,
    MatchGame,
    MatchStatistics,
    PairCounts,
    Sprt,
    SprtRun,
    SprtState,
    compute_match_statistics,
    count_match,
    run_sprt,
    trace_sprt,
)
from live.ratings.perceived_model import MODELS
from live.screens.command_output import print_line, write_json, write_output
from live.screens.terminal import printed
from live.screens.terminal.printed import NAME, titled
from live.screens.terminal.text import interval_text, odds_text, plain
from live.server.analysis import to_json
from live.settings import Config
from live.sources.pgn_file import read_pgn_file
from live.studies.analyse_files import analyse_files_whole, describe_walkovers
from live.studies.corpus_database import find_named
from live.studies.learning.held_out import is_held_out
from live.studies.learning.perceived_judgement import WHOLE, judge, summarise_judgement
from live.studies.learning.perceived_weights import fit_perceived_model
from live.studies.learning.played_games import PlayedGame, read_played_games
from live.studies.read_games import BrokenFile, read_game_texts
from live.watch.finding import count_things

Evals = Literal["engine", "pgn"]


class MatchStudy(Value):
    """What ``match --json`` writes, from the first player's side."""

    counts: GameCounts
    statistics: MatchStatistics
    first: str = ""
    second: str = ""
    pairs: PairCounts | None = None
    """Null where games are not given one by one, or none make a pair."""
    pair_statistics: MatchStatistics | None = None
    left_out: int = 0
    """Played games without a result that splits one point."""
    unpaired: int = 0
    """Counted games without the game of reversed colours beside them; 0 where no game
    is given one by one."""
    walkovers: int = 0
    """Games in which not both players moved among others, left out too."""
    results_only: bool = False
    """No game has moves: all are taken as played."""
    sprt: SprtState | None = None
    """Null without ``--elo0`` and ``--elo1``."""
    sprt_run: SprtRun | None = None
    """The same test after every pair, or game, of a match given game by game."""


async def compare_players(
    config: Config,
    files: Sequence[Path],
    names: tuple[str, str],
    *,
    evals: Evals,
    json: str | None,
) -> int:
    """``live-rate compare``; returns the exit code. Predictions are expected scores of
    the first player against the second, both colours alike.
    """
    state = await analyse_files_whole(config, files, command="compare", evals=evals)
    views = state.players()
    one, other = (find_player(views, name) for name in names)
    if one.id == other.id:
        raise InputError(
            "--players",
            f"{names[0]!r} and {names[1]!r} are the same person",
            "Name two",
        )
    engine = state.engine()
    gain = state.gain()
    rows = compare(state.collect_compared_moves(), one.id, other.id)
    width = Console().width
    return report_result(
        json,
        {"engine": engine, "gain": gain, "players": (one, other), "predictions": rows},
        build_players_table(one, other, engine, gain, width=width),
        build_comparison_table(one, other, rows, width=width),
    )


async def rank_players(
    config: Config, files: Sequence[Path], *, evals: Evals, by: str, json: str | None
) -> int:
    """``live-rate rank``; returns the exit code."""
    state = await analyse_files_whole(config, files, command="rank", evals=evals)
    views = state.players()
    engine = state.engine()
    gain = state.gain()
    ranked = rank(
        state.collect_compared_moves(), views, by, engine_rating=engine.rating
    )
    width = Console().width
    return report_result(
        json,
        {"engine": engine, "gain": gain, "predictor": by, "players": ranked},
        printed.players(views, engine, gain, width=width),
        build_battle_table(ranked, by, width=width),
    )


def assess_match(
    arguments: Sequence[str], test: Sprt | None, first: str | None, json: str | None
) -> int:
    """``live-rate match``; returns the exit code."""
    result = compute_match(arguments, test, first)
    shown: list[Any] = [build_match_table(result)]
    if result.pairs is not None and result.pair_statistics is not None:
        shown.append(build_pairs_table(result.pairs, result.pair_statistics))
    if test is not None and result.sprt is not None:
        shown.append(build_sprt_table(test, result.sprt, result.sprt_run))
    notes = (
        (
            result.left_out,
            f"Left out: {result.left_out} without a result that splits one point.",
        ),
        (result.walkovers, describe_walkovers(result.walkovers)),
        (
            result.unpaired,
            f"In no pair: {count_things(result.unpaired, 'game')} without one of"
            " reversed colours beside it.",
        ),
        (
            result.results_only,
            "No game has moves: all results are taken as those of played games.",
        ),
    )
    return report_result(
        json, result, *shown, *(note for holds, note in notes if holds)
    )


def compute_match(
    arguments: Sequence[str], test: Sprt | None, first: str | None
) -> MatchStudy:
    """Return the statistics of three counts, or of the games in PGN files.

    Raises:
        InputError: neither three counts nor files of one match.
    """
    if all(argument.lstrip("+-").isdigit() for argument in arguments):
        numbers = [int(argument) for argument in arguments]
        if len(numbers) != 3 or min(numbers) < 0:
            problem = f"{' '.join(arguments)} are not wins, draws and losses"
            raise InputError(
                "match", problem, "Give three, for example: live-rate match 12 20 8"
            )
        counts = GameCounts(*numbers)
        state = run_sprt(test, counts) if test else None
        return MatchStudy(counts, compute_match_statistics(counts), sprt=state)
    reports: list[GameReport] = []
    for argument in arguments:
        reports += read_pgn_file(Path(argument)).games
    results_only = not any(map(is_played, reports))
    # One person is one name, however it is spelt.
    spelled: dict[str, str] = {}

    def spelling(player: Player) -> str:
        return spelled.setdefault(person_key(player) or player.name, player.name)

    games = [
        MatchGame(
            spelling(report.headers.white),
            spelling(report.headers.black),
            report.result,
            played=results_only or is_played(report),
        )
        for report in reports
    ]
    if first is not None:
        # By some of the words if only one player has them.
        found = find_named(first, {name: name for name in spelled.values()})
        first = found[0] if len(found) == 1 else first
    whole = count_match(games, first)
    pairs = whole.pairs if whole.pairs.games else None
    return MatchStudy(
        whole.games,
        compute_match_statistics(whole.games),
        whole.first,
        whole.second,
        pairs,
        compute_match_statistics(pairs) if pairs else None,
        left_out=whole.left_out,
        unpaired=whole.games.games - whole.pairs.games,
        walkovers=whole.walkovers,
        results_only=results_only,
        sprt=run_sprt(test, pairs or whole.games) if test else None,
        sprt_run=trace_sprt(test, games, whole.first)
        if test and whole.games.games
        else None,
    )


def find_player(views: Sequence[PlayerView], name: str) -> PlayerView:
    """Return the player of that id or name, or of the only name that contains all its
    words.

    Raises:
        InputError: nobody or several are called so.
    """
    found = [
        view
        for view in views
        if name == view.id or normalise_name(name) == normalise_name(view.name) != ""
    ][:1]
    if not found:
        alike = find_named(name, {view.id: view.name for view in views})
        found = [view for view in views if view.id in alike]
    if len(found) == 1:
        return found[0]
    # Names hold commas.
    everybody = "; ".join(view.name for view in (found or views)[:12])
    problem = "several players are called so" if found else "nobody is called so"
    raise InputError(
        name, problem, f"There are: {everybody}" if views else "There is no player"
    )


def report_result(json: str | None, result: object, *figures: Any) -> int:
    """Print as JSON if asked to, or as tables and lines; return the exit code."""
    if json is not None:
        write_json(json, result)
    console = Console()
    for each in figures if json != "-" else ():
        print_line(each, console) if isinstance(each, str) else console.print(each)
    return 0


# --- calibration ----------------------------------------------------------------------


async def calibrate(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Evals,
    time_control: str,
    written: Path | None,
    engine_name: str | None,
    limit: str | None,
    json: str | None,
) -> int:
    """Measure the engine over rated players, and with ``written`` learn a model of
    perceived ratings from them; returns the exit code. The rating is Algorithm 3 over
    all players, weighted by moves; the table is null where opponents are not known.

    Raises InputError for files of two kinds, and, to learn from, for PGN, where engine
    or limit is not given, and for too few games.
    """
    data = ", ".join(file.name for file in files)
    kinds = {_is_pgn(file) for file in files}
    if len(kinds) > 1:
        raise InputError(
            data, "PGN and NDJSON do not mix", "Calibrate from one kind at a time"
        )
    table = None
    if kinds == {True}:
        if written is not None:
            raise InputError(
                data, "has no searches to learn from", "Give NDJSON of searched games"
            )
        state = await analyse_files_whole(
            config, files, command="calibrate", evals=evals
        )
        engine = state.engine()
        gain = state.gain()
        engine_name = engine.name
        limit = engine.limit
        games = list(_read_gains(state))
        strengths = state.collect_compared_moves().strengths
        table = comparisons.table_four(state.players(), state.rate_engine(), strengths)
    else:
        gain = config.rating.gain
        played = _read_games(files, gain)
        games = []
        for side in chain.from_iterable(game.sides for game in played):
            if side.elo is not None and side.turns:
                gains_cp = tuple(turn.gain_cp for turn in side.turns)
                games.append(PlayedGains(side.player, side.elo, gains_cp))
        if written is not None:
            for given, flag in ((engine_name, "--engine-name"), (limit, "--limit")):
                if not given:
                    problem = "does not tell which engine and limit its scores are from"
                    raise InputError(data, problem, f"Give {flag}")
            model = fit_perceived_model(
                [game for game in played if game.white.turns or game.black.turns],
                gain=gain,
                name=written.stem,
                engine=engine_name,
                limit=limit,
                time_control=time_control,
                data=data,
                date=datetime.now().astimezone().date().isoformat(),
            )
            write_output(str(written), to_json(model))
    rating = estimate_engine_rating(games)
    players = len({game.player for game in games})
    moves = sum(len(game.gains_cp) for game in games)
    strength = "no bounded difference" if rating is None else f"{rating:.0f} Elo"
    missing = (
        ""
        if games
        else "no scored game of a rated player: no rating to measure against"
    )
    engine_name = engine_name or ""
    limit = limit or ""
    return report_result(
        json,
        {
            "engine": engine_name,
            "limit": limit,
            "gain": gain,
            "player_games": len(games),
            "players": players,
            "moves": moves,
            "engine_rating": rating,
            "table": table,
            "missing": missing,
        },
        *(
            [build_engine_strength_table(table, engine_name, limit, gain)]
            if table
            else []
        ),
        missing
        or f"{len(games)} rated player-games, {players} players, {moves} moves: "
        f"the engine counts {strength} (Algorithm 3 weighted by moves).",
        *([f"Written: {written}"] if written else []),
    )


async def calibrate_intrinsic(
    config: Config, files: Sequence[Path], *, written: Path, json: str | None
) -> int:
    """``calibrate --intrinsic``: the correspondence of (s, c) and Elo for this engine
    and limit.
    """
    from live.studies.learning.intrinsic_table import RatedTurns, learn_intrinsic

    data = ", ".join(file.name for file in files)
    if not all(map(_is_pgn, files)):
        raise InputError(
            data, "has no lines to choose from", "Give PGN, to be searched"
        )
    state = await analyse_files_whole(
        config, files, command="calibrate", evals="engine"
    )
    engine = state.engine()
    games = []
    for evidence in state.collect_compared_moves().players.values():
        view = evidence.view
        if view.elo is not None:
            games += [RatedTurns(view.id, view.elo, each) for each in evidence.turns]
    table = learn_intrinsic(
        games,
        name=written.stem,
        engine=engine.name,
        limit=engine.limit,
        lines=config.engine.multipv,
        source=f"learned from {data}",
    )
    write_output(str(written), to_json(table))
    return report_result(
        json, table, build_mileposts_table(table), f"Written: {written}"
    )


def check_model(file: Path, model: str, *, json: str | None) -> int:
    """``calibrate --check``: what a model's bands hold, on players it never saw."""
    held = MODELS.load(model)
    if _is_pgn(file):
        raise InputError(
            str(file), "has no searches to judge by", "Give NDJSON of searched games"
        )
    games = _read_games([file], held.gain)
    known = file.name in held.data.split(", ")
    found = judge(games, held, is_held_out if known else lambda _: True)
    after = {when: summarise_judgement(of) for when, of in found.after.items()}
    if not after[WHOLE]["n"]:
        raise InputError(
            str(file),
            "holds no scored game of a rated player it never saw",
            "Give games that it was not learned from",
        )
    report = {"model": held.name, "after": after}
    return report_result(json, report, build_check_table(held.name, after, known=known))


# --- what files hold ------------------------------------------------------------------


def _read_gains(state: Event) -> Iterator[PlayedGains]:
    for view in state.games():
        detail = state.game(view.id)
        assert detail is not None  # it is one of the games
        for key, side, curve in zip(
            state.player_ids(view.id),
            (detail.white, detail.black),
            (detail.curves.white, detail.curves.black),
            strict=True,
        ):
            if side.elo is not None and curve:
                yield PlayedGains(
                    key, side.elo, tuple(point.gain_cp for point in curve)
                )


def _is_pgn(file: Path) -> bool:
    """Return whether a file is PGN: any that is not NDJSON by its name."""
    return not re.search(r"\.(ndjson|jsonl|json)(\.gz)?\Z", file.name.lower())


def _read_games(files: Sequence[Path], gain: GainKind) -> list[PlayedGame]:
    """Read the games of NDJSON files."""
    games = []
    for file in files:
        games += read_played_games(_read_lines(file), gain, str(file))
    return games


def _read_lines(file: Path) -> list[bytes]:
    try:
        return [text for text in read_game_texts(str(file)) if isinstance(text, bytes)]
    except BrokenFile as error:
        raise InputError(
            str(file), f"is no whole file ({error})", "Fetch it again"
        ) from None


# --- two players and rankings ---------------------------------------------------------


def build_players_table(
    one: PlayerView,
    other: PlayerView,
    engine: EngineInfo,
    gain: GainKind,
    *,
    width: int,
) -> Table:
    """Tabulate what is known of two players, one figure a row."""
    table = titled(
        f"{plain(one.name, 40)} and {plain(other.name, 40)} ({plain(engine.name, 60)},"
        f" {engine.limit}, {gain} gain; Algorithm 4 with the engine at {engine.rating}"
        f" Elo by {engine.rating_source})",
        width=width,
    )
    table.add_column("", no_wrap=True)
    for view in (one, other):
        table.add_column(
            Text(plain(view.name, 24)), justify="right", ratio=1, no_wrap=True
        )
    for figure in FIGURES:
        if figure.usual:
            table.add_row(
                figure.name,
                *(_format_figure(figure, each, engine) for each in (one, other)),
            )
    table.add_row("moves", *(str(view.moves) for view in (one, other)))
    return table


def _format_figure(figure: Figure, view: PlayerView, engine: EngineInfo) -> str:
    text = cell(figure, view, engine.rating)
    ends = ends_cell(figure, view, engine.rating)
    return f"{text} ({figure.interval} {ends})" if text and ends else text


def build_comparison_table(
    one: PlayerView, other: PlayerView, rows: Sequence[PredictorRow], *, width: int
) -> Table:
    """Tabulate all predictors, one a row, and list below them those without an answer,
    by reason.
    """
    table = titled(
        f"{plain(one.name, 40)} against {plain(other.name, 40)}, both colours alike",
        "Score",
        "95 %",
        "Elo",
        "Win/draw/loss",
        first="Predictor",
        width=width,
    )
    table.add_column("Note", ratio=1)
    without: dict[str, list[str]] = {}
    for row in rows:
        if row.expected_score is None:
            without.setdefault(row.missing, []).append(row.predictor)
            continue
        known = row.win is not None and row.draw is not None
        table.add_row(
            row.predictor,
            _format_number(row.expected_score, ".3f"),
            _format_interval(row.low, row.high),
            _format_number(row.difference, "+.0f"),
            odds_text(row.win or 0.0, row.draw or 0.0) if known else "",
            Text(plain(row.caution)),
        )
    table.caption = Text(
        "\n".join(
            f"No answer: {'; '.join(names)} ({plain(why, 200)})"
            for why, names in without.items()
        )
    )
    return table


def build_battle_table(ranks: Sequence[Rank], by: str, *, width: int) -> Table:
    """Tabulate all players against all; equal scores share a place, and players without
    a place come last.
    """
    table = titled(f"Battle royale by {by}, and Algorithm 2", width=width)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", **NAME)
    for head in ("Battle", "95 %", "Beats", "A2", "95 %"):
        table.add_column(head, justify="right", no_wrap=True)
    places = Counter(each.place for each in ranks)
    for each in sorted(ranks, key=lambda rank: (rank.place is None, rank.place or 0)):
        tied = "=" if places[each.place] > 1 else ""
        low = each.algorithm_2_low
        high = each.algorithm_2_high
        second = _format_number(each.algorithm_2, ".0f"), interval_text(low, high)
        if each.algorithm_2 is None:
            second = (
                _format_number(each.algorithm_2_difference, "+.0f"),
                _format_signed_interval(low, high),
            )
        table.add_row(
            "" if each.place is None else f"{each.place}{tied}",
            Text(plain(each.name, 40)),
            _format_number(each.expected_score, ".3f"),
            _format_interval(each.expected_low, each.expected_high),
            f"{each.victories}/{each.opponents}" if each.opponents else "",
            *second,
        )
    caption = "Where 95 % intervals overlap, the order may be chance."
    if reasons := {plain(each.missing): None for each in ranks if each.missing}:
        caption += " No place in the battle royale: " + "; ".join(reasons)
    table.caption = Text(caption)
    return table


# --- matches and calibration ----------------------------------------------------------


def build_figures_table(
    title: str,
    rows: Iterable[Sequence[str]],
    *heads: str,
    first: str = "Figure",
    caption: str = "",
) -> Table:
    """Tabulate names with their figures, one a row."""
    table = titled(title, *(heads or ("Value",)), first=first)
    for name, *figures in rows:
        table.add_row(Text(name), *figures)
    table.caption = caption
    return table


def build_match_table(match: MatchStudy) -> Table:
    """Tabulate all figures of a match from wins, draws and losses."""
    first = match.first
    counts = match.counts
    found = match.statistics
    names = f"{plain(first, 40)} against {plain(match.second, 40)}: " if first else ""
    rows = (
        ("games", str(found.games)),
        ("score", _format_number(found.score, ".3f")),
        ("wins", _format_number(found.win_ratio, ".3f")),
        ("draws", _format_number(found.draw_ratio, ".3f")),
        ("losses", _format_number(found.loss_ratio, ".3f")),
        *_build_elo_rows(found),
        ("likelihood of superiority, normal", _format_number(found.los, ".4f")),
        ("likelihood of superiority, exact", _format_number(found.los_exact, ".4f")),
        ("so uneven by chance (two-tailed)", _format_number(found.p_value, ".4f")),
    )
    title = f"{names}+{counts.wins} ={counts.draws} -{counts.losses}"
    return build_figures_table(title, rows, caption="; ".join(found.gaps))


def build_pairs_table(counts: PairCounts, found: MatchStatistics) -> Table:
    """Tabulate the same from pairs of games with colours reversed."""
    points = " ".join(map(str, counts.by_score))
    return build_figures_table(
        f"Pairs with colours reversed, by points 0, ½, 1, 1½, 2: {points}",
        (
            *_build_elo_rows(found),
            ("likelihood of superiority", _format_number(found.los, ".4f")),
        ),
        caption="; ".join(found.gaps),
    )


def _build_elo_rows(found: MatchStatistics) -> tuple[tuple[str, str], ...]:
    digits = _count_decimals(found.elo_low, found.elo_high)
    error = ""
    if found.elo_error is not None:
        error = f" ± {found.elo_error:.{max(1, digits)}f}"
    normalized = (found.normalized_elo_low, found.normalized_elo_high)
    fine = _count_decimals(*normalized)
    return (
        ("Elo difference", _format_signed(found.elo, digits) + error),
        ("95 %", _format_signed_interval(found.elo_low, found.elo_high, digits)),
        ("normalized Elo", _format_signed(found.normalized_elo, fine)),
        ("95 %", _format_signed_interval(*normalized, fine)),
    )


def _count_decimals(low: float | None, high: float | None) -> int:
    """Return how many decimals an interval of Elo needs: rounding must not hide it."""
    if low is None or high is None or high - low >= 20:
        return 0
    return 1 if high - low >= 2 else 2


def _format_signed(value: float | None, digits: int) -> str:
    """Format as ``+0.9``; empty for None, and no minus sign before a zero."""
    return "" if value is None else f"{round(value, digits) + 0.0:+.{digits}f}"


def build_sprt_table(test: Sprt, state: SprtState, run: SprtRun | None) -> Table:
    """Tabulate where a sequential test stands, and when it was first decided."""
    rows = [
        ("log-likelihood ratio", _format_number(state.llr, ".3f") or "no game yet"),
        ("H0 at or below, H1 at or above", f"{state.lower:.3f}, {state.upper:.3f}"),
        ("decision now", state.decision),
    ]
    if run is not None:
        after = run.decided_after
        rows.append(
            ("first decided", "not yet" if after is None else f"after {after} games")
        )
        rows += [("as", run.decision)] if after is not None else []
    return build_figures_table(
        f"SPRT, H0: {test.elo0:g} Elo, H1: {test.elo1:g} Elo ({test.scale})",
        rows,
        caption="A result that has not occurred yet counts as 1/1000."
        if state.regularised
        else "",
    )


def build_engine_strength_table(
    found: TableFour, engine: str, limit: str, gain: GainKind
) -> Table:
    """Tabulate Algorithms 2 and 3 with the columns of Ferreira 2012, Table 4."""
    rows = [
        (
            plain(row.name, 20),
            str(row.moves),
            _format_number(row.elo, ".0f"),
            _format_number(row.strength, ".0f"),
            f"{row.expected_score:.3f}",
            _format_number(row.difference, "+.0f") or "∞",
            _format_number(row.engine_by_elo, ".0f"),
            _format_number(row.engine_by_strength, ".0f"),
        )
        for row in found.rows
    ]
    engine_by = (found.engine_by_elo, found.engine_by_strength)
    return build_figures_table(
        f"Engine strength by Algorithms 2 and 3 ({plain(engine, 60)}, {limit}, {gain}"
        " gain)",
        [
            *rows,
            (
                "Average",
                *[""] * 5,
                *(_format_number(each, ".0f") for each in engine_by),
            ),
        ],
        "Moves",
        "Elo r",
        "Est. r'",
        "Score p",
        "Diff. d",
        "r - d",
        "r' - d",
        first="Player",
        caption=found.missing,
    )


def build_mileposts_table(found: IntrinsicTable) -> Table:
    """Tabulate s and c by Elo (Regan and Haworth 2011, section 7)."""
    about = (
        f"{plain(found.engine, 60)}, {found.limit}; {found.turns} turns of"
        f" {found.players}"
    )
    spread = found.players_sd_elo
    return build_figures_table(
        f"Intrinsic ratings ({about} players)",
        [
            (f"{post.elo:.0f}", f"{post.s:.3f}", f"{post.c:.3f}")
            for post in found.mileposts
        ],
        "s",
        "c",
        first="Elo",
        caption=""
        if spread is None
        else f"One game strays from a player's rating by {spread:.0f} Elo.",
    )


def build_check_table(
    model: str, after: Mapping[str, Mapping[str, Any]], *, known: bool
) -> Table:
    """What a model's bands hold after some moves and over whole games, as
    :func:`summarise_judgement` says.

    ``known``: its own file, of which only those players count that it never saw.
    """
    shares = ("usual_holds", "interval_holds", "own_outside")
    rows = []
    for when, row in after.items():
        if row["n"]:
            label = f"{when} moves" if when.isdigit() else "the game"
            percents = [f"{100 * row[key]:.1f} %" for key in shares]
            rows.append(
                (label, str(row["n"]), *percents, _format_number(row["blind_r"], ".2f"))
            )
    return build_figures_table(
        f"Model {plain(model, 40)}: shares of player-games",
        rows,
        "Number",
        "In usual",
        "In 95 %",
        "Own outside",
        "Blind r",
        first="After",
        caption="Learned from this file: only players who were left out count."
        if known
        else "",
    )


def _format_number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _format_interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{0 if low is None else low:.2f}–{1 if high is None else high:.2f}"


def _format_signed_interval(
    low: float | None, high: float | None, digits: int = 0
) -> str:
    if low is not None and high is not None:
        return f"{_format_signed(low, digits)} to {_format_signed(high, digits)}"
    if high is not None:
        return f"≤ {_format_signed(high, digits)}"
    return "" if low is None else f"≥ {_format_signed(low, digits)}"
