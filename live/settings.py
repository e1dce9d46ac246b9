"""Every setting, with its type, its default and what it means.

``config.toml`` at the top of the repository shows them with their defaults.
:mod:`live.commands.read_settings` reads them, :mod:`live.setting_keys` knows them by
dotted key.
"""

from typing import Annotated, Literal

from msgspec import Meta

from live.messages.alerts import Severity
from live.messages.figures import GainKind
from live.messages.moments import MomentKind
from live.messages.values import Value

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
Hours = Annotated[
    float, Meta(ge=0, le=87_600, description="hours, 0 for never, up to 87600")
]
Host = Annotated[str, Meta(min_length=1, description="a host name or address")]
_CHARSETS = "a charset such as cp1251, or empty"
Charset = Annotated[str, Meta(pattern="^[A-Za-z0-9_.:-]{0,40}$", description=_CHARSETS)]
_HTTP = "a URL with http:// or https://"
HttpUrl = Annotated[str, Meta(pattern="^https?://[^/]", description=_HTTP)]
HttpUrlOrNone = Annotated[
    str, Meta(pattern="^(https?://[^/]|$)", description=f"{_HTTP}, or empty")
]
_SOCKETS = "a URL with ws:// or wss://, or empty"
SocketUrl = Annotated[str, Meta(pattern="^(wss?://[^/]|$)", description=_SOCKETS)]
_CLUSTERS = "a Dask scheduler's address with tcp:// or tls://, or empty"
ClusterUrl = Annotated[
    str, Meta(pattern="^((tcp|tls|ws|wss)://[^/]|$)", description=_CLUSTERS)
]
_BROKERS = "mqtt://[USER@]HOST[:PORT] or mqtts://… without a password, or empty"
BrokerUrl = Annotated[
    str,
    Meta(
        pattern="^(mqtts?://([^/:@]+@)?([^/:@\\[\\]]+|\\[[^/@]+\\])(:[0-9]{1,5})?/?|)$",
        description=_BROKERS,
    ),
]
_TOPIC = "^[^/+#$\\x00]([^+#\\x00]*[^/+#\\x00])?$"
TopicPrefix = Annotated[
    str, Meta(pattern=_TOPIC, description="a topic without + and #")
]

# --- lists ---
Names = Annotated[
    tuple[str, ...], Meta(description='a list such as ["Carlsen, Magnus"]')
]
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


class EngineConfig(Section):
    """``[engine]``: which engine, how long it thinks, how many run.

    Exactly one of ``nodes``, ``depth`` and ``movetime_ms`` is above 0 once they are
    read.
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
    loopback."""
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
    ``measured``, a shipped count; or a file's path."""
    model: str = "auto"
    """What perceived ratings are read by: ``auto``, ``none``, the name of a shipped
    model, or a file's path."""
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
    """What the public sees, moves and scores alike, is held back for so long."""
    lichess: LichessConfig = LichessConfig()
    livechess_cloud: LiveChessCloudConfig = LiveChessCloudConfig()
    mqtt: MqttFeedConfig = MqttFeedConfig()

    @property
    def settle_s(self) -> float:
        """After so long, a last game without a result token is taken as complete."""
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
    the demo, for standard input, and with ``--once``."""


class MemoryConfig(Section):
    """``[memory]``: what is held at most; the journal keeps everything."""

    finished_after_h: Hours = 336.0
    """A finished game is released once nothing of it has changed for so long and its
    source has reported newer ones; 0: only of very many."""


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
    is."""
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
