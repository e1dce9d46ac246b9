"""The commands for games that are over: ``calibrate``, ``compare``, ``match``, ``rank``; those over
many of them, ``live-rate study add``, ``run`` and so on; ``human`` and ``train-human``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from live.commands.command_options import (
    RUN,
    SEARCH,
    Ended,
    Evals,
    Gain,
    Positive,
    Settings,
    Within,
    command,
)
from live.errors import ConfigError, InputError

if TYPE_CHECKING:
    from live.studies.study_data import Selection

#: Lines searched for ``--intrinsic`` by default; more lines say more of poor moves and cost more.
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
    """Measure the engine over rated players, and learn what moves say about Elo.

    Over PGN it prints Algorithms 2 and 3 of Ferreira (2012) with the columns of his Table 4.

    Options:
        files: [FILE...] PGN of rated players, or NDJSON of searched games (may be gzipped).
        time_control: [CLASS] For people: classical, rapid, blitz.
        write: [OUT.json] Learn a model of perceived ratings from NDJSON of searched games, for
            the setting rating.model and --check; with --intrinsic its table.
        engine_name: [NAME] What the engine of an NDJSON file calls itself.
        limit: [LIMIT] Its limit, as in '100000 nodes' or 'depth 15'.
        intrinsic: Search several lines and write the table of Regan and Haworth (2011) that turns
            choices into Elo for this engine and limit.
        lines: [N] How many, with --intrinsic (10).
        check: [FILE] Measure --model on these games instead: what its bands hold. Players it was
            learned from are left out when the file is its own.
        model: [NAME] Name or file, for --check.
    """
    if check is not None and files:
        raise InputError("--check", "takes the place of other files", "Give one or the other")
    if check is not None and model is None:
        raise InputError("--check", "no model is named", "Give --model NAME")
    if check is None and not files:
        raise InputError("calibrate", "no file is given", "Give games of rated players")
    if intrinsic and (write is None or check is not None or evals == "pgn"):
        remedy = "Give --write OUT.json"
        raise InputError("--intrinsic", "needs an engine and a file to write", remedy)
    config = settings.load()
    from live.studies import player_studies

    if check is not None and model is not None:
        return player_studies.check_model(check, model, json=json)
    if intrinsic and write is not None:
        wanted = lines or max(config.engine.multipv, INTRINSIC_LINES)
        config = settings.load({"engine.multipv": wanted})
        check_installed()
        return player_studies.calibrate_intrinsic(config, files or [], written=write, json=json)
    return player_studies.calibrate(
        config,
        files or [],
        evals=evals,
        time_control=time_control,
        written=write,
        engine_name=engine_name,
        limit=limit,
        json=json,
    )


def compare(
    pgn: list[Path],
    *,
    players: tuple[str, str],
    evals: Evals = "engine",
    json: str | None = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Who would beat whom: every predictor side by side, each with its interval or its reason.

    Options:
        pgn: [PGN...] Games of both players.
        players: [A B] Two names, or parts of them.
    """
    config = settings.load()
    from live.studies.player_studies import compare_players

    return compare_players(config, pgn, players, evals=evals, json=json)


