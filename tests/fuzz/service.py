"""What reaches the service from elsewhere: clients, files, engines, and its own
journal.
"""

import asyncio
import contextlib
import datetime as dt
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import chess

from live.commands.read_settings import read_settings
from live.engine.search import Limit
from live.engine.search_key import SearchKey
from live.engine.uci import EngineIdentity, SearchFinished, UciConversation, UciSettings
from live.errors import ConfigError, EngineFault, InputError
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.journal.journal import Journal
from live.journal.journal_reader import JournalRun
from live.messages.from_sources import FeedReport
from live.ratings.model_choice import MODELS
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import Elos
from live.server.analysis import to_json
from live.server.connection import HttpConnection
from live.server.fair_turns import FairTurns
from live.server.limits import ClientLimits
from live.server.server import Publisher
from live.server.tokens import read_tokens
from live.settings import ServerConfig
from live.sources import demo_feed
from tests.fuzz.mutation import HOSTILE, Target
from tests.server.world import Wire, World

# --- clients --------------------------------------------------------------------------


class Visitor(Wire):
    """A connection without a network: what is written is counted and forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: Any = None
        self.sent = 0

    def write(self, data: Any) -> None:
        self.sent += len(data)

    def writelines(self, list_of_data: Any) -> None:
        self.sent += sum(map(len, list_of_data))

    def _end(self) -> None:
        self.ended = True

    close = abort = _end

    def is_closing(self) -> bool:
        return self.ended

    def is_reading(self) -> bool:
        return not self.ended

    def get_write_buffer_size(self) -> int:
        return 0

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("203.0.113.7", 4711) if name == "peername" else default


TOKENS = b"""[[token]]
name = "hall"
sha256 = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
events = ["Open A"]

