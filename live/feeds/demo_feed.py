"""``--feed demo``: six real games with their clocks, replayed faster. Needs no network.

The games and where they come from are in this folder (``games.pgn``, ``README.md``).
"""

from __future__ import annotations

from importlib import resources
from itertools import groupby

from live.events import GameReport
from live.feeds.feed import FeedSession, SessionFeed
from live.feeds.game_timeline import PlannedIncident, timeline
from live.feeds.pgn_decoder import PgnDecoder

#: One board loses a move and finds it again, another sends a wrong move first: both happen at
#: every tournament. Both come before a long thought, so that there is time to see the effect.
INCIDENTS = (PlannedIncident("takeback", game=1, ply=48), PlannedIncident("slip", game=4, ply=54))


def games() -> list[GameReport]:
    """The bundled games, finished."""
    text = resources.files(__package__).joinpath("demo", "games.pgn").read_bytes()
    decoder = PgnDecoder()
    return [*decoder.feed(text), *decoder.finish()]


#: How many times faster than they were played the games run at most.
SPEED = 100.0
#: What to try next: people see it beside the source's name.
NEXT = "next, your own event: live-rate --feed URL or games.pgn"


class DemoFeed(SessionFeed):
    """Replays the bundled games as fast as they are rated, so that no board is ever ahead of its
    figures, and no faster than :data:`SPEED` times their own pace.
    """

    async def _follow(self, session: FeedSession) -> None:
        clock = self._conditions.clock
        moments = timeline(games(), speed=SPEED, incidents=INCIDENTS)
        session.note = NEXT
        start_s = clock.now()
        for at_s, together in groupby(moments, key=lambda moment: moment.at_s):
            await session.rated()
            wait_s = start_s + at_s - clock.now()
            if wait_s > 0:
                await clock.sleep(wait_s)
            else:
                # The hall waits for the ratings, so that the moves after this keep their distance.
                start_s -= wait_s
            # A board may say two things in one instant (clocks of equal seconds); the last holds.
            latest = {moment.game: moment.report for moment in together}
            await session.report(list(latest.values()))
