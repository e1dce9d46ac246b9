"""What is expected of honest players is what honest players do."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.alerts import expected_agreement
from live.alerts.expected_agreement import FieldAgreement, expected
from live.alerts.kinds import engine_agreement
from live.events import EngineInfo, PlayerMethods, PlayerView, Share
from tests.alerts.games import DATA
from tests.benchmarks.alerts import Honest, learned, screened


def players() -> list[Honest]:
    lines = [line.split() for line in (DATA / "first-choices.txt").read_text().splitlines()]
    return [
        Honest(int(game), "", int(elo), tuple(each == "1" for each in choices))
        for game, elo, choices in lines
    ]


def view(id: str, elo: int | None, matches: int, moves: int) -> PlayerView:
    share = Share(matches / moves, None, None, moves) if moves else Share()
    held = PlayerView(id, id, elo, 1, moves, None, None, None, None, None, None, None, None)
    return msgspec.structs.replace(held, methods=PlayerMethods(first_choice=share))


def test_the_expectation_is_that_of_the_games_it_was_learned_from() -> None:
    level, slope, spread = learned(players())
    assert level == pytest.approx(expected_agreement.LEVEL, abs=0.002)
    assert slope == pytest.approx(expected_agreement.SLOPE, abs=0.002)
    assert spread == pytest.approx(expected_agreement.SPREAD, abs=0.003)
    assert expected_agreement.DATA.startswith(f"{len(players())} player-games ")


def test_looking_after_every_move_costs_what_it_is_said_to() -> None:
    """Each player held to what was learned from the others; see the benchmark for the rest."""
    everybody = players()
    games = [
        zs
        for part in range(5)
        for zs in screened(
            [each for each in everybody if each.game % 5 == part],
            learned([each for each in everybody if each.game % 5 != part]),
        )
    ]
    last = np.array([zs[-1] for zs in games])
    assert len(games) > 150
    assert abs(last.mean()) < 0.2 and 0.85 < last.std() < 1.15
    ever = np.array([max(zs) for zs in games])
    for bound in (1.28, 1.645, 1.96, 2.33):
        said = engine_agreement.LOOKS * 0.5 * math.erfc(bound / math.sqrt(2))
        # Three standard errors of the share of so many games.
        assert (ever > bound).mean() <= said + 3 * math.sqrt(said / len(games))


def test_stronger_players_are_expected_to_agree_more() -> None:
    engine = EngineInfo(expected_agreement.ENGINE, expected_agreement.LIMIT, 2200, "field")
    shares = [expected(engine, FieldAgreement(), "x", elo) for elo in (1600, 2000, 2400)]
    told = [each.share for each in shares if each is not None]
    assert told == pytest.approx([0.421, 0.477, 0.533], abs=0.002)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.one_of(st.none(), st.integers(1000, 2800)),
            st.integers(0, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        ),
        max_size=30,
    )
)
def test_the_field_is_what_its_players_last_were(
    told: list[tuple[str, int | None, tuple[int, int]]],
) -> None:
    field = FieldAgreement()
    last: dict[str, PlayerView] = {}
    for id, elo, (matches, moves) in told:
        last[id] = view(id, elo, matches, moves)
        field.update(id, last[id])
    fresh = FieldAgreement()
    for id, held in last.items():
        fresh.update(id, held)
    for id in "abcd":
        assert field.without(id) == fresh.without(id)


def test_more_players_ask_for_more() -> None:
    rates = [engine_agreement.false_alarm_rate(3.0, players) for players in (1, 10, 100, 1000)]
    assert rates == sorted(rates) and 0 < rates[0] < rates[-1] < 1
    assert engine_agreement.false_alarm_rate(-9.0, 5) == 1.0
