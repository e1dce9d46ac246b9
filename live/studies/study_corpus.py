"""The ``study`` commands that fill a corpus and say what it holds. Part of the composition root."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from live.errors import InputError
from live.jobs.analyze_games import check_writable, write, write_json
from live.studies.corpus_database import CorpusDatabase, MergedResults, SearchSetting, merge
from live.studies.read_games import AddedGames, add_file, write_alliot
from live.studies.study_data import MoveFolder

#: Damaged games that are named one by one; status has all.
_NAMED = 20
_LINE_S = 10.0


class SettingStatus(msgspec.Struct, frozen=True):
    """How much of a corpus has results of one setting."""

    setting: int
    engine: str
    limit: str
    lines: int
    version: str
    games: int
    left: int


class DamagedText(msgspec.Struct, frozen=True):
    """A text that held no game."""

    source: str
    text: int
    """Place in the file, from 1."""
    game: str
    problem: str


class DisputedGame(msgspec.Struct, frozen=True):
    """One game with two results: neither counts."""

    game: int
    white: str
    black: str
    date: str
    results: tuple[str, str]


class CorpusStatus(msgspec.Struct, frozen=True):
    """What ``study status --json`` writes."""

    games: int
    players: int
    events: int
    first_year: int | None
    last_year: int | None
    without_date: int
    without_rating: int
    without_result: int
    damaged: tuple[DamagedText, ...]
    disputed: tuple[DisputedGame, ...]
    unfinished: tuple[str, ...]
    """Files that were not read to their end."""
    settings: tuple[SettingStatus, ...]


def add_to_corpus(
    corpus: Path, files: Sequence[str], *, engine: str, limit: str, json: str | None
) -> int:
    """``live-rate study add``; returns the exit code: 1 when a file could not be read to its end
    or holds nothing but damage.

    Raises:
        InputError: no such file, or a disk that is full; what was added until then is kept.
    """
    check_writable(json)
    for path in files:
        # Before a corpus is made for nothing.
        if path != "-" and (not Path(path).exists() or Path(path).is_dir()):
            raise InputError(path, "no such file", "Name a PGN or NDJSON")
    given = SearchSetting(engine, limit)
    console = Console(stderr=True)
    found = []
    with CorpusDatabase(corpus, create=True) as database:
        for path in files:
            with _lines(console, f"{path}: ") as show:
                found.append(add_file(database, path, given, show))
    _report(json, found, map(_added_line, found))
    return 1 if any(added.broken or added.only_damage for added in found) else 0


def corpus_status(corpus: Path, *, json: str | None) -> int:
    """``live-rate study status``; returns the exit code."""
    check_writable(json)
    with CorpusDatabase(corpus) as database:
        status = status_of(database)
    _report(json, status, _status_lines(status))
    return 0


def status_of(database: CorpusDatabase) -> CorpusStatus:
    """Counts, and all that is wrong."""
    years = next(database.rows("SELECT min(year), max(year) FROM games"))
    games = database.count("games")
    names = database.players()
    done = dict(database.rows("SELECT setting, count(*) FROM results GROUP BY setting"))
    return CorpusStatus(
        games=games,
        players=database.count("players"),
        events=database.count("events"),
        first_year=years[0],
        last_year=years[1],
        without_date=database.count("games", "year IS NULL"),
        without_rating=database.count("games", "white_elo IS NULL OR black_elo IS NULL"),
        without_result=database.count("games", "result NOT IN ('1-0', '0-1', '1/2-1/2')"),
        damaged=tuple(
            DamagedText(*row)
            for row in database.rows(
                "SELECT name, text, game, problem FROM damaged JOIN sources USING (source)"
                " ORDER BY name, text"
            )
        ),
        disputed=tuple(
            DisputedGame(game, names.get(white, "?"), names.get(black, "?"), date, (result, other))
            for game, white, black, date, result, other in database.rows(
                "SELECT game, white, black, date, result, other_result FROM games"
                " WHERE other_result IS NOT NULL ORDER BY game"
            )
        ),
        unfinished=tuple(
            name for (name,) in database.rows("SELECT name FROM sources WHERE NOT finished")
        ),
        settings=tuple(
            SettingStatus(*(number, *msgspec.structs.astuple(setting), n, games - n))
            for number, setting in database.settings().items()
            for n in [done.get(number, 0)]
        ),
    )


def merge_corpus(corpus: Path, other: Path, *, json: str | None) -> int:
    """``live-rate study merge``; returns the exit code: 1 when a setting was refused."""
    check_writable(json)
    with CorpusDatabase(other) as source, CorpusDatabase(corpus, create=True) as target:
        merged = merge(target, source)
    _report(json, merged, _merged_lines(merged))
    return 1 if merged.refused else 0


def write_moves(corpus: Path, setting: int | None) -> int:
    """``live-rate study moves``: bring the Parquet files up to date; returns the exit code."""
    with CorpusDatabase(corpus) as database:
        number, chosen = chosen_setting(database, corpus, setting)
        folder = MoveFolder(corpus, number)
        files = folder.refresh(database)
    _say(Console(), f"{chosen}: {len(files)} files in {folder.path}")
    return 0


def write_alliot_database(corpus: Path, setting: int | None, target: str) -> int:
    """``live-rate study alliot``: every searched game in Alliot's format; returns the exit code."""
    check_writable(target)
    with CorpusDatabase(corpus) as database:
        number, chosen = chosen_setting(database, corpus, setting)
        names, events = database.players(), database.events()
        last = next(database.rows("SELECT coalesce(max(game), 0) FROM games"))[0]
        out = contextlib.nullcontext(None) if target == "-" else open(target, "wb")  # noqa: SIM115
        with out as file:
            for game, searched in database.searched(number, 0, last + 1):
                text = write_alliot(game, searched, chosen, names, events).encode()
                if file is None:
                    write("-", text)
                else:
                    file.write(text)
    return 0


