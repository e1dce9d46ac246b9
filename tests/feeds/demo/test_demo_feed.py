from itertools import pairwise

from live.config import DemoConfig, FeedsConfig
from live.events import FeedReport
from live.feeds.demo_feed import DemoFeed, games
from tests.feeds.fakes import DrivenClock, Ledger, conditions, told_by


async def test_the_demo_plays_its_games_to_their_ends_in_about_two_minutes() -> None:
    ledger, clock = Ledger(), DrivenClock()
    start_s = clock.now()
    await DemoFeed("demo", conditions(clock=clock)).run(ledger)
    assert ledger.games == {told_by(game): game for game in games()}
    assert 90 <= clock.now() - start_s <= 150
    assert ledger.states[0] == "connecting" and ledger.states[-1] == "finished"
    assert "live" in ledger.states


async def test_boards_play_in_parallel_with_a_takeback_and_a_correction() -> None:
    ledger = Ledger()
    await DemoFeed("demo", conditions()).run(ledger)
    assert {len(report.games) for report in ledger.reports} >= {1, 6}
    boards: list[tuple[str, ...]] = []
    shortened, replaced = set(), set()
    last: dict[tuple[str, ...], tuple[str, ...]] = {}
    for report in ledger.reports:
        for game in report.games:
            board, moves = told_by(game), tuple(move.uci for move in game.moves)
            before = last.get(board, ())
            if len(moves) < len(before):
                shortened.add(board)
            if len(moves) == len(before) and moves != before:
                replaced.add(board)
            last[board] = moves
            boards.append(board)
    assert len(last) == 6 and len(shortened) == 1 and len(replaced) == 1
    changes = sum(a != b for a, b in pairwise(boards))
    assert changes > len(boards) / 2  # the boards' moves come mixed, as in a hall


async def test_speed_is_a_setting() -> None:
    clock = DrivenClock()
    config = FeedsConfig(demo=DemoConfig(speed=2000.0))
    await DemoFeed("demo", conditions(config, clock)).run(Ledger())
    assert clock.now() - 1000 < 8


def test_the_players_are_rated_and_of_different_strength() -> None:
    elos = [player.elo for game in games() for player in (game.headers.white, game.headers.black)]
    assert len(elos) == 12 and None not in elos
    known = [elo for elo in elos if elo is not None]
    assert max(known) - min(known) > 800
    assert all(game.result in ("1-0", "0-1") for game in games())
    assert all(move.clock_s is not None for game in games() for move in game.moves)


class SlowRatings(Ledger):
    """Figures that take ``rating_s`` a report, by the clock of the feed."""

    def __init__(self, clock: DrivenClock, rating_s: float) -> None:
        super().__init__()
        self._clock, self._rating_s = clock, rating_s
        self.unrated = 0
        self.came_s: list[float] = []

    async def report(self, report: FeedReport) -> None:
        assert not self.unrated, "it runs ahead of its figures"
        self.unrated += 1
        self.came_s.append(self._clock.now())
        await super().report(report)

    async def rated(self) -> None:
        if self.unrated:
            await self._clock.sleep(self._rating_s)
            self.unrated = 0


async def test_no_board_is_ahead_of_its_figures_however_slow_they_are() -> None:
    clock = DrivenClock()
    slow = SlowRatings(clock, 3.0)
    await DemoFeed("demo", conditions(clock=clock)).run(slow)
    assert slow.games == {told_by(game): game for game in games()}
    # What waited is not caught up with: from one report to the next it is never less.
    assert min(b - a for a, b in pairwise(slow.came_s)) >= 3.0


async def test_fast_figures_do_not_make_it_faster_than_its_speed() -> None:
    clock = DrivenClock()
    fast = SlowRatings(clock, 0.001)
    await DemoFeed("demo", conditions(clock=clock)).run(fast)
    assert 90 <= clock.now() - 1000 <= 150


async def test_the_first_board_begins_before_the_others() -> None:
    ledger = Ledger()
    await DemoFeed("demo", conditions()).run(ledger)
    played: dict[tuple[str, ...], int] = {}
    for report in ledger.reports:
        played |= {told_by(game): len(game.moves) for game in report.games}
        first, *others = sorted(played.values(), reverse=True)
        if first >= 10:
            break
    # Five moves of each side say something.
    assert len(played) == 6 and not any(others)


async def test_what_to_try_next_stands_beside_its_name() -> None:
    ledger = Ledger()
    await DemoFeed("demo", conditions()).run(ledger)
    shown = [health.detail for health in ledger.healths if health.state in ("live", "finished")]
    assert shown and all(detail.endswith("live-rate --feed URL or games.pgn") for detail in shown)


def test_its_players_are_nobody() -> None:
    """Things happen to them that never happened: no name, number or link leads to a person."""
    for game in games():
        people = (game.headers.white, game.headers.black)
        assert not any(each.fide_id for each in people)
        assert not game.headers.url and "://" not in game.headers.site
        assert not {each.name.split(",")[0] for each in people} & REAL


#: Family names of those whose games they are.
REAL = {"Larino Nieto", "Fiorito", "Sanz Wawer", "Kovchan", "Rivero Tacoronte", "Torres Rebolledo"}
