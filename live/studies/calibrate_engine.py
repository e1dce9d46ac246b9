"""``live-rate calibrate``: the engine's rating and models of perceived ratings from games of rated
players, and how well a model does on players it never saw. Part of the composition root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.text import Text

from live.config import Config
from live.errors import InputError
from live.events import GainKind
from live.jobs.analyze_games import analysed, write
from live.ledger.comparisons import TableFour, table_four
from live.ledger.event_state import EventState
from live.ratings.ferreira import PlayedGains, rating_by_moves
from live.ratings.learned_files import encoded
from live.ratings.perceived_model import MODELS
from live.studies import compare_players as tables
from live.studies.compare_players import Evals
from live.studies.perceived_learning import (
    WHOLE,
    PlayedGame,
    TooFewGames,
    judged_by,
    judges,
    learn,
    read_played_games,
    summary,
)
from live.studies.read_games import BrokenFile, game_texts
from live.studies.regan_fit import RatedTurns, learn_intrinsic


class CalibrationOutcome(msgspec.Struct, frozen=True):
    """What ``calibrate --json`` writes."""

    engine: str
    limit: str
    gain: GainKind
    player_games: int
    players: int
    moves: int
    engine_rating: float | None
    """Algorithm 3 over all players, weighted by moves, Elo; null without a rated player."""
    table: TableFour | None
    """Algorithms 2 and 3 player by player; null where opponents are not known."""
    missing: str = ""
    """Why there are no figures, for people."""


async def calibrate(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Evals,
    name: str | None,
    time_control: str,
    written: Path | None,
    engine_name: str | None,
    limit: str | None,
    json: str | None,
) -> int:
    """Measure the engine over rated players, and with ``written`` learn a model of perceived
    ratings from them; returns the exit code.

    Raises InputError for files of two kinds, and, to learn from, for PGN, where engine or limit is
    not given, and for too few games.
    """
    data = ", ".join(file.name for file in files)
    kinds = {_is_pgn(file) for file in files}
    if len(kinds) > 1:
        raise InputError(data, "PGN and NDJSON do not mix", "Calibrate from one kind at a time")
    table = None
    if kinds == {True}:
        if written is not None:
            raise InputError(data, "has no searches to learn from", "Give NDJSON of searched games")
        state = await analysed(config, files, evals=evals, walkovers=False)
        engine, gain = state.engine(), state.gain()
        engine_name, limit = engine.name, engine.limit
        games = list(_gains_of_state(state))
        strengths = state.study().strengths
        table = table_four(state.compared_players(), state.engine_strength(), strengths)
    else:
        gain, played = _played(config, files)
        games = list(_gains_of_files(played))
        if written is not None:
            for given, flag in ((engine_name, "--engine-name"), (limit, "--limit")):
                if not given:
                    problem = "does not tell which engine and limit its scores are from"
                    raise InputError(data, problem, f"Give {flag}")
            about = {"engine": engine_name, "limit": limit, "data": data, "gain": gain}
            about |= {"name": name or written.stem, "time_control": time_control}
            _learn(played, written, about)
    found = CalibrationOutcome(
        engine=engine_name or "",
        limit=limit or "",
        gain=gain,
        player_games=len(games),
        players=len({game.player for game in games}),
        moves=sum(len(game.gains_cp) for game in games),
        engine_rating=rating_by_moves(games),
        table=table,
        missing="" if games else "no scored game of a rated player: no rating to measure against",
    )
    told = tables.summary(
        len(games), found.players, found.moves, found.engine_rating, found.missing
    )
    figures: list[Any] = [Text(told)]
    if table is not None:
        figures.insert(0, tables.table_four(table, found.engine, found.limit, gain))
    if written is not None:
        figures.append(Text(f"Written: {written}"))
    return tables.reported(json, found, *figures)


async def calibrate_intrinsic(
    config: Config, files: Sequence[Path], *, name: str | None, written: Path, json: str | None
) -> int:
    """``calibrate --intrinsic``: the correspondence of (s, c) and Elo for this engine and limit."""
    data = ", ".join(file.name for file in files)
    if not all(map(_is_pgn, files)):
        raise InputError(data, "has no lines to choose from", "Give PGN, to be searched")
    state = await analysed(config, files, evals="engine", walkovers=False)
    engine = state.engine()
    table = learn_intrinsic(
        (
            RatedTurns(evidence.view.id, evidence.view.elo, spreads)
            for evidence in state.study().players.values()
            for spreads in evidence.turns
            if evidence.view.elo is not None
        ),
        name=name or written.stem,
        engine=engine.name,
        limit=engine.limit,
        lines=config.engine.multipv,
        source=f"learned from {data}",
    )
    write(str(written), encoded(table))
    return tables.reported(json, table, tables.mileposts(table), Text(f"Written: {written}"))


def check_model(config: Config, file: Path, model: str, *, json: str | None) -> int:
    """``calibrate --check``: what a model's bands hold, on players it never saw."""
    held = MODELS.load(model)
    if _is_pgn(file):
        raise InputError(str(file), "has no searches to judge by", "Give NDJSON of searched games")
    config = msgspec.structs.replace(
        config, rating=msgspec.structs.replace(config.rating, gain=held.gain)
    )
    gain, games = _played(config, [file])
    if gain != held.gain:
        raise InputError(
            str(file), f"holds {gain} gains, not {held.gain}", "Name a model of that gain"
        )
    known = file.name == held.data
    after: dict[str, dict[str, Any]] = {}
    if any(side.turns for game in games for side in game.sides):
        found = judged_by(games, held, judges if known else lambda _: True)
        after = {when: summary(of) for when, of in found.items()}
    if not after or not after[WHOLE]["n"]:
        raise InputError(
            str(file),
            "holds no scored game of a rated player it never saw",
            "Give games that it was not learned from",
        )
    report = {"model": held.name, "after": after}
    return tables.reported(json, report, tables.checked(held.name, after, known=known))


