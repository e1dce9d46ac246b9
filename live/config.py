"""Typed settings: flags > environment (``LIVE_RATE_…``) > ``config.toml`` > defaults.

A key that does not exist or has the wrong type is refused with its name, in one clear
line. Reads a file, nothing else. ``config.toml`` at the top of the repository shows
every key with its default, and what it means; a setting's environment variable is its
dotted key in capitals (``feeds.lichess.base_url``:
``LIVE_RATE_FEEDS_LICHESS_BASE_URL``).
"""

import contextlib
import difflib
import logging
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from live.errors import ConfigError
from live.messages.alerts import Severity
from live.messages.figures import GainKind
from live.messages.moments import MomentKind
from live.messages.values import Value
from live.user_files import read_regular

log = logging.getLogger(__name__)

Port = Annotated[int, Meta(ge=0, le=65535, description="a port from 0 to 65535")]
Count = Annotated[int, Meta(ge=0, le=10**12, description="a whole number, 0 or more")]
Positive = Annotated[int, Meta(ge=1, le=10**12, description="a whole number above 0")]
Lines = Annotated[int, Meta(ge=1, le=256, description="a whole number from 1 to 256")]
HashSize = Annotated[int, Meta(ge=1, le=2**20, description="megabytes, 1 to 1048576")]
Nice = Annotated[int, Meta(ge=0, le=19, description="a whole number from 0 to 19")]
Elo = Annotated[int, Meta(ge=0, le=5000, description="an Elo rating from 0 to 5000")]
Seconds = Annotated[float, Meta(gt=0, description="seconds, above 0")]
_DELAYS = 'seconds up to 86400, or "90s", "15m", "1h"; 0 for none'
Delay = Annotated[float, Meta(ge=0, le=86_400, description=_DELAYS)]
Hours = Annotated[float, Meta(ge=0, le=87_600, description="hours, 0 for never, up to 87600")]
Host = Annotated[str, Meta(min_length=1, description="a host name or address")]
_CHARSETS = "a charset such as cp1251, or empty"
Charset = Annotated[str, Meta(pattern="^[A-Za-z0-9_.:-]{0,40}$", description=_CHARSETS)]
_HTTP = "a URL with http:// or https://"
HttpUrl = Annotated[str, Meta(pattern="^https?://[^/]", description=_HTTP)]
HttpUrlOrNone = Annotated[str, Meta(pattern="^(https?://[^/]|$)", description=f"{_HTTP}, or empty")]
_SOCKETS = "a URL with ws:// or wss://, or empty"
SocketUrl = Annotated[str, Meta(pattern="^(wss?://[^/]|$)", description=_SOCKETS)]
_CLUSTERS = "a Dask scheduler's address with tcp:// or tls://, or empty"
ClusterUrl = Annotated[str, Meta(pattern="^((tcp|tls|ws|wss)://[^/]|$)", description=_CLUSTERS)]
BrokerUrl = Annotated[
    str,
    Meta(
        pattern="^(mqtts?://([^/:@]+@)?([^/:@\\[\\]]+|\\[[^/@]+\\])(:[0-9]{1,5})?/?|)$",
        description="mqtt://[USER@]HOST[:PORT] or mqtts://… without a password, or empty",
    ),
]
_TOPIC = "^[^/+#$\\x00]([^+#\\x00]*[^/+#\\x00])?$"
TopicPrefix = Annotated[str, Meta(pattern=_TOPIC, description="a topic without + and #")]

# --- lists ---
Names = Annotated[tuple[str, ...], Meta(description='a list such as ["Carlsen, Magnus"]')]
_HOSTS = 'a list of host names, such as ["chess.example.org"]'
Hosts = Annotated[tuple[str, ...], Meta(description=_HOSTS)]
Origin = Annotated[str, Meta(pattern="^(null|https?://[^/]+)$")]
_ORIGINS = 'a list of origins, such as ["https://example.org"]'
Origins = Annotated[tuple[Origin, ...], Meta(description=f'{_ORIGINS} or ["null"]')]
Frame = Annotated[str, Meta(pattern=r"^https?://[A-Za-z0-9.*:\[\]-]+$")]
Frames = Annotated[tuple[Frame, ...], Meta(description=_ORIGINS)]
_MOMENTS = 'a list of kinds of moments, such as ["turn", "comeback"]'
MomentKinds = Annotated[tuple[MomentKind, ...], Meta(description=_MOMENTS)]
NoticeKinds = Annotated[
    tuple[Literal["begins", "ends", "moments"], ...],
    Meta(description='a list of "begins", "ends" and "moments"'),
]


