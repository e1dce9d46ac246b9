"""Every setting, with its type, its default and its meaning.

``config.toml`` at the top of the repository shows them with their defaults.
:mod:`live.commands.read_settings` reads them; :mod:`live.setting_keys` lists them by
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
    """Base of all sections: a section is immutable and accepts no unknown fields."""


class EngineConfig(Section):
    """``[engine]``: the engine program, the limit of a search, the number of processes.

    Exactly one of ``nodes``, ``depth`` and ``movetime_ms`` is above 0 after the
    settings have been read.
    """

    path: str = ""
    """Program to run; if empty, an installed Stockfish or else the embedded one."""
    nodes: Count = 100_000
    depth: Count = 0
    movetime_ms: Count = 0
    engines: Count = 0
    """Number of engine processes; 0 means one per processor core, minus one for every
    eight cores, divided by ``threads``.
    """
    hash_mb: HashSize = 16
    threads: Positive = 1
    reproducible: bool = True
    multipv: Lines = 1
    same_depth: bool = False
    """Whether the move played is searched to the depth of the best move's search,
    whatever the limit.
    """
    adaptive: bool = False
    """Whether a search ends early when its score is stable."""
    speculate: bool = True
    cluster: ClusterUrl = ""
    """Address of a Dask scheduler; if empty, all searches run on this machine."""
    nice: Nice = 5
    start_s: Seconds = 60.0
    """Time limit for an engine to become ready after its start, in seconds."""


class ServerConfig(Section):
    """``[server]``: the one port for websockets, pages and JSON."""

    host: Host = "127.0.0.1"
    port: Port = 8765
    """Port to listen on; 0 takes any free one."""
    public: bool = False
    """Whether anyone who reaches the port can read without a token."""
    tokens_file: str = ""
    """File of tokens and their rights; see :mod:`live.server.tokens`."""
    hide_scores: bool = False
    """Whether everything that comes from an engine is hidden from readers without an
    arbiter's token, for use at venues.
    """
    hosts: Hosts = ()
    """Host names that requests can use, besides the names of this machine. If empty,
    any name is accepted, except on a loopback address.
    """
    origins: Origins = ()
    frames: Frames = ()
    """Origins whose pages are allowed to show our pages in a frame."""
    certificate_file: str = ""
    """Certificate chain in PEM; if given, the port speaks TLS."""
    key_file: str = ""
    """Private key; if empty, the certificate's file contains it."""
    max_connections: Positive = 10_000


class RatingConfig(Section):
    """``[rating]``: the kind of gain, the engine's rating, and the models."""

    gain: GainKind = "same-search"
    engine_rating: Literal["field"] | Elo = "field"
    engine_distribution: str = "spike"
    """Distribution of the engine's own gains: ``spike`` if all are 0, ``measured`` for
    the measurement that comes with live-rate, or a file's path.
    """
    model: str = "auto"
    """Model for perceived ratings: ``auto``, ``none``, the name of a shipped model, or
    a file's path.
    """
    intrinsic: str = "auto"
    """Table for choices among several lines: ``auto``, ``none``, or a file's path."""


class LichessConfig(Section):
    """``[feeds.lichess]``: access to lichess."""

    base_url: HttpUrl = "https://lichess.org"
    token_file: str = ""


class LiveChessCloudConfig(Section):
    """``[feeds.livechess_cloud]``: access to LiveChess Cloud."""

    base_url: HttpUrlOrNone = ""
    """Address that replaces scheme and host of every request, including the look-up of
    the host.
    """


class MqttFeedConfig(Section):
    """``[feeds.mqtt]``: details that the address of a broker does not contain."""

    password_file: str = ""
    ca_file: str = ""
    """File of certificates to trust; if empty, the operating system's."""
    client_id: str = ""
    """Client name at the broker; if empty, made from this machine's name and the
    source's address.
    """


class HumanConfig(Section):
    """``[human]``: the neural network that predicts what people play."""

    enabled: bool = True
    """Whether the neural network is asked about every position; it needs
    onnxruntime.
    """
    network: str = ""
    """ONNX file; if empty, the network that comes with live-rate."""


