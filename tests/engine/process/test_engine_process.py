"""One real engine process: what it does well, and every way it can fail."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_process import EngineProcess, EngineTimeouts
from live.engine.search import Limit, SearchKey, SearchProgress
from live.engine.uci import UciSettings
from live.errors import EngineFault, EngineKilled, NotAnEngine
from live.events import Score
from tests.engine.dying import dies

Scripted = Callable[..., EngineCommand]


def search_key(score: int, limit: Limit | None = None) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {score} 1", (), limit or Limit(nodes=400))


async def fault_of(command: EngineCommand, patience: EngineTimeouts) -> str:
    """Start, search once, and say what went wrong; the process must be dead afterwards."""
    process = await EngineProcess.start(command, UciSettings(), patience=patience)
    lost: list[EngineFault] = []
    process.on_lost = lost.append
    process.begin(search_key(50))
    with pytest.raises(EngineFault) as caught:
        await process.outcome()
    assert lost == [process.lost]
    await process.close()
    assert dies(process.pid)
    return caught.value.problem


async def test_it_searches_again_and_again(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    assert (process.name, process.options) == ("Scripted 1", ("Hash=16",))
    for score in (3, 99, 0):
        progress: list[SearchProgress] = []
        process.begin(search_key(score), progress.append)
        finished = await process.outcome()
        assert finished.result.score == Score(score)
        assert finished.result.best == "e1e2"
        assert progress == [SearchProgress(Score(score), depth) for depth in (1, 2, 3)]
    await process.close()
    assert dies(process.pid)


async def test_closing_twice_is_closing_once(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    await process.close()
    await process.close()


async def test_a_search_can_be_stopped(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("patient"), UciSettings())
    process.begin(search_key(7))
    process.stop()
    assert (await process.outcome()).stopped
    await process.close()


async def test_one_search_at_a_time(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("patient"), UciSettings())
    process.begin(search_key(7))
    with pytest.raises(RuntimeError, match="one search"):
        process.begin(search_key(8))
    await process.close()


async def test_niceness_is_the_engine_s_own(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings(), nice=3)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, ours + 3)
    await process.close()


async def test_it_leads_a_group_of_its_own(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    assert os.getpgid(process.pid) == process.pid
    await process.close()


async def test_a_limit_of_depth_and_of_time(scripted: Scripted, brief: EngineTimeouts) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings(), patience=brief)
    for limit in (Limit(depth=3), Limit(movetime_ms=1)):
        process.begin(search_key(7, limit))
        assert (await process.outcome()).result.score == Score(7)
    await process.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("crash", "was killed by SIGABRT"),
        ("crash-at-50", "exited with code 134: 'assertion failed'"),
        ("hang", "hung: no answer within 1 s"),
        ("garbage", "prints noise"),
        ("chat", "prints lines that are no UCI"),
        ("endless", "a line of more than"),
        ("unreadable", "unreadable line"),
        ("illegal", "answered 'bestmove e1e5' in fen 4k3"),
        ("no-move", "answered 'bestmove (none)'"),
        ("no-score", "gave no score"),
    ],
)
async def test_a_fault_is_told_and_the_process_killed(
    scripted: Scripted, brief: EngineTimeouts, mode: str, says: str
) -> None:
    assert says in await fault_of(scripted(mode), brief)


@pytest.mark.slow
async def test_an_engine_that_grows_without_end_is_killed(scripted: Scripted) -> None:
    patience = EngineTimeouts(memory_mb=100)
    assert "grew to" in await fault_of(scripted("greedy"), patience)


async def test_an_engine_that_answers_twice_is_killed(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("twice"), UciSettings())
    lost: asyncio.Future[EngineFault] = asyncio.get_running_loop().create_future()
    process.on_lost = lost.set_result
    process.begin(search_key(50))
    assert "unasked" in (await asyncio.wait_for(lost, 10)).problem
    await process.close()


@pytest.mark.slow
async def test_a_stopped_process_counts_as_hung(scripted: Scripted, brief: EngineTimeouts) -> None:
    """SIGSTOP: alive, silent, and deaf to everything but SIGKILL."""
    process = await EngineProcess.start(scripted("well"), UciSettings(), patience=brief)
    os.kill(process.pid, signal.SIGSTOP)
    process.begin(search_key(50))
    with pytest.raises(EngineFault, match="hung"):
        await process.outcome()
    await process.close()
    assert dies(process.pid)


@pytest.mark.slow
async def test_a_search_that_does_not_stop_counts_as_hung(scripted: Scripted) -> None:
    process = await EngineProcess.start(
        scripted("hang"), UciSettings(), patience=EngineTimeouts(stop_s=0.2)
    )
    process.begin(search_key(50))
    process.stop()
    with pytest.raises(EngineFault, match="did not stop"):
        await process.outcome()
    await process.close()


async def test_a_death_between_searches_is_told(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    lost: asyncio.Future[EngineFault] = asyncio.get_running_loop().create_future()
    process.on_lost = lost.set_result
    os.kill(process.pid, signal.SIGKILL)
    fault = await asyncio.wait_for(lost, 10)
    assert isinstance(fault, EngineKilled)
    assert fault.problem == "was killed by SIGKILL"
    process.begin(search_key(1))
    with pytest.raises(EngineFault, match="SIGKILL"):
        await process.outcome()
    await process.close()


async def test_one_that_does_not_quit_is_killed(scripted: Scripted) -> None:
    patience = EngineTimeouts(quit_s=0.1)
    process = await EngineProcess.start(scripted("stubborn"), UciSettings(), patience=patience)
    await process.close()
    assert dies(process.pid)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("/bin/echo", "hello"), r"hello: is no UCI engine: exited with code 0"),
        (("/bin/cat",), r"/bin/cat: is no UCI engine: echoes what it is told"),
        (("/bin/sleep", "99"), r"99: is no UCI engine: did not answer 'uci' within 1 s"),
        (("/no/such/engine",), r"exited with code 127: '/no/such/engine: No such file"),
        (("/etc/passwd",), r"exited with code 127: '/etc/passwd: Permission denied'"),
    ],
)
async def test_what_is_no_engine_is_named(argv: tuple[str, ...], says: str) -> None:
    command = EngineCommand(argv, "for the test", "configured")
    with pytest.raises(NotAnEngine, match=says):
        patience = EngineTimeouts(uciok_s=1.0 if "within 1 s" in says else 30.0)
        await EngineProcess.start(command, UciSettings(), patience=patience)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "says"),
    [("exit", "exited with code 3: 'no network file'"), ("chatty", "no UCI"), ("mute", "within")],
)
async def test_an_engine_that_fails_at_start_is_named(
    scripted: Scripted, mode: str, says: str
) -> None:
    patience = EngineTimeouts(uciok_s=1.0 if mode == "mute" else 30.0)
    with pytest.raises(NotAnEngine, match=says):
        await EngineProcess.start(scripted(mode), UciSettings(), patience=patience)


async def test_a_start_given_up_leaves_nothing(scripted: Scripted) -> None:
    starting = asyncio.create_task(EngineProcess.start(scripted("mute"), UciSettings()))
    await asyncio.sleep(0)  # lets the task begin to start the process
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting


@pytest.mark.slow
async def test_a_wrapper_s_children_die_with_it(
    scripted: Scripted, tmp_path: Path, brief: EngineTimeouts
) -> None:
    """An engine may be a shell script around the engine: the whole group is killed."""
    wrapper = tmp_path / "wrapper.sh"
    inner = " ".join(scripted("hang").argv)
    wrapper.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {tmp_path}/child\n{inner}\n")
    wrapper.chmod(0o755)
    command = EngineCommand((str(wrapper),), "for the test", "configured")
    assert "hung" in await fault_of(command, brief)
    assert dies(int((tmp_path / "child").read_text()))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems show no environment")
async def test_a_child_that_left_the_group_dies_with_it_too(
    scripted: Scripted, tmp_path: Path, brief: EngineTimeouts
) -> None:
    wrapper = tmp_path / "wrapper.sh"
    inner = " ".join(scripted("hang").argv)
    # Twice forked, and the leader of a session of its own.
    stray = f"setsid sh -c 'sleep 1000 & echo $! > {tmp_path}/child'"
    wrapper.write_text(f"#!/bin/sh\n({stray})\n{inner}\n")
    wrapper.chmod(0o755)
    command = EngineCommand((str(wrapper),), "for the test", "configured")
    assert "hung" in await fault_of(command, brief)
    assert dies(int((tmp_path / "child").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("which", ["embedded", "native"])
async def test_real_engines_play(which: str, request: pytest.FixtureRequest) -> None:
    """Mate in one, the same score at every repetition, and a root restricted to a bad move."""
    command: EngineCommand = request.getfixturevalue(which)
    process = await EngineProcess.start(command, UciSettings())
    mate = SearchKey("6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1", (), Limit(nodes=5000))
    process.begin(mate)
    found = (await process.outcome()).result
    assert (found.best, found.score) == ("e1e8", Score(3900, 1))
    start = SearchKey("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", (), mate.limit)
    scores = set()
    for _ in range(3):
        process.begin(start)
        result = (await process.outcome()).result
        scores.add((result.score, result.best, result.nodes, result.by_depth))
    assert len(scores) == 1
    process.begin(SearchKey(start.fen, (), Limit(depth=4), only="g2g4"))
    restricted = (await process.outcome()).result
    assert restricted.best == "g2g4"
    assert restricted.score.cp < result.score.cp
    await process.close()
