"""A Dask cluster of real processes: a scheduler, and workers that die."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from live.engine.engine_pool import EnginePool
from live.engine.engine_programs import EngineCommand
from live.engine.search import Limit, Position, Search
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.uci import UciSettings
from live.errors import ConfigError, EngineError
from live.settings import EngineConfig
from tests.engine.conftest import START, Desk, scripted, search_and_wait
from tests.engine.machines import Machines, until

dask = pytest.importorskip("dask")
pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
from live.engine.cluster import ClusterConnection, load_security, run_worker  # noqa: E402

IDENTITY = "Scripted 1; Hash=16; hash cleared"
NOBODY = EngineConfig(cluster="tcp://127.0.0.1:9", engines=1)


async def test_a_cluster_that_fails_again_and_again_is_left_alone_for_a_while() -> None:
    cluster = ClusterConnection(NOBODY)
    cluster.client = SimpleNamespace(status="running")
    for problem in ("lost it", "", "lost it"):
        cluster.record_answer(problem)
        assert cluster.problem == ""
    cluster.record_answer("lost it")
    assert "lost it; searching here" in cluster.problem


async def wait_for_slots(cluster: ClusterConnection, slots: int, identity: str) -> None:
    async with asyncio.timeout(60):
        while True:
            await cluster.refresh_slots(identity)
            if cluster.slots == slots:
                return
            await asyncio.sleep(0.1)


def room(
    command: EngineCommand, desk: Desk, cluster: ClusterConnection, *, engines: int = 1
) -> EnginePool:
    return EnginePool(
        command,
        Limit(nodes=400),
        listener=desk,
        engines=engines,
        nice=0,
        settings=UciSettings(),
        cluster=cluster,
    )


class Lent(NamedTuple):
    engines: EnginePool
    cluster: ClusterConnection
    scheduler: asyncio.subprocess.Process
    workers: list[asyncio.subprocess.Process]

    def seats(self) -> list[str]:
        """What kind of engine each is."""
        return sorted(
            type(slot.process).__name__ for slot in self.engines._engine_slots
        )


@contextlib.asynccontextmanager
async def lent(
    machines: Machines,
    desk: Desk,
    command: EngineCommand,
    *,
    workers: int = 1,
    own: int = 1,
    encrypted: bool = False,
    alone: bool = False,
) -> AsyncIterator[Lent]:
    """A room with a scheduler and so many workers of one engine each."""
    scheduler = await machines.schedule(encrypted=encrypted, alone=alone)
    started = [await machines.run_worker(command) for _ in range(workers)]
    cluster = ClusterConnection(machines.settings())
    await wait_for_slots(cluster, workers, IDENTITY)
    async with room(command, desk, cluster, engines=own) as engines:
        yield Lent(engines, cluster, scheduler, started)


async def test_a_cluster_answers_and_a_worker_killed_in_mid_search_costs_nothing(
    machines: Machines, desk: Desk
) -> None:
    async with lent(machines, desk, scripted("slow"), workers=2) as there:
        assert len(there.engines.report_health().engines) == 2
        await search_and_wait(there.engines, desk, range(30), 6)
        os.kill(there.workers[0].pid, signal.SIGKILL)
        await desk.answers(30)
        health = there.engines.report_health()
    assert desk.scores() == {score: score for score in range(30)}
    assert (health.searches, health.set_aside) == (30, 0)


@pytest.mark.whole
async def test_a_lost_scheduler_is_replaced_by_our_own_engines_until_it_is_back(
    machines: Machines, desk: Desk
) -> None:
    async with lent(machines, desk, scripted("slow"), workers=2) as there:
        engines = there.engines
        assert engines.slots == 2
        await search_and_wait(engines, desk, range(20), 3)
        there.scheduler.kill()
        await desk.answers(20)
        health = engines.report_health()
        assert (
            "cannot be reached" in health.problem and "searching here" in health.problem
        )
        assert health.set_aside == 0
        # What waits for a cluster is none that does not run.
        assert (len(health.engines), engines.slots) == (1, 1)
        await machines.schedule()
        # Workers wait for it, too.
        await until(lambda: there.cluster.slots == 2)
        await search_and_wait(engines, desk, range(20, 40))
        assert engines.report_health().problem == ""
        assert "RemoteEngine" in there.seats()
    assert desk.scores() == {score: score for score in range(40)}


@pytest.mark.whole
async def test_where_the_cluster_has_fewer_engines_than_we_ours_are_used_too(
    machines: Machines, desk: Desk
) -> None:
    async with lent(machines, desk, scripted("well"), workers=2, own=2) as there:
        await search_and_wait(there.engines, desk, range(1))
        there.workers[0].kill()
        await until(lambda: there.seats() == ["EngineProcess", "RemoteEngine"])
        await search_and_wait(there.engines, desk, range(1, 10))
        assert there.engines.report_health().restarts == 0
    assert desk.scores() == {score: score for score in range(10)}


@pytest.mark.whole
async def test_a_scheduler_that_cannot_read_searches_is_done_without(
    machines: Machines, desk: Desk
) -> None:
    async with lent(machines, desk, scripted("well"), alone=True) as there:
        await search_and_wait(there.engines, desk, range(20))
        health = there.engines.report_health()
    assert "lost the search" in health.problem and "searching here" in health.problem
    assert desk.scores() == {score: score for score in range(20)}
    assert (health.set_aside, health.restarts) == (0, 0)


@pytest.mark.whole
async def test_a_client_that_has_closed_costs_no_more_than_the_search_sent_elsewhere(
    machines: Machines, tls: None, desk: Desk
) -> None:
    async with lent(machines, desk, scripted("well"), encrypted=True) as there:
        assert machines.address.startswith("tls://")
        await search_and_wait(there.engines, desk, range(1))
        assert (
            there.seats() == ["RemoteEngine"]
            and there.engines.report_health().problem == ""
        )
        await there.cluster.client.close()
        await search_and_wait(there.engines, desk, range(1, 2))
    assert desk.scores() == {0: 0, 1: 1}


@pytest.mark.whole
async def test_a_worker_with_another_engine_is_never_asked(
    machines: Machines, desk: Desk
) -> None:
    await machines.schedule()
    await machines.run_worker(scripted("standard"))
    other = await machines.run_worker(EngineCommand((*scripted("well").argv, "x"), "x"))
    cluster = ClusterConnection(machines.settings())
    await wait_for_slots(cluster, 2, IDENTITY)
    other.kill()
    async with room(scripted("well"), desk, cluster) as engines:
        assert engines.identity.name == "Scripted 1"
    await cluster.refresh_slots("Another engine")
    assert cluster.slots == 0
    assert "no worker with this engine" in cluster.problem
    await cluster.close()


@pytest.mark.whole
async def test_speculation_in_the_cluster_gives_way_to_a_head(
    machines: Machines, embedded: EngineCommand, desk: Desk
) -> None:
    await machines.schedule()
    await machines.run_worker(embedded)
    long = Search(Position(START), limit=Limit(nodes=10**9))
    short = Search(Position(START, ("e2e4",)), limit=Limit(nodes=1000))
    cluster = ClusterConnection(machines.settings())
    async with room(embedded, desk, cluster) as engines:
        await wait_for_slots(cluster, 1, str(engines.identity))
        engines._on_cluster_changed()
        engines.submit(long, "guess", SearchPriority(SearchKind.SPECULATE, "a", 5))
        await until(lambda: engines.report_health().waiting.speculate == 0)
        engines.submit(short, "head", SearchPriority(SearchKind.HEAD, "b", 1))
        await desk.answers(1)
        assert list(desk.results) == ["head"]
        engines.drop("guess")


@pytest.mark.whole
async def test_a_cluster_that_is_not_there_is_said_and_done_without(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with room(scripted("well"), desk, ClusterConnection(NOBODY)) as engines:
        await search_and_wait(engines, desk, range(1))
        problem = engines.report_health().problem
    assert problem.startswith("cluster tcp://127.0.0.1:9: cannot be reached")
    assert desk.scores() == {0: 0}
    monkeypatch.setattr("live.engine.cluster.DEATH_S", 1)
    with pytest.raises(
        EngineError, match=r"cluster tcp://127\.0\.0\.1:9: cannot be reached"
    ):
        await run_worker(scripted("well"), NOBODY)


async def test_a_fault_in_dask_is_a_lost_cluster_and_ends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = ClusterConnection(NOBODY)
    monkeypatch.setattr("live.engine.cluster.LOOK_S", 0)
    looked = 0

    async def count() -> int:
        nonlocal looked
        looked += 1
        raise KeyError("workers")

    monkeypatch.setattr(cluster, "_count_slots", count)
    async with room(scripted("well"), desk, cluster) as engines:
        await until(lambda: looked > 3)
        await search_and_wait(engines, desk, range(1))
        assert "KeyError" in engines.report_health().problem
    assert desk.scores() == {0: 0}


def test_what_no_retry_mends_is_told_before_anything_runs(
    tls: None, certificate: tuple[str, str]
) -> None:
    cert, _ = certificate
    known = "distributed.comm.tls"
    for address, files, said in (
        ("tcp://10.0.0.1", {}, "missing port number.*Write tcp://HOST:8786"),
        ("tcp://10.0.0.1:port", {}, "Write tcp://HOST:8786"),
        ("tls://10.0.0.1:8786", {f"{known}.ca-file": None}, "needs certificates"),
        (
            "tls://10.0.0.1:8786",
            {f"{known}.client.key": cert},
            "certificates cannot be used",
        ),
    ):
        config = EngineConfig(cluster=address)
        with dask.config.set(files), pytest.raises(ConfigError, match=said):
            ClusterConnection(config)
    assert load_security(EngineConfig(cluster="tls://10.0.0.1:8786")).require_encryption
    plain = EngineConfig(cluster="tcp://10.0.0.1:8786")
    for required in (False, True):
        with dask.config.set({"distributed.comm.require-encryption": required}):
            assert load_security(plain).require_encryption is required
