"""Studies of finished games: who is meant, and what a match tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.config import load_config
from live.errors import InputError
from live.events import PlayerView
from live.ratings.match import Sprt
from live.studies.compare_players import compare_players, find_player, match_of, rank_players


def player(name: str) -> PlayerView:
    return PlayerView(
        id=name.lower().replace(", ", "-"), name=name, elo=None, games=1, moves=0,
        mean_gain_cp=None,
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


def _game(white: str, black: str, result: str, moves: str) -> str:
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'


def test_a_walkover_is_no_game_of_a_match(tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    pgn.write_text(
        _game("Anna", "Berta", "1-0", "1. e4 e5")
        + _game("Berta", "Anna", "0-1", "")
        + _game("Anna", "Berta", "0-1", "1. d4 d5")
        + _game("Berta", "Anna", "0-1", "1. Qh9")  # unreadable, but played
    )
    found = match_of([str(pgn)], Sprt(0, 10), None)
    counts = found.counts
    assert (counts.wins, counts.draws, counts.losses) == (2, 0, 1)
    assert (found.walkovers, found.left_out, found.results_only) == (1, 0, False)
    # The walkover keeps its place: games 3 and 4 are a pair, 2 and 3 are not.
    assert found.pairs is not None and found.pairs.by_score == (0, 0, 1, 0, 0)


def test_results_without_any_moves_are_results(tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    pgn.write_text(_game("Anna", "Berta", "1-0", "") + _game("Berta", "Anna", "1/2-1/2", ""))
    found = match_of([str(pgn)], None, None)
    assert (found.counts.wins, found.counts.draws, found.walkovers) == (1, 1, 0)
    assert found.results_only


@pytest.mark.parametrize("command", ["rank", "compare"])
async def test_a_walkover_is_no_game_of_a_player(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn, written = tmp_path / "event.pgn", tmp_path / "told.json"
    moves = "1. e4 { [%eval 0.2] } e5 { [%eval 0.3] } 2. Nf3 { [%eval 0.2] } Nc6 { [%eval 0.4] }"
    pgn.write_text(
        _game("Anna", "Berta", "1-0", moves)
        + _game("Anna", "Berta", "1-0", "")
        + _game("Anna", "Cecilia", "1-0", "")
    )
    config = load_config(None, {}, {})
    if command == "rank":
        await rank_players(config, [pgn], evals="pgn", by="covariance", json=str(written))
    else:
        await compare_players(config, [pgn], ("Anna", "Berta"), evals="pgn", json=str(written))
    players = json.loads(written.read_bytes())["players"]
    assert {each["name"]: each["games"] for each in players} == {"Anna": 1, "Berta": 1}
    assert "Left out: 2 without moves" in capsys.readouterr().err
    pgn.write_text(_game("Anna", "Berta", "1-0", ""))
    with pytest.raises(InputError, match="no game with moves"):
        await rank_players(config, [pgn], evals="pgn", by="covariance", json=None)
