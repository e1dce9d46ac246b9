"""Studies of finished games: the choice of players, the statistics of a match, and the
printed output.
"""

import asyncio
import json
import os
import signal
from itertools import product
from pathlib import Path

import msgspec
import pytest

from live.commands.read_settings import read_settings
from live.errors import InputError, Interrupted
from live.event.comparisons import build_table_four as ferreira_table_4
from live.event.comparisons import compare, rank
from live.messages.figures import EngineInfo, PlayerView
from live.ratings.match import compute_match_statistics
from live.ratings.match_games import GameCounts
from live.ratings.sprt import Sprt
from live.studies import calibration, match_study, player_studies
from live.studies.match_study import MatchStudy, build_match_study
from live.studies.player_studies import compare_players, find_player, rank_players
from tests.event.arithmetic import event
from tests.screens.terminal.sample_boards import drawn


def player(name: str) -> PlayerView:
    return PlayerView(
        id=name.lower().replace(", ", "-"),
        name=name,
        elo=None,
        games=1,
        moves=0,
        mean_gain_cp=None,
    )


EVERYBODY = [
    player(name)
    for name in ("Polgar, Judit", "Polgár, Zsuzsa", "Müller, Karsten", "Wei")
]


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
def test_a_player_is_found_by_any_words_that_only_he_has(
    asked: str, found: str
) -> None:
    assert find_player(EVERYBODY, asked).name == found


