"""Notifies people through apprise (github.com/caronc/apprise): mail, chats, telephones. The shell
around :mod:`live.producer.notice_rules`.

It is given what viewers may know, and nothing else. Loss policy: at most :data:`WAITING` notices
wait; of more, and of those that cannot be delivered, the number is logged.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from live.config import NotifyConfig
from live.errors import ConfigError
from live.events import NOTIFICATIONS, Change, FeedHealth, GameView
from live.producer.notice_rules import Notice, NoticeRules

log = logging.getLogger(__name__)

WAITING: Final = 100


class Notifier:
    """Everybody whose address stands in the file. ``run`` it, and give it every change that the
    public may know.
    """

    def __init__(
        self,
        config: NotifyConfig,
        games: Iterable[GameView] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[FeedHealth], None] = lambda health: None,
    ) -> None:
        """Reads the file of addresses; ``games`` are known already.

        Raises:
            ConfigError: it cannot be read, names nothing that can be notified, or apprise is not
                installed.
        """
        self._rules = NoticeRules(config)
        self._rules.begin(games)
        self._clock = clock
        self._report = report
        self._waiting: asyncio.Queue[Notice] = asyncio.Queue(WAITING)
        self._people = open_people(config.urls_file)

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that the public may know. Cheap and synchronous."""
        for notice in self._rules.heard(changes, self._clock()):
            try:
                self._waiting.put_nowait(notice)
            except asyncio.QueueFull:
                log.warning("a notice is left out: %d wait already", WAITING)

    async def run(self) -> None:
        """Send what waits until cancelled."""
        while True:
            notice = await self._waiting.get()
            await self.send(notice)
            if left_out := self._rules.left_out():
                log.warning("%d notices left out: notify.per_hour are sent already", left_out)

    async def send(self, notice: Notice) -> bool:
        """Send one notice to everybody; whether all could be reached."""
        sent = await self._people.async_notify(
            title=notice.title, body=notice.body, body_format="text"
        )
        if sent:
            self._report(FeedHealth(NOTIFICATIONS, "live", part=True))
        else:
            # apprise logs which; its addresses hold secrets, so they are not repeated.
            log.warning("a notice could not be delivered to everybody")
            why = "not everybody could be notified; the log says more"
            self._report(FeedHealth(NOTIFICATIONS, "retrying", why, part=True))
        return bool(sent)


def open_people(path: str) -> Any:
    """Whom the addresses of this file reach, one address a line.

    Raises:
        ConfigError: the file cannot be read, no line of it is an address, or apprise is not
            installed.
    """
    subject = f"notify.urls_file {path}"
    try:
        import apprise
    except ImportError:
        raise ConfigError(
            subject, "needs the library apprise", "pip install 'live-rate[producer]'"
        ) from None
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(subject, f"cannot be read ({error})", "Give a readable file") from None
    people = apprise.Apprise()
    lines = [line.strip() for line in text.splitlines()]
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#") and not people.add(line):
            raise ConfigError(
                f"{subject}, line {number}",
                "is no address that apprise knows",
                "See github.com/caronc/apprise for how they are written",
            )
    if not len(people):
        raise ConfigError(subject, "holds no address", "Write one address of apprise a line")
    return people