def chosen_setting(
    database: CorpusDatabase, corpus: Path, setting: int | None
) -> tuple[int, SearchSetting]:
    """The setting named, or the only one there is.

    Raises InputError when that says nothing: results of two settings are never pooled.
    """
    known = database.settings()
    if setting is not None and setting in known:
        return setting, known[setting]
    if setting is None and len(known) == 1:
        return next(iter(known.items()))
    if not known:
        raise InputError(
            str(corpus), "holds no evaluation", f"Search it: live-rate study run {corpus}"
        )
    listed = "; ".join(f"{number}: {each}" for number, each in known.items())
    raise InputError(
        "--setting",
        "names no setting" if setting is not None else "several engines or limits are there",
        f"Name one of {listed}",
    )


@contextlib.contextmanager
def _lines(console: Console, start: str) -> Iterator[Callable[[AddedGames], None]]:
    """Progress: in place on a terminal, a line every ten seconds without one."""
    began = last = time.monotonic()

    def show(added: AddedGames) -> None:
        nonlocal last
        now = time.monotonic()
        read = added.texts - added.passed_over
        line = f"{start}{added.texts} games, {read / max(now - began, 1e-9):.0f} a second"
        if console.is_terminal:
            console.print(line, end="\r", markup=False, highlight=False)
        elif now - last >= _LINE_S:
            last = now
            _say(console, line)

    yield show
    if console.is_terminal:
        console.print(" " * 60, end="\r")


def _report(json: str | None, figures: object, lines: Iterable[str]) -> None:
    """As JSON where that is asked for, and in words unless that is printed."""
    if json is not None:
        write_json(json, figures, indent=2)
    if json != "-":
        for line in lines:
            _say(Console(), line)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _added_line(added: AddedGames) -> str:
    parts = [
        f"{added.new} new",
        f"{added.known} known" if added.known else "",
        f"{added.passed_over} read before" if added.passed_over else "",
        f"{added.evaluated} with evaluations" if added.evaluated else "",
        f"{added.damaged} damaged (see study status)" if added.damaged else "",
        f"not read to its end ({added.broken})" if added.broken else "",
    ]
    return f"{added.source}: {added.texts} games, {', '.join(part for part in parts if part)}"


def _status_lines(status: CorpusStatus) -> Iterator[str]:
    yield (
        f"{status.games} games of {status.players} players at {status.events} events, "
        f"{status.first_year or '?'} to {status.last_year or '?'}"
    )
    missing: list[tuple[int, Any]] = [
        (status.without_date, "a date"),
        (status.without_rating, "both ratings"),
        (status.without_result, "a result"),
    ]
    yield ", ".join(f"{count} without {what}" for count, what in missing)
    for each in status.settings:
        setting = SearchSetting(each.engine, each.limit, each.lines, each.version)
        yield (f"setting {each.setting}: {setting}: {each.games} games searched, {each.left} left")
    for name in status.unfinished:
        yield f"not read to its end: {name}; add it again"
    for disputed in status.disputed[:_NAMED]:
        yield (
            f"two results, so none counts: {disputed.white} - {disputed.black} "
            f"({disputed.date or 'no date'}): {' and '.join(disputed.results)}"
        )
    for damaged in status.damaged[:_NAMED]:
        yield f"damaged: {damaged.source}, game {damaged.text}: {damaged.game}: {damaged.problem}"
    more = max(0, len(status.disputed) - _NAMED) + max(0, len(status.damaged) - _NAMED)
    if more:
        yield f"and {more} more; written as JSON, all are named"


def _merged_lines(merged: MergedResults) -> Iterator[str]:
    yield f"{merged.games} games new, results of {merged.results} games added"
    for reason in merged.refused:
        yield f"left out: {reason}"
