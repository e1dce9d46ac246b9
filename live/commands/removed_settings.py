"""Settings of versions before 0.4 that were removed, each with its replacement.

A file or an environment that still contains them can be read.
"""

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

log = logging.getLogger(__name__)


class RemovedSetting(NamedTuple):
    """A setting of versions before 0.4."""

    defaults: frozenset[str]
    """Texts of its default value, as :meth:`is_default` reads it from a file and from
    the environment.
    """
    instead: str
    """The replacement, as a sentence for people."""

    def is_default(self, value: object) -> bool:
        """Return whether a value from a file, or a text from the environment, is the
        default.
        """
        return str(value).strip().lower() in self.defaults


_EMPTY_LIST = frozenset({"[]", ""})
_WHOLE_DELAY = (
    "The delay is for the whole event: set feeds.delay_s before the round, or press d;"
    " it holds from the next move"
)
REMOVED_SETTINGS = {
    "plugins.use": RemovedSetting(
        _EMPTY_LIST,
        "Programs of your own read the websocket, JSON or MQTT, and give games as PGN"
        " or by MQTT: live-rate manual programs",
    ),
    "feeds.delay_rounds": RemovedSetting(_EMPTY_LIST, _WHOLE_DELAY),
    "feeds.delay_finished": RemovedSetting(frozenset({"true", "1"}), _WHOLE_DELAY),
}
"""Removed settings by dotted key."""


def drop_removed_settings(
    origin: str, layer: Mapping[str, object], spell: Callable[[str], str] = str
) -> dict[str, object]:
    """Return the settings of one file or environment without the removed ones.

    One line is logged for each replacement; it names the removed settings that were not
    at their defaults. ``spell`` returns the name that a dotted key has in ``origin``.
    """
    names_by_remedy: dict[str, list[str]] = {}
    for key, value in layer.items():
        removed = REMOVED_SETTINGS.get(key)
        if removed is not None and not removed.is_default(value):
            names_by_remedy.setdefault(removed.instead, []).append(spell(key))
    for instead, names in names_by_remedy.items():
        verb = "was" if len(names) == 1 else "were"
        listed = ", ".join(names)
        log.warning("%s: %s %s removed in 0.4. %s", origin, listed, verb, instead)
    return {
        key: value
        for key, value in layer.items()
        if key not in REMOVED_SETTINGS and not (value == {} and _is_removed_table(key))
    }


def _is_removed_table(key: str) -> bool:
    return any(removed.startswith(key + ".") for removed in REMOVED_SETTINGS)
