from collections.abc import Sequence
from math import log

import pytest

from live.human.players import Asked
from live.studies.human_moves import GameLine, check

#: Eight plies of opening, and two that are asked for.
GAME = GameLine("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f6e4", (2400, 1900), "otb", (1, 2))


class Fake:
    """Gives the move played 60 % at the right rating, less at any other."""

    about: dict[str, str] = {}  # noqa: RUF012 - a fake
    identity = "fake"
    by_elo = True

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        self.asked += asked
        return [self._of(one) for one in asked]

    @staticmethod
    def _of(one: Asked) -> dict[str, float]:
        white = one.board.turn
        right = one.elo == ((2400, 1900) if white else (1900, 2400))
        share = 0.6 if right else 0.3
        played, other = ("e1g1", "d2d3") if white else ("f6e4", "b7b5")
        given = {played: share, other: 1 - share}
        return dict(sorted(given.items(), key=lambda item: -item[1]))


def test_figures_of_a_network_that_is_known() -> None:
    report = check(Fake(), [GAME]).report()
    assert report["positions"] == 2
    assert report["first_choice"] == 1
    assert report["nll"] == pytest.approx(-log(0.6), abs=1e-4)
    assert report["wrong_elo_nll"] == pytest.approx(-log(0.3), abs=1e-4)
    assert report["right_elo_gain"]["mean"] == pytest.approx(log(2), abs=1e-4)
    assert [band["elo"] for band in report["by_elo"]] == [1800, 2400]
    assert report["by_kind"][0]["kind"] == "otb"


def test_reliability_counts_every_legal_move_in_the_bin_of_its_forecast() -> None:
    report = check(Fake(), [GAME]).report()
    bins = {line["at"]: line for line in report["reliability"]}
    assert bins[0.6] == {"at": 0.6, "forecast": 0.6, "played": 1.0, "positions": 2}
    assert bins[0.4] == {"at": 0.4, "forecast": 0.4, "played": 0.0, "positions": 2}


def test_wrong_ratings_stay_within_those_learned() -> None:
    fake = Fake()
    check(fake, [GAME])
    assert {one.elo for one in fake.asked if one.board.turn} == {
        (2400, 1900),
        (2000, 1500),
        (2800, 2300),
    }
    fake.asked.clear()
    check(fake, [GameLine(GAME.moves, (2700, 2700), "otb", (1, 2))])
    assert {one.elo for one in fake.asked} == {(2700, 2700), (2300, 2300)}


def test_a_network_of_one_rating_is_not_asked_for_others() -> None:
    fake = Fake()
    fake.by_elo = False
    report = check(fake, [GAME]).report()
    assert len(fake.asked) == 2
    assert report["wrong_elo_nll"] is None
    assert report["right_elo_gain"] is None


def test_what_is_not_covered_is_counted_and_left_out() -> None:
    moves = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5 b7a8n h5h4 g2g3 h4g3 h2g3 h8h1 a8b6 g7g6"
    game = GameLine(moves, (2000, 2000), "otb", (None, None))

    class Even(Fake):
        @staticmethod
        def _of(one: Asked) -> dict[str, float]:
            legal = [move.uci() for move in one.board.legal_moves]
            return dict.fromkeys(legal, 1 / len(legal))

    report = check(Even(), [game]).report()
    assert report["positions"] < len(moves.split()) - 8
    assert any("lesser piece" in reason for reason in report["left_out"])
    assert any("knight" in reason for reason in report["left_out"])
