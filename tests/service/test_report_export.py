"""Reports are written where they were asked for, under names that do not collide."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pytest

from live.errors import InputError
from live.service.report_export import IncidentExporter, ReportExporter
from tests.publish.world import World

NOW = dt.datetime(2026, 11, 21, 9, 30, 5, tzinfo=dt.UTC)


def exporter(folder: Path) -> ReportExporter:
    world = World(3)
    world.appear("g1")
    world.appear("g2")
    world.move("g1")
    return ReportExporter(world, folder, lambda: NOW)


def test_the_whole_event_and_one_board(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    told = exporter(folder)("html", None)
    assert told == str(folder / "live-rate-20261121-093005.html")
    assert "written <bdi>2026-11-21 09:30 UTC" in Path(told).read_text("utf-8")
    told = exporter(folder)("csv", "g1")
    assert told.count(".csv") == 4
    board = next(folder.glob("*board*-plies.csv"))
    assert board.read_bytes().count(b"\r\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="rights are not in the mode there")
def test_an_incident_report_is_its_users_own(tmp_path: Path) -> None:
    written = Path(IncidentExporter(tuple, World(1), tmp_path, lambda: NOW)())
    assert written.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_written_and_a_board_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        exporter(tmp_path / "file")("pgn", None)
    with pytest.raises(InputError, match="gone"):
        exporter(tmp_path)("pgn", "no such board")
