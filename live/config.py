"""Typed settings: flags > environment (``LIVE_RATE_…``) > ``config.toml`` > defaults.

A key that does not exist or has the wrong type is refused with its name. Reads a file, nothing
else. ``config.toml`` at the top of the repository shows every key with its default, and what it
means; a setting's environment variable is its dotted key in capitals (``feeds.lichess.base_url``:
``LIVE_RATE_FEEDS_LICHESS_BASE_URL``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from live.engine_config import LIMITS, check_engine
from live.engine_config import EngineConfig as EngineConfig
from live.errors import ConfigError
from live.events import BellChoice, FigureChoice, GainKind, MomentKind, Severity
from live.settings import (
    BrokerUrl,
    Charset,
    Count,
    Delay,
    Elo,
    Factor,
    Frames,
    GoneSetting,
    Host,
    Hosts,
    Hours,
    HttpUrl,
    HttpUrlOrNone,
    Names,
    Origins,
    PluginNames,
    Port,
    Positive,
    Rounds,
    Seconds,
    Section,
    SocketUrl,
    TopicPrefix,
    Weight,
    checked,
    env_layer,
    file_layer,
    nested,
    setting_types,
)


class ServerConfig(Section, frozen=True):
    """``[server]``: the one port for websockets, pages and JSON."""

    host: Host = "127.0.0.1"
    port: Port = 8765
    """0 takes any free one."""
    public: bool = False
    """Whoever reaches the port may read without a token."""
    tokens_file: str = ""
    """Who may read what; see :mod:`live.publish.access.tokens`."""
    hide_scores: bool = False
    """Nothing an engine said reaches those without an arbiter's token: for venues."""
    hosts: Hosts = ()
    """Names to answer to, beside those of this machine; none: any, where not on loopback."""
    origins: Origins = ()
    frames: Frames = ()
    """Whose pages may connect, beside our own."""
    certificate_file: str = ""
    """Certificate chain in PEM: the port speaks TLS then."""
    key_file: str = ""
    """Its private key, where the certificate's file does not hold it."""
    max_connections: Positive = 10_000
    max_connections_per_address: Positive = 256
    """From one address; this machine's own is not counted."""


class RatingConfig(Section, frozen=True):
    """``[rating]``: which gain feeds the curves and how strong the engine counts."""

    gain: GainKind = "same-search"
    engine_rating: Literal["field"] | Elo = "field"
    engine_distribution: str = "spike"
    """How the engine's own successive gains are distributed: ``spike``, all 0; ``measured``, a
    shipped count; or a file's path."""
    model: str = "auto"
    """What perceived ratings are read by: ``auto``, ``none``, the name of a shipped model, or a
    file's path."""
    intrinsic: str = "auto"
    """The table for choices among several lines: likewise."""
    figure: FigureChoice = "perceived"
    """Which figure leads on terminal, page and overlays."""


class LichessConfig(Section, frozen=True):
    """``[feeds.lichess]``"""

    base_url: HttpUrl = "https://lichess.org"
    token_file: str = ""
    keep_alive_s: Seconds = 60.0
    """How often the stream sends a sign of life when nothing happens."""
    reconcile_s: Seconds = 20.0
    """How often the stream is compared with the round while games are played, since it reports
    neither takebacks nor boards added, and drops what a slow reader misses."""


class LiveChessCloudConfig(Section, frozen=True):
    """``[feeds.livechess_cloud]``"""

    base_url: HttpUrlOrNone = ""
    """Replaces scheme and host of every request, the host look-up included."""


class MqttFeedConfig(Section, frozen=True):
    """``[feeds.mqtt]``: what addresses of brokers do not say themselves."""

    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    """Certificates to trust; empty: the system's."""
    client_id: str = ""
    """Empty: made from this machine's name and the source's."""


class DemoConfig(Section, frozen=True):
    """``[feeds.demo]``: the bundled games."""

    speed: Factor = 100.0


class HumanConfig(Section, frozen=True):
    """``[human]``: the network that says what people play."""

    enabled: bool = True
    """Asked about every position, where onnxruntime is installed."""
    network: str = ""
    """An ONNX file, or a ``.pb.gz`` of Maia; empty: the one that comes with live-rate."""


