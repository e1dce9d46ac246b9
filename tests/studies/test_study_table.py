from __future__ import annotations

import json

import pytest

from live.studies.study_table import StudyTable, TableColumn, TableForm, formatted

TABLE = StudyTable(
    "t",
    "A table",
    "Somebody 2012, Table 1",
    "an engine",
    (TableColumn("player"), TableColumn("d", 1, "Elo")),
    (("Müller, A", -0.04), ("B", None)),
    ("A note.",),
)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", 'player,d\n"Müller, A",0.0\nB,\n'),
        (
            "text",
            "A table\nSomebody 2012, Table 1\nan engine\n\nplayer       d\nMüller, A  0.0\nB\n\n"
            "A note.\nd: Elo\n",
        ),
    ],
)
def test_forms(form: TableForm, text: str) -> None:
    assert formatted(TABLE, form) == text


def test_json_has_what_is_unknown_as_null() -> None:
    found = json.loads(formatted(TABLE, "json"))
    assert found["rows"] == [["Müller, A", 0.0], ["B", None]]
    assert found["columns"][1] == {"name": "d", "meaning": "Elo"}
