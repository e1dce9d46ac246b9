"""live.settings: the shipped config.toml holds and explains every setting."""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from live.commands.read_settings import read_settings
from live.setting_keys import flatten
from live.settings import Config

ROOT = Path(__file__).resolve().parent.parent


def defaults() -> dict[str, Any]:
    return dict(flatten(msgspec.json.decode(msgspec.json.encode(Config()))))


def test_the_shipped_file_has_every_setting_at_its_default() -> None:
    tree = tomllib.loads((ROOT / "config.toml").read_text(encoding="utf-8"))
    shipped, real = dict(flatten(tree)), defaults()
    assert shipped.keys() == real.keys(), shipped.keys() ^ real.keys()
    assert shipped == real
    assert read_settings(ROOT / "config.toml", {}, {}) == Config()


def test_the_shipped_file_explains_every_setting() -> None:
    lines = (ROOT / "config.toml").read_text(encoding="utf-8").splitlines()
    bare = [
        line
        for above, line in itertools.pairwise(lines)
        if "=" in line and not line.startswith("#") and not above.startswith("#")
    ]
    # nodes, depth and movetime_ms share one comment.
    assert bare == ["depth = 0", "movetime_ms = 0"]
