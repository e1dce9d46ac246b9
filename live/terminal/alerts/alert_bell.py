"""Which alerts ring the terminal's bell. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from live.events import Alert, BellChoice

CHOICES: tuple[BellChoice, ...] = get_args(BellChoice)
#: What each choice means, for people.
WORDS: dict[BellChoice, str] = {
    "off": "The bell is silent",
    "alarms": "The bell rings for alarms (!!)",
    "all": "The bell rings for every alert",
}


class AlertBell:
    """Rings once for each alert that newly asks for notice. What stands when it is first asked is
    no news.
    """

    def __init__(self, choice: BellChoice = "off") -> None:
        self.choice: BellChoice = choice
        self._heard: dict[str, int] | None = None

    def next_choice(self) -> str:
        """Another choice, in words."""
        self.choice = CHOICES[(CHOICES.index(self.choice) + 1) % len(CHOICES)]
        return WORDS[self.choice]

    def rings(self, alerts: Iterable[Alert]) -> bool:
        """Whether to ring now, for the alerts that stand now."""
        asking = [
            each
            for each in alerts
            if each.cleared_s is None and each.acknowledged_s is None and not each.muted
        ]
        before, self._heard = self._heard, {each.id: each.times for each in asking}
        if before is None or self.choice == "off":
            return False
        return any(
            each.times > before.get(each.id, 0)
            for each in asking
            if self.choice == "all" or each.severity == "alarm"
        )
