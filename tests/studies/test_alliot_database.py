from __future__ import annotations

from pathlib import Path

from live.studies.corpus_database import CorpusDatabase
from live.studies.read_games import add_file, game_texts, read_alliot, write_alliot
from live.studies.study_data import move_rows
from tests.studies.small_corpus import GIVEN, SAMPLE, SEARCHED, corpus_of


def test_the_sample_of_the_paper_reads_with_every_field() -> None:
    [text] = game_texts(str(SAMPLE))
    assert text.pgn is not None
    game, searched, setting, problem = read_alliot(text.pgn)
    assert game is not None and searched is not None and setting is not None
    assert not problem
    assert (setting.engine, setting.bound) == ("Stockfish 190915", "240000 ms")
    assert (game.white.name, game.black.name) == ("Smyslov, Vassily", "Nezhmetdinov, Rashid")
    assert (game.date, game.result, game.event) == ("1961.11.19", "1-0", "URS-ch29")
    assert len(game.moves) == 20 and game.moves[-2:] == ("c1d2", "c6d5")
    assert searched.positions[:18] == (None,) * 18
    tenth, reply = searched.positions[18:20]
    assert tenth is not None and tenth.played is not None
    assert tenth.best == "b2b4"
    best, played = tenth.whole, tenth.played
    assert (best.cp, best.depth, best.seldepth, best.tbhits, best.time_ms) == (
        127, 24, 43, 0, 124176,
    )  # fmt: skip
    found = played.complexity
    assert found is not None
    assert (played.cp, found.stability_cp, found.jump_cp, found.jump_depth) == (90, 8, 43, 3)
    # Black's values are from Black's side there, from White's here.
    assert reply is not None and reply.played is not None
    assert (reply.best, reply.whole.cp, reply.played.cp) == ("a8c8", 79, 91)


def test_the_sample_is_written_back(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", SAMPLE)
    with CorpusDatabase(corpus) as database:
        [(game, searched)] = database.searched(1, 0, 10)
        setting = database.settings()[1]
        text = write_alliot(game, searched, setting, database.players(), database.events())
    flat = " ".join(text.split())
    for line in SAMPLE.read_text().splitlines()[-3:]:
        assert line in flat
    for tag in ('[Date "1961.11.19"]', '[White "Smyslov, Vassily"]', "Stockfish 190915"):
        assert tag in text
    assert "Eval_Time:240000ms" in text


def test_what_we_write_reads_back_to_the_same_figures(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", SEARCHED)
    there = tmp_path / "alliot.pgn"
    with CorpusDatabase(corpus) as database:
        games = list(database.searched(1, 0, 100))
        setting = database.settings()[1]
        names, events = database.players(), database.events()
        there.write_text(
            "".join(
                write_alliot(game, searched, setting, names, events) for game, searched in games
            )
        )
    with CorpusDatabase(tmp_path / "back.db", create=True) as database:
        added = add_file(database, str(there), GIVEN)
        assert (added.new, added.damaged, added.evaluated) == (13, 0, 13)
        back = list(database.searched(1, 0, 100))
        assert database.settings()[1] == setting
    for (game, searched), (again, searched_again) in zip(games, back, strict=True):
        assert game.moves == again.moves
        for one, other in zip(
            move_rows(game, searched), move_rows(again, searched_again), strict=True
        ):
            # Move, first choice, score, same-search gain.
            assert one[10:14] == other[10:14]
