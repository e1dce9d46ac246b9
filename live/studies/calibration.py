"""``live-rate calibrate``: learns the engine's rating and models of perceived ratings
from games of rated players, and measures a model on players whom it never saw.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from rich.table import Table

from live.config import Config
from live.errors import InputError
from live.event import comparisons
from live.event.comparisons import TableFour
from live.event.event import Event
from live.jobs.analyze_games import analyse_files_whole, write_output
from live.messages.figures import GainKind
from live.ratings.ferreira import PlayedGains, estimate_engine_rating
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.model_choice import MODELS
from live.screens.terminal.text import plain
from live.server.analysis import to_json
from live.studies.game_texts import BrokenFile, read_game_texts
from live.studies.learning.held_out import is_held_out
from live.studies.learning.perceived_judgement import WHOLE, judge, summarise_judgement
from live.studies.learning.perceived_weights import fit_perceived_model
from live.studies.learning.played_games import PlayedGame, read_played_games
from live.studies.printed_results import (
    Evals,
    build_figures_table,
    format_number,
    report_result,
)


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


def build_engine_strength_table(
    found: TableFour, engine: str, limit: str, gain: GainKind
) -> Table:
    """Tabulate Algorithms 2 and 3 with the columns of Ferreira 2012, Table 4."""
    rows = [
        (
            plain(row.name, 20),
            str(row.moves),
            format_number(row.elo, ".0f"),
            format_number(row.strength, ".0f"),
            f"{row.expected_score:.3f}",
            format_number(row.difference, "+.0f") or "∞",
            format_number(row.engine_by_elo, ".0f"),
            format_number(row.engine_by_strength, ".0f"),
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
                *(format_number(each, ".0f") for each in engine_by),
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
                (label, str(row["n"]), *percents, format_number(row["blind_r"], ".2f"))
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