class FeedsConfig(Section, frozen=True):
    """``[feeds]``: what all sources share, and one table per kind."""

    poll_s: Seconds = 2.0
    timeout_s: Seconds = 10.0
    stale_after_s: Seconds = 300.0
    finish_after_s: Seconds = 20.0
    """A source is over when all results are in and nothing has changed for so long. Without
    ``--once`` it is still looked at where the next round may come from it."""
    settle_s: Seconds = 1.0
    """A last game without a result token is taken for all there is after so long."""
    lost_after_s: Seconds = 60.0
    """Boards or moves that a file or page has lost are kept, marked, for so long: it may just be
    uploaded."""
    max_bytes: Positive = 64_000_000
    charset: Charset = ""
    """Of PGN that is not UTF-8; empty: what the server says, else the likely one."""
    rating_list: str = ""
    """A list of rated players; empty: one that lies beside a PGN, or none."""
    pairing_list: str = ""
    """A CSV of pairings, for boards without names; empty: as above."""
    delay_s: Delay = 0.0
    """What the public sees is held back for so long, moves and scores alike; 0: nothing is."""
    delay_rounds: Rounds = ()
    """Rounds that the delay is for; none: all."""
    delay_finished: bool = True
    """Whether a game is held back once it is over, too."""
    lichess: LichessConfig = LichessConfig()
    livechess_cloud: LiveChessCloudConfig = LiveChessCloudConfig()
    mqtt: MqttFeedConfig = MqttFeedConfig()
    demo: DemoConfig = DemoConfig()


class MqttConfig(Section, frozen=True):
    """``[mqtt]``: state sent to a broker, to reach more than one machine can serve."""

    publish: BrokerUrl = ""
    prefix: TopicPrefix = "live-rate"
    password_file: str = ""
    ca_file: str = ""
    """Whom to trust for ``mqtts``; empty: whom the system trusts."""
    site: bool = False
    """Also the numbered stream that the pages of ``live-rate site`` read."""


class JournalConfig(Section, frozen=True):
    """``[journal]``: what was seen and scored, kept over restarts and crashes."""

    enabled: bool = True
    file: str = ""
    """Empty: one for each set of sources, in the platform's folder for state; none for the demo,
    for standard input, and with ``--once``."""
    durable: bool = False
    """Every commit reaches the disk at once: a power cut then costs nothing."""


class MemoryConfig(Section, frozen=True):
    """``[memory]``: what is held at most; the journal keeps everything."""

    finished_after_h: Hours = 336.0
    """A finished game is released once nothing of it has changed for so long and its source has
    reported newer ones; 0: never."""
    games: Positive = 5_000
    """Finished games held at most; of more, those go first that changed longest ago, but none
    within ten minutes: results are often mended."""
    results: Positive = 50_000
    """Results of searches held, those used last: about 1.5 kB each."""


class TerminalConfig(Section, frozen=True):
    """``[terminal]``"""

    bell: BellChoice = "off"
    """Which new alerts ring the bell, until somebody presses b."""


MomentKinds = Annotated[
    tuple[MomentKind, ...],
    msgspec.Meta(description='a list of kinds of moments, such as ["turn", "comeback"]'),
]
NoticeKinds = Annotated[
    tuple[Literal["begins", "ends", "moments"], ...],
    msgspec.Meta(description='a list of "begins", "ends" and "moments"'),
]


class DirectorConfig(Section, frozen=True):
    """``[director]``: scenes of OBS switched on moments."""

    url: SocketUrl = ""
    """Of obs-websocket; empty: no director."""
    password_file: str = ""
    dry_run: bool = True
    """It logs what it would switch, and switches nothing."""
    stop_file: str = ""
    """While this file exists nothing is switched."""
    scene: str = "Board {board}"
    """The scene of a board."""
    home_scene: str = ""
    """Back to this one when nothing else is worth telling; empty: it stays."""
    kinds: MomentKinds = ()
    """Moments that are switched to; none: all."""
    least_weight: Weight = 0.6
    stay_s: Seconds = 20.0
    """A scene stays on air for so long at least."""
    hold_s: Seconds = 60.0
    """After so long it goes home."""
    pause_s: Seconds = 300.0
    """Somebody who switches by hand is left alone for so long."""


class NotifyConfig(Section, frozen=True):
    """``[notify]``: people notified through apprise."""

    urls_file: str = ""
    """Addresses of apprise, one a line; empty: nobody is notified."""
    arbiters_file: str = ""
    """Addresses that are sent what needs the arbiter, at once; no other address ever is."""
    arbiters_from: Severity = "warning"
    """Arbiters are not notified of what is less urgent."""
    what: NoticeKinds = ("begins", "ends", "moments")
    players: Names = ()
    """Full names or FIDE ids; none: everybody's games."""
    least_weight: Weight = 0.6
    """Moments that matter less are left out."""
    per_hour: Positive = 20
    """No more notices than this, to people and to arbiters each."""
    lang: Literal["en", "de", "fr", "es", "it", "ru"] = "en"


class PluginsConfig(Section, frozen=True):
    """``[plugins]``"""

    use: PluginNames = ()
    """Names of installed plugins; no other runs."""


