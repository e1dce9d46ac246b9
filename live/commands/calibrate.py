"""The command ``live-rate calibrate``."""

from pathlib import Path
from typing import Annotated

from live.commands.command_options import RUN, SEARCH, Ended, Evals, Settings, Within
from live.commands.study import check_installed
from live.errors import InputError

#: Default number of lines searched for ``--intrinsic``; more lines measure poor moves
#: better, and cost more time.
INTRINSIC_LINES = 10


def calibrate(
    files: list[Path] | None = None,
    *,
    evals: Evals = "engine",
    time_control: str = "unspecified",
    write: Path | None = None,
    engine_name: str | None = None,
    limit: str | None = None,
    intrinsic: bool = False,
    lines: Annotated[int | None, Within(2)] = None,
    check: Path | None = None,
    model: str | None = None,
    json: str | None = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Measure how an engine rates players of known Elo, or learn a model of Elo.

    For PGN files it prints the results of Algorithms 2 and 3 of Ferreira (2012), in the
    columns of his Table 4.

    Options:
        files: [FILE...] PGN of rated players, or NDJSON of searched games (may be
            gzipped).
        time_control: [CLASS] Class of the games' time control: classical, rapid or
            blitz. It is shown with the model and changes no figure.
        write: [OUT.json] Learn a model of perceived ratings from NDJSON of searched
            games and write it to this file, for the setting rating.model and --check.
            With --intrinsic the table is written.
        engine_name: [NAME] Name of the engine that searched an NDJSON file.
        limit: [LIMIT] Its limit, as in '100000 nodes' or 'depth 15'.
        intrinsic: Search several lines and write the table of Regan and Haworth (2011)
            that turns choices into Elo for this engine and limit.
        lines: [N] Number of lines to search, with --intrinsic (10).
        check: [FILE] Learn nothing: measure on these games how good --model and its
            bands are. Players from whom the model was learned are left out.
        model: [NAME] Name or file of the model, for --check.
    """
    if check is not None and files:
        raise InputError(
            "--check", "takes the place of other files", "Give one or the other"
        )
    if check is not None and model is None:
        raise InputError("--check", "no model is named", "Give --model NAME")
    if check is None and not files:
        raise InputError("calibrate", "no file is given", "Give games of rated players")
    if intrinsic and (write is None or check is not None or evals == "pgn"):
        remedy = "Give --write OUT.json"
        raise InputError("--intrinsic", "needs an engine and a file to write", remedy)
    config = settings.load()
    from live.studies import calibration

    if check is not None and model is not None:
        return calibration.check_model(check, model, json=json)
    if intrinsic and write is not None:
        line_count = lines or max(config.engine.multipv, INTRINSIC_LINES)
        config = settings.load({"engine.multipv": line_count})
        check_installed()
        return calibration.calibrate_intrinsic(
            config, files or [], written=write, json=json
        )
    return calibration.calibrate(
        config,
        files or [],
        evals=evals,
        time_control=time_control,
        written=write,
        engine_name=engine_name,
        limit=limit,
        json=json,
    )