class Section(Value, forbid_unknown_fields=True):
    """Common strictness of all sections."""


def setting_types(section: type[msgspec.Struct], prefix: str = "") -> dict[str, Any]:
    """Every setting of a tree of Structs, in the order of its fields."""
    types: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        key = prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            types |= setting_types(field.type, key + ".")
        else:
            types[key] = field.type
    return types


# --- sections -------------------------------------------------------------------------


LIMITS = ("engine.nodes", "engine.depth", "engine.movetime_ms")
"""A search has one of them."""


class EngineConfig(Section):
    """``[engine]``: which engine, how long it thinks, how many run.

    :func:`load_config` leaves exactly one of ``nodes``, ``depth`` and ``movetime_ms``
    above 0.
    """

    path: str = ""
    """Empty: found (installed Stockfish, else the embedded one)."""
    nodes: Count = 100_000
    depth: Count = 0
    movetime_ms: Count = 0
    engines: Count = 0
    """0: one for each processor, less one for every eight."""
    hash_mb: HashSize = 16
    threads: Positive = 1
    reproducible: bool = True
    multipv: Lines = 1
    same_depth: bool = False
    """The move played is searched as deep as the best one, whatever the limit says."""
    adaptive: bool = False
    """A search ends early when it has seen enough."""
    speculate: bool = True
    cluster: ClusterUrl = ""
    """Address of a Dask scheduler; empty: all is searched on this machine."""
    nice: Nice = 5
    start_s: Seconds = 60.0
    """How long an engine may take from its start until it is ready."""


class ServerConfig(Section):
    """``[server]``: the one port for websockets, pages and JSON."""

    host: Host = "127.0.0.1"
    port: Port = 8765
    """0 takes any free one."""
    public: bool = False
    """Whoever reaches the port may read without a token."""
    tokens_file: str = ""
    """Who may read what; see :mod:`live.server.tokens`."""
    hide_scores: bool = False
    """Nothing an engine said reaches those without an arbiter's token: for venues."""
    hosts: Hosts = ()
    """Names to answer to, beside those of this machine; none: any, where not on
    loopback.
    """
    origins: Origins = ()
    frames: Frames = ()
    """Whose pages may connect, beside our own."""
    certificate_file: str = ""
    """Certificate chain in PEM: the port speaks TLS then."""
    key_file: str = ""
    """Its private key, where the certificate's file does not hold it."""
    max_connections: Positive = 10_000


class RatingConfig(Section):
    """``[rating]``: which gain feeds the curves and how strong the engine counts."""

    gain: GainKind = "same-search"
    engine_rating: Literal["field"] | Elo = "field"
    engine_distribution: str = "spike"
    """How the engine's own successive gains are distributed: ``spike``, all 0;
    ``measured``, a shipped count; or a file's path.
    """
    model: str = "auto"
    """What perceived ratings are read by: ``auto``, ``none``, the name of a shipped
    model, or a file's path.
    """
    intrinsic: str = "auto"
    """The table for choices among several lines: likewise."""


class LichessConfig(Section):
    """``[feeds.lichess]``"""

    base_url: HttpUrl = "https://lichess.org"
    token_file: str = ""


class LiveChessCloudConfig(Section):
    """``[feeds.livechess_cloud]``"""

    base_url: HttpUrlOrNone = ""
    """Replaces scheme and host of every request, the host look-up included."""


class MqttFeedConfig(Section):
    """``[feeds.mqtt]``: what addresses of brokers do not say themselves."""

    password_file: str = ""
    ca_file: str = ""
    """Certificates to trust; empty: the system's."""
    client_id: str = ""
    """Empty: made from this machine's name and the source's."""


class HumanConfig(Section):
    """``[human]``: the network that says what people play."""

    enabled: bool = True
    """Asked about every position, where onnxruntime is installed."""
    network: str = ""
    """An ONNX file; empty: the one that comes with live-rate."""


class FeedsConfig(Section):
    """``[feeds]``: what all sources share, and one table per kind."""

    poll_s: Seconds = 2.0
    """Between two looks at a source; what takes several looks follows from it."""
    timeout_s: Seconds = 10.0
    stale_after_s: Seconds = 300.0
    charset: Charset = ""
    """Of PGN that is not UTF-8; empty: what the server says, else the likely one."""
    rating_list: str = ""
    """A list of rated players; empty: one that lies beside a PGN, or none."""
    pairing_list: str = ""
    """A CSV of pairings, for boards without names; empty: as above."""
    delay_s: Delay = 0.0
    """What the public sees is held back for so long, moves and scores alike; 0: nothing
    is.
    """
    lichess: LichessConfig = LichessConfig()
    livechess_cloud: LiveChessCloudConfig = LiveChessCloudConfig()
    mqtt: MqttFeedConfig = MqttFeedConfig()

    @property
    def settle_s(self) -> float:
        """A last game without a result token is taken for all there is after so
        long.
        """
        return self.poll_s / 2

    @property
    def finish_after_s(self) -> float:
        """A source is over when all results are in and nothing has changed for so long.
        Without ``--once`` it is still looked at where the next round may come from it.
        """
        return 10 * self.poll_s

    @property
    def lost_after_s(self) -> float:
        """Boards or moves that a file or page has lost are kept, marked, for so long:
        it may just be uploaded.
        """
        return 30 * self.poll_s