def _learn(games: Sequence[PlayedGame], written: Path, about: dict[str, Any]) -> None:
    today = datetime.now().astimezone().date().isoformat()
    known = [game for game in games if any(side.turns for side in game.sides)]
    try:
        model = learn(known, date=today, **about)
    except TooFewGames as error:
        raise InputError(about["data"], str(error), "Give more games of rated players") from None
    write(str(written), encoded(model))


# --- what files hold ------------------------------------------------------------------------------


def _gains_of_state(state: EventState) -> Iterator[PlayedGains]:
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
                yield PlayedGains(key, side.elo, tuple(point.gain_cp for point in curve))


def _gains_of_files(games: Sequence[PlayedGame]) -> Iterator[PlayedGains]:
    for game in games:
        for side in game.sides:
            if side.elo is not None and side.turns:
                yield PlayedGains(side.player, side.elo, tuple(turn.gain_cp for turn in side.turns))


def _is_pgn(file: Path) -> bool:
    """Anything that is not NDJSON by its name."""
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    return not suffixes or suffixes[-1] not in {".ndjson", ".jsonl", ".json"}


def _played(config: Config, files: Sequence[Path]) -> tuple[GainKind, list[PlayedGame]]:
    """The games of NDJSON files, and the gain that all of them hold."""
    held = [(file, _lines(file)) for file in files]
    # A file of gains holds no others, and two kinds are not pooled.
    successive = any(lines and b'"gains_cp"' in lines[0] for _, lines in held)
    gain: GainKind = "successive" if successive else config.rating.gain
    return gain, [
        game for file, lines in held for game in read_played_games(lines, gain, str(file))
    ]


def _lines(file: Path) -> list[bytes]:
    try:
        return [text for text in game_texts(str(file)) if isinstance(text, bytes)]
    except BrokenFile as error:
        raise InputError(str(file), f"is no whole file ({error})", "Fetch it again") from None
