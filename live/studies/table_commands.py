"""Commands ``study table`` and ``study figure``: they make tables and figures of the
papers from a corpus.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from live.errors import InputError
from live.screens.command_output import check_writable, write_output
from live.studies import (
    alliot_covariance,
    alliot_games,
    alliot_players,
    ferreira_tables,
    regan_table,
)
from live.studies.corpus_commands import choose_setting
from live.studies.corpus_database import CorpusDatabase
from live.studies.searched_games import SearchSetting
from live.studies.study_data import Selection, StudyData
from live.studies.study_figures import FIGURES, render_figure
from live.studies.study_tables import (
    TableForm,
    TableKind,
    build_table,
    format_table,
)

#: Every table by its name.
TABLES: dict[str, TableKind] = {
    kind.name: kind
    for kind in (
        *alliot_games.TABLES,
        *alliot_covariance.TABLES,
        *alliot_players.TABLES,
        *ferreira_tables.TABLES,
        *regan_table.TABLES,
    )
}
#: Form of a table by the extension of its file.
_FORMS: dict[str, TableForm] = {".csv": "csv", ".json": "json", ".txt": "text"}


def write_tables(
    corpus: Path,
    names: Sequence[str],
    selection: Selection,
    *,
    setting: int | None,
    by: str | None,
    form: TableForm,
    out: str,
) -> int:
    """Run ``live-rate study table``; return the exit code. The name ``all`` writes
    every table to a folder.

    Raises:
        InputError: there is no such corpus, table, setting, player or event, or nothing
            can be written.
    """
    kinds = [*TABLES.values()]
    if list(names) != ["all"]:
        kinds = [_find_table(name) for name in names]
        for kind in kinds:
            _refuse_without_effect(kind.name, kind, selection, by)
    has_several = len(kinds) > 1
    if not has_several:
        check_writable(out)
        form = _FORMS.get(Path(out).suffix, form)
    elif out == "-":
        raise InputError("--out", "several tables need a folder", "Give --out FOLDER")
    else:
        Path(out).mkdir(parents=True, exist_ok=True)
    with _open_study_data(corpus, kinds, setting, selection) as data:
        for kind in kinds:
            file = str(Path(out, f"{kind.name}.{'txt' if form == 'text' else form}"))
            text = format_table(build_table(kind, data, by), form)
            write_output(file if has_several else out, text.encode())
    return 0


def draw_figure(
    corpus: Path, name: str, selection: Selection, *, setting: int | None, out: Path
) -> int:
    """Run ``live-rate study figure``; return the exit code.

    Raises:
        InputError: there is no such figure, corpus, setting, player or event, the file
            has a wrong ending, or nothing can be written.
        ConfigError: matplotlib is not installed.
    """
    if name not in FIGURES:
        raise InputError(name, "is no figure", f"Name one of {', '.join(FIGURES)}")
    if out.suffix not in (".png", ".svg"):
        raise InputError(
            str(out), "is neither .png nor .svg", "Name the file with such an ending"
        )
    kind = TABLES[FIGURES[name][0]]
    _refuse_without_effect(name, kind, selection)
    check_writable(str(out))
    with _open_study_data(corpus, [kind], setting, selection) as data:
        figure = render_figure(name, build_table(kind, data), out.suffix[1:])
        write_output(str(out), figure)
    return 0


def _find_table(name: str) -> TableKind:
    if name not in TABLES:
        raise InputError(name, "is no table", f"Name one of {', '.join(TABLES)}")
    return TABLES[name]


def _refuse_without_effect(
    name: str, kind: TableKind, selection: Selection, by: str | None = None
) -> None:
    """Refuse ``--player`` and ``--top`` in tables where they have no effect.

    Raises:
        InputError: one of the two options has no effect in this table.
    """
    about = kind.about
    # The table is about players unless it is grouped by something else.
    if kind.name == "regan" and by not in (None, "player"):
        about = "everybody"
    has_no_effect = {
        "--player": selection.players and about == "everybody",
        "--top": selection.top and about != "players",
    }
    for flag in filter(has_no_effect.get, has_no_effect):
        raise InputError(
            flag, f"chooses nothing in {name}, which is about all games", "Leave it out"
        )


@contextmanager
def _open_study_data(
    corpus: Path, kinds: Sequence[TableKind], setting: int | None, selection: Selection
) -> Iterator[StudyData]:
    """Open the data from which tables are made. If no table needs an engine, all games
    are used, searched or not.
    """
    with CorpusDatabase(corpus) as database:
        # A setting of None means that no engine is used.
        chosen: tuple[int | None, SearchSetting] = (None, SearchSetting("", ""))
        if setting is not None or any(kind.engine for kind in kinds):
            chosen = choose_setting(database, setting)
        yield StudyData(database, *chosen, selection)
