from itertools import chain, count
from pathlib import Path

import numpy as np
import pytest

from live.human.network_input import Positions
from live.studies.learning.human_positions import (
    RatedGameLine,
    encode_games,
    write_positions,
)

torch = pytest.importorskip("torch", reason="learning needs the extra 'train'")

from live.studies.learning.human_training import (  # noqa: E402
    Plan,
    Training,
    draw_batches,
    measure_accuracy,
    orthogonalise,
    train,
)

MOVES = (
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f6e4 d2d4 b7b5 a4b3 d7d5 d4e5 c8e6"
)
TINY = Plan(
    channels=8, blocks=1, batch=8, threads=1, seconds=20, checkpoint_s=5, warm_up=0.1
)


def _rows(games: int = 4) -> Positions:
    elo = (2000, 2100)
    return encode_games(
        [(k, RatedGameLine(MOVES, elo, "otb", (1, 2))) for k in range(games)], None
    )


def test_the_rate_rises_at_once_and_falls_to_nearly_nothing() -> None:
    plan = Plan(rate=1.0)
    rates = [plan.compute_learning_rate(share / 100) for share in range(101)]
    assert rates[0] == 0
    assert max(rates) == pytest.approx(1.0)
    assert rates.index(max(rates)) == 2
    assert rates[-1] == pytest.approx(0.01)


def test_a_network_learns_what_it_is_shown() -> None:
    training = Training(TINY)
    training.spent_s = TINY.seconds / 5
    rows = _rows()
    before = measure_accuracy(training.network, rows)[1]
    for _ in range(60):
        training.step(rows)
    assert measure_accuracy(training.network, rows)[1] < before / 2


def test_every_position_comes_once_before_any_comes_again() -> None:
    data = _rows()
    data["ply"] = np.arange(len(data))
    whole = draw_batches(data, TINY, 0)
    first = [next(whole)["ply"].tolist() for _ in range(len(data) // 8)]
    assert sorted(chain.from_iterable(first)) == list(range(len(data)))
    resumed = draw_batches(data, TINY, 16)
    assert [next(resumed)["ply"].tolist() for _ in range(3)] == first[2:5]


def test_orthogonal_steps_have_rows_of_like_size_and_keep_directions_apart() -> None:
    matrix = torch.randn(6, 40, generator=torch.Generator().manual_seed(1))
    matrix[0] *= 100
    sizes = torch.linalg.svdvals(orthogonalise(matrix))
    assert sizes.min() > 0.6
    assert sizes.max() < 1.3
    assert orthogonalise(matrix.T).shape == (40, 6)


def test_training_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    games = [(k, RatedGameLine(MOVES, (2000, 2100), "otb", (1, 2))) for k in range(8)]
    np.save(tmp_path / "train-000.npy", encode_games(games, None))
    np.save(tmp_path / "validation-000.npy", encode_games(games[:2], None))
    lines: list[str] = []
    seconds = count()
    train(tmp_path, TINY, lambda: float(next(seconds)), lines.append)
    assert "0 learned already" in lines[0]
    assert "validation" in lines[-1]
    again = Training(TINY)
    again.resume(tmp_path / "checkpoint.pt")
    assert again.learned > 0
    assert again.spent_s >= TINY.seconds - 2


def test_records_on_disk_are_kept_on_a_second_call(tmp_path: Path) -> None:
    np.save(tmp_path / "train-000.npy", np.zeros(3))
    write_positions(
        tmp_path, [(0, RatedGameLine(MOVES, (2000, 2100), "otb", (1, 2)))], "train", 1
    )
    assert np.load(tmp_path / "train-000.npy").tolist() == [0, 0, 0]
