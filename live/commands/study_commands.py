"""The commands for games that are over: ``calibrate``, ``compare``, ``match``, ``rank``; those over
many of them, ``live-rate study add``, ``run`` and so on; ``human`` and ``train-human``.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from live.commands.command_options import (
    ClusterFlag,
    ConfigFlag,
    DebugFlag,
    EvalsFlag,
    RunFlags,
    SearchFlags,
    argument,
    grouped,
    option,
    rating_settings,
    settings_of,
    switch,
)
from live.errors import InputError

if TYPE_CHECKING:
    from live.studies.study_data import Selection

JsonFlag = Annotated[
    str | None, option("--json", "FILE", "Write the figures as JSON; - prints them.")
]


#: Lines searched for ``--intrinsic`` by default; more lines say more of poor moves and cost more.
INTRINSIC_LINES = 10


@grouped
def calibrate(
    *,
    files: Annotated[
        list[Path] | None,
        argument("FILE...", "PGN of rated players, or NDJSON of gains (may be gzipped)."),
    ] = None,
    evals: EvalsFlag = "engine",
    name: Annotated[
        str | None, option("--name", "NAME", "Name of what is written; else the file's.")
    ] = None,
    time_control: Annotated[
        str, option("--time-control", "CLASS", "For people: classical, rapid, blitz.")
    ] = "unspecified",
    written: Annotated[
        Path | None,
        option(
            "--write",
            "OUT.json",
            "Learn a model of perceived ratings from NDJSON of searched games, for "
            "[rating] model and --check; with --intrinsic its table.",
        ),
    ] = None,
    engine_name: Annotated[
        str | None,
        option("--engine-name", "NAME", "What the engine of an NDJSON file calls itself."),
    ] = None,
    limit: Annotated[
        str | None, option("--limit", "LIMIT", "Its limit, as in '100000 nodes' or 'depth 15'.")
    ] = None,
    intrinsic: Annotated[
        bool,
        switch(
            "--intrinsic",
            "Search several lines and write the table of Regan and Haworth (2011) that turns "
            "choices into Elo for this engine and limit.",
        ),
    ] = False,
    lines: Annotated[
        int | None, option("--lines", "N", "How many, with --intrinsic (10).", min=2)
    ] = None,
    check: Annotated[
        Path | None,
        option(
            "--check",
            "FILE",
            "Measure --model on these games instead: what its bands hold. Players it was "
            "learned from are left out when the file is its own.",
        ),
    ] = None,
    model: Annotated[str | None, option("--model", "NAME", "Name or file, for --check.")] = None,
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Measure the engine over rated players, and learn what moves say about Elo.

    Over PGN it prints Algorithms 2 and 3 of Ferreira (2012) with the columns of his Table 4.
    """
    if check is None and not files:
        raise InputError("calibrate", "no file is given", "Give games of rated players")
    if check is not None and model is None:
        raise InputError("--check", "no model is named", "Give --model NAME")
    if intrinsic and (written is None or check is not None or evals == "pgn"):
        raise InputError(
            "--intrinsic", "needs an engine and a file to write", "Give --write OUT.json"
        )
    if check is not None and files:
        raise InputError("--check", "takes the place of other files", "Give one or the other")
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.calibrate_engine import calibrate as measure
    from live.studies.calibrate_engine import calibrate_intrinsic, check_model

    if intrinsic and written is not None:
        wanted = lines or max(settings.engine.multipv, INTRINSIC_LINES)
        settings = msgspec.structs.replace(
            settings, engine=msgspec.structs.replace(settings.engine, multipv=wanted)
        )
        run(calibrate_intrinsic(settings, files or [], name=name, written=written, json=json))
        return
    if check is not None and model is not None:
        check_model(settings, check, model, json=json)
        return
    run(
        measure(
            settings,
            files or [],
            evals=evals,
            name=name,
            time_control=time_control,
            written=written,
            engine_name=engine_name,
            limit=limit,
            json=json,
        )
    )


