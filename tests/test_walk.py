"""The walk of one move in CONTRIBUTING: its modules, functions and forms exist."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
HEADING = "### One move, from lichess to a screen"
#: Forms of libraries.
FOREIGN = {"Text"}


def read_rows() -> list[list[str]]:
    """The cells of each row of the table, without the two lines of its head."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [line.strip("|").split("|") for line in lines[2:]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def list_definitions(path: Path) -> frozenset[str]:
    """Every function and class of a module."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def test_the_walk_names_what_is_there() -> None:
    rows = read_rows()
    assert len(rows) > 5
    texts = {path: path.read_text("utf-8") for path in (ROOT / "live").rglob("*.py")}
    for room, modules, functions, forms in rows:
        (folder,) = quoted(room)
        paths = [ROOT / "live" / folder / name for name in quoted(modules)]
        known = frozenset[str]().union(*map(list_definitions, paths))
        assert known.issuperset(quoted(functions)), (folder, functions)
        for form in set(quoted(forms)) - FOREIGN:
            # Parsing takes much longer than a look at the text.
            named = [path for path, text in texts.items() if f"class {form}" in text]
            assert any(form in list_definitions(path) for path in named), form


def test_the_walk_enters_no_room_twice() -> None:
    rooms = [room for room, *_ in read_rows()]
    assert len(rooms) == len(set(rooms))


def test_each_module_of_the_walk_has_a_function_of_its_row() -> None:
    for room, modules, functions, _ in read_rows():
        (folder,) = quoted(room)
        for name in quoted(modules):
            known = list_definitions(ROOT / "live" / folder / name)
            assert known.intersection(quoted(functions)), (folder, name)
