"""What the doctor says of the delay and of the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.config import FeedsConfig, JournalConfig, load_config
from live.errors import ConfigError
from live.jobs.doctor import _delay, gone_options, journal_finding, overlay_finding


@pytest.mark.parametrize(
    ("config", "state", "said"),
    [
        (FeedsConfig(), "note", "none"),
        (FeedsConfig(delay_s=90.0), "ok", "of every round 90 s later"),
        (
            FeedsConfig(delay_s=90.0, delay_rounds=("8",)),
            "ok",
            "every board while none is of these",
        ),
        (FeedsConfig(delay_rounds=("8",)), "problem", "nothing is held back"),
        (FeedsConfig(delay_s=90.0, delay_rounds=("Final",)), "problem", "is no round"),
    ],
)
def test_a_delay_that_holds_nothing_back_is_a_problem(
    config: FeedsConfig, state: str, said: str
) -> None:
    found = _delay(config)
    assert found.state == state and said in found.text


def test_addresses_of_overlays_of_before_are_named() -> None:
    assert gone_options().keys() == {"order", "hide", "rating"}
    base = "http://127.0.0.1:8765/overlay?layout=bar"
    found = overlay_finding(f"{base}&rating=level&hide=clock,second&order=percentile")
    assert found.state == "note"
    assert "rating=level, hide=second, order=percentile" in found.text
    assert overlay_finding(f"{base}&rating=algorithm4&hide=clock").state == "ok"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("15m", 900), ("15 min", 900), ("1h", 3600), ("0.5h", 1800), (7, 7)],
)
def test_a_delay_is_given_as_people_write_times(text: object, seconds: float) -> None:
    assert load_config(None, {}, {"feeds.delay_s": text}).feeds.delay_s == seconds


@pytest.mark.parametrize("text", ["15x", "-3", "2d", "", "25h", "1e3", "inf"])
def test_a_delay_that_is_no_time_is_one_readable_line(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_config(None, {}, {"feeds.delay_s": text})
    assert '"15m"' in str(raised.value) and "\n" not in str(raised.value)


def test_a_journal_that_the_service_would_refuse_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[Event "Open"]\n')
    (tmp_path / "file").touch()
    for name, why in (
        ("games.pgn", "is no journal"),
        ("file/journal.sqlite", "is no folder"),
        (".", "is a folder"),
    ):
        found = journal_finding(JournalConfig(file=str(tmp_path / name)))
        assert found.state == "problem" and why in found.text and str(tmp_path) in found.text
    well = journal_finding(JournalConfig(file=str(tmp_path / "new" / "journal.sqlite")))
    assert well.state == "ok" and not (tmp_path / "new").exists()


def test_without_a_name_it_is_the_folder_of_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert str(tmp_path) in journal_finding(JournalConfig()).text
    assert journal_finding(JournalConfig(enabled=False)).state == "note"
