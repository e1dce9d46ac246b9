"""The command ``live-rate feeds``."""

from typing import Annotated

from live.commands.command_options import Ended, FileSettings, Within


def feeds(
    url: list[str],
    *,
    json: bool = False,
    timeout: Annotated[float, Within(0.1)] = 15.0,
    settings: FileSettings,
) -> Ended:
    """Report what a URL is, whether it answers, and which games it holds now.

    Options:
        url: [URL...] Sources, as after --feed.
        json: Print JSON instead of tables.
        timeout: [SECONDS] How long to wait for each.
    """
    from live.commands.probe_feeds import probe_feeds

    return probe_feeds(settings.load(), url, json=json, within_s=timeout)
