"""Records of rated games, the choice of held-out games, and the evaluation of a
network.
"""

import gzip
import json
import random
from collections.abc import Sequence
from hashlib import sha256
from math import log
from pathlib import Path

import chess
import numpy as np
import pytest

from live.errors import InputError
from live.human.network import HumanNetwork, NetworkInput
from live.studies.learning.held_out import HeldOut, is_held_out, read_held_out
from live.studies.learning.human_check import evaluate_network
from live.studies.learning.human_positions import (
    OPENING_PLIES,
    RatedGameLine,
    encode_games,
    read_game_lines,
    select_games,
)

#: Eight plies of opening, and two plies that the network predicts.
MOVES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f6e4"
GAME = RatedGameLine(MOVES, (2400, 1900), "otb", (1, 2))


def _file(path: Path, *lines: dict[str, object]) -> Path:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_bytes(
        gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()
    )
    return path


def test_files_are_read_packed_or_plain_and_lines_without_ratings_left_out(
    tmp_path: Path,
) -> None:
    line = {"m": MOVES, "w": 2400, "b": 1900, "kind": "otb", "wid": 1, "bid": 2}
    unrated = {**line, "w": None}
    unknown = {**line, "kind": "simultaneous"}
    for name in ("games.ndjson", "games.ndjson.gz"):
        assert list(
            read_game_lines(_file(tmp_path / name, line, unrated, unknown))
        ) == [GAME]


