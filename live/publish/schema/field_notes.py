"""What the sources say of each field, so that the published schemas say it, too. Pure.

A field's note is the string below it (PEP 224's form, which Python itself throws away), and that of
an inherited field is its base's.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from types import ModuleType

import msgspec


@cache
def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            notes = found[node.name] = {}
            for field, after in zip(node.body, [*node.body[1:], None], strict=True):
                match field, after:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        notes[name] = " ".join(text.split())
    return found


def notes(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Notes of a type's fields, by name; a field without one is left out."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        module = inspect.getmodule(base)
        if module is not None and base is not msgspec.Struct and issubclass(base, msgspec.Struct):
            found |= _of_module(module).get(base.__name__, {})
    return found