class MqttConfig(Section):
    """``[mqtt]``: state sent to a broker, to reach more than one machine can serve."""

    publish: BrokerUrl = ""
    prefix: TopicPrefix = "live-rate"
    password_file: str = ""
    ca_file: str = ""
    """Whom to trust for ``mqtts``; empty: whom the system trusts."""
    site: bool = False
    """Also the numbered stream that the pages of ``live-rate site`` read."""


class JournalConfig(Section):
    """``[journal]``: what was seen and scored, kept over restarts and crashes."""

    enabled: bool = True
    file: str = ""
    """Empty: one for each set of sources, in the platform's folder for state; none for
    the demo, for standard input, and with ``--once``.
    """


class MemoryConfig(Section):
    """``[memory]``: what is held at most; the journal keeps everything."""

    finished_after_h: Hours = 336.0
    """A finished game is released once nothing of it has changed for so long and its
    source has reported newer ones; 0: only of very many.
    """


class DirectorConfig(Section):
    """``[director]``: scenes of OBS switched on moments."""

    url: SocketUrl = ""
    """Of obs-websocket; empty: no director."""
    password_file: str = ""
    dry_run: bool = True
    """It logs what it would switch, and switches nothing."""
    scene: str = "Board {board}"
    """The scene of a board."""
    home_scene: str = ""
    """Back to this one when nothing else is worth telling; empty: it stays."""
    kinds: MomentKinds = ()
    """Moments that are switched to; none: all."""
    stay_s: Seconds = 20.0
    """A scene stays on air for so long at least."""


class NotifyConfig(Section):
    """``[notify]``: people notified through apprise."""

    urls_file: str = ""
    """Addresses of apprise, one a line; empty: nobody is notified."""
    arbiters_file: str = ""
    """Addresses that are sent what needs the arbiter, at once; no other address ever
    is.
    """
    arbiters_from: Severity = "warning"
    """Arbiters are not notified of what is less urgent."""
    what: NoticeKinds = ("begins", "ends", "moments")
    players: Names = ()
    """Full names or FIDE ids; none: everybody's games."""
    lang: Literal["en", "de", "fr", "es", "it", "ru"] = "en"


class StudyConfig(Section):
    """``[study]``: a folder of tables and figures that are shown at ``/study``."""

    folder: str = ""


class LogConfig(Section):
    """``[log]``"""

    level: Literal["debug", "info", "warning", "error"] = "warning"


class Config(Section):
    """Everything that can be set."""

    server: ServerConfig = ServerConfig()
    engine: EngineConfig = EngineConfig()
    rating: RatingConfig = RatingConfig()
    human: HumanConfig = HumanConfig()
    feeds: FeedsConfig = FeedsConfig()
    mqtt: MqttConfig = MqttConfig()
    journal: JournalConfig = JournalConfig()
    memory: MemoryConfig = MemoryConfig()
    director: DirectorConfig = DirectorConfig()
    notify: NotifyConfig = NotifyConfig()
    study: StudyConfig = StudyConfig()
    log: LogConfig = LogConfig()


SETTINGS = setting_types(Config)
"""The type of every setting by its dotted key."""


class GoneSetting(NamedTuple):
    """A setting of versions before 0.4."""

    defaults: frozenset[str]
    """Its default, as :meth:`is_default` reads it from a file and from the
    environment."""
    instead: str
    """What takes its place, a sentence for people."""

    def is_default(self, value: object) -> bool:
        """Whether a value of a file, or a text of the environment, set nothing else."""
        return str(value).strip().lower() in self.defaults


NO_LIST = frozenset({"[]", ""})
WHOLE_DELAY = (
    "The delay is for the whole event: set feeds.delay_s before the round, or press d; it"
    " holds from the next move"
)
GONE = {
    "plugins.use": GoneSetting(
        NO_LIST,
        "Programs of your own read the websocket, JSON or MQTT, and give games as PGN or by"
        " MQTT: live-rate manual programs",
    ),
    "feeds.delay_rounds": GoneSetting(NO_LIST, WHOLE_DELAY),
    "feeds.delay_finished": GoneSetting(frozenset({"true", "1"}), WHOLE_DELAY),
}
"""Settings that went, by dotted key: a file or an environment that has them is still
read."""


