"""Command ``live-rate calibrate``: it estimates the engine's rating, and fits models of
perceived ratings, from games of rated players.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from live.errors import InputError
from live.event import comparisons
from live.event.comparisons import TableFour
from live.event.event import Event
from live.messages.figures import GainKind
from live.ratings.ferreira import PlayedGains, estimate_engine_rating
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.model_choice import MODELS
from live.screens.command_output import write_output
from live.screens.terminal.text import plain
from live.server.analysis import to_json
from live.settings import Config
from live.studies.analyse_files import analyse_files_to_end
from live.studies.game_texts import read_json_lines
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


class RatedField(NamedTuple):
    """Games of rated players, and the engine and limit that evaluated the moves."""

    engine: str
    limit: str
    gain: GainKind
    games: Sequence[PlayedGains]
    table: TableFour | None = None
    """None if opponents are unknown."""


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
    """Measure the engine's rating from games of rated players; return the exit code. If
    ``written`` is given, also learn a model of perceived ratings from these games and
    write it to that file.

    The rating is that of Ferreira's Algorithm 3 over all players, weighted by moves.
    The reported table is null if opponents are unknown.

    Raises:
        InputError: some files are PGN and some NDJSON. If a model is to be learned,
            also if the files are PGN, the engine or the limit is not given, or there
            are too few games.
    """
    data = ", ".join(file.name for file in files)
    kinds = {_is_pgn(file) for file in files}
    if len(kinds) > 1:
        raise InputError(
            data, "PGN and NDJSON do not mix", "Calibrate from one kind at a time"
        )
    if kinds == {True}:
        if written is not None:
            raise InputError(
                data, "has no searches to learn from", "Give NDJSON of searched games"
            )
        field = await _analyse_field(config, files, evals)
    else:
        gain = config.rating.gain
        played = _read_games(files, gain)
        games = [*_list_rated_gains(played)]
        field = RatedField(engine_name or "", limit or "", gain, games)
        if written is not None:
            _learn_model(played, field, written, time_control=time_control, data=data)
    return _report_field(field, written, json)


async def _analyse_field(
    config: Config, files: Sequence[Path], evals: Evals
) -> RatedField:
    """Return the rated players of PGN files, which are analysed first."""
    state = await analyse_files_to_end(config, files, command="calibrate", evals=evals)
    engine = state.engine()
    strengths = state.collect_compared_moves().strengths
    table = comparisons.build_table_four(
        state.players(), state.rate_engine(), strengths
    )
    games = [*_read_gains(state)]
    return RatedField(engine.name, engine.limit, state.gain(), games, table)


def _list_rated_gains(played: Iterable[PlayedGame]) -> Iterator[PlayedGains]:
    for game in played:
        for side in game.sides:
            if side.elo is not None and side.turns:
                gains_cp = tuple(turn.gain_cp for turn in side.turns)
                yield PlayedGains(side.player, side.elo, gains_cp)


def _learn_model(
    played: Iterable[PlayedGame],
    field: RatedField,
    written: Path,
    *,
    time_control: str,
    data: str,
) -> None:
    """Learn a model of perceived ratings from searched games, and write it."""
    for setting, flag in ((field.engine, "--engine-name"), (field.limit, "--limit")):
        if not setting:
            problem = "does not tell which engine and limit its scores are from"
            raise InputError(data, problem, f"Give {flag}")
    model = fit_perceived_model(
        [game for game in played if game.white.turns or game.black.turns],
        gain=field.gain,
        name=written.stem,
        engine=field.engine,
        limit=field.limit,
        time_control=time_control,
        data=data,
        date=datetime.now().astimezone().date().isoformat(),
    )
    write_output(str(written), to_json(model))


def _report_field(field: RatedField, written: Path | None, json: str | None) -> int:
    """Report the engine's rating from rated games; return the exit code 0."""
    rating = estimate_engine_rating(field.games)
    players = len({game.player for game in field.games})
    moves = sum(len(game.gains_cp) for game in field.games)
    missing = ""
    if not field.games:
        missing = "no scored game of a rated player: no rating to measure against"
    strength = "no bounded difference" if rating is None else f"{rating:.0f} Elo"
    figures: list[Table | str] = []
    if field.table:
        figures.append(build_engine_strength_table(field, field.table))
    figures.append(
        missing
        or f"{len(field.games)} rated player-games, {players} players, {moves} moves:"
        f" the engine counts {strength} (Algorithm 3 weighted by moves)."
    )
    if written:
        figures.append(f"Written: {written}")
    report = {
        "engine": field.engine,
        "limit": field.limit,
        "gain": field.gain,
        "player_games": len(field.games),
        "players": players,
        "moves": moves,
        "engine_rating": rating,
        "table": field.table,
        "missing": missing,
    }
    return report_result(json, report, *figures)


