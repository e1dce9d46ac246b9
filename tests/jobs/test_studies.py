"""Studies of finished games: who is meant, and what a match tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.errors import InputError
from live.events import PlayerView
from live.jobs.studies import find_player, match_of
from live.ratings.sprt import Sprt


def player(name: str) -> PlayerView:
    return PlayerView(
        id=name.lower().replace(", ", "-"), name=name, elo=None, games=1, moves=0,
        mean_gain_cp=None, expected_score=None, difference=None, difference_low=None,
        difference_high=None, rating=None, low=None, high=None,
    )  # fmt: skip


EVERYBODY = [player(name) for name in ("Polgar, Judit", "Polgár, Zsuzsa", "Müller, Karsten", "Wei")]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Judit", "Polgar, Judit"),
        ("polgar judit", "Polgar, Judit"),
        ("Zsuzsa Polgar", "Polgár, Zsuzsa"),
        ("mueller", "Müller, Karsten"),
        ("wei", "Wei"),
        ("polgar-judit", "Polgar, Judit"),
    ],
)
def test_a_player_is_found_by_any_words_that_only_he_has(asked: str, found: str) -> None:
    assert find_player(EVERYBODY, asked).name == found


@pytest.mark.parametrize(
    ("asked", "named"), [("polgar", "several"), ("tal", "nobody"), ("", "nobody")]
)
def test_nobody_is_guessed(asked: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        find_player(EVERYBODY, asked)


def test_whoever_there_is_is_told_one_from_the_other() -> None:
    with pytest.raises(InputError, match=r"Polgar, Judit; "):
        find_player(EVERYBODY, "polgar")


def test_counts_are_taken_as_wins_draws_and_losses() -> None:
    found = match_of(["12", "20", "8"], Sprt(0, 10), None)
    assert (found.counts.wins, found.counts.draws, found.counts.losses) == (12, 20, 8)
    assert found.statistics.score == 0.55
    assert found.sprt is not None and found.sprt.decision == "continue"
    assert found.pairs is None


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(InputError, match="-1"):
        match_of(["3", "-1", "4"], None, None)


def test_one_player_spelt_twice_is_one(tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    pgn.write_text(
        '[White "Muller, Karsten"]\n[Black "Wei"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
        '[White "Wei"]\n[Black "Karsten Müller"]\n[Result "*"]\n\n1. d4 d5 *\n\n'
    )
    found = match_of([str(pgn)], None, None)
    assert (found.first, found.second) == ("Muller, Karsten", "Wei")
    assert (found.counts.wins, found.left_out) == (1, 1)
