"""Each set of sources has its own journal."""

from __future__ import annotations

from pathlib import Path

from live.config import JournalConfig
from live.service.journal_file import journal_path


def test_each_set_of_sources_has_its_own_file_and_passing_ones_have_none() -> None:
    config = JournalConfig()
    one = journal_path(config, ["https://lichess.org/broadcast/a", "games.pgn"])
    assert one == journal_path(config, ["games.pgn", "https://lichess.org/broadcast/a"])
    assert one is not None and one.name.startswith("games-pgn-https-lichess-org-broadcast-a-")
    assert one != journal_path(config, ["games.pgn"])
    assert journal_path(config, ["demo"]) is None
    assert journal_path(config, ["standard input", "demo"]) is None
    assert journal_path(config, ["demo", "games.pgn"]) is not None
    assert journal_path(config, ["games.pgn"], once=True) is None
    named = JournalConfig(file="here.sqlite")
    assert journal_path(named, ["demo"], once=True) == Path("here.sqlite")
    assert journal_path(JournalConfig(enabled=False, file="x"), ["games.pgn"]) is None