@pytest.mark.parametrize(
    ("asked", "named"), [("polgar", "several"), ("tal", "nobody"), ("", "nobody")]
)
def test_nobody_is_guessed(asked: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        find_player(EVERYBODY, asked)


def test_counts_are_taken_as_wins_draws_and_losses() -> None:
    found = build_match_study(["12", "20", "8"], Sprt(0, 10), None)
    assert (found.counts.wins, found.counts.draws, found.counts.losses) == (12, 20, 8)
    assert found.statistics.score == 0.55
    assert found.sprt is not None and found.sprt.decision == "continue"
    assert found.pairs is None


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(InputError, match="-1"):
        build_match_study(["3", "-1", "4"], None, None)


def _game(white: str, black: str, result: str, moves: str) -> str:
    return (
        f'[White "{white}"]\n[Black "{black}"]\n[Result '
        f'"{result}"]\n\n{moves} {result}\n\n'
    )


def match_in(folder: Path, *games: str, test: Sprt | None = None) -> MatchStudy:
    pgn = folder / "match.pgn"
    pgn.write_text("".join(games))
    return build_match_study([str(pgn)], test, None)


def test_one_player_spelt_twice_is_one(tmp_path: Path) -> None:
    found = match_in(
        tmp_path,
        _game("Muller, Karsten", "Wei", "1-0", "1. e4 e5"),
        _game("Wei", "Karsten Müller", "*", "1. d4 d5"),
    )
    assert (found.first, found.second) == ("Muller, Karsten", "Wei")
    assert (found.counts.wins, found.left_out) == (1, 1)


@pytest.mark.parametrize("moves", ["", "1. d4"])
def test_a_walkover_is_no_game_of_a_match(moves: str, tmp_path: Path) -> None:
    """A walkover has no move, or only one, as the second game of Reykjavik 1972 in some
    files.
    """
    found = match_in(
        tmp_path,
        _game("Anna", "Berta", "1-0", "1. e4 e5"),
        _game("Berta", "Anna", "0-1", moves),
        _game("Anna", "Berta", "0-1", "1. d4 d5"),
        _game("Berta", "Anna", "0-1", "1. Qh9"),  # unreadable, but played
        test=Sprt(0, 10),
    )
    counts = found.counts
    assert (counts.wins, counts.draws, counts.losses) == (2, 0, 1)
    assert (found.walkovers, found.left_out, found.results_only) == (1, 0, False)
    # The walkover keeps its place in the order: games 3 and 4 form a pair, games 2 and
    # 3 do not.
    assert found.pairs is not None and found.pairs.by_score == (0, 0, 1, 0, 0)


def test_results_without_any_moves_are_results(tmp_path: Path) -> None:
    games = _game("Anna", "Berta", "1-0", ""), _game("Berta", "Anna", "1/2-1/2", "")
    found = match_in(tmp_path, *games)
    assert (found.counts.wins, found.counts.draws, found.walkovers) == (1, 1, 0)
    assert found.results_only


@pytest.mark.parametrize("command", ["rank", "compare"])
async def test_ctrl_c_says_what_is_lost(command: str, tmp_path: Path) -> None:
    pgn = tmp_path / "event.pgn"
    pgn.write_text(_game("Anna", "Berta", "1-0", "1. e4 e5 2. Nf3 Nc6"))
    config = read_settings(None, {}, {"engine.nodes": 10**9, "engine.engines": 1})
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(Interrupted) as stopped:
            if command == "rank":
                await rank_players(
                    config, [pgn], evals="engine", by="covariance", json=None
                )
            else:
                names = ("Anna", "Berta")
                await compare_players(config, [pgn], names, evals="engine", json=None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped.value.exit_code == 130
    assert str(stopped.value).startswith(
        f"{command}: stopped after 0 of 4 moves had their score"
    )
    assert "nothing is kept" in str(stopped.value)


@pytest.mark.parametrize("command", ["rank", "compare"])
async def test_a_walkover_is_no_game_of_a_player(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn, written = tmp_path / "event.pgn", tmp_path / "told.json"
    moves = (
        "1. e4 { [%eval 0.2] } e5 { [%eval 0.3] } 2. "
        "Nf3 { [%eval 0.2] } Nc6 { [%eval 0.4] }"
    )
    pgn.write_text(
        _game("Anna", "Berta", "1-0", moves)
        + _game("Anna", "Berta", "1-0", "")
        + _game("Anna", "Cecilia", "1-0", "")
        + _game("Anna", "Berta", "0-1", "1. d4 { [%eval 0.2] }")
    )
    config = read_settings(None, {}, {})
    if command == "rank":
        await rank_players(
            config, [pgn], evals="pgn", by="covariance", json=str(written)
        )
    else:
        await compare_players(
            config, [pgn], ("Anna", "Berta"), evals="pgn", json=str(written)
        )
    players = json.loads(written.read_bytes())["players"]
    assert {each["name"]: each["games"] for each in players} == {"Anna": 1, "Berta": 1}
    assert "Left out: 3 games in which a side made no move" in capsys.readouterr().err
    pgn.write_text(_game("Anna", "Berta", "1-0", ""))
    with pytest.raises(InputError, match="no game with moves"):
        await rank_players(config, [pgn], evals="pgn", by="covariance", json=None)


# --- printed output -------------------------------------------------------------------

ENGINE = EngineInfo("Arithmetic", "1 look", 2800, "field")


WIDTH = 80


def test_a_comparison_shows_scores_and_reasons() -> None:
    held = event()
    one, other, _ = held.players()
    rows = compare(held.collect_compared_moves(), one.id, other.id)
    text = drawn(
        player_studies.build_comparison_table(one, other, rows, width=WIDTH), WIDTH
    )
    for row in rows:
        assert all(word in text for word in row.predictor.split())
        if row.expected_score is not None:
            assert f"{row.expected_score:.3f}" in text
    assert "of 500 moves" in " ".join(text.split())
    assert "…" not in text


def set_figures(view: PlayerView, **figures: float | None) -> PlayerView:
    return msgspec.structs.replace(view, **figures)


def test_two_players_stand_side_by_side_with_what_people_see_of_them() -> None:
    one, other, _ = event().players()
    one = set_figures(
        one,
        counted=30,
        perceived=2441,
        usual_low=2100,
        usual_high=2790,
        percentile=74.0,
    )
    other = set_figures(
        other, perceived=3200, usual_low=None, usual_high=None, percentile=None
    )
    text = drawn(
        player_studies.build_players_table(
            one, other, ENGINE, "same-search", width=WIDTH
        ),
        WIDTH,
    )
    lines = {
        line.split("  ")[0].strip(): line for line in text.splitlines() if line.strip()
    }
    assert "2441 (usual 2100–2790)" in lines["Playing like"]
    assert "3200+" in lines["Playing like"] and "74" in lines["Percentile"]
    assert all(len(line) <= WIDTH for line in text.splitlines())


def test_names_cannot_write_to_the_terminal() -> None:
    held = event()
    one, other, _ = held.players()
    hostile = msgspec.structs.replace(one, name="\x1b]0;x\x07[red]Anand")
    ranks = [
        msgspec.structs.replace(each, name=hostile.name, missing="[b]why")
        for each in rank(
            held.collect_compared_moves(), held.players(), engine_rating=ENGINE.rating
        )
    ]
    for table in (
        player_studies.build_comparison_table(hostile, other, (), width=WIDTH),
        player_studies.build_players_table(
            hostile, other, ENGINE, "same-search", width=WIDTH
        ),
        player_studies.build_battle_table(ranks, "covariance", width=WIDTH),
    ):
        text = drawn(table, WIDTH)
        assert "\x1b" not in text and "\x07" not in text
        assert "[red]Anand" in text


def test_a_battle_royale_shows_everybody_in_its_own_order() -> None:
    held = event()
    ranks = rank(
        held.collect_compared_moves(), held.players(), engine_rating=ENGINE.rating
    )
    text = drawn(
        player_studies.build_battle_table(ranks, "covariance", width=WIDTH), WIDTH
    )
    names = [each.name for each in sorted(ranks, key=lambda each: each.place or 9)]
    cells = product(text.splitlines(), names)
    assert [name for line, name in cells if name in line] == names
    assert "…" not in text
    first = msgspec.structs.replace(ranks[0], place=1)
    tied = [first, *(msgspec.structs.replace(each, place=1) for each in ranks[1:])]
    assert (
        drawn(
            player_studies.build_battle_table(tied, "covariance", width=WIDTH), WIDTH
        ).count("1=")
        == 3
    )


@pytest.mark.parametrize(
    "counts", [GameCounts(0, 0, 0), GameCounts(3, 0, 0), GameCounts(5, 9, 2)]
)
def test_a_match_shows_what_it_cannot_tell(counts: GameCounts) -> None:
    found = compute_match_statistics(counts)
    text = drawn(
        match_study.build_match_table(MatchStudy(counts, found, "Anna", "Berta")),
        WIDTH,
    )
    assert "Anna against Berta" in text
    assert all(gap.split(":")[0] in text for gap in found.gaps)
    if found.elo_low is not None and found.elo_high is not None:
        assert f"{found.elo_low:+.0f} to {found.elo_high:+.0f}" in text


def test_a_small_interval_is_printed_with_decimals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The counts are like those of fishtest's long tests. Rounded to whole Elo, the
    interval would be ``-0 to +2``.
    """
    for results, shown in (
        (("27142", "86960", "26840"), ("+0.7 ± 1.1", "-0.4 to +1.9")),
        (("2714200", "8696000", "2684000"), ("+0.74 ± 0.11", "+0.63 to +0.86")),
        (("12", "20", "8"), ("+35 ± ", " to ")),
    ):
        assert match_study.assess_match(results, None, None, None) == 0
        text = capsys.readouterr().out
        assert all(each in text for each in shown), text
        assert "-0 " not in text


def test_a_game_without_a_pair_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn = tmp_path / "match.pgn"
    games = (
        ("Anna", "Berta", "1-0"),
        ("Berta", "Anna", "1/2-1/2"),
        ("Anna", "Berta", "0-1"),
    )
    pgn.write_text("".join(_game(*game, "1. e4 e5") for game in games))
    match_study.assess_match([str(pgn)], None, None, None)
    assert (
        "In no pair: 1 game without one of reversed colours" in capsys.readouterr().out
    )
    assert build_match_study([str(pgn)], None, None).unpaired == 1
    pgn.write_text("".join(_game(*game, "1. e4 e5") for game in games[:2]))
    assert build_match_study([str(pgn)], None, None).unpaired == 0
    assert build_match_study(["12", "20", "8"], None, None).unpaired == 0


# --- calibration ----------------------------------------------------------------------


def test_table_four_has_the_columns_of_the_paper() -> None:
    held = event()
    strengths = held.collect_compared_moves().strengths
    found = ferreira_table_4(held.players(), held.rate_engine(), strengths)
    field = calibration.RatedField("[b]Arithmetic", "1 look", "same-search", ())
    text = drawn(
        calibration.build_engine_strength_table(field, found),
        120,
    )
    assert "[b]Arithmetic" in text
    for row in found.rows:
        line = next(line for line in text.splitlines() if row.name in line)
        assert f"{row.expected_score:.3f}" in line
        assert f"{row.difference:+.0f}" in line
    assert found.engine_by_elo is not None
    assert f"{found.engine_by_elo:.0f}" in text
