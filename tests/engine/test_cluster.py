"""A Dask cluster of real processes: a scheduler, and workers that die."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from live.engine.cluster import ClusterTls, DaskCluster, security, work
from live.engine.engine_discovery import EngineCommand
from live.engine.engine_pool import EnginePool
from live.engine.search import Limit, Position, Search
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.uci import UciSettings
from live.errors import ConfigError, EngineError
from tests.engine.machines import Machines, until
from tests.engine.test_engine_pool import Ledger

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

Scripted = Callable[..., EngineCommand]
Searches = Callable[[int], Search]


@pytest.fixture
async def machines(tmp_path: Path) -> AsyncIterator[Machines]:
    machines = Machines(tmp_path)
    yield machines
    await machines.close()


async def offered(cluster: DaskCluster, slots: int, identity: str) -> None:
    async with asyncio.timeout(60):
        while True:
            await cluster.look(identity)
            if cluster.slots == slots:
                return
            await asyncio.sleep(0.1)


def room(
    command: EngineCommand, ledger: Ledger, cluster: DaskCluster, *, engines: int = 1
) -> EnginePool:
    return EnginePool(
        command,
        Limit(nodes=400),
        listener=ledger,
        engines=engines,
        nice=0,
        cluster=cluster,
    )


def backlog(ply: int) -> SearchPriority:
    return SearchPriority(SearchKind.BACKLOG, "a", ply)


IDENTITY = "Scripted 1; Hash=16; hash cleared"


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.mark.slow
async def test_a_cluster_answers_and_a_worker_killed_in_mid_search_costs_nothing(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule()
    workers = [await machines.work(scripted("slow")) for _ in range(2)]
    cluster = DaskCluster(machines.address)
    await offered(cluster, 2, IDENTITY)
    async with room(scripted("slow"), ledger, cluster) as engines:
        assert len(engines.health().engines) == 2
        for score in range(30):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(6)
        os.kill(workers[0].pid, signal.SIGKILL)
        await ledger.answers(30)
        health = engines.health()
    assert ledger.scores() == {score: score for score in range(30)}
    assert (health.searches, health.set_aside) == (30, 0)


@pytest.mark.slow
@pytest.mark.whole
async def test_a_lost_scheduler_is_replaced_by_our_own_engines_until_it_is_back(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    scheduler = await machines.schedule()
    await machines.work(scripted("slow"), engines=2)
    cluster = DaskCluster(machines.address)
    await offered(cluster, 2, IDENTITY)
    async with room(scripted("slow"), ledger, cluster) as engines:
        assert engines.slots == 2
        for score in range(20):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(3)
        scheduler.kill()
        await ledger.answers(20)
        health = engines.health()
        assert "cannot be reached" in health.problem and "searching here" in health.problem
        assert health.set_aside == 0
        # What waits for a cluster is none that does not run.
        assert (len(health.engines), engines.slots) == (1, 1)
        await machines.schedule()
        # Workers wait for it, too.
        await until(lambda: cluster.slots == 2)
        for score in range(20, 40):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(40)
        assert engines.health().problem == ""
        assert type(engines._engine_slots[0].process).__name__ == "RemoteEngine"
    assert ledger.scores() == {score: score for score in range(40)}


@pytest.mark.slow
@pytest.mark.whole
async def test_where_the_cluster_has_fewer_engines_than_we_ours_are_used_too(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule()
    workers = [await machines.work(scripted("well")) for _ in range(2)]
    cluster = DaskCluster(machines.address)
    await offered(cluster, 2, IDENTITY)
    async with room(scripted("well"), ledger, cluster, engines=2) as engines:
        engines.submit(position(1), 1, backlog(1))
        await ledger.answers(1)
        workers[0].kill()
        await until(
            lambda: (
                sorted(type(slot.process).__name__ for slot in engines._engine_slots)
                == ["EngineProcess", "RemoteEngine"]
            )
        )
        for score in range(2, 10):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(9)
        assert engines.health().restarts == 0
    assert ledger.scores() == {score: score for score in range(1, 10)}


@pytest.mark.slow
@pytest.mark.whole
async def test_a_scheduler_that_cannot_read_searches_is_done_without(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule(alone=True)
    await machines.work(scripted("well"))
    cluster = DaskCluster(machines.address)
    await offered(cluster, 1, IDENTITY)
    async with room(scripted("well"), ledger, cluster) as engines:
        for score in range(20):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(20)
        health = engines.health()
    assert "lost the search" in health.problem and "searching here" in health.problem
    assert ledger.scores() == {score: score for score in range(20)}
    assert (health.set_aside, health.restarts) == (0, 0)


@pytest.mark.slow
@pytest.mark.whole
async def test_a_client_that_has_closed_costs_no_more_than_the_search_sent_elsewhere(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule()
    await machines.work(scripted("well"))
    cluster = DaskCluster(machines.address)
    await offered(cluster, 1, IDENTITY)
    async with room(scripted("well"), ledger, cluster) as engines:
        engines.submit(position(1), 1, backlog(1))
        await ledger.answers(1)
        await cluster._client.close()
        engines.submit(position(2), 2, backlog(2))
        await ledger.answers(2)
    assert ledger.scores() == {1: 1, 2: 2}


@pytest.mark.slow
@pytest.mark.whole
async def test_a_worker_with_another_engine_is_never_asked(
    machines: Machines, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule()
    await machines.work(scripted("standard"))
    other = await machines.work(EngineCommand((*scripted("well").argv, "x"), "x", "configured"))
    cluster = DaskCluster(machines.address)
    await offered(cluster, 2, IDENTITY)
    other.kill()
    async with room(scripted("well"), ledger, cluster) as engines:
        assert engines.identity.name == "Scripted 1"
    await cluster.look("Another engine")
    assert cluster.slots == 0
    assert "no worker with this engine" in cluster.problem
    await cluster.close()


@pytest.mark.slow
@pytest.mark.whole
async def test_speculation_in_the_cluster_gives_way_to_a_head(
    machines: Machines, embedded: EngineCommand, ledger: Ledger
) -> None:
    await machines.schedule()
    await machines.work(embedded)
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    long = Search(Position(start), limit=Limit(nodes=10**9))
    short = Search(Position(start, ("e2e4",)), limit=Limit(nodes=1000))
    cluster = DaskCluster(machines.address)
    async with room(embedded, ledger, cluster) as engines:
        await offered(cluster, 1, str(engines.identity))
        engines._cluster_changed()
        engines.submit(long, "guess", SearchPriority(SearchKind.SPECULATE, "a", 5))
        await until(lambda: engines.health().waiting.speculate == 0)
        engines.submit(short, "head", SearchPriority(SearchKind.HEAD, "b", 1))
        await ledger.answers(1)
        assert list(ledger.results) == ["head"]
        engines.drop("guess")


@pytest.mark.slow
@pytest.mark.whole
async def test_a_cluster_that_is_not_there_is_said_and_done_without(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    cluster = DaskCluster("tcp://127.0.0.1:9")
    async with room(scripted("well"), ledger, cluster) as engines:
        engines.submit(position(7), 7, backlog(7))
        await ledger.answers(1)
        problem = engines.health().problem
    assert problem.startswith("cluster tcp://127.0.0.1:9: cannot be reached")
    assert ledger.scores() == {7: 7}


@pytest.mark.slow
async def test_a_worker_without_a_scheduler_says_so(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live.engine.cluster_task.DEATH_S", 1)
    with pytest.raises(EngineError, match=r"cluster tcp://127\.0\.0\.1:9: cannot be reached"):
        await work("tcp://127.0.0.1:9", scripted("well"), UciSettings(), engines=1)


@pytest.mark.slow
@pytest.mark.whole
async def test_a_cluster_answers_over_tls(
    machines: Machines, tls: ClusterTls, scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    await machines.schedule(tls)
    await machines.work(scripted("well"), tls=tls)
    assert machines.address.startswith("tls://")
    cluster = DaskCluster(machines.address, tls)
    await offered(cluster, 1, IDENTITY)
    async with room(scripted("well"), ledger, cluster) as engines:
        engines.submit(position(7), 7, backlog(7))
        await ledger.answers(1)
        assert type(engines._engine_slots[0].process).__name__ == "RemoteEngine"
        assert engines.health().problem == ""
    assert ledger.scores() == {7: 7}


async def test_a_fault_in_dask_is_a_lost_cluster_and_ends_nothing(
    scripted: Scripted, position: Searches, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DaskCluster("tcp://127.0.0.1:9")
    monkeypatch.setattr("live.engine.cluster.LOOK_S", 0)
    looked = 0

    async def count() -> int:
        nonlocal looked
        looked += 1
        raise KeyError("workers")

    monkeypatch.setattr(cluster, "_count", count)
    async with room(scripted("well"), ledger, cluster) as engines:
        await until(lambda: looked > 3)
        engines.submit(position(7), 7, backlog(7))
        await ledger.answers(1)
        assert "KeyError" in engines.health().problem
    assert ledger.scores() == {7: 7}


pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")


def test_tls_files_are_handed_to_dask(tls: ClusterTls) -> None:
    assert not security("tcp://10.0.0.1:8786", ClusterTls()).require_encryption
    given = security("tls://10.0.0.1:8786", tls)
    for role in ("client", "worker"):
        told = given.get_tls_config_for_role(role)
        assert (told["ca_file"], told["cert"], told["key"]) == (
            tls.ca_file, tls.cert_file, tls.key_file,
        )  # fmt: skip
    assert given.require_encryption


def test_what_no_retry_mends_is_told_before_anything_runs(
    tls: ClusterTls, tmp_path: Path, scripted: Scripted
) -> None:
    missing, empty = str(tmp_path / "missing.pem"), tmp_path / "empty.pem"
    empty.touch()
    for address, files, said in (
        ("tcp://10.0.0.1", ClusterTls(), "missing port number.*Write tcp://HOST:8786"),
        ("tcp://10.0.0.1:port", ClusterTls(), "Write tcp://HOST:8786"),
        ("tls://10.0.0.1:8786", ClusterTls(), "needs certificates. Set engine.cluster_ca_file"),
        ("tls://10.0.0.1:8786", ClusterTls(tls.ca_file), "needs certificates"),
        ("tcp://10.0.0.1:8786", tls, "is not encrypted.*Write tls://10.0.0.1:8786"),
        (
            "tls://10.0.0.1:8786",
            ClusterTls(tls.ca_file, tls.cert_file, missing),
            "engine.cluster_key_file .*missing.pem: there is no such file.*looked for from /",
        ),
        (
            "tls://10.0.0.1:8786",
            ClusterTls(tls.ca_file, tls.cert_file, str(empty)),
            "certificates cannot be used",
        ),
    ):
        with pytest.raises(ConfigError, match=said):
            DaskCluster(address, files)
        with pytest.raises(ConfigError, match=said):
            asyncio.run(work(address, scripted("well"), UciSettings(), engines=1, tls=files))