class StudyConfig(Section, frozen=True):
    """``[study]``: a corpus whose tables and figures are shown at ``/study``."""

    corpus: str = ""
    setting: Count = 0
    """Which of its engines and limits; 0: the only one there is."""


class LogConfig(Section, frozen=True):
    """``[log]``"""

    level: Literal["debug", "info", "warning", "error"] = "warning"


class Config(Section, frozen=True):
    """Everything that can be set."""

    server: ServerConfig = ServerConfig()
    engine: EngineConfig = EngineConfig()
    rating: RatingConfig = RatingConfig()
    human: HumanConfig = HumanConfig()
    feeds: FeedsConfig = FeedsConfig()
    mqtt: MqttConfig = MqttConfig()
    journal: JournalConfig = JournalConfig()
    memory: MemoryConfig = MemoryConfig()
    terminal: TerminalConfig = TerminalConfig()
    director: DirectorConfig = DirectorConfig()
    notify: NotifyConfig = NotifyConfig()
    plugins: PluginsConfig = PluginsConfig()
    study: StudyConfig = StudyConfig()
    log: LogConfig = LogConfig()


SETTINGS = setting_types(Config)
"""The type of every setting by its dotted key."""

ENV_PREFIX = "LIVE_RATE_"
ENV_CONFIG_FILE = "LIVE_RATE_CONFIG"
"""Not a setting: names the file to read."""


def find_config_file(
    flag: Path | None, env: Mapping[str, str], cwd: Path | None = None
) -> Path | None:
    """The file to read: ``--config``, ``$LIVE_RATE_CONFIG``, ``./config.toml``, or the user's own.

    The first two are taken even where there is no such file, so that the mistake is reported. The
    user's own is ``live-rate/config.toml`` in the platform's folder for settings
    (``~/.config`` on Linux). None where there is none.
    """
    if flag is not None:
        return flag
    if named := env.get(ENV_CONFIG_FILE):
        return Path(named)
    if (here := (cwd or Path()) / "config.toml").is_file():
        return here
    import platformdirs  # only here: the command line has to start fast

    users = platformdirs.user_config_path("live-rate") / "config.toml"
    return users if users.is_file() else None


#: What version 0.2 had.
GONE = (
    GoneSetting("rating.calibration", "rating.model says what perceived ratings are read by"),
    GoneSetting(
        "rating.figure",
        'the perceived rating leads, or "algorithm4"',
        ("auto", "level", "percentile", "alone"),
    ),
    GoneSetting("engine.quick_nodes", "every search is a full one"),
)


def load_config(
    path: Path | None, env: Mapping[str, str], overrides: Mapping[str, object]
) -> Config:
    """Reads and checks all settings.

    Args:
        path: The file, or None for no file (see :func:`find_config_file`).
        env: The environment; variables that do not begin with ``LIVE_RATE_`` are not looked at.
        overrides: What the command line sets, by dotted key; None means not given.

    Raises:
        ConfigError: names the file or variable, the key, what was expected, and a remedy.
    """
    merged: dict[str, object] = {}
    for layer in (
        _from_file(path) if path is not None else {},
        _from_env(env),
        _from_flags(overrides),
    ):
        if any(layer.get(key) for key in LIMITS):
            # A limit of any kind replaces a limit of another kind that was set further down.
            merged |= dict.fromkeys(LIMITS, 0)
        merged |= layer
    config = msgspec.convert(nested(merged), Config)
    check_engine(config.engine)
    return config


def _from_file(path: Path) -> dict[str, object]:
    layer = file_layer(path, SETTINGS, GONE)
    # The repository's config.toml holds every key, so its default of nodes must give way when
    # somebody sets a depth or a time in it.
    if layer.get("engine.nodes") == EngineConfig().nodes and any(map(layer.get, LIMITS[1:])):
        del layer["engine.nodes"]
    return _one_limit(str(path), layer)


def _from_env(env: Mapping[str, str]) -> dict[str, object]:
    given = {name: text for name, text in env.items() if name != ENV_CONFIG_FILE}
    layer = env_layer(given, ENV_PREFIX, SETTINGS, GONE)
    return _one_limit("environment", layer)


def _from_flags(overrides: Mapping[str, object]) -> dict[str, object]:
    layer = {
        key: checked(f"command line: {key}", key, value, SETTINGS)
        for key, value in overrides.items()
        if value is not None
    }
    return _one_limit("command line", layer)


def _one_limit(where: str, layer: dict[str, object]) -> dict[str, object]:
    """At most one kind of limit may be set in one place."""
    limits = [key for key in LIMITS if layer.get(key)]
    if len(limits) > 1:
        raise ConfigError(
            f"{where}: {' and '.join(limits)}", "a search has one limit", "Set one of them"
        )
    return layer