# --- dotted keys ----------------------------------------------------------------------

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|min|h|)", re.ASCII)
_UNIT_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def seconds_of(text: str) -> float | None:
    """Seconds as people write them: ``90``, ``90s``, ``15m``, ``1h``; None where it is
    none.
    """
    found = _DURATION.fullmatch(text.strip().lower())
    return float(found[1]) * _UNIT_S[found[2]] if found is not None else None


def flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The values of a TOML file by dotted key, known or not; an unknown empty table is
    one too.
    """
    for name, value in tree.items():
        key = prefix + name
        if isinstance(value, dict) and value:
            yield from flat(value, key + ".")
        elif value != {} or not _is_table(key):
            yield key, value


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    """Values by dotted key as a tree of tables."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        table = tree
        for step in tables:
            table = table.setdefault(step, {})
        table[name] = value
    return tree


def checked(subject: str, key: str, value: object, *, text: bool = False) -> object:
    """``value`` as the type of ``key``, or ConfigError about ``subject``.

    With ``text`` the value is read from a string, as the environment holds it; a list
    has commas between its values.
    """
    if key not in SETTINGS:
        if _is_table(key):
            raise ConfigError(subject, "is a table, not a value", f"Write [{key}] and keys below")
        raise unknown(subject, key, SETTINGS)
    kind = SETTINGS[key]
    # What an environment holds may be any bytes: those of no text come as halves of a
    # letter.
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ConfigError(subject, "is not UTF-8 text", "Write it in UTF-8")
    if text and isinstance(value, str) and _is_list(kind):
        value = [part.strip() for part in value.split(",") if part.strip()]
    given = seconds_of(value) if isinstance(value, str) and kind == Delay else value
    with contextlib.suppress(msgspec.ValidationError):
        converted: object = msgspec.convert(given, kind, strict=not text)
        if not isinstance(converted, float) or math.isfinite(converted):
            return converted
    shown = str(value) if isinstance(value, float) else msgspec.json.encode(value).decode()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    expected = in_words(msgspec.inspect.type_info(kind))
    raise ConfigError(subject, f"{shown} does not fit", f"Expected is {expected}")


def unknown(subject: str, name: str, names: Iterable[str]) -> ConfigError:
    """The error about a name that does not exist, with the nearest that does."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    remedy = f"Did you mean {close[0]}?" if close else "config.toml in the repository lists them."
    gone = "Those that went: live-rate manual changes"
    return ConfigError(subject, "there is no such setting", f"{remedy} {gone}")


def named_text(setting: str, path: str) -> str:
    """The text of the file that a setting names; ``~`` is the home folder.

    Raises:
        ConfigError: it cannot be read.
    """
    return _text(f"{setting} {path}", Path(path).expanduser(), "Correct the path")


def _text(subject: str, path: Path, remedy: str) -> str:
    try:
        return read_regular(path).decode()
    except UnicodeDecodeError:
        raise ConfigError(subject, "is not UTF-8 text", "Save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(subject, f"cannot be read ({error.strerror})", remedy) from None


def in_words(info: msgspec.inspect.Type) -> str:
    """What a type takes. Numbers and patterns need a ``description`` in their
    ``msgspec.Meta``.
    """
    match info:
        case msgspec.inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case msgspec.inspect.UnionType(types=kinds):
            return " or ".join(map(in_words, kinds))
        case msgspec.inspect.LiteralType(values=values):
            return " or ".join(f'"{value}"' for value in values)
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.StrType():
            return "text"
    raise TypeError(f"a setting of type {info} needs a description")


def _is_table(key: str) -> bool:
    return any(known.startswith(key + ".") for known in (*SETTINGS, *GONE))


def _is_list(kind: Any) -> bool:
    info = msgspec.inspect.type_info(kind)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return isinstance(info, msgspec.inspect.VarTupleType)


# --- file, environment, command line --------------------------------------------------


def check_engine(engine: EngineConfig) -> None:
    """Raises ConfigError where settings that are right by themselves contradict each
    other.
    """
    if not (engine.nodes or engine.depth or engine.movetime_ms):
        raise ConfigError(
            "engine.nodes", "0 leaves a search without limit", f"Set one of {', '.join(LIMITS)}"
        )
    if engine.adaptive and engine.depth:
        raise ConfigError(
            "engine.adaptive",
            "a search to a depth cannot end before it",
            "Set engine.nodes or engine.movetime_ms instead of engine.depth, or adaptive to false",
        )
    if engine.reproducible and engine.threads > 1:
        raise ConfigError(
            "engine.threads",
            "several threads never give the same score twice",
            "Set engine.threads to 1 (and engine.engines higher), or engine.reproducible to false",
        )


ENV_PREFIX = "LIVE_RATE_"
ENV_CONFIG_FILE = "LIVE_RATE_CONFIG"
"""Not a setting: names the file to read."""


def find_config_file(
    flag: Path | None, env: Mapping[str, str], cwd: Path | None = None
) -> Path | None:
    """The file to read: ``--config``, ``$LIVE_RATE_CONFIG``, ``./config.toml``, or the
    user's own.

    The first two are taken even where there is no such file, so that the mistake is
    reported. The user's own is ``live-rate/config.toml`` in the platform's folder for
    settings (``~/.config`` on Linux). None where there is none.
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


