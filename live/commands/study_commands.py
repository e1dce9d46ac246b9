"""The commands for games that are over: ``calibrate``, ``compare``, ``match``, ``rank``; those over
many of them, ``live-rate study add``, ``run`` and so on; ``human`` and ``train-human``.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from live.commands.command_options import (
    RUN,
    SEARCH,
    Ended,
    EvalsFlag,
    JsonFlag,
    Settings,
    argument,
    command,
    option,
    switch,
)
from live.errors import InputError

if TYPE_CHECKING:
    from live.studies.study_data import Selection

#: Lines searched for ``--intrinsic`` by default; more lines say more of poor moves and cost more.
INTRINSIC_LINES = 10


def calibrate(
    *,
    files: Annotated[
        list[Path] | None,
        argument("FILE...", "PGN of rated players, or NDJSON of gains (may be gzipped)."),
    ] = None,
    evals: EvalsFlag = "engine",
    name: Annotated[str | None, option("NAME", "Name of what is written; else the file's.")] = None,
    time_control: Annotated[
        str, option("CLASS", "For people: classical, rapid, blitz.")
    ] = "unspecified",
    write: Annotated[
        Path | None,
        option(
            "OUT.json",
            "Learn a model of perceived ratings from NDJSON of searched games, for "
            "[rating] model and --check; with --intrinsic its table.",
        ),
    ] = None,
    engine_name: Annotated[
        str | None,
        option("NAME", "What the engine of an NDJSON file calls itself."),
    ] = None,
    limit: Annotated[
        str | None, option("LIMIT", "Its limit, as in '100000 nodes' or 'depth 15'.")
    ] = None,
    intrinsic: Annotated[
        bool,
        switch(
            "Search several lines and write the table of Regan and Haworth (2011) that turns "
            "choices into Elo for this engine and limit.",
        ),
    ] = False,
    lines: Annotated[int | None, option("N", "How many, with --intrinsic (10).", min=2)] = None,
    check: Annotated[
        Path | None,
        option(
            "FILE",
            "Measure --model on these games instead: what its bands hold. Players it was "
            "learned from are left out when the file is its own.",
        ),
    ] = None,
    model: Annotated[str | None, option("NAME", "Name or file, for --check.")] = None,
    json: JsonFlag = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Measure the engine over rated players, and learn what moves say about Elo.

    Over PGN it prints Algorithms 2 and 3 of Ferreira (2012) with the columns of his Table 4.
    """
    if check is None and not files:
        raise InputError("calibrate", "no file is given", "Give games of rated players")
    if check is not None and model is None:
        raise InputError("--check", "no model is named", "Give --model NAME")
    if intrinsic and (write is None or check is not None or evals == "pgn"):
        raise InputError(
            "--intrinsic", "needs an engine and a file to write", "Give --write OUT.json"
        )
    if check is not None and files:
        raise InputError("--check", "takes the place of other files", "Give one or the other")
    config = settings.load()
    from live.studies.calibrate_engine import calibrate as measure
    from live.studies.calibrate_engine import calibrate_intrinsic, check_model

    if intrinsic and write is not None:
        wanted = lines or max(config.engine.multipv, INTRINSIC_LINES)
        config = settings.load({"engine.multipv": wanted})
        return calibrate_intrinsic(config, files or [], name=name, written=write, json=json)
    if check is not None and model is not None:
        return check_model(config, check, model, json=json)
    return measure(
        config,
        files or [],
        evals=evals,
        name=name,
        time_control=time_control,
        written=write,
        engine_name=engine_name,
        limit=limit,
        json=json,
    )


