"""``--feed demo``: six real games with their clocks, replayed faster. Needs no
network.

The games and where they come from are in this folder (``games.pgn``, ``README.md``).
"""

from collections import defaultdict, deque
from importlib import resources

from live.messages.from_sources import GameReport
from live.sources.feed import FeedConditions, FeedSession, SessionFeed
from live.sources.game_timeline import GameMoment, PlannedIncident, plan_timeline
from live.sources.pgn_decoder import PgnReader
from live.sources.source_address import FeedAddress

#: One board loses a move and finds it again, another sends a wrong move first: both
#: happen at every tournament, and come before a long thought, so that there is time to
#: see the effect. A clock that somebody corrected comes in the first seconds, and asks
#: for notice until one takes it.
INCIDENTS = (
    PlannedIncident("takeback", game=1, ply=48),
    PlannedIncident("slip", game=4, ply=54),
    PlannedIncident("clock-rising", game=2, ply=7),
)


def read_demo_games() -> list[GameReport]:
    """Return the bundled games, finished."""
    text = resources.files(__package__).joinpath("demo", "games.pgn").read_bytes()
    return PgnReader().read_text(text, closed=True)


#: How many times faster than they were played the games run at most.
SPEED = 100.0
#: Plies that a game has when the demo joins it: its next move is a slip, so that one is
#: told within the first minute. The others begin.
JOINED_AT = {5: 22}
#: What to try next: people see it beside the source's name.
NEXT = "your own event: live-rate --feed URL or FILE"


def _plan_boards() -> dict[int, deque[GameMoment]]:
    """Return what the source says of each game, from where the demo joins it."""
    coming = defaultdict[int, deque[GameMoment]](deque)
    for moment in plan_timeline(read_demo_games(), speed=SPEED, incidents=INCIDENTS):
        if len(moment.report.moves) >= JOINED_AT.get(moment.game, 0):
            coming[moment.game].append(moment)
    return coming


class DemoFeed(SessionFeed):
    """Replays the bundled games as fast as they are rated, so that no board is ever
    ahead of its figures, and no faster than :data:`SPEED` times their own pace.

    Each board has a clock of its own: where figures are slow all boards whose time has
    come move together, and none stands still while others play on.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        super().__init__(source.name, conditions)

    async def _follow_source(self, session: FeedSession) -> None:
        clock = self._clock
        session.note = NEXT
        coming = _plan_boards()
        due_s = dict.fromkeys(coming, clock.now())
        while due_s:
            await session.sink.wait_until_rated()
            await clock.sleep(max(0.0, min(due_s.values()) - clock.now()))
            now_s, reports = clock.now(), []
            for game in [game for game, at_s in due_s.items() if at_s <= now_s]:
                moments = coming[game]
                shown = moments.popleft()
                # A board may say two things in one instant (clocks of equal seconds):
                # the last holds.
                while moments and moments[0].at_s == shown.at_s:
                    shown = moments.popleft()
                reports.append(shown.report)
                if moments:
                    # What waited for figures is not caught up with: moves keep their
                    # distance.
                    due_s[game] = now_s + moments[0].at_s - shown.at_s
                else:
                    del due_s[game]
            await session.report(reports)
