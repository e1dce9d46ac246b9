import gzip
import json
import random
from pathlib import Path

import chess
import numpy as np

from live.studies.human_moves import (
    OPENING_PLIES,
    GameLine,
    HeldOut,
    encode,
    games,
    part,
    positions,
)

MOVES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f6e4"
GAME = GameLine(MOVES, (2400, 1900), "otb", (1, 2))


def _file(path: Path, *lines: dict[str, object]) -> Path:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_files_are_read_packed_or_plain_and_lines_without_ratings_left_out(tmp_path: Path) -> None:
    line = {"m": MOVES, "w": 2400, "b": 1900, "kind": "otb", "wid": 1, "bid": 2}
    unrated = {**line, "w": None}
    unknown = {**line, "kind": "simultaneous"}
    for name in ("games.ndjson", "games.ndjson.gz"):
        assert list(games(_file(tmp_path / name, line, unrated, unknown))) == [GAME]


def test_the_move_played_is_on_record_from_the_movers_side() -> None:
    rows = encode([(7, GAME)], None)
    assert len(rows) == len(MOVES.split())
    board = chess.Board()
    for row, uci in zip(rows, MOVES.split(), strict=True):
        move = chess.Move.from_uci(uci)
        flip = 0 if board.turn else 56
        assert row["played"] == (move.from_square ^ flip) * 64 + (move.to_square ^ flip)
        assert row["elo"].tolist() == ([2400, 1900] if board.turn else [1900, 2400])
        assert row["game"] == 7
        board.push(move)


def test_a_record_is_the_same_whether_packed_from_a_file_or_live() -> None:
    board = chess.Board()
    for uci in MOVES.split():
        board.push_uci(uci)
    rows = positions(GAME, 0)
    board.pop()
    from live.human.encoding import pack

    live = pack(board, board.move_stack[-2:], (1900, 2400), "otb")
    assert rows[-1][:8] == live[:8]


def test_openings_and_bullet_are_thinned_out() -> None:
    drawn = random.Random(1)
    rows = encode([(k, GAME) for k in range(200)], drawn)
    openings = int((rows["ply"] < OPENING_PLIES).sum())
    assert int((rows["ply"] >= OPENING_PLIES).sum()) == 200 * (len(MOVES.split()) - OPENING_PLIES)
    assert 200 < openings < 450
    bullet = GameLine(MOVES, (2400, 1900), "bullet", (1, 2))
    assert len(encode([(k, bullet) for k in range(200)], drawn)) < len(rows) / 3


def test_only_the_part_asked_for_is_chosen_and_numbers_run_through_all_files(
    tmp_path: Path,
) -> None:
    lines: list[dict[str, object]] = [
        {"m": f"{MOVES} {move}", "w": 2000, "b": 2000, "kind": "otb", "wid": k, "bid": None}
        for k, move in enumerate(("d2d4", "f1e1", "d1e2", "b1c3"))
    ]
    paths = [_file(tmp_path / f"{k}.ndjson", *lines[2 * k : 2 * k + 2]) for k in (0, 1)]
    held = HeldOut(frozenset(), frozenset({2}))
    learned = part(paths, "train", held)
    others = part(paths, "validation", held) + part(paths, "test", held)
    assert {number for number, _ in learned} | {number for number, _ in others} == {0, 1, 2, 3}
    assert 2 in {number for number, _ in others}
    assert np.array([number for number, _ in learned]).tolist() == sorted(n for n, _ in learned)
