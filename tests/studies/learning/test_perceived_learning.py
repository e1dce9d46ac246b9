"""Learning from games with ``calibrate``: one model of perceived ratings, and its
quality.
"""

import asyncio
import gzip
import json
import random
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from live.errors import InputError
from live.ratings.model_choice import MODELS, load_shipped_models
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import LossLogit
from live.settings import Config
from live.studies.calibration import calibrate, check_model
from live.studies.learning.held_out import SHARES, is_held_out
from live.studies.learning.perceived_judgement import WHOLE, judge, summarise_judgement
from live.studies.learning.played_games import read_played_games
from tests.studies.small_corpus import rated_games

DATA = Path(__file__).parents[2] / "data"


def gains(path: Path, sides: int = 72, moves: int = 18, seed: int = 5) -> Path:
    """Write player-games in which higher rated players lose less; return the path."""
    path.write_text(rated_games(sides, moves, seed))
    return path


def learned(file: Path, written: Path) -> bytes:
    asyncio.run(
        calibrate(
            Config(),
            [file],
            evals="engine",
            time_control="blitz",
            written=written,
            engine_name="Made up 1",
            limit="depth 9",
            json=None,
        )
    )
    return written.read_bytes()


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of games, and the file of the model learned from it."""
    folder = tmp_path_factory.mktemp("club")
    file, model = gains(folder / "games.ndjson"), folder / "club.json"
    learned(file, model)
    return file, model


def test_games_teach_a_model_that_tells_players_apart(club: tuple[Path, Path]) -> None:
    file, written = club
    data = written.read_bytes()
    model = MODELS.decode(data, "club.json")
    assert (model.name, model.engine, model.limit) == ("club", "Made up 1", "depth 9")
    assert (model.gain, model.time_control) == ("same-search", "blitz")
    assert model.players == sum(not is_held_out(str(player)) for player in range(72))
    logit = LossLogit(model)
    odds = logit.compute_odds(Turn(0, 0, 41))
    weak, strong = (logit.compute_shares(odds, elo) for elo in (1300.0, 2500.0))
    # The first three classes are losses of at most 10 centipawns.
    assert strong[:3].sum() > weak[:3].sum()
    assert learned(file, written) == data


@pytest.mark.parametrize(
    ("sides", "moves", "problem"),
    [
        (20, 30, "player-games: 50 are needed"),
        (60, 3, "moves: 1000 are needed"),
    ],
)
def test_too_few_games_teach_nothing(
    sides: int, moves: int, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=problem):
        learned(
            gains(tmp_path / "few.ndjson", sides, moves, seed=3), tmp_path / "o.json"
        )
    assert not (tmp_path / "o.json").exists()


def test_moves_that_have_nothing_to_do_with_ratings_teach_nothing(
    tmp_path: Path,
) -> None:
    lines = rated_games(72, 18, seed=3).splitlines()
    elos = [json.loads(line)["white_elo"] for line in lines]
    random.Random(1).shuffle(elos)
    swapped = [
        json.dumps({**json.loads(line), "white_elo": elo})
        for line, elo in zip(lines, elos, strict=True)
    ]
    file = tmp_path / "swapped.ndjson"
    file.write_text("\n".join(swapped))
    with pytest.raises(InputError, match="do not tell strong from weak players"):
        learned(file, tmp_path / "o.json")


def checked(file: Path, model: Path, written: Path) -> dict[str, dict[str, float]]:
    check_model(file, str(model), json=str(written))
    found: dict[str, dict[str, float]] = json.loads(written.read_text())["after"]
    return found


def test_a_check_of_its_own_file_counts_only_players_it_never_saw(
    club: tuple[Path, Path], tmp_path: Path
) -> None:
    file, model = club
    out = tmp_path / "out.json"
    found = checked(file, model, out)
    assert set(found) == {"5", "10", "20", "40", "whole"}
    assert found["whole"]["n"] == sum(is_held_out(str(player)) for player in range(72))
    found = checked(gains(tmp_path / "others.ndjson", seed=6), model, out)
    assert found["whole"]["n"] == 72
    assert 0.6 < found["whole"]["usual_holds"] <= 1
    assert found["whole"]["blind_r"] > 0.5


def test_a_check_without_games_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.ndjson").write_text("\n")
    with pytest.raises(InputError, match="no scored game"):
        check_model(tmp_path / "empty.ndjson", "blitz", json=None)


# --- played games ---------------------------------------------------------------------

PLIES = {
    "white": "A",
    "black": "B",
    "white_elo": 2000,
    "black_elo": 2100,
    "result": "1-0",
    "moves": ["e2e4", "e7e5", "g1f3"],
    "plies": [
        {"cp": 20, "best": "e2e4", "by_depth": [10, 20, 40]},
        {"cp": 30, "best": "c7c5", "played": 45, "by_depth": [30, "M"]},
        {"cp": 40, "best": "f1c4", "played": 15},
        {"cp": 10},
    ],
}
LISTS = {
    "white": 1,
    "black": 2,
    "white_elo": 2000,
    "black_elo": None,
    "result": "0-1",
    "moves": ["e2e4", "e7e5"],
    "start_cp": 20,
    "cp": [30, 40],
    "best": ["e2e4", "c7c5"],
    "played": [None, 45],
    "stability": [4.0, 5.0],
    "jump": [9, 10],
}


def lines(*rows: object) -> list[str]:
    return [json.dumps(row) for row in rows]


def test_a_searched_game_has_turns_of_both_sides() -> None:
    (game,) = read_played_games(lines(PLIES), "same-search")
    assert [turn.gain_cp for turn in game.white.turns] == [0, -25]
    assert [turn.gain_cp for turn in game.black.turns] == [-15]
    assert game.black.turns[0].score_before_cp == -30
    assert game.white.turns[0].stability_cp == 15
    assert game.black.turns[0].jump_cp == 3870
    assert game.white.best == ("e2e4", "f1c4")
    assert game.scores_cp == (20, 30, 40, 10)


def test_lists_tell_of_the_position_after_each_move() -> None:
    (game,) = read_played_games(lines(LISTS), "same-search")
    assert [turn.gain_cp for turn in game.black.turns] == [-15]
    assert game.black.turns[0].stability_cp == 4.0
    assert game.black.elo is None


def test_successive_gains_are_between_positions() -> None:
    (game,) = read_played_games(lines(PLIES), "successive")
    assert [turn.gain_cp for turn in game.white.turns] == [10, -30]
    assert [turn.gain_cp for turn in game.black.turns] == [-10]


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match="line 2"):
        read_played_games([*lines(PLIES), "{}"], "same-search")


# --- held out -------------------------------------------------------------------------


def test_one_player_in_eight_judges() -> None:
    found = sum(is_held_out(str(number)) for number in range(8000))
    assert 900 < found < 1100


def test_the_rule_is_that_of_the_list() -> None:
    listed = json.loads(
        files("live.ratings").joinpath("held_out.json").read_text("utf-8")
    )
    for player in listed["players"]:
        assert int(sha256(player.encode()).hexdigest(), 16) % SHARES == 0
        assert is_held_out(player)
    assert len(listed["games"]) == len(set(listed["games"])) > 90


@pytest.mark.whole
def test_the_blitz_model_reads_players_it_never_learned_from() -> None:
    lines = gzip.decompress(
        (DATA / "fics-blitz-same-search.ndjson.gz").read_bytes()
    ).splitlines()
    games = read_played_games(lines, "same-search")
    (model,) = [each for each in load_shipped_models() if each.name == "blitz"]
    whole = summarise_judgement(judge(games, model, is_held_out)[WHOLE])
    assert whole["n"] >= 60
    assert whole["blind_r"] > 0.5
    # Eight of ten are expected in their band. The limits are three standard errors for
    # 65 player-games.
    assert 0.65 < whole["usual_holds"] < 0.95
