from __future__ import annotations

from hashlib import sha256

from live.studies.perceived_learning import SHARES, held_out_list, judges, share_of


def test_one_player_in_eight_judges() -> None:
    found = sum(judges(str(number)) for number in range(8000))
    assert 900 < found < 1100


def test_the_rule_is_that_of_the_list() -> None:
    for player in held_out_list().players:
        assert int(sha256(player.encode()).hexdigest(), 16) % SHARES == 0
        assert judges(player)


def test_every_player_has_one_share() -> None:
    assert {share_of(str(number)) for number in range(200)} == set(range(SHARES))


def test_games_are_named_by_their_moves() -> None:
    games = held_out_list().games
    assert len(games) == len(set(games)) > 90
    assert all(len(game) == 64 for game in games)
