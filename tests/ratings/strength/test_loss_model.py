from __future__ import annotations

import msgspec
import numpy as np
import pytest

from live.errors import InputError
from live.ratings.calibration.engine_transfer import Transfer
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.loss_model import (
    GRID_ELO,
    LossModel,
    LossReader,
    alone,
    decode_loss_model,
    encode_loss_model,
    level,
)
from tests.ratings.strength.test_loss_fit import learned


def likelihood(at: float, width: float) -> np.ndarray:
    return -0.5 * ((GRID_ELO - at) / width) ** 2


def test_a_file_is_read_as_it_was_written() -> None:
    model = learned()
    assert decode_loss_model(encode_loss_model(model), "x") == model


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(InputError, match="is no model of losses"):
        decode_loss_model(b"{}", "some.json")


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="wrong shape"):
        msgspec.structs.replace(learned(), slope=((0.0,),))


def test_chances_of_classes_add_up() -> None:
    reader = LossReader(learned())
    losses = [0, -5, -20, -50, -100, -500]
    total = sum(np.exp(reader.log_likelihood(Turn(loss, 30, 21, 8.0, 20))) for loss in losses)
    assert total == pytest.approx(np.ones(len(GRID_ELO)))


def test_stronger_players_are_expected_to_lose_less() -> None:
    reader = LossReader(learned())
    turn = Turn(0, 0, 21, 12.0, 20)
    assert reader.expected(turn, 2500).mean < reader.expected(turn, 1500).mean
    assert reader.expected(turn, 2000).variance > 0


def test_no_move_has_no_rating() -> None:
    assert alone(learned(), np.zeros(len(GRID_ELO)), 0) is None


def test_what_knows_no_end_stays_unbounded() -> None:
    rising = np.linspace(-50, 0, len(GRID_ELO))
    found = alone(learned(), rising, 20)
    assert found is not None
    assert found.high is None
    assert found.low is not None
    assert found.elo is None or found.elo > 3000


def test_the_level_without_spread_is_the_rating() -> None:
    found = level(learned(), likelihood(2500, 100), 20, 2000, 0.0)
    assert found == (2000, 2000, 2000, 0.0)


def test_the_level_lies_between_prior_and_moves() -> None:
    model = msgspec.structs.replace(learned(), half_moves=1e9)
    found = level(model, likelihood(2400, 100), 20, 2000, 100)
    assert found.elo == pytest.approx(2200, abs=5)
    assert found.share == pytest.approx(0.5, abs=0.02)
    assert found.high - found.low == pytest.approx(2 * 1.96 * 100 / 2**0.5, rel=0.03)


@pytest.mark.parametrize("elo", [0, 4000])
def test_a_rating_off_the_grid_is_borne(elo: float) -> None:
    found = level(learned(), likelihood(2000, 300), 20, elo, 50)
    assert found.low <= found.elo <= found.high
    assert abs(found.elo - elo) < 300


def test_it_holds_for_one_engine() -> None:
    model: LossModel = learned()
    assert model.mismatch("An  Engine", "100 nodes", "same-search") is None
    assert "the engine" in (model.mismatch("another", "100 nodes", "same-search") or "")


# --- another engine's scores ----------------------------------------------------------------------


def test_another_engine_s_turn_is_scaled_before_it_is_read() -> None:
    own = LossReader(learned())
    other = LossReader(learned(), Transfer(scale=0.5, weight=1.0, offset_elo=0.0))
    turn = Turn(-40, 60, 21, 8.0, 20)
    half = Turn(-20, 30, 21, 4.0, 10)
    assert other.scaled(half) == turn
    assert own.scaled(half) == half
    assert other.log_likelihood(turn) == pytest.approx(own.log_likelihood(turn))


def test_a_transferred_turn_counts_by_its_weight() -> None:
    turn = Turn(-40, 60, 21, 8.0, 20)
    own = LossReader(learned()).log_likelihood(turn)
    other = LossReader(learned(), Transfer(scale=1.0, weight=0.7, offset_elo=0.0))
    assert other.log_likelihood(turn) == pytest.approx(0.7 * own)


def test_a_limit_that_flatters_is_brought_down_by_its_offset() -> None:
    turn, step = Turn(0, 60, 21, 8.0, 20), float(GRID_ELO[1] - GRID_ELO[0])
    own = LossReader(learned())
    other = LossReader(learned(), Transfer(scale=1.0, weight=1.0, offset_elo=step))
    assert other.log_likelihood(turn)[:-1] == pytest.approx(own.log_likelihood(turn)[1:])
    assert other.expected(turn, 2000) == pytest.approx(own.expected(turn, 2000 + step))
