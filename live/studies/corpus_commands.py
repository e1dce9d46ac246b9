"""Commands of ``study`` that fill a corpus, report what it contains, and write it in
other forms.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from live.errors import InputError
from live.screens.command_output import check_writable, print_line
from live.studies.add_games import AddedGames, add_file
from live.studies.alliot_format import write_alliot
from live.studies.corpus_database import CorpusDatabase
from live.studies.corpus_merge import merge_corpora
from live.studies.move_files import update_move_files
from live.studies.printed_results import report_result
from live.studies.searched_games import SearchSetting
from live.studies.study_progress import show_progress

#: Largest number of disputed games, and of damaged games, that the text output names;
#: the JSON output names all.
_NAMED = 20


def add_to_corpus(
    corpus: Path, files: Sequence[str], *, engine: str, limit: str, json: str | None
) -> int:
    """Run ``live-rate study add``; return the exit code: 1 if a file could not be read
    to its end or has no readable game.

    Raises:
        InputError: there is no such file, or the disk is full; games added before the
            error are kept.
    """
    check_writable(json)
    for path in files:
        # The files are checked first, so that no empty corpus is created.
        if path != "-" and (not Path(path).exists() or Path(path).is_dir()):
            raise InputError(path, "no such file", "Name a PGN or NDJSON")
    setting = SearchSetting(engine, limit)
    with CorpusDatabase(corpus, create=True) as database, show_progress() as show:

        def read(added: AddedGames) -> None:
            show(added.texts, f"{added.source}: {added.texts} games")

        added_files = [add_file(database, path, setting, read) for path in files]
    report_result(json, added_files, *map(_describe_added, added_files))
    return int(any(added.broken or added.has_only_damage for added in added_files))


def report_status(corpus: Path, *, json: str | None) -> int:
    """Run ``live-rate study status``; return the exit code."""
    check_writable(json)
    with CorpusDatabase(corpus) as database:
        status = collect_status(database)
    return report_result(json, status, *_describe_status(status))


def collect_status(database: CorpusDatabase) -> dict[str, Any]:
    """Return the counts and all problems, as ``study status --json`` writes them."""
    [counts] = database.query_dicts(
        "SELECT count(*) AS games, (SELECT count(*) FROM players) AS players, (SELECT"
        " count(*) FROM events) AS events, min(year) AS first_year, max(year) AS"
        " last_year, count(*) - count(year) AS without_date, count(*) -"
        " count(white_elo + black_elo) AS without_rating, count(CASE WHEN result NOT IN"
        " ('1-0', '0-1', '1/2-1/2') THEN 1 END) AS without_result FROM games"
    )
    disputed = database.query_dicts(
        "SELECT game, ifnull(white.name, '?') AS white, ifnull(black.name, '?') AS"
        " black, date, result, other_result FROM games LEFT JOIN players white ON"
        " white.player = games.white LEFT JOIN players black ON black.player ="
        " games.black WHERE other_result IS NOT NULL ORDER BY game"
    )
    for game in disputed:
        game["results"] = game.pop("result"), game.pop("other_result")
    damaged = database.query_dicts(
        "SELECT name AS source, text, game, problem FROM damaged JOIN sources USING"
        " (source) ORDER BY name, text"
    )
    unfinished = database.execute("SELECT name FROM sources WHERE NOT finished")
    settings = database.query_dicts(
        'SELECT setting, engine, bound AS "limit", lines, version,'
        " count(game) AS games, ? - count(game) AS left FROM settings LEFT JOIN results"
        " USING (setting) GROUP BY setting ORDER BY setting",
        (counts["games"],),
    )
    return {
        **counts,
        "damaged": damaged,
        "disputed": disputed,
        "unfinished": [name for (name,) in unfinished],
        "settings": settings,
    }


def merge_corpus(corpus: Path, source_path: Path, *, json: str | None) -> int:
    """Run ``live-rate study merge``; return the exit code: 1 if the results of a
    setting were refused.
    """
    check_writable(json)
    with (
        CorpusDatabase(source_path) as source,
        CorpusDatabase(corpus, create=True) as target,
    ):
        merged = merge_corpora(target, source)
    lines = (f"left out: {reason}" for reason in merged.refused)
    brought = f"{merged.games} games new, results of {merged.results} games added"
    report_result(json, merged, brought, *lines)
    return int(bool(merged.refused))


def write_moves(corpus: Path, setting: int | None) -> int:
    """Run ``live-rate study moves``: bring the Parquet files up to date; return the
    exit code.
    """
    with CorpusDatabase(corpus) as database:
        number, chosen = choose_setting(database, setting)
        files = update_move_files(database, number)
    print_line(
        f"{chosen}: {len(files)} files in {corpus}-moves/setting-{number}", Console()
    )
    return 0


def write_alliot_database(corpus: Path, setting: int | None, target: str) -> int:
    """Run ``live-rate study alliot``: write every searched game in Alliot's format;
    return the exit code.
    """
    check_writable(target)
    with CorpusDatabase(corpus) as database:
        number, chosen = choose_setting(database, setting)
        names = database.read_players()
        events = database.read_events()
        with (
            nullcontext(sys.stdout)
            if target == "-"
            else open(target, "w", encoding="utf-8") as file
        ):
            for game, searched in database.read_searched_games(number):
                file.write(write_alliot(game, searched, chosen, names, events))
    return 0


def choose_setting(
    database: CorpusDatabase, setting: int | None
) -> tuple[int, SearchSetting]:
    """Return the setting that was asked for, or the only one there is.

    Raises:
        InputError: no setting or several settings match; results of two settings are
            never pooled.
    """
    settings = database.read_settings()
    fitting = [entry for entry in settings.items() if setting in (None, entry[0])]
    if len(fitting) == 1:
        return fitting[0]
    if not settings:
        remedy = f"Search it: live-rate study run {database.path}"
        raise InputError(str(database.path), "holds no evaluation", remedy)
    listed = "; ".join(
        f"{number}: {stored_setting}" for number, stored_setting in settings.items()
    )
    raise InputError(
        "--setting",
        "names no setting"
        if setting is not None
        else "the corpus has several engines or limits",
        f"Name one of {listed}",
    )


def _describe_added(added: AddedGames) -> str:
    counts = {
        "known": added.known,
        "read before": added.passed_over,
        "with evaluations": added.evaluated,
        "damaged (see study status)": added.damaged,
    }
    parts = [f"{added.texts} games", f"{added.new} new"]
    parts += [f"{n} {description}" for description, n in counts.items() if n]
    parts += [f"not read to its end ({added.broken})"] if added.broken else []
    return f"{added.source}: {', '.join(parts)}"


def _describe_status(status: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{status['games']} games of {status['players']} players at {status['events']}"
        f" events, {status['first_year'] or '?'} to {status['last_year'] or '?'}"
    )
    missing = {"date": "a date", "rating": "both ratings", "result": "a result"}
    yield ", ".join(
        f"{status[f'without_{key}']} without {lack}" for key, lack in missing.items()
    )
    for row in status["settings"]:
        setting = SearchSetting(
            row["engine"], row["limit"], row["lines"], row["version"]
        )
        searched = f"{row['games']} games searched, {row['left']} left"
        yield f"setting {row['setting']}: {setting}: {searched}"
    for name in status["unfinished"]:
        yield f"not read to its end: {name}; add it again"
    for game in status["disputed"][:_NAMED]:
        yield (
            f"two results, so none counts: {game['white']} - {game['black']} "
            f"({game['date'] or 'no date'}): {' and '.join(game['results'])}"
        )
    for damage in status["damaged"][:_NAMED]:
        yield "damaged: {source}, game {text}: {game}: {problem}".format(**damage)
    unnamed = sum(max(0, len(status[key]) - _NAMED) for key in ("disputed", "damaged"))
    if unnamed:
        yield f"and {unnamed} more; the JSON output names all"