def test_what_is_no_file_of_games_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps({"m": MOVES}).encode() * 1000)
    for name, data, says in (
        ("cut.ndjson.gz", packed[:-20], "is no whole file"),
        ("list.ndjson", b"{}\n[1]\n", "line 2: is no JSON"),
        ("latin.ndjson", b"{}\n\xff\n", "is no JSON"),
        ("deep.ndjson", b'{"a":' + b"[" * 100_000, "is no JSON"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=says):
            list(read_game_lines(tmp_path / name))
    with pytest.raises(InputError, match="No such file"):
        list(read_game_lines(tmp_path / "none.ndjson"))


def test_the_move_played_is_on_record_from_the_movers_side() -> None:
    rows = encode_games([(7, GAME)], None)
    assert len(rows) == len(MOVES.split())
    board = chess.Board()
    for row, uci in zip(rows, MOVES.split(), strict=True):
        move = chess.Move.from_uci(uci)
        flip = 0 if board.turn else 56
        assert row["played"] == (move.from_square ^ flip) * 64 + (move.to_square ^ flip)
        assert row["elo"].tolist() == ([2400, 1900] if board.turn else [1900, 2400])
        assert row["game"] == 7
        board.push(move)


def test_openings_and_bullet_are_thinned_out() -> None:
    drawn = random.Random(1)
    rows = encode_games([(k, GAME) for k in range(200)], drawn)
    openings = int((rows["ply"] < OPENING_PLIES).sum())
    assert int((rows["ply"] >= OPENING_PLIES).sum()) == 200 * (
        len(MOVES.split()) - OPENING_PLIES
    )
    assert 200 < openings < 450
    bullet = RatedGameLine(MOVES, (2400, 1900), "bullet", (1, 2))
    assert len(encode_games([(k, bullet) for k in range(200)], drawn)) < len(rows) / 3


def test_only_the_part_asked_for_is_chosen_and_numbers_run_through_all_files(
    tmp_path: Path,
) -> None:
    lines: list[dict[str, object]] = [
        {
            "m": f"{MOVES} {move}",
            "w": 2000,
            "b": 2000,
            "kind": "otb",
            "wid": k,
            "bid": None,
        }
        for k, move in enumerate(("d2d4", "f1e1", "d1e2", "b1c3"))
    ]
    paths = [_file(tmp_path / f"{k}.ndjson", *lines[2 * k : 2 * k + 2]) for k in (0, 1)]
    held = HeldOut(frozenset(), frozenset({2}))
    learned = select_games(paths, "train", held)
    others = select_games(paths, "validation", held) + select_games(paths, "test", held)
    assert {number for number, _ in learned} | {number for number, _ in others} == {
        0,
        1,
        2,
        3,
    }
    assert 2 in {number for number, _ in others}
    assert np.array([number for number, _ in learned]).tolist() == sorted(
        n for n, _ in learned
    )


class Fake(HumanNetwork):
    """Network that gives the move played 60 % if the ratings are right, and 30 %
    otherwise.
    """

    about: dict[str, str] = {}  # noqa: RUF012 - a fake
    identity = "fake"

    def __init__(self) -> None:
        self.asked: list[NetworkInput] = []

    def predict_shares(self, inputs: Sequence[NetworkInput]) -> list[dict[str, float]]:
        self.asked += inputs
        return [self._of(position) for position in inputs]

    @staticmethod
    def _of(one: NetworkInput) -> dict[str, float]:
        white = one.board.turn
        right = one.elo == ((2400, 1900) if white else (1900, 2400))
        share = 0.6 if right else 0.3
        played, other = ("e1g1", "d2d3") if white else ("f6e4", "b7b5")
        given = {played: share, other: 1 - share}
        return dict(sorted(given.items(), key=lambda item: -item[1]))


def test_figures_of_a_network_that_is_known() -> None:
    report = evaluate_network(Fake(), [GAME])
    assert report["positions"] == 2
    assert report["first_choice"] == 1
    assert report["nll"] == pytest.approx(-log(0.6), abs=1e-4)
    assert report["wrong_elo_nll"] == pytest.approx(-log(0.3), abs=1e-4)
    assert report["right_elo_gain"]["mean"] == pytest.approx(log(2), abs=1e-4)
    assert [band["elo"] for band in report["by_elo"]] == [1800, 2400]
    assert report["by_kind"][0]["kind"] == "otb"
    # Every legal move counts, in the class of its forecast probability.
    bins = {line["at"]: line for line in report["reliability"]}
    assert bins[0.6] == {"at": 0.6, "forecast": 0.6, "played": 1.0, "positions": 2}
    assert bins[0.4] == {"at": 0.4, "forecast": 0.4, "played": 0.0, "positions": 2}


def test_wrong_ratings_stay_within_those_learned() -> None:
    fake = Fake()
    evaluate_network(fake, [GAME])
    elos = {one.elo for one in fake.asked if one.board.turn}
    assert elos == {(2400, 1900), (2000, 1500), (2800, 2300)}
    fake.asked.clear()
    evaluate_network(fake, [RatedGameLine(GAME.moves, (2700, 2700), "otb", (1, 2))])
    assert {one.elo for one in fake.asked} == {(2700, 2700), (2300, 2300)}


def test_what_is_not_covered_is_counted_and_left_out() -> None:
    moves = (
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5 b7a8n h5h4 g2g3 "
        "h4g3 h2g3 h8h1 a8b6 g7g6"
    )
    game = RatedGameLine(moves, (2000, 2000), "otb", (None, None))

    class Even(Fake):
        @staticmethod
        def _of(one: NetworkInput) -> dict[str, float]:
            legal = [move.uci() for move in one.board.legal_moves]
            return dict.fromkeys(legal, 1 / len(legal))

    report = evaluate_network(Even(), [game])
    assert report["positions"] < len(moves.split()) - 8
    assert any("lesser piece" in reason for reason in report["left_out"])
    assert any("knight" in reason for reason in report["left_out"])


NOBODY = HeldOut(frozenset(), frozenset())


HELD = next(number for number in range(100) if is_held_out(str(number)))
FREE = next(number for number in range(100) if not is_held_out(str(number)))


def _moves(drawn: bool) -> str:
    candidates = (f"e2e4 {number}" for number in range(100))
    return next(moves for moves in candidates if is_held_out(moves) is drawn)


@pytest.mark.parametrize(
    ("moves", "players", "learned"),
    [
        (_moves(drawn=True), (FREE, FREE), True),
        (_moves(drawn=False), (FREE, HELD), False),
        (_moves(drawn=False), (HELD, FREE), False),
        (_moves(drawn=False), (None, None), True),
        (_moves(drawn=True), (None, None), False),
        (_moves(drawn=False), (None, HELD), False),
        (_moves(drawn=True), (None, FREE), False),
    ],
)
def test_a_game_of_a_player_held_out_is_never_learned(
    moves: str, players: tuple[int | None, int | None], learned: bool
) -> None:
    assert (NOBODY.find_part(moves, players) == "train") is learned


def test_games_and_players_named_are_held_out() -> None:
    moves = _moves(drawn=False)
    named = HeldOut(frozenset({sha256(moves.encode()).hexdigest()}), frozenset({FREE}))
    assert named.find_part(moves, (None, None)) != "train"
    assert named.find_part("d2d4", (FREE, None)) != "train"


def test_a_third_of_what_is_held_out_serves_choices() -> None:
    parts = [NOBODY.find_part(f"e2e4 {k}", (HELD, FREE)) for k in range(600)]
    assert "train" not in parts
    assert 150 < parts.count("validation") < 250


def test_the_games_that_judge_the_ratings_are_named() -> None:
    named = read_held_out()
    assert len(named.games) == 238
    assert len(named.players) == 226
