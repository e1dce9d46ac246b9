"""The command ``live-rate notify-test``."""

import typer

from live.commands.command_options import FileSettings
from live.errors import ConfigError


async def notify_test(settings: FileSettings) -> int:
    """Send one notice to every address in notify.urls_file and notify.arbiters_file, to
    check that it arrives.
    """
    from live.outlets.notices import Notice, notify_people, open_people

    notify = settings.load().notify
    files = {"urls_file": notify.urls_file, "arbiters_file": notify.arbiters_file}
    files = {f"notify.{name}": path for name, path in files.items() if path}
    if not files:
        raise ConfigError(
            "notify.urls_file",
            "is empty: nobody is notified",
            "Name a file of apprise addresses",
        )
    people = {setting: open_people(setting, path) for setting, path in files.items()}
    notice = Notice("live-rate", "A test: notices arrive here.")
    for setting, everybody in people.items():
        if not await notify_people(everybody, notice):
            raise ConfigError(
                setting,
                "not everybody in it could be notified",
                "See the lines above, and correct the address",
            )
    typer.echo("Everybody was notified.")
    return 0
