"""Every error of ours, and what people read of it."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from live import errors
from live.cli import app
from live.errors import LiveRateError


def every(kind: type[LiveRateError] = LiveRateError) -> Iterator[type[LiveRateError]]:
    """The tree, from its root."""
    yield kind
    for each in kind.__subclasses__():
        yield from every(each)


#: For people these are part of another sentence: the service mends them itself.
WITHOUT_REMEDY = {"EngineFault", "EngineKilled", "EngineMoved"}
MODULES = sorted(Path(errors.__file__).parent.rglob("*.py"))


def test_the_tree_is_drawn_as_it_is() -> None:
    assert errors.__doc__ is not None
    drawn = re.findall(r"^ +(?:[│├└ ]*── )?([A-Z]\w+) ", errors.__doc__, re.MULTILINE)
    assert sorted(drawn) == sorted(kind.__name__ for kind in every())


def test_every_error_for_people_is_its_own_kind_and_says_what_to_do() -> None:
    """Whoever catches one can tell it apart; with two arguments it would say no
    remedy.
    """
    kinds = {kind.__name__ for kind in every()} - WITHOUT_REMEDY
    families = {"LiveRateError", "FeedError", "Exception", "BaseException"}
    complaints = []
    called = re.compile(rf"\b(?:{'|'.join(kinds | families)})\(")
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        # Parsing takes much longer than a look at the text.
        if not called.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            name, given = node.func.id, len(node.args) + len(node.keywords)
            if name in families or (name in kinds and given < 3):
                complaints.append(f"{path}:{node.lineno} {name}")
    assert not complaints, "\n".join(complaints)


def test_what_a_file_or_feed_says_cannot_command_a_terminal() -> None:
    error = errors.InputError("a\x1b[2J.pgn", "holds\nno game", "Give\u202eone")
    assert str(error) == r"a\x1b[2J.pgn: holds\nno game. Give\u202eone"


# --- it names no flag that there is not -----------------------------------------------

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
#: What is printed as a text of its own, for other programs.
TEXTS = {"screens/web/npm/build.py"}


def spoken(tree: ast.Module) -> Iterator[str]:
    """Texts of a module that are not documentation."""
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.value


def flags(command: Any) -> set[str]:
    """Of a command and those below it."""
    own = chain.from_iterable(parameter.opts for parameter in command.params)
    below = command.commands.values() if isinstance(command, TyperGroup) else ()
    return set(own).union(*map(flags, below))


def test_every_flag_that_is_named_is_one() -> None:
    known = flags(typer.main.get_command(app)) | {"--help"}
    root = Path(errors.__file__).parent
    complaints = []
    for path in MODULES:
        if path.relative_to(root).as_posix() in TEXTS:
            continue
        text = path.read_text(encoding="utf-8")
        if not FLAG.search(text):
            continue
        texts = spoken(ast.parse(text))
        named = chain.from_iterable(map(FLAG.findall, texts))
        complaints += [f"{path}: {flag}" for flag in named if flag not in known]
    assert not complaints, "\n".join(complaints)
