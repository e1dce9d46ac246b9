"""The engines of a service, with and without searches ahead of the games."""

from live.commands.read_settings import read_settings
from live.engine.engines import Engines
from live.engine.search import Position, Search, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from tests.engine.conftest import START, Desk


def engines(desk: Desk, **settings: object) -> Engines:
    """For a desk that wants answers, with all moves as probable."""
    flags: dict[str, object] = {"engine.nodes": 500}
    flags |= {f"engine.{name}": value for name, value in settings.items()}
    config = read_settings(None, {}, flags).engine
    made = Engines(config, None)
    made.connect(desk, lambda game, ply, behind_cp: [1.0 for _ in behind_cp])
    return made


async def test_with_and_without_all_that_stands_before_the_room() -> None:
    """A position asked for at the front comes to the room, and its answer back."""
    for ahead in (True, False):
        desk = Desk()
        under_test = engines(desk, engines=1, speculate=ahead)
        async with under_test.pool:
            under_test.desk.submit(
                Search(Position(START)),
                "start",
                SearchPriority(SearchKind.HEAD, "a", 0),
            )
            await desk.answers(1)
            assert isinstance(desk.results["start"], SearchResult)
            assert (under_test.report_health().speculation is not None) == ahead
