"""Ways to search: what may change a figure, and what may not."""

from pathlib import Path

import msgspec
import pytest

from live.engine.engine_programs import find_engine
from live.engine.engine_settings import describe_limit
from live.event.choose_measure import select_models
from live.messages.health import SpeculationFigures
from live.ratings.model_choice import MODELS
from live.server.analysis import build_analysis, to_json
from live.settings import Config
from live.sources import demo_feed
from tests.engine.machines import Machines
from tests.event.answered_event import (
    RunningEvent,
    open_service,
    report_and_settle,
    settings,
)
from tests.sources.fakes import until, upto

#: Plies played one at a time.
PLIES = 10


async def at_rest(service: RunningEvent) -> None:
    """Every engine has done all it could find to do."""

    def is_resting() -> bool:
        health = service.pool.report_health()
        searching = any(each.state == "searching" for each in health.engines)
        return not searching and not any(msgspec.structs.astuple(health.waiting))

    await until(is_resting)


async def follow_game(
    config: Config, *, rest: bool
) -> tuple[bytes, SpeculationFigures | None]:
    """A game move by move, the engines given time to think ahead or not; and its
    analysis.
    """
    async with open_service(config, live=True) as service:
        for ply in range(PLIES + 1):
            await report_and_settle(service, upto(demo_feed.read_demo_games()[0], ply))
            if rest:
                await at_rest(service)
        service.report_engines()
        return to_json(
            build_analysis(service.state)
        ), service.state.engines().speculation


async def test_searching_ahead_changes_no_figure() -> None:
    without, off = await follow_game(
        settings(**{"engine.speculate": False}), rest=False
    )
    hurried, _ = await follow_game(settings(), rest=False)
    ahead, figures = await follow_game(settings(), rest=True)
    assert off is None
    assert figures is not None and figures.hits > PLIES
    assert without == hurried == ahead


async def test_nothing_is_searched_ahead_where_nobody_will_move() -> None:
    async with open_service(settings()) as service:
        await report_and_settle(service, upto(demo_feed.read_demo_games()[0], 4))
        service.report_engines()
        assert service.state.engines().speculation is None
        assert service.state.engines().waiting.speculate == 0


@pytest.mark.parametrize(
    "modes",
    [
        {"engine.multipv": 3},
        {"engine.same_depth": True},
        pytest.param(
            {"engine.adaptive": True, "engine.nodes": 5000}, marks=pytest.mark.whole
        ),
    ],
)
async def test_every_mode_gives_the_same_figures_whatever_the_order(
    modes: dict[str, object],
) -> None:
    one, _ = await follow_game(
        settings(**modes, **{"engine.engines": 1, "engine.speculate": False}),
        rest=False,
    )
    two, _ = await follow_game(settings(**modes), rest=True)
    assert one == two


@pytest.mark.whole
async def test_one_engine_two_and_a_cluster_of_two_machines_give_the_same_json(
    tmp_path: Path,
) -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    games = [upto(game, PLIES) for game in demo_feed.read_demo_games()[:2]]
    machines, found = Machines(tmp_path), []
    try:
        await machines.schedule()
        for _ in range(2):
            await machines.run_worker(find_engine())
        there = {"engine.engines": 1, "engine.cluster": machines.address}
        for where in ({"engine.engines": 1}, {"engine.engines": 2}, there):
            async with open_service(settings(**where)) as service:
                if where is there:
                    await until(lambda: len(service.pool.report_health().engines) == 2)
                found.append(to_json(await report_and_settle(service, *games)))
                if where is there:
                    seats = {
                        type(seat.process).__name__
                        for seat in service.pool._engine_slots
                    }
                    assert (seats, service.pool.report_health().problem) == (
                        {"RemoteEngine"},
                        "",
                    )
    finally:
        await machines.close()
    assert found[0] == found[1] == found[2]


def test_modes_that_change_scores_are_named_and_need_a_transfer() -> None:
    config = settings(
        **{"engine.nodes": 100_000, "engine.multipv": 2, "engine.adaptive": True}
    )
    classical = MODELS.load("classical")
    fits = select_models("auto", classical.engine, classical.limit, "same-search")
    assert classical in fits.models and not fits.converted
    assert describe_limit(config.engine) == "100000 nodes, 2 lines, adaptive"
    assert (
        describe_limit(settings(**{"engine.same_depth": True}).engine)
        == "500 nodes, same depth"
    )
    other = select_models(
        "auto", classical.engine, describe_limit(config.engine), "same-search"
    )
    assert classical in other.models and other.converted