[[token]]
name = "arbiter"
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
arbiter = true
expires = 2030-01-01
"""
#: SHA-256 of these words stands in the file above.
SECRET = "secret"


#: Nobody is turned away.
LIMITS = ClientLimits(handshakes_burst=1e9, handshakes_per_address_burst=1e9)


@cache
def _publisher(tokens: bool) -> Publisher:
    """A service that is never entered: no socket, no timer."""
    with _file(TOKENS, "tokens.toml") as path:
        config = ServerConfig(port=0, tokens_file=str(path) if tokens else "")
        return Publisher(config, World(3), clock=lambda: 0.0, limits=LIMITS)


async def _visit(publisher: Publisher, data: bytes) -> None:
    """Bytes from one client."""
    unheard: list[dict[str, Any]] = []
    handler = lambda _, context: unheard.append(context)  # noqa: E731
    asyncio.get_running_loop().set_exception_handler(handler)
    wire = Visitor()
    wire.protocol = HttpConnection(publisher.clients, FairTurns(), lambda: 0.0, LIMITS)
    wire.protocol.connection_made(wire)
    try:
        step = 0
        while data and not wire.ended:
            step = 1 + (step * 31 + data[0]) % 1500
            wire.protocol.data_received(data[:step])
            data = data[step:]
            await asyncio.sleep(0)
        for _ in range(40):  # requests that came together are answered one a turn
            await asyncio.sleep(0)
        if not wire.ended:
            wire.protocol.eof_received()
        publisher.sweep_connections_and_streams()
        publisher.audiences.public.flush()
    finally:
        wire.protocol.connection_lost(None)
    assert wire.sent < 50_000_000
    assert not publisher.clients.connections, "a connection stays behind"
    assert publisher.tally.subscribers == 0, "a subscriber stays behind"
    assert not unheard, unheard


def http(data: bytes) -> None:
    """Without tokens, and where they are asked for."""
    for tokens in (False, True):
        asyncio.run(_visit(_publisher(tokens), data))


REQUESTS = (
    b"GET /api/v3/games?event=Open%20A HTTP/1.1\r\nHost: localhost\r\n"
    b"Accept-Encoding: gzip\r\n\r\n"
    b'HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: W/"x"\r\n\r\n'
    b"GET /api/v3/games/x.pgn?form=alliot HTTP/1.1\r\nHost: localhost\r\n"
    b"Origin: https://example.org\r\nContent-Length: 3\r\n\r\nabc",
    b"GET /v3/live?event=a&player=b&since=5&epoch=x HTTP/1.1\r\nHost: localhost\r\n"
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer "
    + SECRET.encode()
    + b"\r\n\r\n",
    b"OPTIONS * HTTP/1.0\r\n\r\n",
)
UPGRADE = (
    b"GET /v3/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: "
    b"websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def _frame(first: int, payload: bytes) -> bytes:
    n = len(payload)
    size = bytes([0x80 | n]) if n < 126 else b"\xfe" + n.to_bytes(2, "big")
    return bytes([first]) + size + b"\0\0\0\0" + payload


FRAMES = (
    _frame(0x81, b'{"type":"token","token":"' + SECRET.encode() + b'"}')
    + _frame(0x89, b"ping"),
    _frame(0x01, b"half") + _frame(0x80, b"whole") + _frame(0x88, b"\x03\xe8bye"),
    _frame(0x82, b"\0" * 200) + _frame(0x8A, b""),
)
HTTP_TOKENS = (
    *HOSTILE,
    b"GET ",
    b" HTTP/1.1",
    b"\r\n",
    b"Host: ",
    b"Content-Length: ",
    b"Upgrade: websocket",
    b"Transfer-Encoding: chunked\r\n",
    b"5\r\nabcde\r\n",
    b"Sec-WebSocket-",
    b"?since=",
    b"&epoch=",
    b"&game=",
    b"&detail=",
    b"%2e%2e/",
    b"%FF",
    b"Authorization: Bearer ",
    b"?token=",
    b"Origin: null",
)
FRAME_TOKENS = (
    *HOSTILE,
    b"\x81\x80",
    b"\x88\x80",
    b"\x89\xfe\xff\xff",
    b"\x81\xff" + b"\x7f" * 8,
    b"\xc1\x80",
    b"\0\0\0\0",
    b'{"type":"token"',
    b'"token":',
)


def frames(data: bytes) -> None:
    """What a client says once it is connected; where tokens are asked for, its first
    message.
    """
    http(UPGRADE + data)


# --- files ----------------------------------------------------------------------------


def tokens(data: bytes) -> None:
    for token in read_tokens(data.decode("utf-8", "replace"), "tokens.toml").values():
        token.has_expired(dt.datetime(2026, 1, 1, tzinfo=dt.UTC))


@contextlib.contextmanager
def _file(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def config(data: bytes) -> None:
    with _file(data, "config.toml") as path:
        read_settings(path, {}, {})


def environment(data: bytes) -> None:
    """NAME=VALUE lines."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    pairs = [line.partition("=") for line in lines]
    read_settings(None, {name: value for name, _, value in pairs}, {})


CONFIG = (Path(__file__).resolve().parents[2] / "config.toml").read_bytes()


def model(data: bytes) -> None:
    MoveReader((MODELS.decode(data, "mine.json"),)).compare_turn(
        Turn(gain_cp=-30, score_before_cp=20, ply=30), Elos(2000.0, None)
    )


# --- engines --------------------------------------------------------------------------