def load_config(
    path: Path | None, env: Mapping[str, str], overrides: Mapping[str, object]
) -> Config:
    """Reads and checks all settings.

    Args:
        path: The file, or None for no file (see :func:`find_config_file`).
        env: The environment; variables that do not begin with ``LIVE_RATE_`` are not
            looked at.
        overrides: What the command line sets, by dotted key; None means not given.

    Raises:
        ConfigError: names the file or variable, the key, what was expected, and a
            remedy.
    """
    line = "command line"
    flags = {key: value for key, value in overrides.items() if value is not None}
    merged: dict[str, object] = {}
    for where, layer in (
        (str(path), _from_file(path) if path is not None else {}),
        ("environment", from_env(env)),
        (line, {key: checked(f"{line}: {key}", key, value) for key, value in flags.items()}),
    ):
        limits = [key for key in LIMITS if layer.get(key)]
        if len(limits) > 1:
            raise ConfigError(
                f"{where}: {' and '.join(limits)}", "a search has one limit", "Set one of them"
            )
        if limits:
            # A limit of any kind replaces a limit of another kind that was set further
            # down.
            merged |= dict.fromkeys(LIMITS, 0)
        merged |= layer
    config = msgspec.convert(nested(merged), Config)
    check_engine(config.engine)
    return config


def _drop_gone(
    where: str, layer: Mapping[str, object], spell: Callable[[str], str] = str
) -> dict[str, object]:
    """The layer without settings that are gone. Those that were set are said in one
    line for each thing that takes their place; ``spell`` is how ``where`` writes a
    dotted key.
    """
    said: dict[str, list[str]] = {}
    for key, value in layer.items():
        if key in GONE and not GONE[key].is_default(value):
            said.setdefault(GONE[key].instead, []).append(spell(key))
    for instead, names in said.items():
        verb = "is" if len(names) == 1 else "are"
        log.warning("%s: %s: %s gone since 0.4. %s", where, ", ".join(names), verb, instead)
    return {key: value for key, value in layer.items() if key not in GONE}


_PATH = "Correct the path (--config FILE, or LIVE_RATE_CONFIG)"


def _from_file(path: Path) -> dict[str, object]:
    text = _text(str(path), path, _PATH)
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, too long a number, too deep
        raise ConfigError(
            str(path), f"is not valid TOML: {error}", "Text needs quotes, true and false none"
        ) from None
    known = _drop_gone(str(path), dict(flat(tree)))
    layer = {key: checked(f"{path}: {key}", key, value) for key, value in known.items()}
    # The repository's config.toml holds every key, so its default of nodes must give
    # way when somebody sets a depth or a time in it.
    if layer.get("engine.nodes") == EngineConfig().nodes and any(map(layer.get, LIMITS[1:])):
        del layer["engine.nodes"]
    return layer


def variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return ENV_PREFIX + key.replace(".", "_").upper()


def from_env(env: Mapping[str, str]) -> dict[str, object]:
    """What the environment sets, by dotted key.

    Raises:
        ConfigError: a variable sets something that does not exist or fit.
    """
    keys = {variable(key): key for key in (*SETTINGS, *GONE)}
    given: dict[str, object] = {}
    for name, text in env.items():
        if not name.startswith(ENV_PREFIX) or name == ENV_CONFIG_FILE:
            continue
        if name not in keys:
            raise unknown(f"environment: {name}", name, map(variable, SETTINGS))
        given[keys[name]] = text
    return {
        key: checked(f"environment: {variable(key)}", key, text, text=True)
        for key, text in _drop_gone("environment", given, variable).items()
    }