class FeedsConfig(Section):
    """``[feeds]``: settings for all sources, and one table per kind of source."""

    poll_s: Seconds = 2.0
    """Time between two requests to a source, in seconds; longer waits are multiples of
    it.
    """
    timeout_s: Seconds = 10.0
    stale_after_s: Seconds = 300.0
    charset: Charset = ""
    """Charset of PGN that is not UTF-8; if empty, the one that the server names, or
    else the most likely one.
    """
    rating_list: str = ""
    """File of rated players; if empty, a list in the folder of the PGN file, if any."""
    pairing_list: str = ""
    """CSV file of pairings, for boards without names; if empty, a list in the folder of
    the PGN file, if there is one.
    """
    delay_s: Delay = 0.0
    """Delay of everything that the public sees, moves and scores alike, in seconds."""
    lichess: LichessConfig = LichessConfig()
    livechess_cloud: LiveChessCloudConfig = LiveChessCloudConfig()
    mqtt: MqttFeedConfig = MqttFeedConfig()

    @property
    def settle_s(self) -> float:
        """Time after which a last game without a result token counts as complete, in
        seconds.
        """
        return self.poll_s / 2

    @property
    def finish_after_s(self) -> float:
        """Time without changes after which a source with all results has ended, in
        seconds.

        Without ``--once``, a source that might contain the next round is still read.
        """
        return 10 * self.poll_s

    @property
    def lost_after_s(self) -> float:
        """Time for which boards or moves that a source has lost are kept and marked, in
        seconds.

        A file or page can be incomplete while it is being uploaded.
        """
        return 30 * self.poll_s


class MqttConfig(Section):
    """``[mqtt]``: messages sent to a broker, to reach more readers than one machine can
    serve.
    """

    publish: BrokerUrl = ""
    prefix: TopicPrefix = "live-rate"
    password_file: str = ""
    ca_file: str = ""
    """File of certificates to trust for ``mqtts``; if empty, the operating system's."""
    site: bool = False
    """Whether to also send the numbered stream for the pages of ``live-rate site``."""


class JournalConfig(Section):
    """``[journal]``: reports and scores, kept over restarts and crashes."""

    enabled: bool = True
    file: str = ""
    """Path of the journal; if empty, one file for each set of sources, in the
    platform's folder for state.

    No journal is kept for the demo, for standard input, and with ``--once``.
    """


class MemoryConfig(Section):
    """``[memory]``: limits for what is kept in memory; the journal keeps everything."""

    finished_after_h: Hours = 336.0
    """Hours without a change after which a finished game is removed from memory, if its
    source has reported newer games; 0 removes games only if there are very many.
    """


class DirectorConfig(Section):
    """``[director]``: switching of OBS scenes at moments worth showing."""

    url: SocketUrl = ""
    """Address of obs-websocket; if empty, no scenes are switched."""
    password_file: str = ""
    dry_run: bool = True
    """Whether the director only logs what it would switch."""
    scene: str = "Board {board}"
    """Name of a board's scene."""
    home_scene: str = ""
    """Scene to return to when there is nothing else to show; if empty, the last one
    stays.
    """
    kinds: MomentKinds = ()
    """Kinds of moments at which scenes are switched; if empty, all."""
    stay_s: Seconds = 20.0
    """Minimum time that a scene stays on air, in seconds."""


class NotifyConfig(Section):
    """``[notify]``: messages to people, sent through apprise."""

    urls_file: str = ""
    """File of apprise addresses, one per line; if empty, nobody is notified."""
    arbiters_file: str = ""
    """File of arbiters' addresses, to which alerts are sent at once; no other address
    receives alerts.
    """
    arbiters_from: Severity = "warning"
    """Lowest severity of alerts sent to arbiters."""
    what: NoticeKinds = ("begins", "ends", "moments")
    players: Names = ()
    """Full names or FIDE ids of the players to report; if empty, all."""
    lang: Literal["en", "de", "fr", "es", "it", "ru"] = "en"


class StudyConfig(Section):
    """``[study]``: a folder of tables and figures that is served at ``/study``."""

    folder: str = ""


class LogConfig(Section):
    """``[log]``: how much is logged."""

    level: Literal["debug", "info", "warning", "error"] = "warning"


class Config(Section):
    """All settings."""

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
