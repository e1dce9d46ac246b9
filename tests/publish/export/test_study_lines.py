"""Live results stand in a corpus as they stood in the event."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars
import pytest

from live.events import Player
from live.games.game import NewGame
from live.publish.exports import analysis, study_lines
from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.read_games import add_file
from live.studies.study_data import MoveFolder
from tests.ledger.arithmetic import game
from tests.ledger.test_event_ledger import MOVES, Run, State, ledger


@pytest.mark.slow
def test_what_was_searched_live_is_the_same_in_a_study(tmp_path: Path) -> None:
    run = Run(ledger())
    # A board that was given no name yet: its game counts, for nobody.
    played = game(moves=MOVES, white=Player(name=""))
    run.step(NewGame(msgspec.structs.replace(played, result="1-0")))
    run.reply_all()
    run.step(NewGame(game("g2", MOVES[:4])))  # not searched: it stays out
    whole = analysis(State(run.ledger))
    (tmp_path / "event.ndjson").write_text(study_lines(whole), encoding="utf-8")
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        added = add_file(database, str(tmp_path / "event.ndjson"), SearchSetting("?", "?"))
        assert (added.new, added.evaluated, added.damaged) == (1, 1, 0)
        assert database.settings() == {1: SearchSetting("Arithmetic", "1 look")}
        frame = polars.concat(
            map(polars.read_parquet, MoveFolder(tmp_path / "c.db", 1).refresh(database))
        )
    curves = whole.games[0].curves if whole.games[0].id == "g1" else whole.games[1].curves
    for color, points in (("white", curves.white), ("black", curves.black)):
        named = frame.filter(polars.col("colour") == color)["player"].is_not_null().all()
        assert named == (color == "black")
        told = frame.filter(polars.col("colour") == color)["gain_cp"].to_list()
        assert told == [point.gain_cp for point in points]
