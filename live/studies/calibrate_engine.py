"""``live-rate calibrate``: engine rating and likelihood from games of rated players, and how well
a stored calibration does on games it never saw. Part of the composition root.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from live.config import Config
from live.errors import InputError
from live.events import GainKind
from live.jobs.analyze_games import analysed, write, write_json
from live.ledger.event_state import EventState
from live.ledger.players.ferreira_table_4 import TableFour, table_four
from live.ratings.calibration.calibration_check import check, unseen
from live.ratings.calibration.calibration_fit import TooFewGames, engine_rating, learn
from live.ratings.calibration.move_evidence import Calibration, encode_calibration, load_calibration
from live.ratings.calibration.rated_games import RatedGame, rated_games, read_rated_games
from live.ratings.perceived import learn as perceived_fit
from live.ratings.perceived.model import encode_model
from live.ratings.perceived.played_games import PlayedGame, read_played_games
from live.ratings.regan.intrinsic_fit import RatedTurns, learn_intrinsic
from live.ratings.regan.intrinsic_rating import encode_table
from live.studies.compare_players import Evals
from live.terminal.tables import calibration_tables as tables


class Provenance(NamedTuple):
    """What gains come from; an NDJSON file does not say, so flags do."""

    engine: str
    limit: str
    gain: GainKind
    data: str


class RatedFiles(NamedTuple):
    """Games of rated players, and where their gains come from."""

    games: list[RatedGame]
    source: Provenance
    table: TableFour | None
    """Algorithms 2 and 3; None where opponents are not known."""


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
    leave_out: int | None,
    engine_name: str | None,
    limit: str | None,
    json: str | None,
) -> int:
    """Measure the engine over rated players, and learn from them; returns the exit code."""
    rated = await _read(config, files, evals, engine_name, limit)
    games, source = rated.games, rated.source
    found = CalibrationOutcome(
        engine=source.engine,
        limit=source.limit,
        gain=source.gain,
        player_games=len(games),
        players=len({game.player for game in games}),
        moves=sum(len(game.moves) for game in games),
        engine_rating=engine_rating(games, source.gain),
        table=rated.table,
        missing="" if games else "no scored game of a rated player: no rating to measure against",
    )
    if written is not None:
        _learn(rated, written, name, time_control, leave_out)
    if json is not None:
        write_json(json, found)
    if json != "-":
        console = Console()
        if found.table is not None:
            console.print(tables.table_four(found.table, source.engine, source.limit, source.gain))
        console.print(
            tables.summary(
                found.player_games, found.players, found.moves, found.engine_rating, found.missing
            ),
            highlight=False,
        )
        if written is not None:
            console.print(f"Written: {written}", markup=False, highlight=False)
    return 0


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
            for evidence in state.ledger.study().players.values()
            for spreads in evidence.turns
            if evidence.view.elo is not None
        ),
        name=name or written.stem,
        engine=engine.name,
        limit=engine.limit,
        lines=config.engine.multipv,
        source=f"learned from {data}",
    )
    write(str(written), encode_table(table))
    if json is not None:
        write_json(json, table)
    if json != "-":
        Console().print(tables.mileposts(table))
        Console().print(f"Written: {written}", markup=False, highlight=False)
    return 0


def calibrate_losses(
    config: Config,
    files: Sequence[Path],
    *,
    name: str | None,
    time_control: str,
    written: Path,
    engine_name: str | None,
    limit: str | None,
) -> None:
    """``calibrate --losses``: a model of perceived ratings from games that were searched already.

    Raises InputError for PGN, where engine or limit is not given, and for too few games.
    """
    data = ", ".join(file.name for file in files)
    if any(map(_is_pgn, files)):
        raise InputError(data, "has no searches to learn from", "Give NDJSON of searched games")
    for given, flag in ((engine_name, "--engine-name"), (limit, "--limit")):
        if not given:
            raise InputError(
                data, "does not tell which engine and limit its scores are from", f"Give {flag}"
            )
    games: list[PlayedGame] = []
    gain, held = _held(config, files)
    for file, lines in held:
        games += read_played_games(lines, gain, str(file))
    try:
        model = perceived_fit.learn(
            [game for game in games if any(side.turns for side in game.sides)],
            name=name or written.stem,
            engine=engine_name or "",
            limit=limit or "",
            gain=gain,
            time_control=time_control,
            data=data,
            date=datetime.now().astimezone().date().isoformat(),
        )
    except perceived_fit.TooFewGames as error:
        raise InputError(data, str(error), "Give more games of rated players") from None
    write(str(written), encode_model(model))
    Console().print(
        f"Learned from {model.games} player-games of {model.players} players, {model.moves} moves. "
        f"Written: {written}",
        markup=False,
        highlight=False,
    )


async def check_calibration(
    config: Config, file: Path, calibration: str, *, evals: Evals, json: str | None
) -> int:
    """``calibrate --check``: errors and coverage on players the calibration never saw."""
    held = load_calibration(calibration)
    note = ""
    if _is_pgn(file):
        state = await analysed(config, [file], evals=evals, walkovers=False)
        engine = state.engine()
        mismatch = held.mismatch(engine.name, engine.limit, state.gain())
        if mismatch is not None:
            raise InputError(str(file), mismatch, "Analyse with that engine and limit")
        games = _rated_of(state)
    else:
        games = list(read_rated_games(_lines(file), held.gain, str(file)))
    if file.name == held.data:
        games = unseen(held, games)
        if held.left_out is None:
            note = "learned from these very games: its own file holds cross-validated figures"
    found = check(held, games)
    if not found.games:
        raise InputError(
            str(file),
            "holds no scored game of a rated player it never saw",
            "Give games that it was not learned from",
        )
    if json is not None:
        write_json(json, found)
    if json != "-":
        Console().print(tables.checked(found, note))
    elif note:
        Console(stderr=True).print(f"{held.name}: {note}", markup=False, highlight=False)
    return 0


def _learn(
    rated: RatedFiles, written: Path, name: str | None, time_control: str, leave_out: int | None
) -> Calibration:
    source = rated.source
    for what, flag in ((source.engine, "--engine-name"), (source.limit, "--limit")):
        if not what:
            raise InputError(
                source.data,
                "does not say which engine and limit its gains are from",
                f"Give {flag}",
            )
    apart = (leave_out, 0) if leave_out else None
    try:
        calibration = learn(
            rated.games,
            name=name or written.stem,
            engine=source.engine,
            limit=source.limit,
            gain=source.gain,
            time_control=time_control,
            data=source.data,
            date=datetime.now().astimezone().date().isoformat(),
            leave_out=apart,
        )
    except TooFewGames as error:
        raise InputError(source.data, str(error), "Give more games of rated players") from None
    write(str(written), encode_calibration(calibration))
    return calibration


# --- what files hold ------------------------------------------------------------------------------


async def _read(
    config: Config,
    files: Sequence[Path],
    evals: Evals,
    engine_name: str | None,
    limit: str | None,
) -> RatedFiles:
    kinds = {_is_pgn(file) for file in files}
    data = ", ".join(file.name for file in files)
    if len(kinds) > 1:
        raise InputError(data, "PGN and NDJSON do not mix", "Calibrate from one kind at a time")
    if kinds == {True}:
        state = await analysed(config, files, evals=evals, walkovers=False)
        engine = state.engine()
        table = table_four(state.players(), state.ledger.engine_strength(), _exact(state))
        source = Provenance(engine.name, engine.limit, state.gain(), data)
        return RatedFiles(_rated_of(state), source, table)
    games: list[RatedGame] = []
    gain, held = _held(config, files)
    for file, lines in held:
        games += read_rated_games(lines, gain, str(file))
    games = [game for game in games if game.moves]
    return RatedFiles(games, Provenance(engine_name or "", limit or "", gain, data), None)


def _exact(state: EventState) -> dict[str, float | None]:
    return {key: found.rating for key, found in state.ledger.study().strengths.items()}


def _rated_of(state: EventState) -> list[RatedGame]:
    details = (state.game(view.id) for view in state.games())
    return [
        game
        for detail in details
        if detail is not None
        for game in rated_games(detail, tuple(state.player_ids(detail.id)))
    ]


def _is_pgn(file: Path) -> bool:
    """Anything that is not NDJSON by its name."""
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    return not suffixes or suffixes[-1] not in {".ndjson", ".jsonl", ".json"}


def _held(config: Config, files: Sequence[Path]) -> tuple[GainKind, list[tuple[Path, list[bytes]]]]:
    """The lines of NDJSON files, and the gain that all of them hold."""
    held = [(file, _lines(file)) for file in files]
    # A file of gains holds no others, and two kinds are not pooled.
    if any(lines and b'"gains_cp"' in lines[0] for _, lines in held):
        return "successive", held
    return config.rating.gain, held


def _lines(file: Path) -> list[bytes]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(str(file), error.strerror or "cannot be read", "Check the path") from None
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                str(file), f"is no whole gzip file ({error})", "Fetch it again"
            ) from None
    return data.splitlines()
