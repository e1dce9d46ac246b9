"""The command ``live-rate doctor``."""

from typing import Annotated

from live.commands.command_options import SERVICE, Ended, Feeds, Settings


def doctor(*, feed: Feeds = None, settings: Annotated[Settings, SERVICE]) -> Ended:
    """Check that everything is in place for a round: give it what live-rate will be
    given.

    Options:
        feed: [URL] A source that will be followed; may be repeated.
    """
    from live.commands.examine_setup import examine_setup

    return examine_setup(settings.load, feed or ())
