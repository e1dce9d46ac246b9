"""The command ``live-rate doctor``."""

from typing import Annotated

from live.commands.command_options import SERVICE, Ended, Feeds, Settings


def doctor(*, feed: Feeds = None, settings: Annotated[Settings, SERVICE]) -> Ended:
    """Check that everything is ready for a round: use the options that live-rate will
    be started with.

    Options:
        feed: [URL] A source that will be followed; can be repeated.
    """
    from live.commands.examine_setup import examine_setup

    return examine_setup(settings.load, feed or ())
