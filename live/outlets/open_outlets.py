"""Creation of the outlets (scenes and notices) that the settings ask for."""

from collections.abc import Awaitable, Callable

from live.event.bus import Bus
from live.event.event import Event
from live.messages.health import ARBITERS_NOTIFICATIONS, NOTIFICATIONS, HealthReport
from live.server.public_view import PublicView
from live.settings import Config, DirectorConfig, NotifyConfig

Parts = dict[str, Callable[[], Awaitable[None]]]
"""For each part, by its name, the function that runs it."""


def open_outlets(
    config: Config,
    public: PublicView,
    bus: Bus,
    state: Event,
    report: HealthReport,
) -> Parts:
    """Return the parts that switch scenes and notify people.

    They receive only what the public is allowed to know, so nothing delayed or hidden
    leaves through them; alerts go only to arbiters.
    """
    parts: Parts = {}
    if config.director.url:
        parts["director"] = _open_director(config.director, public, bus, report)
    if config.notify.urls_file:
        parts[NOTIFICATIONS] = _open_notifier(config.notify, public, bus, report)
    if config.notify.arbiters_file:
        parts[ARBITERS_NOTIFICATIONS] = _open_arbiters_notifier(
            config.notify, bus, state, report
        )
    return parts


def _open_director(
    config: DirectorConfig, public: PublicView, bus: Bus, report: HealthReport
) -> Callable[[], Awaitable[None]]:
    # Imported only if the settings need it: most events switch no scenes. The same
    # holds for notices below.
    from live.outlets.obs_director import ObsDirector

    director = ObsDirector(config, report=report)

    def begin() -> None:
        director.choice.set_known(public.games(), public.moments())

    begin()
    public.listen(bus.guard(director.publish), begin)
    return director.run


def _open_notifier(
    config: NotifyConfig, public: PublicView, bus: Bus, report: HealthReport
) -> Callable[[], Awaitable[None]]:
    from live.outlets.notices import Notifier, PublicRules

    rules = PublicRules(config)

    def begin() -> None:
        rules.set_known(public.games(), public.moments())

    begin()
    notifier = Notifier(rules, "notify.urls_file", config.urls_file, report=report)
    public.listen(bus.guard(notifier.publish), begin)
    return notifier.run


def _open_arbiters_notifier(
    config: NotifyConfig, bus: Bus, state: Event, report: HealthReport
) -> Callable[[], Awaitable[None]]:
    from live.outlets.notices import ArbiterRules, Notifier

    rules = ArbiterRules(config)
    rules.set_known(state.games(), state.alerts())
    notifier = Notifier(
        rules,
        "notify.arbiters_file",
        config.arbiters_file,
        part=ARBITERS_NOTIFICATIONS,
        report=report,
    )
    bus.subscribe(notifier.publish)
    return notifier.run
