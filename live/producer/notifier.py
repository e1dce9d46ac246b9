"""Notifies people through apprise (github.com/caronc/apprise): mail, chats, telephones. The shell
around :mod:`live.producer.notice_rules`.

People are given what viewers may know, and nothing else; only the addresses of arbiters, which
stand in a file of their own, are given what arbiters see. Loss policy: at most :data:`WAITING`
notices wait for each of the two; of more, and of those that cannot be delivered, the number is
logged.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from live.config import named_text
from live.errors import ConfigError
from live.events import NOTIFICATIONS, Change, FeedHealth, FeedName
from live.producer.notice_rules import Notice, NoticeLimit

log = logging.getLogger(__name__)

WAITING: Final = 100


class Rules(Protocol):
    """What is worth a notice, and how many there may be."""

    limit: NoticeLimit

    def heard(self, changes: Iterable[Change], now_s: float) -> list[Notice]: ...


class Notifier:
    """Everybody whose address stands in one file. ``run`` it, and give it every change that these
    people may know.
    """

    def __init__(
        self,
        rules: Rules,
        setting: str,
        path: str,
        *,
        part: FeedName = NOTIFICATIONS,
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[FeedHealth], None] = lambda health: None,
    ) -> None:
        """Reads the file of addresses, which ``setting`` names. ``part``: under which name it
        says how it is doing.

        Raises:
            ConfigError: it cannot be read, names nothing that can be notified, or apprise is not
                installed.
        """
        self._rules = rules
        self._part = part
        self._clock = clock
        self._report = report
        self._waiting: asyncio.Queue[Notice] = asyncio.Queue(WAITING)
        self._people = open_people(setting, path)

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that these people may know. Cheap and synchronous."""
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
            if left_out := self._rules.limit.left_out():
                log.warning("%d notices left out: notify.per_hour are sent already", left_out)

    async def send(self, notice: Notice) -> bool:
        """Send one notice to everybody; whether all could be reached."""
        sent = await send_to(self._people, notice)
        if sent:
            self._report(FeedHealth(self._part, "live", part=True))
        else:
            # apprise logs which; its addresses hold secrets, so they are not repeated.
            log.warning("a notice could not be delivered to everybody")
            why = "not everybody could be notified; the log says more"
            self._report(FeedHealth(self._part, "retrying", why, part=True))
        return sent


async def send_to(people: Any, notice: Notice) -> bool:
    """Send one notice to those that :func:`open_people` gave; whether all could be reached."""
    sent = await people.async_notify(title=notice.title, body=notice.body, body_format="text")
    return bool(sent)


def open_people(setting: str, path: str) -> Any:
    """Whom the addresses of this file reach, one address a line; ``setting`` names it.

    Raises:
        ConfigError: the file cannot be read, no line of it is an address, or apprise is not
            installed.
    """
    subject = f"{setting} {path}"
    try:
        import apprise
    except ImportError:
        raise ConfigError(
            subject, "needs the library apprise", "pip install 'live-rate[producer]'"
        ) from None
    lines = [line.strip() for line in named_text(setting, path).splitlines()]
    people = apprise.Apprise()
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
