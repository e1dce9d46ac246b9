"""The command ``live-rate watch``."""

from live.commands.command_options import Ended


def watch(url: str, *, json: bool = False) -> Ended:
    """Show a running service in this terminal: the same screens as where it runs.

    Options:
        url: ws://HOST:PORT of a running service; with ?token=… if it asks.
        json: Every message as a line of JSON.
    """
    from live.commands.show_service import show_service

    return show_service(url, json=json)
