"""The commands as a user runs them: one line for what goes wrong, exit codes, help that
answers.
"""

import contextlib
import gc
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from live.cli import app, main
from live.commands import examine_setup
from live.commands.command_options import Settings
from live.engine.engine_process import measure_speed
from live.errors import FeedNotFound
from live.sources import source_probe

DATA = Path(__file__).resolve().parent / "data"
LIVE_RATE = (sys.executable, "-c", "from live.cli import main; main()")
#: Of a process of its own.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(DATA.parent.parent)}
PAPER = ("analyze", str(DATA / "figure-1.pgn"), "--evals", "pgn")


def live_rate(
    *arguments: str, cwd: Path | None = None, encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    """Run the command here, in an empty folder, so that no settings of ours are
    found.
    """
    streams = [io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(3)]
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    code: object = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(sys, "argv", ["live-rate", *arguments])
        patch.delenv("LIVE_RATE_CONFIG", raising=False)
        patch.setenv("COLUMNS", "100")
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        # pytest's own handlers would keep the command from setting up its log.
        root.handlers.clear()
        stack.callback(signal.signal, signal.SIGHUP, signal.getsignal(signal.SIGHUP))
        stack.callback(gc.unfreeze)
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
    printed = []
    for stream in streams[1:]:
        stream.flush()
        # JSON and what click writes to an ASCII console are UTF-8 in any case.
        printed.append(stream.buffer.getvalue().decode(encoding, "replace"))
    return subprocess.CompletedProcess(arguments, int(str(code)), *printed)


def shorten_waits(patch: pytest.MonkeyPatch) -> None:
    """Let a file be silent, and an engine search, for less than the second they take
    where people wait.
    """
    patch.setattr(source_probe, "QUIET_S", 0.05)
    patch.setattr(examine_setup, "measure_speed", partial(measure_speed, seconds=0.05))


def test_port_0_beats_the_file_and_flags_not_given_beat_nothing(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[server]\nport = 9000\nhost = "::1"\n')
    for port, found in ((0, 0), (9001, 9001), (None, 9000)):
        settings = Settings.of(config=file, port=port, host=None, public=False)
        assert (settings.load().server.port, settings.load().server.host) == (
            found,
            "::1",
        )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (
            ("--feed", "gopher://example.org/games"),
            ["gopher://example.org/games", "lichess"],
        ),
        (("--feed", "notes.pgn", "--port", "0", "--once"), ["notes.pgn"]),
        (("--feed", "demo", "--feed", "demo"), ["twice"]),
        (("--feed", "demo", "--engine", "/bin/cat"), ["cat"]),
        (
            ("--feed", "demo", "--config", "wrong.toml"),
            ["wrong.toml", "engine.nodez", "nodes"],
        ),
        (
            ("--feed", "demo", "--host", "no.such.host.invalid"),
            ["no.such.host.invalid"],
        ),
        (
            ("worker", "scheduler"),
            ["command line: engine.cluster", '"scheduler" does not fit'],
        ),
        (
            ("worker", "tcp://127.0.0.1:9", "--engine", "/bin/cat"),
            ["/bin/cat: is not a UCI engine"],
        ),
        (
            ("report", "event.sqlite", "--format", "csv"),
            ["--format: is given without --out"],
        ),
        (("analyze", "nothere.pgn"), ["nothere.pgn"]),
        (("analyze", "notes.pgn"), ["notes.pgn"]),
        (
            ("analyze", "bare.pgn", "--evals", "pgn"),
            ["bare.pgn", "[%eval]", "--evals engine"],
        ),
        # Before the work.
        ((*PAPER, "--json", "nowhere/x.json"), ["nowhere/x.json"]),
        (("--feed", "demo", "--delay", "15x"), ['live-rate: --delay: "15x" does not']),
        (("--feed", "demo", "--port", "99999"), ["live-rate: --port: ", "to 65535"]),
        (("--feed", "demo", "--port", "80a"), ['live-rate: --port: "80a"', "to 65535"]),
        (
            ("--feed", "demo", "--nodes", "9", "--depth", "9"),
            ["command line: --nodes and --depth: a search has one limit"],
        ),
        ((), ["--feed", "demo"]),
        (("demo",), ["demo: is not a command", "Did you mean --feed demo?"]),
        (("--headless", "r 1.pgn", "--once"), ["Did you mean --feed 'r 1.pgn'?"]),
        (("https://me:secret@x.org/a",), ["Did you mean --feed https://x.org/a?"]),
    ],
)
def test_what_cannot_start_says_why_in_one_line(
    arguments: tuple[str, ...], named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "notes.pgn").write_text("Milk, bread, two lemons.\n" * 20)
    (tmp_path / "bare.pgn").write_text(
        '[White "Anna"]\n[Black "Berta"]\n\n1. e4 e5 *\n'
    )
    (tmp_path / "wrong.toml").write_text("[engine]\nnodez = 5\n")
    done = live_rate(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    # What arbiters are told stands in the log, too.
    [line] = [
        line for line in done.stderr.strip().splitlines() if " alert " not in line
    ]
    assert line.startswith("live-rate: ")
    for name in named:
        assert name in line
    assert "Traceback" not in done.stderr


@pytest.fixture
def taken_port() -> Iterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield str(taken.getsockname()[1])


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    with pytest.raises(FeedNotFound):
        live_rate("--debug", "--feed", "nothere.pgn", "--once", cwd=tmp_path)


def test_help_names_every_command(tmp_path: Path) -> None:
    done = live_rate("--help", cwd=tmp_path)
    assert done.returncode == 0
    for word in (
        "analyze",
        "doctor",
        "--feed",
        "--headless",
        "--once",
        "--port",
        "demo",
    ):
        assert word in done.stdout


def test_help_has_no_type_of_python_and_no_line_break_within_a_sentence() -> None:
    group = typer.main.get_command(app)
    commands: dict[str, Any] = dict(vars(group)["commands"])
    commands |= {"": group, **vars(commands["study"])["commands"]}
    for name, found in commands.items():
        text = (found.help or "").split("\n\n")[0]
        assert "\n" not in text, name
    for arguments in ([], ["feeds"], ["report"], ["rehearse"], ["token"], ["study"]):
        done = live_rate(*arguments, "--help")
        options = [line for line in done.stdout.splitlines() if "│ --" in line]
        assert options
        for odd in ("<bool>", "<list[", "<str>", "<%"):
            assert odd not in "".join(options), arguments


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        (
            "import sys; from live.cli import main; sys.argv = "
            "['live-rate', '--help']\n"
            "try:\n    main()\nexcept SystemExit:\n    pass",
            {"numpy", "scipy", "chess", "httpx", "websockets", "textual", "asyncio"},
        ),
        # Until it shows something.
        (
            "import sys, live.commands.analyze_games\n"
            "from live.cli import main\n"
            "from live.screens.output_mode import OutputMode\n"
            "OutputMode.begin = lambda self: sys.exit()\n"
            "sys.argv = 'live-rate --feed demo --headless --once --port 0'.split()\n"
            "try:\n    main()\nexcept SystemExit:\n    pass",
            {"scipy", "textual"},
        ),
        ("import live.studies.analyse_files", {"scipy", "websockets", "textual"}),
        # A newcomer's first command starts fast.
        (
            "from live.settings import FeedsConfig; "
            "from live.sources.open_feed import open_feed;"
            "open_feed('demo', FeedsConfig())",
            {"httpx", "websockets", "watchfiles"},
        ),
    ],
    ids=["help", "follow", "analyze", "demo"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(
    program: str, heavy: set[str]
) -> None:
    probe = f"{program}\nimport sys; print({heavy} & {{*sys.modules}}, file=sys.stderr)"
    command = [sys.executable, "-c", probe]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=DATA.parent.parent, check=False
    )
    assert done.stderr == "set()\n"