async def calibrate_intrinsic(
    config: Config, files: Sequence[Path], *, written: Path, json: str | None
) -> int:
    """Run ``calibrate --intrinsic``: learn how the sensitivity s and the competence c
    depend on Elo, for this engine and limit; return the exit code.
    """
    from live.studies.learning.intrinsic_table import RatedTurns, learn_intrinsic

    data = ", ".join(file.name for file in files)
    if not all(map(_is_pgn, files)):
        raise InputError(
            data, "has no lines to choose from", "Give PGN, to be searched"
        )
    state = await analyse_files_to_end(
        config, files, command="calibrate", evals="engine"
    )
    engine = state.engine()
    games = []
    for evidence in state.collect_compared_moves().players.values():
        view = evidence.view
        if view.elo is not None:
            games += [RatedTurns(view.id, view.elo, turns) for turns in evidence.turns]
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
    """Run ``calibrate --check``: report how many ratings lie in a model's bands, for
    players whose games were not used to learn the model; return the exit code.
    """
    perceived_model = MODELS.load(model)
    if _is_pgn(file):
        raise InputError(
            str(file), "has no searches to judge by", "Give NDJSON of searched games"
        )
    games = _read_games([file], perceived_model.gain)
    is_training_file = file.name in perceived_model.data.split(", ")
    judged_after = judge(
        games, perceived_model, is_held_out if is_training_file else lambda _: True
    )
    after = {
        stage: summarise_judgement(judged) for stage, judged in judged_after.items()
    }
    if not after[WHOLE]["n"]:
        raise InputError(
            str(file),
            "has no scored game of a rated player who is new to the model",
            "Give games from which it was not learned",
        )
    report = {"model": perceived_model.name, "after": after}
    return report_result(
        json,
        report,
        build_check_table(
            perceived_model.name, after, is_training_file=is_training_file
        ),
    )


def _read_gains(state: Event) -> Iterator[PlayedGains]:
    for view in state.games():
        detail = state.game(view.id)
        # not None, because the view comes from the list of games
        assert detail is not None
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
    """Return whether a file is PGN. Every file is treated as PGN unless its name marks
    it as NDJSON.
    """
    return not re.search(r"\.(ndjson|jsonl|json)(\.gz)?\Z", file.name.lower())


def _read_games(files: Sequence[Path], gain: GainKind) -> list[PlayedGame]:
    """Read the games of NDJSON files."""
    games = []
    for file in files:
        games += read_played_games(read_json_lines(str(file)), gain, str(file))
    return games


def build_engine_strength_table(field: RatedField, table: TableFour) -> Table:
    """Build a table of Algorithms 2 and 3 with the columns of Ferreira 2012,
    Table 4.
    """
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
        for row in table.rows
    ]
    by_elo = format_number(table.engine_by_elo, ".0f")
    by_strength = format_number(table.engine_by_strength, ".0f")
    rows.append(("Average", "", "", "", "", "", by_elo, by_strength))
    return build_figures_table(
        f"Engine strength by Algorithms 2 and 3 ({plain(field.engine, 60)},"
        f" {field.limit}, {field.gain} gain)",
        rows,
        "Moves",
        "Elo r",
        "Est. r'",
        "Score p",
        "Diff. d",
        "r - d",
        "r' - d",
        first="Player",
        caption=table.missing,
    )


def build_mileposts_table(table: IntrinsicTable) -> Table:
    """Build a table of s and c by Elo (Regan and Haworth 2011, section 7)."""
    heading = (
        f"{plain(table.engine, 60)}, {table.limit}; {table.turns} turns of"
        f" {table.players}"
    )
    spread = table.players_sd_elo
    return build_figures_table(
        f"Intrinsic ratings ({heading} players)",
        [
            (f"{post.elo:.0f}", f"{post.s:.3f}", f"{post.c:.3f}")
            for post in table.mileposts
        ],
        "s",
        "c",
        first="Elo",
        caption=""
        if spread is None
        else f"One game strays from a player's rating by {spread:.0f} Elo.",
    )


def build_check_table(
    model: str, after: Mapping[str, Mapping[str, Any]], *, is_training_file: bool
) -> Table:
    """Build a table of how many ratings lie in a model's bands after some moves and
    over whole games. ``after`` contains the results of :func:`summarise_judgement` by
    number of moves.

    ``is_training_file`` is true if the model was learned from this file; then only
    players who were left out are counted.
    """
    shares = ("usual_holds", "interval_holds", "own_outside")
    rows = []
    for stage, row in after.items():
        if row["n"]:
            label = f"{stage} moves" if stage.isdigit() else "the game"
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
        if is_training_file
        else "",
    )