@grouped
def compare(
    pgn: Annotated[list[Path], argument("PGN...", "Games of both players.")],
    *,
    players: Annotated[tuple[str, str], option("--players", "A B", "Two names, or parts of them.")],
    evals: EvalsFlag = "engine",
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Who would beat whom: every predictor side by side, each with its interval or its reason."""
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.compare_players import compare_players

    run(compare_players(settings, pgn, players, evals=evals, json=json))


@grouped
def rank(
    pgn: Annotated[list[Path], argument("PGN...", "Games of the event.")],
    *,
    by: Annotated[
        Literal["covariance", "convolution", "markov"],
        typer.Option("--by", help="What the battle royale's pairings are predicted by."),
    ] = "covariance",
    evals: EvalsFlag = "engine",
    json: JsonFlag = None,
    search: SearchFlags,
    run_flags: RunFlags,
) -> None:
    """Who played best, by what is known of each, ties as ties; and everybody against everybody."""
    settings = rating_settings(search, run_flags)
    from live.app import run
    from live.studies.compare_players import rank_players

    run(rank_players(settings, pgn, evals=evals, by=by, json=json))


def match(
    results: Annotated[
        list[str], argument("WINS DRAWS LOSSES | PGN...", "Three counts, or the games of a match.")
    ],
    first: Annotated[
        str | None, option("--first", "NAME", "Whose side; else White of the first game.")
    ] = None,
    elo0: Annotated[float | None, option("--elo0", "ELO", "SPRT: H0, Elo.")] = None,
    elo1: Annotated[float | None, option("--elo1", "ELO", "SPRT: H1, Elo.")] = None,
    alpha: Annotated[float, option("--alpha", "P", "Error rate of H1.")] = 0.05,
    beta: Annotated[float, option("--beta", "P", "Error rate of H0.")] = 0.05,
    normalized: Annotated[bool, switch("--normalized", "SPRT in normalized Elo.")] = False,
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """What a result says: Elo difference, likelihood of superiority, SPRT. Needs no engine."""
    if (elo0 is None) != (elo1 is None):
        raise InputError("--elo0, --elo1", "a test needs both hypotheses", "Give both")
    from live.ratings.match import Sprt
    from live.studies.compare_players import match as match_results

    test = None
    if elo0 is not None and elo1 is not None:
        try:
            test = Sprt(elo0, elo1, alpha, beta, "normalized" if normalized else "logistic")
        except ValueError as error:
            raise InputError("SPRT", str(error), "See live-rate match --help") from None
    match_results(results, test, first, json)


study = typer.Typer(
    name="study",
    help="Studies over many games: one database, searched once, tables and figures of the papers.",
    no_args_is_help=True,
)

CorpusArgument = Annotated[Path, argument("CORPUS.db", "The database.")]
SettingFlag = Annotated[
    int | None, option("--setting", "N", "Which engine and limit, where there are several.")
]


@dataclasses.dataclass(frozen=True)
class SelectionFlags:
    """Which games and players a table is about."""

    player: Annotated[
        list[str] | None, option("--player", "NAME", "A player, or part of a name; repeatable.")
    ] = None
    top: Annotated[
        int | None, option("--top", "N", "Without --player: those with most games (20).", min=1)
    ] = None
    event: Annotated[
        list[str] | None, option("--event", "NAME", "Only events called so; repeatable.")
    ] = None
    first_year: Annotated[int | None, option("--from", "YEAR", "Only games from this year on.")] = (
        None
    )
    last_year: Annotated[int | None, option("--to", "YEAR", "Only games up to this year.")] = None
    min_moves: Annotated[int, option("--min-moves", "N", "Leave out rows on fewer moves.")] = 0
    gain: Annotated[
        Literal["same-search", "successive"],
        typer.Option("--gain", help="Which definition of gain is studied."),
    ] = "same-search"

    @property
    def selection(self) -> Selection:
        """As tables take it."""
        from live.studies.study_data import Selection

        return Selection(
            players=tuple(self.player or ()),
            top=self.top,
            events=tuple(self.event or ()),
            first_year=self.first_year,
            last_year=self.last_year,
            min_moves=self.min_moves,
            gain=self.gain,
        )


ByFlag = Annotated[
    str | None,
    option(
        "--by",
        "HOW",
        "Battle royale: step, tanh, convolution, markov. regan: player, event, year, rating.",
    ),
]


@study.command()
def add(
    corpus: CorpusArgument,
    files: Annotated[
        list[str], argument("FILE...", "PGN or NDJSON, plain, gz, bz2, xz or zst; - reads stdin.")
    ],
    *,
    engine_name: Annotated[
        str,
        typer.Option("--engine-name", help="Who gave the evaluations of an NDJSON without name."),
    ] = "given",
    limit: Annotated[
        str, typer.Option("--limit", help="Under which limit, as in '100000 nodes'.")
    ] = "as given",
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Add games to a corpus: each once, damaged ones gone past; goes on after a kill."""
    from live.studies.study_corpus import add_to_corpus

    raise typer.Exit(add_to_corpus(corpus, files, engine=engine_name, limit=limit, json=json))


@study.command()
@grouped
def run(
    corpus: CorpusArgument,
    *,
    order: Annotated[
        Literal["as-added", "player", "year", "sample"],
        typer.Option("--order", help="Which games come first."),
    ] = "as-added",
    games: Annotated[int | None, option("--games", "N", "At most so many.", min=1)] = None,
    lines: Annotated[
        int | None, option("--lines", "N", "Search N lines, for Regan and Haworth.", min=1)
    ] = None,
    retrograde: Annotated[
        bool,
        switch(
            "--retrograde",
            "From the last position to the first (with [engine] reproducible = false).",
        ),
    ] = False,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
) -> None:
    """Search what a corpus lacks; nothing twice, and on from where it was stopped or killed."""
    config = rating_settings(
        search, run_flags, {"engine.cluster": cluster, "engine.multipv": lines}
    )
    from live.app import run as run_async
    from live.studies.search_corpus import search_corpus

    searching = search_corpus(config, corpus, order=order, most=games, retrograde=retrograde)
    raise typer.Exit(run_async(searching))


@study.command()
def status(corpus: CorpusArgument, *, json: JsonFlag = None, debug: DebugFlag = False) -> None:
    """What a corpus holds, what is searched, and what was wrong in its files."""
    from live.studies.study_corpus import corpus_status

    raise typer.Exit(corpus_status(corpus, json=json))


@study.command()
def merge(
    corpus: CorpusArgument,
    other: Annotated[Path, argument("OTHER.db", "Whose results to take.")],
    *,
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Take games and results of another corpus, where engine, limit and version agree."""
    from live.studies.study_corpus import merge_corpus

    raise typer.Exit(merge_corpus(corpus, other, json=json))


@study.command()
def moves(corpus: CorpusArgument, *, setting: SettingFlag = None, debug: DebugFlag = False) -> None:
    """Write every move as a row of Parquet, for pandas, R and SQL."""
    from live.studies.study_corpus import write_moves

    raise typer.Exit(write_moves(corpus, setting))


@study.command()
def alliot(
    corpus: CorpusArgument,
    target: Annotated[str, argument("OUT.pgn", "A file; - prints.")],
    *,
    setting: SettingFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Write the searched games as Alliot's database of 2017 has them; study add reads them."""
    from live.studies.study_corpus import write_alliot_database

    raise typer.Exit(write_alliot_database(corpus, setting, target))


@study.command()
@grouped
def table(
    corpus: CorpusArgument,
    names: Annotated[list[str], argument("NAME...", "As the manual lists them, or all.")],
    *,
    form: Annotated[
        Literal["text", "csv", "json"], typer.Option("--form", help="How it is written.")
    ] = "text",
    out: Annotated[
        str, option("--out", "FILE", "A file, or a folder for several; - prints.")
    ] = "-",
    by: ByFlag = None,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
    debug: DebugFlag = False,
) -> None:
    """A table of the papers over this corpus, with intervals and n."""
    from live.studies.tabulate_corpus import tabulate

    raise typer.Exit(
        tabulate(corpus, names, chosen.selection, setting=setting, by=by, form=form, out=out)
    )


@study.command()
@grouped
def figure(
    corpus: CorpusArgument,
    name: Annotated[str, argument("NAME", "As the manual lists them.")],
    out: Annotated[Path, argument("OUT", "A .png or .svg.")],
    *,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
    debug: DebugFlag = False,
) -> None:
    """A figure of the papers over this corpus."""
    from live.studies.tabulate_corpus import draw

    raise typer.Exit(draw(corpus, name, chosen.selection, setting=setting, out=out))


def human(
    check: Annotated[
        list[Path] | None, option("--check", "GAMES", "Rated games as NDJSON; may be repeated.")
    ] = None,
    files: Annotated[list[Path] | None, argument("[GAMES]...", "More files for --check.")] = None,
    network: Annotated[
        str | None, option("--network", "FILE", "An ONNX file, or a .pb.gz of Maia.")
    ] = None,
    only: Annotated[
        Literal["all", "train", "validation", "test"],
        typer.Option(
            "--only", help="Games that networks learn from, or a part that they never see."
        ),
    ] = "all",
    games: Annotated[
        int | None, option("--games", "N", "At most so many, spread over the files.", min=1)
    ] = None,
    json: JsonFlag = None,
    config: ConfigFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Hold the network of human moves against games: does it say what was played?

    A file has one game a line: m (moves in UCI), w and b (Elo), kind (otb, classical, rapid,
    blitz or bullet), and where known wid and bid (the players' numbers).
    """
    settings = settings_of(config, {"human.network": network})
    if not check:
        raise InputError("human", "there is nothing to do", "Give --check GAMES.ndjson")
    from live.studies.human_moves import check_network

    raise typer.Exit(
        check_network(
            [*check, *(files or [])],
            settings.human.network,
            chosen=only,
            most=games,
            json=json,
        )
    )


def train_human(
    games: Annotated[list[Path], argument("GAMES...", "Rated games as NDJSON.")],
    out: Annotated[Path, option("--out", "FILE", "The network, as ONNX.")],
    folder: Annotated[
        Path | None,
        option("--folder", "PATH", "Positions and checkpoints; beside --out if not given."),
    ] = None,
    hours: Annotated[float, option("--hours", "H", "How long to learn.", min=0.01)] = 8.0,
    channels: Annotated[int, option("--channels", "N", "Width of the network.", min=8)] = 64,
    blocks: Annotated[int, option("--blocks", "N", "Depth of the network.", min=1)] = 4,
    threads: Annotated[int, option("--threads", "N", "Cores to learn on.", min=1)] = 2,
    seed: Annotated[int, option("--seed", "N", "Fixes order and sample.")] = 1,
    debug: DebugFlag = False,
) -> None:
    """Learn what people play from rated games, without those held out; goes on after a break.

    Needs torch: pip install 'live-rate[train]'.
    """
    from live.studies.human_moves import train_network

    raise typer.Exit(
        train_network(
            games,
            out,
            folder or out.with_suffix(".training"),
            seconds=hours * 3600,
            channels=channels,
            blocks=blocks,
            threads=threads,
            seed=seed,
        )
    )


def add_to(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    for command in (calibrate, compare, match, rank):
        app.command()(command)
    app.add_typer(study)
    app.command("human")(human)
    app.command("train-human")(train_human)
