"""Every kind of source is explained wherever people look for one."""

import re

import pytest

from live.commands.follow import follow
from live.manual.pages import read_page
from live.sources.source_address import KINDS
from tests.manual.test_readme import README

#: Words by which README, the manual and the help of --feed speak of each kind.
WORDS = {
    "demo": "demo",
    "stdin": "standard input",
    "file": "PGN files|path of a PGN",
    "folder": "folder",
    "pgn-url": "PGN on a web server|URL or path of a PGN",
    "lichess": "lichess",
    "livechess-cloud": "LiveChess Cloud",
    "dgt-board": "ws://",
    "mqtt": r"mqtt(\(s\))?://",
}


def read_rows(text: str) -> str:
    """The table of addresses for --feed."""
    table = text.partition("| `--feed` |")[2].partition("\n\n")[0]
    assert table
    return table


def read_help() -> str:
    """The help of --feed."""
    words = " ".join((follow.__doc__ or "").split())
    return words.partition("feed: ")[2].partition(" headless: ")[0]


PLACES = {
    "README": read_rows(README.read_text(encoding="utf-8")),
    "live/manual/sources.md": read_rows(read_page("sources").text),
    "help of --feed": read_help(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_each_kind_of_source_is_in(place: str, kind: str) -> None:
    assert kind in WORDS, f"say in WORDS how people speak of {kind}"
    assert re.search(WORDS[kind], PLACES[place]), f"{place} does not explain {kind}"


def test_the_manual_lists_the_kinds_that_can_be_forced() -> None:
    text = read_page("sources").text.partition("`kind+URL` forces a kind: ")[2]
    assert set(re.findall("`([a-z-]+)`", text.partition(".")[0])) == set(KINDS)