def compare(
    pgn: Annotated[list[Path], argument("PGN...", "Games of both players.")],
    *,
    players: Annotated[tuple[str, str], option("A B", "Two names, or parts of them.")],
    evals: EvalsFlag = "engine",
    json: JsonFlag = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Who would beat whom: every predictor side by side, each with its interval or its reason."""
    config = settings.load()
    from live.studies.compare_players import compare_players

    return compare_players(config, pgn, players, evals=evals, json=json)


def rank(
    pgn: Annotated[list[Path], argument("PGN...", "Games of the event.")],
    *,
    by: Annotated[
        Literal["covariance", "convolution", "markov"],
        option(None, "What the battle royale's pairings are predicted by."),
    ] = "covariance",
    evals: EvalsFlag = "engine",
    json: JsonFlag = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Who played best, by what is known of each, ties as ties; and everybody against everybody."""
    config = settings.load()
    from live.studies.compare_players import rank_players

    return rank_players(config, pgn, evals=evals, by=by, json=json)


def match(
    results: Annotated[
        list[str], argument("WINS DRAWS LOSSES | PGN...", "Three counts, or the games of a match.")
    ],
    first: Annotated[
        str | None, option("NAME", "Whose side; else White of the first game.")
    ] = None,
    elo0: Annotated[float | None, option("ELO", "SPRT: H0, Elo.")] = None,
    elo1: Annotated[float | None, option("ELO", "SPRT: H1, Elo.")] = None,
    alpha: Annotated[float, option("P", "Error rate of H1.")] = 0.05,
    beta: Annotated[float, option("P", "Error rate of H0.")] = 0.05,
    normalized: Annotated[bool, switch("SPRT in normalized Elo.")] = False,
    json: JsonFlag = None,
) -> Ended:
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
    return match_results(results, test, first, json)


CorpusArgument = Annotated[Path, argument("CORPUS.db", "The database.")]
SettingFlag = Annotated[int | None, option("N", "Which engine and limit, where there are several.")]


@dataclasses.dataclass(frozen=True)
class SelectionFlags:
    """Which games and players a table is about."""

    player: Annotated[
        list[str] | None, option("NAME", "A player, or part of a name; repeatable.")
    ] = None
    top: Annotated[
        int | None, option("N", "Without --player: those with most games (20).", min=1)
    ] = None
    event: Annotated[list[str] | None, option("NAME", "Only events called so; repeatable.")] = None
    first_year: Annotated[int | None, option("YEAR", "Only games from this year on.", "--from")] = (
        None
    )
    last_year: Annotated[int | None, option("YEAR", "Only games up to this year.", "--to")] = None
    min_moves: Annotated[int, option("N", "Leave out rows on fewer moves.")] = 0
    gain: Annotated[
        Literal["same-search", "successive"],
        option(None, "Which definition of gain is studied."),
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
        "HOW",
        "Battle royale: step, tanh, convolution, markov. regan: player, event, year, rating.",
    ),
]


def add(
    corpus: CorpusArgument,
    files: Annotated[
        list[str], argument("FILE...", "PGN or NDJSON, plain, gz, bz2, xz or zst; - reads stdin.")
    ],
    *,
    engine_name: Annotated[
        str,
        option(None, "Who gave the evaluations of an NDJSON without name."),
    ] = "given",
    limit: Annotated[str, option(None, "Under which limit, as in '100000 nodes'.")] = "as given",
    json: JsonFlag = None,
) -> Ended:
    """Add games to a corpus: each once, damaged ones gone past; goes on after a kill."""
    from live.studies.study_corpus import add_to_corpus

    return add_to_corpus(corpus, files, engine=engine_name, limit=limit, json=json)


