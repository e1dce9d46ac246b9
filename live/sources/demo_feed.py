"""The source ``--feed demo``: six real games with their clocks, replayed faster. It
needs no internet connection.

The games and their origins are in the folder ``demo`` (``games.pgn``, ``README.md``).
"""

from collections import defaultdict, deque
from importlib import resources

from live.messages.from_sources import GameReport
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions, FeedSession
from live.sources.game_timeline import GameMoment, PlannedIncident, plan_timeline
from live.sources.pgn_decoder import PgnReader
from live.sources.source_address import FeedAddress

#: Incidents of the demo. One board withdraws a move and sends it again; another sends a
#: wrong move and then the right one. Both happen at every tournament, and both come
#: before a long thought, so that their effect can be seen. A corrected clock comes in
#: the first seconds; its alert stays open until somebody acknowledges it.
INCIDENTS = (
    PlannedIncident("takeback", game=1, ply=48),
    PlannedIncident("slip", game=4, ply=54),
    PlannedIncident("clock-rising", game=2, ply=7),
)


def read_demo_games() -> list[GameReport]:
    """Return the bundled games in their finished state."""
    text = resources.files(__package__).joinpath("demo", "games.pgn").read_bytes()
    return PgnReader().read_text(text, closed=True)


#: Greatest replay speed, as a multiple of the speed of the original games.
SPEED = 100.0
#: Number of plies already played when the demo starts, by game index. The next move of
#: this game is a serious mistake, so that a mistake is reported within the first
#: minute. All other games start from the beginning.
JOINED_AT = {5: 22}
#: Hint shown next to the source's name: what to try after the demo.
NEXT = "your own event: live-rate --feed URL or FILE"


def _plan_boards() -> dict[int, deque[GameMoment]]:
    """Return the remaining moments of each game, by game index, from where the demo
    joins it.
    """
    moments_by_game = defaultdict[int, deque[GameMoment]](deque)
    for moment in plan_timeline(read_demo_games(), speed=SPEED, incidents=INCIDENTS):
        if len(moment.report.moves) >= JOINED_AT.get(moment.game, 0):
            moments_by_game[moment.game].append(moment)
    return moments_by_game


class DemoFeed(Feed):
    """Replays the bundled games as fast as they are rated, but no faster than
    :data:`SPEED` times their original speed: no board is ever ahead of its ratings.

    Each board has its own timetable. Where rating is slow, all boards that are due move
    together, so that none stands still while the others play on.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        super().__init__(source.name, conditions)

    async def _follow_source(self, session: FeedSession) -> None:
        clock = self._clock
        session.note = NEXT
        moments_by_game = _plan_boards()
        due_s = dict.fromkeys(moments_by_game, clock.now())
        while due_s:
            await session.sink.wait_until_rated()
            await clock.sleep(max(0.0, min(due_s.values()) - clock.now()))
            now_s, reports = clock.now(), []
            for game in [game for game, at_s in due_s.items() if at_s <= now_s]:
                moments = moments_by_game[game]
                moment = moments.popleft()
                # A board can have several moments at one instant (clocks with equal
                # seconds): only the last one is reported.
                while moments and moments[0].at_s == moment.at_s:
                    moment = moments.popleft()
                reports.append(moment.report)
                if moments:
                    # Time lost waiting for ratings is not made up, so the intervals
                    # between moves are kept.
                    due_s[game] = now_s + moments[0].at_s - moment.at_s
                else:
                    del due_s[game]
            await session.report(reports)