def test_analyze_writes_the_paper_game_as_json_to_standard_output(
    tmp_path: Path,
) -> None:
    pgn = tmp_path / "annotated.pgn"
    done = live_rate(*PAPER, "--json", "-", "--pgn", str(pgn), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["gain"] == "successive" and set(result["engine"]) >= {
        "name",
        "limit",
        "rating",
    }
    [game] = result["games"]
    # Ferreira 2012, sections 4 and 7.
    assert game["head_to_head"]["difference"] == pytest.approx(-112.8, abs=0.05)
    white, black = game["curves"]["white"], game["curves"]["black"]
    assert white[-1]["difference"] == pytest.approx(-185.4, abs=0.05)
    assert black[-1]["difference"] == pytest.approx(-43.4, abs=0.05)
    assert [point.get("difference") for point in white[:6]] == [None] * 6
    means = {player["name"]: player["mean_gain_cp"] for player in result["players"]}
    assert means["Byrne, Donald"] == pytest.approx(-86.0, abs=0.05)
    assert "[%eval 0.12]" in pgn.read_text()


class Terminal(io.StringIO):
    """A terminal that shows nothing."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("flags", [(), ("--headless",), ("--json",)])
def test_a_terminal_is_told_at_once_that_the_service_is_starting(
    flags: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    errors = io.StringIO()

    def begin(*_: object, **__: object) -> int:
        told.append(errors.getvalue())
        return 0

    monkeypatch.setattr("live.app.follow", begin)
    monkeypatch.setattr(sys, "argv", ["live-rate", "--feed", "demo", *flags])
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.chdir(tmp_path)
    hang_up = signal.getsignal(signal.SIGHUP)
    try:
        with pytest.raises(SystemExit):
            main()
    finally:
        signal.signal(signal.SIGHUP, hang_up)
    [text] = told
    assert text.startswith("live-rate is starting: ") == (not flags)
    assert text.count("\n") == (not flags)


def test_standard_input_is_followed_to_its_end(tmp_path: Path) -> None:
    text = '[White "Anna"]\n[Black "Berta"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n'
    done = subprocess.run(
        [
            *LIVE_RATE,
            "--feed",
            "-",
            "--headless",
            "--once",
            "--port",
            "0",
            "--nodes",
            "500",
        ],
        input=text,
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "live-rate is serving http://127.0.0.1:" in done.stdout
    assert "2...Qh4#" in done.stdout
    assert "Berta" in done.stdout.split("Players (")[1]


def test_the_doctor_says_what_is_there_and_what_is_wrong(
    tmp_path: Path, taken_port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_waits(monkeypatch)
    well = live_rate("doctor", "--port", "0", cwd=tmp_path)
    assert well.returncode == 0, well.stdout + well.stderr
    for word in ("settings", "engine", "knodes/s", "model", "port", "Python"):
        assert word in well.stdout
    (tmp_path / "config.toml").write_text("engine = 5\n")
    ill = live_rate(
        "doctor", "--engine", "/bin/cat", "--port", taken_port, cwd=tmp_path
    )
    assert ill.returncode == 2
    assert "[engine]" in ill.stdout
    assert "Traceback" not in ill.stderr


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="only Linux has a disk always full"
)
def test_a_full_disk_under_the_output_is_said_in_one_line() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*LIVE_RATE, "match", "12", "7", "3"],
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert (
        done.stderr
        == "live-rate: the output: its disk is full. Make room, or write elsewhere\n"
    )


def test_a_unit_starts_the_program_that_printed_it(tmp_path: Path) -> None:
    """In a virtual environment that is on no PATH it named a file that was not
    there.
    """
    program = tmp_path / "live-rate"
    program.write_text(f"#!{sys.executable}\nfrom live.cli import main\nmain()\n")
    program.chmod(0o755)

    def unit(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(program), "systemd-unit", *arguments]
        return subprocess.run(
            command, env=ENVIRONMENT, capture_output=True, text=True, check=False
        )

    right = unit("--feed", "demo")
    assert f"\nExecStart={program} --headless --feed demo\n" in right.stdout
    for wrong in (unit(), unit("--feed", "gopher://example.org/")):
        assert wrong.returncode and not wrong.stdout, (
            "nothing is printed that would not start"
        )


#: Names and signs of many alphabets, and one that is no text.
ODD = '[White "Жuk ½ Łoś"]\n[Black "李 ♞"]\n[Event "Tōkyō – “Open”"]\n\n1. e4 e5 *\n'


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "cp1252"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("feeds", "odd.pgn"),
        ("feeds", "odd.pgn", "--json"),
        ("doctor", "--feed", "odd.pgn"),
        ("analyze", "odd.pgn", "--evals", "pgn"),
        ("manual", "glossary"),
        ("manual",),
        ("schema",),
        ("--help",),
        ("study", "--help"),
        ("token", "Łoś ½"),
        ("feeds", "Ж½.pgn"),
        ("analyze", "\udcff.pgn"),
    ],
)
def test_output_that_an_encoding_does_not_know_ends_no_command(
    arguments: tuple[str, ...],
    encoding: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shorten_waits(monkeypatch)
    (tmp_path / "odd.pgn").write_text(ODD, encoding="utf-8")
    done = live_rate(*arguments, cwd=tmp_path, encoding=encoding)
    said = done.stdout + done.stderr
    assert said and "Traceback" not in said
    assert done.returncode in (0, 1, 2)


def test_a_terminal_without_unicode_costs_characters_and_nothing_else(
    tmp_path: Path,
) -> None:
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "latin-1:strict"}
    command = [*LIVE_RATE, *PAPER]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0 and not done.stderr
    assert b"Byrne" in done.stdout