def run(
    corpus: CorpusArgument,
    *,
    games: Annotated[int | None, option("N", "At most so many.", min=1)] = None,
    lines: Annotated[
        int | None, option("N", "Search N lines, for Regan and Haworth.", min=1)
    ] = None,
    retrograde: Annotated[
        bool,
        switch(
            "From the last position to the first (with [engine] reproducible = false).",
        ),
    ] = False,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Search what a corpus lacks; nothing twice, and on from where it was stopped or killed."""
    config = settings.load({"engine.multipv": lines})
    from live.studies.search_corpus import search_corpus

    return search_corpus(config, corpus, most=games, retrograde=retrograde)


def status(corpus: CorpusArgument, *, json: JsonFlag = None) -> Ended:
    """What a corpus holds, what is searched, and what was wrong in its files."""
    from live.studies.study_corpus import corpus_status

    return corpus_status(corpus, json=json)


def merge(
    corpus: CorpusArgument,
    other: Annotated[Path, argument("OTHER.db", "Whose results to take.")],
    *,
    json: JsonFlag = None,
) -> Ended:
    """Take games and results of another corpus, where engine, limit and version agree."""
    from live.studies.study_corpus import merge_corpus

    return merge_corpus(corpus, other, json=json)


def moves(corpus: CorpusArgument, *, setting: SettingFlag = None) -> Ended:
    """Write every move as a row of Parquet, for pandas, R and SQL."""
    from live.studies.study_corpus import write_moves

    return write_moves(corpus, setting)


def alliot(
    corpus: CorpusArgument,
    target: Annotated[str, argument("OUT.pgn", "A file; - prints.")],
    *,
    setting: SettingFlag = None,
) -> Ended:
    """Write the searched games as Alliot's database of 2017 has them; study add reads them."""
    from live.studies.study_corpus import write_alliot_database

    return write_alliot_database(corpus, setting, target)


def table(
    corpus: CorpusArgument,
    names: Annotated[list[str], argument("NAME...", "As the manual lists them, or all.")],
    *,
    form: Annotated[Literal["text", "csv", "json"], option(None, "How it is written.")] = "text",
    out: Annotated[str, option("FILE", "A file, or a folder for several; - prints.")] = "-",
    by: ByFlag = None,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
) -> Ended:
    """A table of the papers over this corpus, with intervals and n."""
    from live.studies.study_corpus import tabulate

    return tabulate(corpus, names, chosen.selection, setting=setting, by=by, form=form, out=out)


def figure(
    corpus: CorpusArgument,
    name: Annotated[str, argument("NAME", "As the manual lists them.")],
    out: Annotated[Path, argument("OUT", "A .png or .svg.")],
    *,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
) -> Ended:
    """A figure of the papers over this corpus."""
    from live.studies.study_corpus import draw

    return draw(corpus, name, chosen.selection, setting=setting, out=out)


def human(
    check: Annotated[
        list[Path] | None, option("GAMES", "Rated games as NDJSON; may be repeated.")
    ] = None,
    files: Annotated[list[Path] | None, argument("[GAMES]...", "More files for --check.")] = None,
    only: Annotated[
        Literal["all", "train", "validation", "test"],
        option(None, "Games that networks learn from, or a part that they never see."),
    ] = "all",
    games: Annotated[
        int | None, option("N", "At most so many, spread over the files.", min=1)
    ] = None,
    json: JsonFlag = None,
    *,
    settings: Annotated[Settings, "network config"],
) -> Ended:
    """Hold the network of human moves against games: does it say what was played?

    A file has one game a line: m (moves in UCI), w and b (Elo), kind (otb, classical, rapid,
    blitz or bullet), and where known wid and bid (the players' numbers).
    """
    if not check:
        raise InputError("human", "there is nothing to do", "Give --check GAMES.ndjson")
    from live.studies.human_moves import check_network

    return check_network(
        [*check, *(files or [])],
        settings.load().human.network,
        chosen=only,
        most=games,
        json=json,
    )


def train_human(
    games: Annotated[list[Path], argument("GAMES...", "Rated games as NDJSON.")],
    out: Annotated[Path, option("FILE", "The network, as ONNX.")],
    folder: Annotated[
        Path | None,
        option("PATH", "Positions and checkpoints; beside --out if not given."),
    ] = None,
    hours: Annotated[float, option("H", "How long to learn.", min=0.01)] = 8.0,
    channels: Annotated[int, option("N", "Width of the network.", min=8)] = 64,
    blocks: Annotated[int, option("N", "Depth of the network.", min=1)] = 4,
    threads: Annotated[int, option("N", "Cores to learn on.", min=1)] = 2,
    seed: Annotated[int, option("N", "Fixes order and sample.")] = 1,
) -> Ended:
    """Learn what people play from rated games, without those held out; goes on after a break.

    Needs torch: pip install 'live-rate[train]'.
    """
    from live.studies.human_moves import train_network

    return train_network(
        games,
        out,
        folder or out.with_suffix(".training"),
        seconds=hours * 3600,
        channels=channels,
        blocks=blocks,
        threads=threads,
        seed=seed,
    )


study = typer.Typer(
    name="study",
    help="Studies over many games: one database, searched once, tables and figures of the papers.",
    no_args_is_help=True,
)
for each in (add, run, status, merge, moves, alliot, table, figure):
    study.command()(command(each))

#: In the order of their help; those over many games are below ``study``.
COMMANDS = (calibrate, compare, match, rank, human, train_human)
