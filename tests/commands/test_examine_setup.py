"""What the doctor says of the delay and the journal."""

import json
from functools import partial
from pathlib import Path

import pytest

from live.commands import examine_setup as doctor
from live.commands.examine_setup import (
    _describe_public_view,
    check_journal,
    check_screening,
    check_speed,
    examine_setup,
)
from live.commands.probe_feeds import probe_feeds
from live.commands.read_settings import read_settings
from live.engine.engine_process import measure_speed
from live.engine.uci import EngineIdentity
from live.errors import ConfigError
from live.event.choose_measure import explain_no_screening, load_figure_models
from live.ratings.agreement import load_choice_model
from live.settings import Config, FeedsConfig, JournalConfig, ServerConfig
from live.sources import source_probe
from tests.sources.fakes import DATA


@pytest.mark.parametrize(
    ("delay_s", "state", "said"),
    [
        (
            0.0,
            "note",
            ("none: the public sees ", "everything at once", "moves at once"),
        ),
        (90.0, "ok", ("the public sees ", "everything 90 s later", "moves 90 s later")),
    ],
)
def test_how_far_the_public_is_behind_and_what_is_hidden_from_it(
    delay_s: float, state: str, said: tuple[str, str, str]
) -> None:
    start, everything, moves = said
    feeds = FeedsConfig(delay_s=delay_s)
    finding = _describe_public_view(Config(feeds=feeds))
    assert (finding.state, finding.text) == (state, f"{start}{everything}")
    hidden = ServerConfig(hide_scores=True)
    finding = _describe_public_view(Config(feeds=feeds, server=hidden))
    assert finding.state == state
    assert finding.text == f"{start}{moves}; scores and ratings are hidden"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("15m", 900),
        ("15 min", 900),
        ("1h", 3600),
        ("0.5h", 1800),
        (7, 7),
    ],
)
def test_a_delay_is_given_as_people_write_times(text: object, seconds: float) -> None:
    assert read_settings(None, {}, {"feeds.delay_s": text}).feeds.delay_s == seconds


@pytest.mark.parametrize("text", ["15x", "-3", "2d", "", "25h", "1e3", "inf"])
def test_a_delay_that_is_no_time_is_one_readable_line(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(None, {}, {"feeds.delay_s": text})
    assert '"15m"' in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("boards", "state"), [(1, "ok"), (20, "note"), (200, "problem")]
)
def test_whether_the_speed_is_enough_for_the_boards(boards: int, state: str) -> None:
    config = read_settings(None, {}, {"engine.engines": 2}).engine
    found = check_speed(config, 100.0, boards)
    assert found.state == state and f"{boards} board" in found.text


def test_it_says_before_the_round_that_agreement_is_not_screened_and_why() -> None:
    known = load_choice_model("classical")
    assert check_screening(known.engine, known.limit).state == "ok"
    assert not explain_no_screening(known.engine, known.limit)
    for engine, limit in (("Stockfish 15.1", known.limit), (known.engine, "depth 20")):
        finding = check_screening(engine, limit)
        assert (finding.subject, finding.state) == ("agreement alert", "note")
        assert finding.text.startswith("off: ") and f"{engine}, {limit}" in finding.text
        assert finding.text.endswith("--engine embedded --nodes 100000")
        # As the figures are made.
        assert load_figure_models(engine, limit)[1] is None


async def test_it_refuses_what_the_start_would_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that settings were valid where a file of tokens was missing (audit, row
    19).
    """
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(source_probe, "QUIET_S", 0.05)
    monkeypatch.setattr(doctor, "measure_speed", partial(measure_speed, seconds=0.05))
    (tmp_path / "games.pgn").write_text(
        '[White "A"]\n[Black "B"]\n[Round "7.1"]\n\n1. e4 *\n'
    )
    source = str(tmp_path / "games.pgn")

    async def run_doctor(
        specs: list[str], **settings: object
    ) -> tuple[int, dict[str, tuple[str, str]]]:
        given = {key.replace("__", "."): value for key, value in settings.items()}
        code = await examine_setup(
            lambda: read_settings(None, {}, {"server.port": 0, **given}), specs
        )
        rows = (line.split(None, 2) for line in capsys.readouterr().out.splitlines())
        return code, {row[1]: (row[0], row[2]) for row in rows if len(row) == 3}

    code, found = await run_doctor([source], journal__file=str(tmp_path / "j.sqlite"))
    assert (
        code == 0 and found[source][0] == found["journal"][0] == found["port"][0] == "✓"
    )
    assert "1 board:" in found["speed"][1] and "lichess" not in found

    async def measure(*_: object, **__: object) -> tuple[EngineIdentity, float]:
        return EngineIdentity("Stockfish 15.1", ()), 500.0

    # What follows is not about the engine.
    monkeypatch.setattr(doctor, "measure_speed", measure)
    missing = str(tmp_path / "none")
    for key, subject in (
        ("server__tokens_file", "port"),
        ("server__certificate_file", "port"),
        ("study__folder", "port"),
        ("notify__urls_file", "producer"),
    ):
        code, found = await run_doctor([], **{key: missing})
        assert code == 2 and found[subject][0] == "✗" and missing in found[subject][1]
        assert found["lichess"][0] == "·"  # nobody said what is to be followed
    code, found = await run_doctor([missing], mqtt__publish="mqtt://127.0.0.1:9")
    assert code == 2 and found["broker"][0] == found[missing][0] == "✗"


def test_a_journal_that_the_service_would_refuse_is_a_problem(tmp_path: Path) -> None:
    found = check_journal(JournalConfig(file=str(tmp_path)))
    assert (
        found.state == "problem"
        and "is a folder" in found.text
        and str(tmp_path) in found.text
    )
    well = check_journal(JournalConfig(file=str(tmp_path / "new" / "journal.sqlite")))
    assert well.state == "ok" and not (tmp_path / "new").exists()


def test_without_a_name_it_is_the_folder_of_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert str(tmp_path) in check_journal(JournalConfig()).text
    assert check_journal(JournalConfig(enabled=False)).state == "note"


async def test_sources_are_listed_with_their_games_and_what_does_not_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_probe, "QUIET_S", 0.05)
    boards = str(DATA / "four-boards.pgn")
    assert (
        await probe_feeds(Config(), [boards, "nonsense"], json=False, within_s=20) == 1
    )
    shown = capsys.readouterr().out
    assert "four-boards.pgn  file: 4 games" in shown and "Kovchan, Alexander" in shown
    assert "✗ nonsense  no source: cannot be followed" in shown
    assert await probe_feeds(Config(), [boards], json=True, within_s=20) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["kind"], len(finding["games"])) == ("file", 4)
