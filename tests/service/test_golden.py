"""Golden recordings: what is shown, what is left out, and what counts as a difference."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import msgspec

from live.feeds import demo_feed
from tests.benchmarks.service.drills import differences
from tests.benchmarks.service.golden import compare, kept, steps_of


def test_a_round_goes_wrong_on_its_way_and_ends_as_it_was_played() -> None:
    games = [msgspec.structs.replace(game, moves=game.moves[:40]) for game in demo_feed.games()[:4]]
    steps = steps_of(games)
    assert {step.kill for step in steps} == {"", "still", "working"}
    shown = dict(pair for step in steps for pair in step.shown)
    assert [shown[index].moves for index in range(4)] == [game.moves for game in games]
    assert [shown[index].result for index in range(4)] == [game.result for game in games]
    rated = [(shown[i].headers.white.elo, games[i].headers.white.elo) for i in range(4)]
    assert sum(now != before for now, before in rated) == 1
    lengths: dict[int, list[int]] = {}
    for step in steps:
        for index, report in step.shown:
            lengths.setdefault(index, []).append(len(report.moves))
    assert any(each != sorted(each) for each in lengths.values()), "no takeback"


def test_times_ports_and_ids_are_left_out_and_figures_are_not() -> None:
    value = {"id": "x", "seq": 3, "rating": 2000.5, "text": "at 2026-11-23 10:00 UTC, 127.0.0.1:80"}
    assert kept([value]) == [{"rating": 2000.5, "text": "at …, …"}]


def test_what_differs_is_counted_and_said_where(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    for folder, gain in ((one, 1), (other, 2)):
        folder.mkdir()
        record = {"what": "plies", "key": "g", "value": [{"gain_cp": gain, "san": "e4"}]}
        (folder / "round.jsonl.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    assert compare(one, one, 1) == 0
    assert compare(one, other, 1) == 1
    (other / "more.jsonl.gz").write_bytes(gzip.compress(b""))
    assert compare(one, other, 1) == 2
    assert list(differences({"a": [1, 2]}, {"a": [1, 3]})) == [".a[1]: 2 / 3"]
    assert list(differences([1], [1, 2])) == [": [1] / [1, 2]"]
