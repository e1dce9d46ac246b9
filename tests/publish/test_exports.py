"""The exported PGN, read back by python-chess.

Alliot's comments: his own sample in his own form, and python-chess reads what is written.

Live results stand in a corpus as they stood in the event.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from random import Random

import chess
import chess.pgn
import msgspec
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import GameDetail, HeadToHead, Player, PlyView
from live.games.game import NewGame
from live.publish.exports import (
    analysis,
    clock_command,
    eval_command,
    export,
    study_lines,
)
from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.read_games import add_file
from live.studies.study_data import move_files
from tests.ledger.arithmetic import game as game_of
from tests.ledger.test_event_state import MOVES, Run, ledger

BLACK_TO_MOVE = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 7"
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def game(fen: str = chess.STARTING_FEN, variant: str = "standard") -> GameDetail:
    return GameDetail(
        id="g",
        feed="demo",
        event="Event",
        round="3",
        board=4,
        white=Player("A", 2500, "GM", 12, "NOR", "Team"),
        black=Player("B"),
        result="1-0",
        url="https://example.org/",
        start_fen=fen,
        start_score_cp=None,
        head_to_head=HeadToHead(),
        plies_played=0,
        plies_scored=0,
        variant=variant,
        date="2026.11.21",
        time_control="5400+30",
        eco="B31",
        opening="Sicilian Defense: Nyezhmetdinov-Rossolimo Attack",
    )


def read(text: str) -> chess.pgn.Game:
    stream = io.StringIO(text)
    found = chess.pgn.read_game(stream)
    assert found is not None
    assert not found.errors
    assert chess.pgn.read_game(stream) is None
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 120),
    start=st.sampled_from([chess.STARTING_FEN, BLACK_TO_MOVE, CHESS960]),
    name=st.text(max_size=30),
)
def test_moves_scores_clocks_and_names_come_back(
    seed: int, plies: int, start: str, name: str
) -> None:
    random = Random(seed)
    chess960 = start == CHESS960
    board = chess.Board(start, chess960=chess960)
    views: list[PlyView] = []
    for number in range(1, plies + 1):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves:
            break
        move = random.choice(moves)
        san = board.san(move)
        board.push(move)
        scored = random.random() < 0.7
        mate = random.choice([None, None, 3, -2]) if scored else None
        cp = random.randint(-3900, 3900) if mate is None else 3900 * (1 if mate > 0 else -1)
        final = random.random() < 0.9
        clock_s = random.choice([None, 0.0, 5.3, 7199.0, 36000.0])
        views.append(
            PlyView(
                number, san, move.uci(), clock_s, None, cp if scored else None, mate, final=final
            )
        )
    told = msgspec.structs.replace(
        game(start, "chess960" if chess960 else "standard"),
        plies=tuple(views),
        start_score_cp=(start_cp := random.choice([None, -7])),
        white=Player(name),
    )
    text = export(told)
    assert max(map(len, text.split("\n"))) <= 79 or '"' in text
    found = read(text)
    assert found.board().chess960 == chess960
    first = found.eval()
    assert (first and first.white().score()) == start_cp
    nodes = list(found.mainline())
    assert [node.move.uci() for node in nodes] == [view.uci for view in views]
    assert found.board().fen() == chess.Board(start, chess960=chess960).fen()
    for node, view in zip(nodes, views, strict=True):
        assert node.clock() == view.clock_s
        score = node.eval()
        if view.score_cp is None or not view.final:
            assert score is None
        else:
            assert score is not None
            assert score.white().mate() == view.mate
            if view.mate is None:
                assert score.white().score() == view.score_cp
    printable = "".join(char if char.isprintable() else " " for char in name)
    # python-chess leaves a tag's backslashes where they are (PGN standard, section 7).
    told_name = re.sub(r'\\(["\\])', r"\1", found.headers["White"])
    assert told_name == (printable or "?")
    assert found.headers["Result"] == "1-0"


@pytest.mark.parametrize(
    "name",
    ['Quote " and \\', 'End"]\n[Evil "1', "} {", "\x1b[31mred", "<script>", "%", ";", "ü – 漢"],
)
def test_a_hostile_name_stays_a_name(name: str) -> None:
    text = export(msgspec.structs.replace(game(), white=Player(name), event=name))
    found = read(text)
    assert "Evil" not in found.headers
    assert "\x1b" not in text
    assert found.headers["White"] == found.headers["Event"]
    assert list(found.mainline()) == []


def test_all_that_is_known_of_the_players_is_told() -> None:
    headers = read(export(game())).headers
    told = {
        "WhiteElo": "2500",
        "WhiteTitle": "GM",
        "WhiteFideId": "12",
        "WhiteTeam": "Team",
        "ECO": "B31",
        "Opening": game().opening,
        "Round": "3.4",
    }
    assert {name: headers[name] for name in told} == told
    assert headers.keys().isdisjoint({"BlackElo", "Termination"})


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0:00:00"),
        (59.94, "0:00:59.9"),
        (59.96, "0:01:00"),
        (3600, "1:00:00"),
        (-3, "0:00:00"),
        (100_000, "27:46:40"),
    ],
)
def test_clocks(seconds: float, told: str) -> None:
    assert clock_command(seconds) == f"[%clk {told}]"


def test_scores() -> None:
    assert eval_command(-5, None) == "[%eval -0.05]"
    assert eval_command(3900, 2) == "[%eval #2]"
    assert eval_command(-3900, 0) == "[%eval #-0]"
    assert eval_command(3900, 0) == "[%eval #0]"


def test_results_the_standard_does_not_know_become_an_unfinished_game() -> None:
    unknown = msgspec.structs.replace(game(), result="0-0", termination="adjourned")
    headers = read(export(unknown)).headers
    assert (headers["Result"], headers["Termination"]) == ("*", "adjourned")


def test_the_number_is_repeated_after_a_comment() -> None:
    """PGN standard, section 8.2.2.2."""
    plies = (
        PlyView(1, "e4", "e2e4", clock_s=60.0),
        PlyView(2, "e5", "e7e5"),
        PlyView(3, "Nf3", "g1f3"),
        PlyView(4, "Nc6", "b8c6"),
    )
    text = export(msgspec.structs.replace(game(), plies=plies))
    assert text.rstrip().endswith("1. e4 { [%clk 0:01:00] } 1... e5 2. Nf3 Nc6 1-0")


@pytest.mark.slow
def test_what_was_searched_live_is_the_same_in_a_study(tmp_path: Path) -> None:
    run = Run(ledger())
    # A board that was given no name yet: its game counts, for nobody.
    played = game_of(moves=MOVES, white=Player(name=""))
    run.step(NewGame(msgspec.structs.replace(played, result="1-0")))
    run.reply_all()
    run.step(NewGame(game_of("g2", MOVES[:4])))  # not searched: it stays out
    whole = analysis(run.ledger)
    (tmp_path / "event.ndjson").write_text(study_lines(whole), encoding="utf-8")
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        added = add_file(database, str(tmp_path / "event.ndjson"), SearchSetting("?", "?"))
        assert (added.new, added.evaluated, added.damaged) == (1, 1, 0)
        assert database.settings() == {1: SearchSetting("Arithmetic", "1 look")}
        frame = polars.concat(map(polars.read_parquet, move_files(database, 1)))
    curves = whole.games[0].curves if whole.games[0].id == "g1" else whole.games[1].curves
    for color, points in (("white", curves.white), ("black", curves.black)):
        named = frame.filter(polars.col("colour") == color)["player"].is_not_null().all()
        assert named == (color == "black")
        told = frame.filter(polars.col("colour") == color)["gain_cp"].to_list()
        assert told == [point.gain_cp for point in points]
