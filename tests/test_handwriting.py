"""The rules of writing that a machine can hold.

Each rule is a function from a node of the syntax tree to the remedies of what it
breaks.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = [*(ROOT / "live").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
#: Each folder by itself, so that the test names the one that breaks a rule.
ROOMS = sorted({path.parent.relative_to(ROOT) for path in MODULES})

#: They say neither what a function does nor what it returns.
BANNED_NAMES = frozenset(
    re.findall(
        r"\w+",
        "alongside anybody anyhow asked beside everybody found gone "
        "held kept known made"
        " nobody passed said seen shown soonest stands told way whoever within",
    )
)

LITERALS = (ast.Tuple, ast.List)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def spread_literals(node: ast.AST) -> Iterator[str]:
    """Forbid `*(a, b)`: it only keeps the formatter from giving each item a line."""
    if isinstance(node, ast.Starred) and isinstance(node.value, LITERALS):
        yield "give each item a line of its own"


def crowded_comprehensions(node: ast.AST) -> Iterator[str]:
    """Forbid comprehensions that hold another one, or several loops."""
    if not isinstance(node, COMPREHENSIONS):
        return
    if len(node.generators) > 1:
        yield "write several loops as loops"
    inner = (part for part in ast.walk(node) if part is not node)
    if any(isinstance(part, COMPREHENSIONS) for part in inner):
        yield "give the inner comprehension a name"


def chosen_calls(node: ast.AST) -> Iterator[str]:
    """Forbid `(a if test else b)(value)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.IfExp):
        yield "write `if` and `else` with a call in each"


def empty_names(node: ast.AST) -> Iterator[str]:
    """Forbid functions with a name of `BANNED_NAMES`."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if node.name.strip("_") in BANNED_NAMES:
        yield f"say in a verb phrase what {node.name} does"


Rule = Callable[[ast.AST], Iterator[str]]
RULES: tuple[Rule, ...] = (
    spread_literals,
    crowded_comprehensions,
    chosen_calls,
    empty_names,
)
#: The nodes that any rule is about: one in ten.
RULED = (
    ast.Starred,
    *COMPREHENSIONS,
    ast.Call,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
)


def find_breaches(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line of each breach of a rule, and its remedy."""
    for node in ast.walk(module):
        if isinstance(node, RULED):
            for rule in RULES:
                for remedy in rule(node):
                    yield node.lineno, remedy


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_a_room_keeps_the_rules(room: Path) -> None:
    complaints = []
    for path in sorted((ROOT / room).glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for line, remedy in find_breaches(module):
            complaints.append(f"{path.relative_to(ROOT)}:{line}: {remedy}")
    assert not complaints, "\n".join(complaints)


def test_lines_have_at_most_88_characters_everywhere() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["ruff"]["line-length"] == 88
    own_settings = [*(ROOT / "live").rglob("ruff.toml")]
    own_settings += (ROOT / "tests").rglob("ruff.toml")
    assert own_settings == []


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (spread_literals, "draw(*(left, right))"),
        (crowded_comprehensions, "[move for game in games for move in game]"),
        (crowded_comprehensions, "[[move for move in game] for game in games]"),
        (chosen_calls, "(add if running else discard)(game)"),
        (empty_names, "def _within(): ..."),
    ],
)
def test_a_rule_finds_what_it_forbids(rule: Rule, source: str) -> None:
    module = ast.parse(source)
    remedies = list(chain.from_iterable(map(rule, ast.walk(module))))
    assert remedies and remedies == [remedy for _, remedy in find_breaches(module)]
