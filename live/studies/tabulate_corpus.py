"""``live-rate study table`` and ``figure``. Part of the composition root.

As a program of its own it answers one question of the service's page: JSON in, a file out.

Every table by its name, with what makes it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from live.errors import InputError, LiveRateError
from live.jobs.analyze_games import check_writable, write
from live.publish.export.event_exports import step_back
from live.publish.export.study_files import FIGURE_FORMS, REFUSED, StudyQuestion
from live.studies import (
    alliot_covariance,
    alliot_games,
    alliot_players,
    ferreira_tables,
    open_questions,
)
from live.studies.alliot_players import PAIRINGS
from live.studies.corpus_database import CorpusDatabase
from live.studies.regan_table import GROUPINGS, regan_table
from live.studies.study_corpus import chosen_setting
from live.studies.study_data import NO_SETTING, Selection, StudyData
from live.studies.study_figures import FIGURES, drawn
from live.studies.study_table import StudyTable, TableForm, formatted

#: In the order of the manual.
TABLES: Final[dict[str, Callable[..., StudyTable]]] = {
    "matches": ferreira_tables.matches_table,
    "ferreira-1": ferreira_tables.cross_table,
    "ferreira-2": ferreira_tables.event_table,
    "ferreira-3": ferreira_tables.gains_table,
    "ferreira-4": ferreira_tables.engine_table,
    "ferreira-5": ferreira_tables.strengths_table,
    "ferreira-curve": ferreira_tables.curve_table,
    "ferreira-distribution": ferreira_tables.distribution_table,
    "engine-distribution": ferreira_tables.measured_engine_table,
    "engine-gains": ferreira_tables.engine_gains_table,
    "alliot-1": alliot_players.games_table,
    "alliot-4": alliot_games.complexity_table,
    "alliot-5": alliot_players.prediction_table,
    "alliot-6": alliot_covariance.covariance_table,
    "alliot-best-year": alliot_players.best_year_table,
    "alliot-classes": alliot_players.classes_table,
    "alliot-conformance": alliot_players.conformance_table,
    "alliot-conformance-distribution": alliot_games.shortfall_table,
    "alliot-conformance-results": alliot_games.correlation_table,
    "alliot-convolution": alliot_covariance.convolution_table,
    "alliot-convolution-grid": alliot_covariance.grid_table,
    "alliot-depths": alliot_games.depth_table,
    "alliot-differences": alliot_covariance.difference_table,
    "alliot-evaluations": alliot_games.evaluation_table,
    "alliot-fits": alliot_covariance.fits_table,
    "alliot-highest": alliot_games.highest_table,
    "alliot-markov": alliot_players.markov_table,
    "alliot-markov-10": alliot_players.markov_ten_table,
    "alliot-match-conformance": alliot_players.match_conformance_table,
    "alliot-matches": alliot_players.score_table,
    "alliot-outcomes": alliot_covariance.outcomes_table,
    "alliot-royale": alliot_players.royale_table,
    "alliot-stationary": alliot_players.stationary_table,
    "career": alliot_players.career_table,
    "question-colours": open_questions.colours_table,
    "question-engine": open_questions.engine_gap_table,
    "regan": regan_table,
}


#: Tables that take ``by``: what is wrong with another, and what there is.
_WAYS: Final = {
    "alliot-royale": ("pairs nobody", PAIRINGS),
    "alliot-best-year": ("pairs nobody", PAIRINGS),
    "regan": ("groups nothing", GROUPINGS),
}


#: Tables that no engine has a say in: they are made of games alone.
GAMES_ALONE: Final = frozenset({"matches", "alliot-1"})


#: Tables about games as a whole, whoever plays: ``--player`` and ``--top`` choose nothing there.
#: ``regan`` is about players unless it is grouped by something else.
ALL_PLAYERS: Final = frozenset(
    {
        "engine-gains",
        "alliot-6",
        "alliot-conformance-distribution",
        "alliot-conformance-results",
        "alliot-convolution",
        "alliot-convolution-grid",
        "alliot-depths",
        "alliot-fits",
        "alliot-outcomes",
        "question-colours",
        "question-engine",
    }
)
#: These show all players together, and beside them those named: ``--top`` chooses nothing.
NAMED_PLAYERS: Final = frozenset({"alliot-evaluations", "alliot-highest"})


def flag_without_effect(name: str, selection: Selection, by: str | None = None) -> str:
    """``--player`` or ``--top`` where it was given and this table has no use for it; else empty."""
    if name in ALL_PLAYERS or (name == "regan" and by not in (None, "player")):
        return "--player" if selection.players else "--top" if selection.top else ""
    return "--top" if name in NAMED_PLAYERS and selection.top else ""


def study_table(name: str, data: StudyData, by: str | None = None) -> StudyTable:
    """Make one table. ``by``: what a battle royale is paired by, or what ``regan`` is grouped by.

    Raises InputError for a name or ``by`` that there is not.
    """
    if name not in TABLES:
        raise InputError(name, "is no table", f"Name one of {', '.join(TABLES)}")
    if by is None:
        return TABLES[name](data)
    if name not in _WAYS:
        raise InputError("--by", f"says nothing to {name}", "Leave it out")
    problem, known = _WAYS[name]
    if by not in known:
        raise InputError("--by", f"{by!r} {problem}", f"Give one of {', '.join(known)}")
    return TABLES[name](data, by)


_FORMS: dict[str, TableForm] = {".csv": "csv", ".json": "json", ".txt": "text"}


def tabulate(
    corpus: Path,
    names: Sequence[str],
    selection: Selection,
    *,
    setting: int | None,
    by: str | None,
    form: TableForm,
    out: str,
) -> int:
    """``live-rate study table``; returns the exit code. ``all`` writes every table to a folder.

    Raises:
        InputError: no such corpus, table, setting, player or event, or nothing can be written.
    """
    wanted = list(TABLES)
    if list(names) != ["all"]:
        wanted = list(names)
        for name in wanted:
            _refuse_without_effect(name, selection, {each: each for each in TABLES}, by)
    folder = Path(out) if len(wanted) > 1 else None
    if folder is not None and out == "-":
        raise InputError("--out", "several tables need a folder", "Give --out FOLDER")
    if folder is None:
        check_writable(out)
        form = _FORMS.get(Path(out).suffix, form)
    else:
        folder.mkdir(parents=True, exist_ok=True)
    with CorpusDatabase(corpus) as database:
        data = _data(database, corpus, setting, selection, alone=GAMES_ALONE.issuperset(wanted))
        for name in wanted:
            text = formatted(study_table(name, data, by), form).encode()
            ending = {"csv": ".csv", "json": ".json", "text": ".txt"}[form]
            write(str(folder / f"{name}{ending}") if folder is not None else out, text)
    return 0


def draw(
    corpus: Path,
    name: str,
    selection: Selection,
    *,
    setting: int | None,
    out: Path,
) -> int:
    """``live-rate study figure``; returns the exit code.

    Raises:
        InputError: as ``tabulate``.
        ConfigError: matplotlib is not installed.
    """
    table_name = _table_of(name)
    if out.suffix not in (".png", ".svg"):
        raise InputError(str(out), "is neither .png nor .svg", "Name the file with such an ending")
    tables = {each: figure.table for each, figure in FIGURES.items()}
    _refuse_without_effect(name, selection, tables)
    check_writable(str(out))
    with CorpusDatabase(corpus) as database:
        data = _data(database, corpus, setting, selection)
        table = study_table(table_name, data)
    write(str(out), drawn(name, table, out.suffix[1:]))
    return 0


def _refuse_without_effect(
    name: str, selection: Selection, tables: Mapping[str, str], by: str | None = None
) -> None:
    """Refuse ``--player`` and ``--top`` where they would choose nothing, naming what takes them.

    ``tables``: those of all names there are, of tables or of figures.
    """
    if flag := flag_without_effect(tables.get(name, name), selection, by):
        takes = [
            each for each, table in tables.items() if not flag_without_effect(table, selection)
        ]
        raise InputError(
            flag,
            f"chooses nothing in {name}, which is about all games",
            f"Leave it out; these take it: {', '.join(takes)}",
        )


def _table_of(figure: str) -> str:
    if figure not in FIGURES:
        raise InputError(figure, "is no figure", f"Name one of {', '.join(FIGURES)}")
    return FIGURES[figure].table


def _data(
    database: CorpusDatabase,
    corpus: Path,
    setting: int | None,
    selection: Selection,
    *,
    alone: bool = False,
) -> StudyData:
    """What tables are made from. ``alone``: of games, whether they are searched or not."""
    if alone and setting is None:
        return StudyData(database, corpus, None, NO_SETTING, selection)
    number, chosen = chosen_setting(database, corpus, setting)
    return StudyData(database, corpus, number, chosen, selection)


def answered(question: StudyQuestion) -> bytes:
    """The table or figure that the service's page asks for.

    Raises:
        InputError: as ``tabulate``.
        ConfigError: a package is not installed.
    """
    corpus, name = Path(question.corpus), question.name
    selection = Selection(
        players=question.players,
        events=question.events,
        first_year=question.first_year,
        last_year=question.last_year,
    )
    figure = question.form in FIGURE_FORMS
    table = _table_of(name) if figure else name
    # Players are asked for once, for all that the page shows: what is about all games stays so.
    if flag_without_effect(table, selection, question.by):
        selection = msgspec.structs.replace(selection, players=())
    with CorpusDatabase(corpus) as database:
        alone = table in GAMES_ALONE
        data = _data(database, corpus, question.setting, selection, alone=alone)
        made = study_table(table, data, question.by)
    if figure:
        return drawn(name, made, question.form)
    return formatted(made, _FORMS[f".{question.form}"]).encode()


def _is_askers(error: LiveRateError, corpus: str) -> bool:
    """Whether the question is at fault, not the corpus, its setting or what is installed."""
    return isinstance(error, InputError) and error.subject not in (corpus, "--setting")


if __name__ == "__main__":
    step_back()
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=StudyQuestion)
    try:
        body = answered(asked)
    except LiveRateError as error:
        sys.stderr.write(str(error))
        sys.exit(REFUSED if _is_askers(error, asked.corpus) else 1)
    sys.stdout.buffer.write(body)
