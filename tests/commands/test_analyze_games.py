"""Finished games: what is written when somebody stops the analysis."""

import asyncio
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from live.commands.analyze_games import analyze
from live.commands.read_settings import read_settings
from live.errors import InputError
from live.sources.pgn_decoder import PgnLimits

DATA = Path(__file__).parent.parent / "data"
#: Long enough that its moves prove which game it is.
SPANISH = """[Event "Open"]
[Round "4"]
[White "Adams, Anna"]
[Black "Berg, Boris"]
[Result "1/2-1/2"]

1. e4 {[%eval 0.3]} e5 {[%eval 0.3]} 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1
b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. c4 c6 1/2-1/2
"""


async def analyze_to_json(tmp_path: Path, *files: Path) -> Any:
    """What is written of files with evaluations, as JSON."""
    written = tmp_path / "all.json"
    config = read_settings(None, {}, {})
    assert await analyze(config, files, evals="pgn", json=str(written), pgn=None) == 0
    return json.loads(written.read_bytes())


async def test_ctrl_c_writes_what_is_known_and_says_that_it_is_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = read_settings(None, {}, {"engine.nodes": 10**9, "engine.engines": 1})
    written, annotated = tmp_path / "all.json", tmp_path / "games.pgn"
    # Ctrl-C comes as soon as the work has begun to wait for engines.
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
    before = signal.getsignal(signal.SIGINT)
    try:
        code = await analyze(
            config,
            [DATA / "figure-1.pgn"],
            evals="engine",
            json=str(written),
            pgn=annotated,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    found = json.loads(written.read_bytes())
    assert found["partial"] is True
    game = found["games"][0]
    assert game["plies_played"] == len(game["plies"]) > 0
    # Nothing is claimed of what was not searched.
    assert game["methods"]["white"]["accuracy"] is None
    assert "no scored move" in game["methods"]["white"]["missing"]["accuracy"]
    assert "Fischer" in annotated.read_text()
    assert "Stopped: " in capsys.readouterr().err


async def test_evaluations_are_found_before_and_after_very_long_words(
    tmp_path: Path,
) -> None:
    pgn = tmp_path / "long.pgn"
    words = "lorem ipsum\n" * 60_000
    assert len(words) > PgnLimits().game_bytes, "more than a live source may send"
    pgn.write_text(
        f'[White "A"]\n[Black "B"]\n\n1. e4 {{[%eval 0.25] {words}}}'
        f" e5 {{{words} [%eval 0.3]}} 1-0\n"
    )
    (game,) = (await analyze_to_json(tmp_path, pgn))["games"]
    assert [ply["score_cp"] for ply in game["plies"]] == [25, 30]


async def test_what_could_not_be_read_is_named_where_no_evaluation_was_found(
    tmp_path: Path,
) -> None:
    pgn = tmp_path / "broken.pgn"
    pgn.write_text('[White "A"]\n[Black "B"]\n\n1. e4 Qh9 {[%eval 0.3]} 1-0\n')
    with pytest.raises(
        InputError, match=r"no \[%eval\] comment in what can be read: .*Qh9"
    ):
        await analyze(
            read_settings(None, {}, {}), [pgn], evals="pgn", json=None, pgn=None
        )


async def test_an_analysis_that_fails_leaves_its_outputs_as_they_were(
    tmp_path: Path,
) -> None:
    held, new = tmp_path / "held.json", tmp_path / "new.pgn"
    held.write_text("of last week")
    config, nowhere = read_settings(None, {}, {}), tmp_path / "none.pgn"
    with pytest.raises(InputError, match=r"none\.pgn"):
        await analyze(config, [nowhere], evals="pgn", json=str(held), pgn=new)
    assert held.read_text() == "of last week"
    assert not new.exists()


async def test_a_game_that_stands_twice_counts_once_in_its_players_pool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Audit of the feeds, row 13."""
    pgn = tmp_path / "twice.pgn"
    pgn.write_text(SPANISH + "\n" + SPANISH)
    found = await analyze_to_json(tmp_path, pgn)
    assert [player["games"] for player in found["players"]] == [1, 1]
    assert len(found["games"]) == 1
    assert f"{pgn}: games found twice in it, counted once: 1" in caplog.text


async def test_a_game_from_two_files_is_one_with_both_and_where_they_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "hall.pgn", tmp_path / "cloud.pgn"
    one.write_text(SPANISH)
    two.write_text(SPANISH.replace("11. c4", "11. Nbd2").replace("1/2-1/2", "1-0"))
    (game,) = (await analyze_to_json(tmp_path, one, two))["games"]
    assert (game["feed"], game["also"]) == (str(one), [str(two)])
    assert game["dispute"] == f"11. c4 in {one}, but Nbd2 in {two}"
    said = "".join(capsys.readouterr().out.split())  # a long path is wrapped anywhere
    assert f"one game, from {one} and {two}".replace(" ", "") in said
    assert "these contradict each other: 11. c4".replace(" ", "") in said


async def test_games_without_a_round_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """A match has the same names in every game, and its games no number."""
    firsts = ["e4", "d4", "c4", "Nf3", "b3", "g3"]
    results = ["1-0", "0-1", "1/2-1/2", "1-0", "0-1", "1-0"]
    texts = []
    for number, (first, result) in enumerate(zip(firsts, results, strict=True)):
        white, black = ("Anna", "Berta") if number % 2 else ("Berta", "Anna")
        tags = f'[Round "?"]\n[White "{white}"]\n[Black "{black}"]\n'
        texts.append(f"{tags}\n1. {first} {{[%eval 0.3]}} Nc6 2. h3 {result}\n\n")
    file = tmp_path / "match.pgn"
    file.write_text("".join(texts))
    written = {name: tmp_path / name for name in ("json", "pgn", "html")}
    config = read_settings(None, {}, {})
    await analyze(
        config,
        [file],
        evals="pgn",
        json=str(written["json"]),
        pgn=written["pgn"],
        html=written["html"],
    )
    games = json.loads(written["json"].read_bytes())["games"]
    assert [game["plies"][0]["san"] for game in games] == firsts
    annotated = written["pgn"].read_text()
    assert re.findall(r"^1\. (\w+)", annotated, re.MULTILINE) == firsts
    report = written["html"].read_text("utf-8")
    found = re.findall(r'<td class="c">([^<]+)</td><td><bdi>', report)
    assert found == ["1–0", "0–1", "½–½", "1–0", "0–1", "1–0"]


async def test_a_file_of_which_no_move_can_be_read_is_an_error(tmp_path: Path) -> None:
    pgn = tmp_path / "garbage.pgn"
    pgn.write_text('[Event "x"]\n hello world, this is no game')
    config = read_settings(None, {}, {})
    for evals in ("engine", "pgn"):
        with pytest.raises(InputError, match=r"no move can be read: .*hello") as raised:
            await analyze(config, [pgn], evals=evals, json=None, pgn=None)
        assert raised.value.exit_code == 2


async def test_games_read_in_part_are_counted_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn = tmp_path / "part.pgn"
    broken = '[White "Eve"]\n[Black "Fay"]\n\n1. e4 {[%eval 0.3]} Qh9 0-1\n'
    pgn.write_text(f"{SPANISH}\n{broken}")
    config = read_settings(None, {}, {})
    assert await analyze(config, [pgn], evals="pgn", json=None, pgn=None) == 0
    out, err = capsys.readouterr()
    assert "Read only in part: 1 of 2 games." in out
    assert "Eve - Fay: illegal move 1...Qh9" in out
    assert "alert" not in err, "that is for live events"
    # With JSON on standard output it is said beside it.
    assert await analyze(config, [pgn], evals="pgn", json="-", pgn=None) == 0
    assert "Read only in part: 1 of 2 games." in capsys.readouterr().err
