"""``live-rate study table`` and ``figure``. Part of the composition root.

As a program of its own it answers one question of the service's page: JSON in, a file out.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from live.errors import InputError, LiveRateError
from live.jobs.analyze_games import check_writable, write
from live.publish.event_exports import step_back
from live.publish.study_page import FIGURE_FORMS, REFUSED, StudyQuestion
from live.studies import (  # noqa: F401  # each puts its tables among ``TABLES``
    alliot_covariance,
    alliot_games,
    alliot_players,
    ferreira_tables,
    regan_table,
)
from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.study_corpus import chosen_setting
from live.studies.study_data import NO_SETTING, Selection, StudyData
from live.studies.study_data import study_table as study_table
from live.studies.study_figures import FIGURES, drawn
from live.studies.study_table import TABLES as TABLES
from live.studies.study_table import TableForm, formatted


def flag_without_effect(name: str, selection: Selection, by: str | None = None) -> str:
    """``--player`` or ``--top`` where it was given and this table has no use for it; else empty."""
    about = TABLES[name].about if name in TABLES else "players"
    # It is about players unless it is grouped by something else.
    if about == "everybody" or (name == "regan" and by not in (None, "player")):
        return "--player" if selection.players else "--top" if selection.top else ""
    return "--top" if about == "named" and selection.top else ""


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
    with _data(corpus, wanted, setting, selection) as data:
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
    with _data(corpus, [table_name], setting, selection) as data:
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


@contextlib.contextmanager
def _data(
    corpus: Path, tables: Sequence[str], setting: int | None, selection: Selection
) -> Iterator[StudyData]:
    """What tables are made from: of games, searched or not, where no engine has a say in them."""
    with CorpusDatabase(corpus) as database:
        alone = all(name in TABLES and not TABLES[name].engine for name in tables)
        chosen: tuple[int | None, SearchSetting] = (None, NO_SETTING)
        if not alone or setting is not None:
            chosen = chosen_setting(database, corpus, setting)
        yield StudyData(database, corpus, *chosen, selection)


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
    with _data(corpus, [table], question.setting, selection) as data:
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
