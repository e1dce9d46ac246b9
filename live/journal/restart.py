"""Restores the event, its alerts and its moments after a restart."""

from collections.abc import Sequence

from live.event.bus import TakeChanges
from live.event.event import Event
from live.journal.arbiter_notes import reapply_rulings
from live.journal.event_journal import EventJournal, Known
from live.journal.measured_engines import EngineInUse
from live.messages.values import FeedName
from live.watch.arbiter_desk import ArbiterDesk
from live.watch.moment_watch import MomentWatch


async def restore_event(
    event: Event,
    publish: TakeChanges,
    journal: EventJournal,
    arbiter: ArbiterDesk,
    moments: MomentWatch,
    engine: EngineInUse,
    find_result: Known,
    feeds: Sequence[FeedName],
) -> None:
    """Restore the games of ``feeds``, the alerts and the moments from the journal.

    ``find_result`` returns the result of a search if it is known.
    """
    # Restored alerts and moments must not be published a second time.
    arbiter.restoring = True
    moments.restoring = True
    await journal.restore(event, publish, engine, find_result, feeds)
    for changes in reapply_rulings(event, journal.journal.read_notes()):
        publish(changes)
    arbiter.restoring = False
    moments.restoring = False
    arbiter.resume(event, feeds)
    # Alerts are restored first, because moments depend on whether a result is in doubt.
    moments.resume(event.games())