def rank(
    pgn: list[Path],
    *,
    by: Literal["covariance", "convolution", "markov"] = "covariance",
    evals: Evals = "engine",
    json: str | None = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Who played best, by what is known of each, ties as ties; and everybody against everybody.

    Options:
        pgn: [PGN...] Games of the event.
        by: What the battle royale's pairings are predicted by.
    """
    config = settings.load()
    from live.studies.player_studies import rank_players

    return rank_players(config, pgn, evals=evals, by=by, json=json)


def match(
    results: list[str],
    *,
    first: str | None = None,
    elo0: float | None = None,
    elo1: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    normalized: bool = False,
    json: str | None = None,
) -> Ended:
    """What a result says: Elo difference, likelihood of superiority, SPRT. Needs no engine.

    Options:
        results: [WINS DRAWS LOSSES | PGN...] Three counts, or the games of a match.
        first: [NAME] Whose side; else White of the first game.
        elo0: [ELO] SPRT: H0, Elo.
        elo1: [ELO] SPRT: H1, Elo.
        alpha: [P] Error rate of H1.
        beta: [P] Error rate of H0.
        normalized: SPRT in normalized Elo.
    """
    if (elo0 is None) != (elo1 is None):
        raise InputError("--elo0, --elo1", "a test needs both hypotheses", "Give both")
    from live.ratings.match import Sprt
    from live.studies.player_studies import match as match_results

    try:
        scale: Literal["normalized", "logistic"] = "normalized" if normalized else "logistic"
        bounds = elo0 is not None and elo1 is not None
        test = Sprt(elo0 or 0, elo1 or 0, alpha, beta, scale) if bounds else None
    except ValueError as error:
        raise InputError("SPRT", str(error), "See live-rate match --help") from None
    return match_results(results, test, first, json)


@dataclasses.dataclass(frozen=True)
class SelectionFlags:
    """Which games and players a table is about.

    Options:
        player: [NAME] A player, or part of a name; repeatable.
        top: [N] Without --player: those with most games (20).
        event: [NAME] Only events called so; repeatable.
        from_: [YEAR] Only games from this year on.
        to: [YEAR] Only games up to this year.
        min_moves: [N] Leave out rows on fewer moves.
        gain: Which definition of gain is studied.
    """

    player: list[str] | None = None
    top: Positive = None
    event: list[str] | None = None
    from_: int | None = None
    to: int | None = None
    min_moves: int = 0
    gain: Gain = "same-search"

    @property
    def selection(self) -> Selection:
        """As tables take it."""
        from live.studies.study_data import Selection

        return Selection(
            players=tuple(self.player or ()),
            top=self.top,
            events=tuple(self.event or ()),
            first_year=self.from_,
            last_year=self.to,
            min_moves=self.min_moves,
            gain=self.gain,
        )


def add(
    corpus: Path,
    files: list[str],
    *,
    engine_name: str = "given",
    limit: str = "as given",
    json: str | None = None,
) -> Ended:
    """Add games to a corpus: each once, damaged ones gone past; goes on after a kill.

    Options:
        corpus: [CORPUS.db] The database.
        files: [FILE...] PGN or NDJSON, plain, gz, bz2, xz or zst; - reads stdin.
        engine_name: Who gave the evaluations of an NDJSON without name.
        limit: Under which limit, as in '100000 nodes'.
    """
    from live.studies.study_corpus import add_to_corpus

    return add_to_corpus(corpus, files, engine=engine_name, limit=limit, json=json)


def run(
    corpus: Path,
    *,
    games: Positive = None,
    lines: Positive = None,
    retrograde: bool = False,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Search what a corpus lacks; nothing twice, and on from where it was stopped or killed.

    Options:
        corpus: [CORPUS.db] The database.
        games: [N] At most so many.
        lines: [N] Search N lines, for Regan and Haworth.
        retrograde: From the last position to the first (with engine.reproducible = false).
    """
    config = settings.load({"engine.multipv": lines})
    from live.studies.study_corpus import search_corpus

    return search_corpus(config, corpus, most=games, retrograde=retrograde)


def status(corpus: Path, *, json: str | None = None) -> Ended:
    """What a corpus holds, what is searched, and what was wrong in its files.

    Options:
        corpus: [CORPUS.db] The database.
    """
    from live.studies.study_corpus import corpus_status

    return corpus_status(corpus, json=json)


def merge(corpus: Path, other: Path, *, json: str | None = None) -> Ended:
    """Take games and results of another corpus, where engine, limit and version agree.

    Options:
        corpus: [CORPUS.db] The database.
        other: [OTHER.db] Whose results to take.
    """
    from live.studies.study_corpus import merge_corpus

    return merge_corpus(corpus, other, json=json)


def moves(corpus: Path, *, setting: int | None = None) -> Ended:
    """Write every move as a row of Parquet, for pandas, R and SQL.

    Options:
        corpus: [CORPUS.db] The database.
        setting: [N] Which engine and limit, where there are several.
    """
    from live.studies.study_corpus import write_moves

    return write_moves(corpus, setting)


def alliot(corpus: Path, target: str, *, setting: int | None = None) -> Ended:
    """Write the searched games as Alliot's database of 2017 has them; study add reads them.

    Options:
        corpus: [CORPUS.db] The database.
        target: [OUT.pgn] A file; - prints.
        setting: [N] Which engine and limit, where there are several.
    """
    from live.studies.study_corpus import write_alliot_database

    return write_alliot_database(corpus, setting, target)


def table(
    corpus: Path,
    names: list[str],
    *,
    form: Literal["text", "csv", "json"] = "text",
    out: str = "-",
    by: str | None = None,
    setting: int | None = None,
    chosen: SelectionFlags,
) -> Ended:
    """A table of the papers over this corpus, with intervals and n.

    Options:
        corpus: [CORPUS.db] The database.
        names: [NAME...] As the manual lists them, or all.
        form: How it is written.
        out: [FILE] A file, or a folder for several; - prints.
        by: [HOW] Battle royale: step, tanh, convolution, markov. regan: player, event, year,
            rating.
        setting: [N] Which engine and limit, where there are several.
    """
    from live.studies.study_corpus import tabulate

    return tabulate(corpus, names, chosen.selection, setting=setting, by=by, form=form, out=out)


def figure(
    corpus: Path,
    name: str,
    out: Path,
    *,
    setting: int | None = None,
    chosen: SelectionFlags,
) -> Ended:
    """A figure of the papers over this corpus.

    Options:
        corpus: [CORPUS.db] The database.
        name: As the manual lists them.
        out: A .png or .svg.
        setting: [N] Which engine and limit, where there are several.
    """
    from live.studies.study_corpus import draw

    return draw(corpus, name, chosen.selection, setting=setting, out=out)


def reproduce(
    corpus: Path,
    names: list[str] | None = None,
    *,
    add: list[str] | None = None,
    compare_only: bool = False,
    games: Positive = None,
    lines: Positive = None,
    setting: int | None = None,
    out: Path | None = None,
    page: Path | None = None,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """The papers' printed numbers beside what their own games give here.

    Searches what the tables lack, and on from where it was stopped or killed; then compares
    all engines and limits that the corpus has.

    Options:
        corpus: [CORPUS.db] The database.
        names: [NAME...] Tables, or how their names begin: ferreira, alliot-table-5. All unless
            named.
        add: [FILE] Games to add first, as study add reads them; repeatable.
        compare_only: Search nothing; compare what is there.
        games: [N] Search at most so many.
        lines: [N] Search N lines, for Regan and Haworth.
        setting: [N] Compare this engine and limit alone.
        out: [FOLDER] Write papers.md and papers.csv there, instead of printing.
        page: [FILE] Write the tables of this Markdown file again, between its marks.
    """
    config = settings.load({"engine.multipv": lines})
    from live.studies.reproduce import reproduce as reproduce_papers

    return reproduce_papers(
        config,
        corpus,
        names or [],
        files=add or [],
        is_searching=not compare_only,
        most=games,
        setting=setting,
        out=out,
        page=page,
    )


def human(
    files: list[Path] | None = None,
    *,
    check: list[Path] | None = None,
    only: Literal["all", "train", "validation", "test"] = "all",
    games: Positive = None,
    json: str | None = None,
    settings: Annotated[Settings, "network config"],
) -> Ended:
    """Hold the network of human moves against games: does it say what was played?

    A file has one game a line: m (moves in UCI), w and b (Elo), kind (otb, classical, rapid,
    blitz or bullet), and where known wid and bid (the players' numbers).

    Options:
        files: [GAMES...] More files for --check.
        check: [GAMES] Rated games as NDJSON; may be repeated.
        only: Games that networks learn from, or a part that they never see.
        games: [N] At most so many, spread over the files.
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
    games: list[Path],
    *,
    out: Path,
    hours: Annotated[float, Within(0.01)] = 8.0,
    threads: Annotated[int, Within(1)] = 2,
) -> Ended:
    """Learn what people play from rated games, without those held out; goes on after a break.

    Needs torch: pip install 'live-rate[train]'.

    Options:
        games: [GAMES...] Rated games as NDJSON.
        out: [FILE] The network, as ONNX; positions and checkpoints stand beside it.
        hours: [H] How long to learn.
        threads: [N] Cores to learn on.
    """
    from live.studies.human_moves import train_network

    work = out.with_suffix(".training")
    return train_network(games, out, work, seconds=hours * 3600, threads=threads)


study = typer.Typer(name="study", no_args_is_help=True)


@study.callback()
def about() -> None:
    """Studies over many games: one database, searched once, tables and figures of the papers."""


def check_installed() -> None:
    """Raises ConfigError where what studies need is missing."""
    if find_spec("polars") is None:
        remedy = "Run: pip install 'live-rate[study]'"
        raise ConfigError("study", "polars is not installed", remedy)


def _checked(run: Callable[..., None]) -> Callable[..., None]:
    """Not before :func:`about`, which comes before every ``--help``."""

    @functools.wraps(run)
    def checked(**given: Any) -> None:
        check_installed()
        run(**given)

    return checked


for each in (add, run, status, merge, moves, alliot, table, figure, reproduce):
    study.command()(_checked(command(each)))

#: In the order of their help; those over many games are below ``study``.
COMMANDS = (calibrate, compare, match, rank, human, train_human)
