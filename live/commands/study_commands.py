"""The commands for games that are over: ``calibrate``, ``compare``, ``match``, ``rank``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from live.commands.command_options import (
    SWITCH,
    DebugFlag,
    EvalsFlag,
    EvalsOption,
    RunFlags,
    SearchFlags,
    grouped,
    rating_settings,
)
from live.errors import InputError

JsonFlag = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write the figures as JSON; - prints them."),
]


#: Lines searched for ``--intrinsic`` by default; more lines say more of poor moves and cost more.
INTRINSIC_LINES = 10


class PairedBy(enum.StrEnum):
    """What the pairings of a battle royale are predicted by."""

    COVARIANCE = "covariance"
    CONVOLUTION = "convolution"
    MARKOV = "markov"


@grouped
def calibrate(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="PGN of rated players, or NDJSON of gains (may be gzipped).",
        ),
    ] = None,
    evals: EvalsFlag = EvalsOption.ENGINE,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of what is written; else the file's."),
    ] = None,
    time_control: Annotated[
        str,
        typer.Option(
            "--time-control", metavar="CLASS", help="For people: classical, rapid, blitz."
        ),
    ] = "unspecified",
    written: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="OUT.json",
            help="Learn from the games and keep engine rating and likelihood here, for --check.",
        ),
    ] = None,
    losses: Annotated[
        Path | None,
        typer.Option(
            "--losses",
            metavar="OUT.json",
            help="Learn a model of perceived ratings from NDJSON of searched games; name the file "
            "as [rating] model to use it.",
        ),
    ] = None,
    leave_out: Annotated[
        int | None,
        typer.Option(
            "--leave-out", metavar="D", min=2, help="Keep one in D players unseen, to check on."
        ),
    ] = None,
    engine_name: Annotated[
        str | None,
        typer.Option(
            "--engine-name", metavar="NAME", help="What the engine of an NDJSON file calls itself."
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="LIMIT", help="Its limit, as in '100000 nodes' or 'depth 15'."
        ),
    ] = None,
    intrinsic: Annotated[
        bool,
        typer.Option(
            "--intrinsic",
            metavar=SWITCH,
            help="Search several lines and write the table of Regan and Haworth (2011) that turns "
            "choices into Elo for this engine and limit.",
        ),
    ] = False,
    lines: Annotated[
        int | None,
        typer.Option("--lines", metavar="N", min=2, help="How many, with --intrinsic (10)."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="Measure --calibration on these games instead: coverage and errors. Players it "
            "was learned from are left out when the file is its own.",
        ),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option("--calibration", metavar="NAME", help="Name or file, for --check."),
    ] = None,
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Measure the engine over rated players, and learn what moves say about Elo.

    Over PGN it prints Algorithms 2 and 3 of Ferreira (2012) with the columns of his Table 4.
    """
    if check is None and not files:
        raise InputError("calibrate", "no file is given", "Give games of rated players")
    if check is not None and calibration is None:
        raise InputError("--check", "no calibration is named", "Give --calibration NAME")
    if intrinsic and (written is None or check is not None or evals is EvalsOption.PGN):
        raise InputError(
            "--intrinsic", "needs an engine and a file to write", "Give --write OUT.json"
        )
    if check is not None and files:
        raise InputError("--check", "takes the place of other files", "Give one or the other")
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.calibrate_engine import calibrate as learn
    from live.studies.calibrate_engine import (
        calibrate_intrinsic,
        calibrate_losses,
        check_calibration,
    )

    if losses is not None:
        calibrate_losses(
            settings,
            files or [],
            name=name,
            time_control=time_control,
            written=losses,
            engine_name=engine_name,
            limit=limit,
        )
        return

    if intrinsic and written is not None:
        wanted = lines or max(settings.engine.multipv, INTRINSIC_LINES)
        settings = msgspec.structs.replace(
            settings, engine=msgspec.structs.replace(settings.engine, multipv=wanted)
        )
        run(calibrate_intrinsic(settings, files or [], name=name, written=written, json=json))
        return
    if check is not None and calibration is not None:
        run(check_calibration(settings, check, calibration, evals=evals.value, json=json))
        return
    run(
        learn(
            settings,
            files or [],
            evals=evals.value,
            name=name,
            time_control=time_control,
            written=written,
            leave_out=leave_out,
            engine_name=engine_name,
            limit=limit,
            json=json,
        )
    )


@grouped
def compare(
    pgn: Annotated[list[Path], typer.Argument(metavar="PGN...", help="Games of both players.")],
    *,
    players: Annotated[
        tuple[str, str],
        typer.Option("--players", metavar="A B", help="Two names, or parts of them."),
    ],
    evals: EvalsFlag = EvalsOption.ENGINE,
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Who would beat whom: every predictor side by side, each with its interval or its reason."""
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.compare_players import compare_players

    run(compare_players(settings, pgn, players, evals=evals.value, json=json))


@grouped
def rank(
    pgn: Annotated[list[Path], typer.Argument(metavar="PGN...", help="Games of the event.")],
    *,
    by: Annotated[
        PairedBy, typer.Option("--by", help="What the battle royale's pairings are predicted by.")
    ] = PairedBy.COVARIANCE,
    evals: EvalsFlag = EvalsOption.ENGINE,
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Who played best, by what is known of each, ties as ties; and everybody against everybody."""
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.compare_players import rank_players

    run(rank_players(settings, pgn, evals=evals.value, by=by.value, json=json))


def match(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="WINS DRAWS LOSSES | PGN...", help="Three counts, or the games of a match."
        ),
    ],
    first: Annotated[
        str | None,
        typer.Option("--first", metavar="NAME", help="Whose side; else White of the first game."),
    ] = None,
    elo0: Annotated[
        float | None, typer.Option("--elo0", metavar="ELO", help="SPRT: H0, Elo.")
    ] = None,
    elo1: Annotated[
        float | None, typer.Option("--elo1", metavar="ELO", help="SPRT: H1, Elo.")
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="P", help="Error rate of H1.")] = 0.05,
    beta: Annotated[float, typer.Option("--beta", metavar="P", help="Error rate of H0.")] = 0.05,
    normalized: Annotated[
        bool, typer.Option("--normalized", metavar=SWITCH, help="SPRT in normalized Elo.")
    ] = False,
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """What a result says: Elo difference, likelihood of superiority, SPRT. Needs no engine."""
    if (elo0 is None) != (elo1 is None):
        raise InputError("--elo0, --elo1", "a test needs both hypotheses", "Give both")
    from live.ratings.match.sprt import Sprt
    from live.studies.compare_players import match as match_results

    test = None
    if elo0 is not None and elo1 is not None:
        try:
            test = Sprt(elo0, elo1, alpha, beta, "normalized" if normalized else "logistic")
        except ValueError as error:
            raise InputError("SPRT", str(error), "See live-rate match --help") from None
    match_results(results, test, first, json)


def add_to(app: typer.Typer) -> None:
    """Make these commands part of the command line."""
    for command in (calibrate, compare, match, rank):
        app.command()(command)