HELLO = b"""id name Stockfish 19 Lite
option name Hash type spin default 16 min 1 max 33554432
option name Threads type spin default 1 min 1 max 1024
option name UCI_Chess960 type check default false
option name MultiPV type spin default 1 min 1 max 500
option name EvalFile type string default nn.nnue
uciok
readyok
"""
ANSWER = b"""readyok
info string NNUE evaluation using nn.nnue
info depth 1 seldepth 2 multipv 1 score cp 35 nodes 20 nps 20000 tbhits 0 time 1 pv e2e4
info depth 9 seldepth 12 multipv 1 score cp 31 lowerbound nodes 900 time 1 pv e2e4 e7e5
info depth 10 seldepth 12 multipv 2 score mate -3 nodes 999 nps 20000 time 1 pv d2d4
info depth 10 currmove e2e4 currmovenumber 1
bestmove e2e4 ponder e7e5
"""
UCI_TOKENS = (
    *HOSTILE,
    b"\nbestmove ",
    b"bestmove (none)\n",
    b"bestmove 0000\n",
    b"info ",
    b" score cp ",
    b" score mate ",
    b" depth ",
    b" multipv ",
    b" nodes ",
    b" pv ",
    b" lowerbound",
    b"\nreadyok\n",
    b"\nuciok\n",
    b"option name ",
    b"id name ",
    b" upperbound",
    b"info string ",
)


def engine(data: bytes) -> None:
    """An engine that says these bytes, in both halves of its life and cut anywhere."""
    for lines, adaptive in ((1, False), (3, True)):
        conversation = UciConversation(UciSettings(adaptive=adaptive), len)
        search_key = SearchKey(chess.STARTING_FEN, (), Limit(nodes=1000), lines=lines)
        half = data.find(ANSWER[:7])
        hello, answers = (
            (HELLO, data) if half < 0 else (data[:half] or HELLO, data[half:])
        )
        events: list[object] = []
        for piece in (hello[: len(hello) // 2], hello[len(hello) // 2 :]):
            events += conversation.receive(piece)
        if not any(isinstance(event, EngineIdentity) for event in events):
            continue
        conversation.begin_search(search_key)
        for at in range(0, len(answers), 41):
            for event in conversation.receive(answers[at : at + 41]):
                if isinstance(event, SearchFinished):
                    assert event.stopped or search_key.can_be_best(event.result.best), (
                        event
                    )
        conversation.stop_search()


# --- the journal ----------------------------------------------------------------------


def _journal() -> bytes:
    """A journal as it is made: a run, a game, a note."""
    with _file(b"", "journal.sqlite") as path:
        with Journal(path) as journal:
            journal.begin_run(
                JournalRun(version="1", engine_name="x", identity="x", limit="1 node")
            )
            for step in plan_report_steps(
                GameIndex(), FeedReport("demo", tuple(demo_feed.read_demo_games()[:1]))
            ):
                journal.add_change(step)
            journal.add_note("alert", b"{}", "g")
            journal.wait_until_written()
        # What the log beside it holds goes into the one file.
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
        return path.read_bytes()


def journal(data: bytes) -> None:
    with _file(data, "journal.sqlite") as path, Journal(path) as opened:
        opened.read_restorable_games(b"")
        opened.read_notes()
        opened.add_note("alert", b"{}", "g")
        opened.wait_until_written(1.0)


_TOML = (*HOSTILE, b"[[token]]", b"[engine]\n", b"expires = ", b"= ", b'""', b"nodes")
TARGETS = (
    Target("http", http, REQUESTS, HTTP_TOKENS),
    Target("frames", frames, FRAMES, FRAME_TOKENS),
    Target("tokens", tokens, (TOKENS,), _TOML, (ConfigError,)),
    Target("config", config, (CONFIG,), _TOML, (ConfigError,)),
    Target(
        "environment",
        environment,
        (b"LIVE_RATE_ENGINE_NODES=5\nLIVE_RATE_SERVER_HOSTS=a,b",),
        (*HOSTILE, b"LIVE_RATE_", b"=", b","),
        (ConfigError,),
    ),
    Target(
        "model",
        model,
        (to_json(MODELS.load("classical")),),
        (*HOSTILE, b",", b":", b"[", b"]"),
        (InputError,),
    ),
    Target("engine", engine, (HELLO + ANSWER, ANSWER), UCI_TOKENS, (EngineFault,)),
    Target("journal", journal, (_journal(),), HOSTILE),
)
