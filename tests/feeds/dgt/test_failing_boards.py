from live.config import FeedsConfig
from live.feeds.open_feed import open_feed
from tests.feeds.dgt.livechess_cloud_server import UUID, LiveChessCloudRehearsal
from tests.feeds.fakes import DATA, DrivenClock, Ledger, conditions, decode, running, until

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


async def test_boards_that_fail_throughout_are_said_by_number_and_at_the_board() -> None:
    """A 502 throughout left an empty board and no word (audit, row 8)."""
    site, clock, ledger = LiveChessCloudRehearsal(GAMES), DrivenClock(), Ledger()
    for index, game in enumerate(GAMES):
        site.show(index, game)
    site.broken = {2, 4}
    config = FeedsConfig(timeout_s=5.0)
    async with site.serving() as spec:
        feed = open_feed(spec, config, conditions=conditions(config, clock), lasting=True)
        async with running(feed, ledger):
            await until(lambda: "boards 2, 4 cannot be had" in str(ledger.healths[-1:]))
            assert "(502)" in ledger.last.detail
            await until(lambda: sum(bool(g.problem) for g in ledger.games.values()) == 2)
            problems = {game.problem for game in ledger.games.values() if game.problem}
            assert problems == {"its moves cannot be had: the source is in trouble itself (502)"}
            site.broken.clear()
            await until(lambda: not any(game.problem for game in ledger.games.values()))


async def test_a_tournament_that_is_not_uploaded_yet_is_waited_for() -> None:
    """``#UUID/2`` before the round was there: given up for ever (audit, row 1)."""
    site, clock, ledger = LiveChessCloudRehearsal(GAMES), DrivenClock(), Ledger()
    site.there = False
    config = FeedsConfig(timeout_s=5.0)
    async with site.serving() as spec:
        assert UUID in spec
        feed = open_feed(spec, config, conditions=conditions(config, clock), lasting=True)
        async with running(feed, ledger):
            await until(lambda: ledger.states == ["connecting", "waiting"])
            site.there = True
            site.show(0, GAMES[0])
            await until(lambda: bool(ledger.games))
    assert all(wait_s >= 10 for wait_s in clock.slept[:1])
