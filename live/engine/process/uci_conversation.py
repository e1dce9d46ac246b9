"""One engine's side of a UCI conversation, without I/O: bytes in, events out, bytes to send out.

Ours and not ``chess.engine``, because that one reads every principal variation move by move
(1-5 ms of Python a search, more than this room may cost in all), hides whether a score is a
bound's, and waits without end for an engine that hangs under a node or depth limit.

After calling any method, the shell must write what :meth:`UciConversation.to_send` returns. A fault
is raised as :class:`live.errors.EngineFault`; the conversation is over then and the process must
be killed.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from live.engine.process.uci_info import SearchDeepened, UciInfoReader, quoted
from live.engine.search import Limit, SearchResult
from live.engine.search_key import SearchKey
from live.errors import EngineFault
from live.events import Score

#: Longest line an engine may print. Stockfish's longest principal variations are under 2 kB.
MAX_LINE: Final = 65_536
#: Most that an engine may print before ``uciok``, bytes: Stockfish prints 3 kB, Komodo 20 kB.
MAX_GREETING: Final = 1_000_000
#: Lines of no meaning an engine may print in one search before it counts as broken.
MAX_STRAY_LINES: Final = 1_000
#: UCI's own words that may begin a line and that we have no use for.
_IGNORED: Final = (b"info", b"option", b"id", b"copyprotection", b"registration")


class UciSettings(msgspec.Struct, frozen=True):
    """How an engine is set up. Part of what a result depends on."""

    threads: int = 1
    hash_mb: int = 16
    reproducible: bool = True
    """Clear the hash before each search, so that a score depends on position, engine and limit
    alone."""
    adaptive: bool = False
    """Stop a search that has seen enough before its limit."""


class EngineReady(msgspec.Struct, frozen=True):
    """The handshake is over."""

    name: str
    """``id name``."""
    options: tuple[str, ...]
    """What was set, ``Hash=16``, and what else is known to change results, ``EvalFile=…``."""
    chess960: bool
    """Whether it plays Chess960."""


class SearchFinished(msgspec.Struct, frozen=True):
    """The search ended."""

    result: SearchResult
    stopped: bool
    """Stopped early: ``result`` is short of the limit, or empty."""


Event = EngineReady | SearchDeepened | SearchFinished
_State = Literal["new", "greeting", "readying", "idle", "searching", "broken"]


class UciConversation:
    """UCI with one engine process, from ``uci`` to ``quit``."""

    def __init__(self, settings: UciSettings) -> None:
        self._settings = settings
        self._out: list[bytes] = []
        # Bytes after the last line feed.
        self._rest = b""
        self._state: _State = "new"
        self._name = ""
        # Bytes printed before ``uciok``.
        self._greeted = 0
        self._options: dict[str, str] = {}
        # What ``setoption`` last said, so that it is said again only when it changes.
        self._lines = 1
        self._chess960 = False
        # ``isready`` sent since the handshake and not yet answered.
        self._unready = 0
        # The hash was cleared since the last search.
        self._clean = False
        self._stray = 0
        self._stopping = False
        self._listening: UciInfoReader | None = None

    @property
    def greeting(self) -> bool:
        """``uci`` has not been answered with ``uciok`` yet."""
        return self._state in ("new", "greeting")

    @property
    def idle(self) -> bool:
        return self._state == "idle"

    def to_send(self) -> bytes:
        """All bytes to write now; each is handed out once."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def greet(self) -> None:
        """Begin the handshake; ends with a :class:`EngineReady` event."""
        self._state = "greeting"
        self._say("uci")

    def begin(self, search_key: SearchKey) -> None:
        """Start a search; ends with a :class:`SearchFinished` event.

        Everything goes out in one write: UCI lets an engine read on while it works, so the
        cleared hash costs no round trip (the result is the same, measured for Stockfish 15.1 and
        19 lite).
        """
        if self._state != "idle":
            raise RuntimeError(f"begin while {self._state}")
        self._set_up(search_key)
        self.tidy()
        self._clean = False
        self._say(f"position {position_words(search_key)}")
        self._say(f"go {go_words(search_key)}")
        self._state = "searching"
        self._stopping = False
        self._stray = 0
        self._listening = UciInfoReader(search_key, adaptive=self._settings.adaptive)

    def tidy(self) -> None:
        """Clear the hash for the next search, if it must be and is not yet.

        Worth doing while the engine is idle: it takes Stockfish 19 lite 60 ms, against 95 ms for
        100,000 nodes (measured).
        """
        if self._settings.reproducible and not self._clean and self._state == "idle":
            self._say("ucinewgame")
            self._say("isready")
            self._unready += 1
            self._clean = True

    def stop(self) -> None:
        """Ask the running search to end now; a :class:`SearchFinished` event still follows."""
        if self._state == "searching" and not self._stopping:
            self._stopping = True
            self._say("stop")

    def quit(self) -> None:
        """Say good-bye; nothing follows but the end of the process."""
        self._state = "broken"
        self._out.clear()
        self._say("quit")

    def receive(self, data: bytes) -> list[Event]:
        """Read what the engine printed, cut anywhere.

        Raises:
            EngineFault: what it printed cannot be right.
        """
        if self._state == "broken":
            return []
        if self.greeting:
            self._greeted += len(data)
            if self._greeted > MAX_GREETING:
                self._state = "broken"
                raise self._fault(f"more than {MAX_GREETING} bytes before uciok")
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        events: list[Event] = []
        try:
            for line in lines:
                event = self._read(line)
                if event is not None:
                    events.append(event)
            if len(self._rest) > MAX_LINE:
                raise self._fault(f"a line of more than {MAX_LINE} bytes")
        except EngineFault:
            self._state = "broken"
            raise
        return events

    def _say(self, line: str) -> None:
        self._out.append(line.encode() + b"\n")

    def _fault(self, what: str) -> EngineFault:
        return EngineFault(self._name or "engine", what)

    def _set_up(self, search_key: SearchKey) -> None:
        if search_key.lines != self._lines:
            self._say(f"setoption name MultiPV value {search_key.lines}")
            self._lines = search_key.lines
        if search_key.chess960 != self._chess960:
            self._say(f"setoption name UCI_Chess960 value {str(search_key.chess960).lower()}")
            self._chess960 = search_key.chess960

    def _read(self, line: bytes) -> Event | None:
        line = line.strip()
        if self._state == "searching" and line.startswith(b"info "):
            assert self._listening is not None
            had_enough = self._listening.enough
            deepened = self._listening.info(line, self._fault)
            if self._listening.enough and not had_enough:
                # Not :meth:`stop`: the owner gets a full result.
                self._say("stop")
            return deepened
        word = line.split(b" ", 1)[0]
        if word == b"bestmove":
            return self._bestmove(line)
        if word == b"readyok":
            return self._readyok()
        if word == b"uciok" and self._state == "greeting":
            self._configure()
            return None
        if self._state == "greeting":
            self._greeting(line)
        elif line and word not in _IGNORED:
            # Some engines chat, and UCI says to ignore it. Noise may be what is left of a line
            # that counted.
            if not line.decode("utf-8", "replace").replace("\ufffd", "\0").isprintable():
                raise self._fault(f"prints noise: {quoted(line)}")
            self._stray += 1
        if self._stray > MAX_STRAY_LINES:
            raise self._fault(f"prints lines that are no UCI, the last {quoted(line)}")
        return None

    def _greeting(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if text == "uci":
            raise self._fault("echoes what it is told")
        if text.startswith("id name "):
            self._name = text[8:].strip()
        elif text.startswith("option name "):
            # ``option name <id> type <t> [default <x>] …``; names may hold blanks.
            name, _, kind = text[12:].partition(" type ")
            default = kind.partition(" default ")[2]
            self._options[name.strip()] = default.split(" ")[0]
        elif line and not text.startswith("id "):
            self._stray += 1

    def _configure(self) -> None:
        for option, value in (
            ("Threads", self._settings.threads),
            ("Hash", self._settings.hash_mb),
        ):
            if option in self._options:
                self._say(f"setoption name {option} value {value}")
                self._options[option] = str(value)
        self._say("isready")
        self._state = "readying"

    def _readyok(self) -> Event | None:
        if self._state == "readying":
            self._state = "idle"
            # ``EvalFile`` names the network: same name, other network, other scores.
            told = [
                f"{option}={self._options[option]}"
                for option in ("Threads", "Hash", "EvalFile")
                if option in self._options
            ]
            return EngineReady(
                name=self._name or "unnamed engine",
                options=tuple(told),
                chess960="UCI_Chess960" in self._options,
            )
        if self._unready == 0:
            raise self._fault("answered readyok unasked")
        self._unready -= 1
        return None

    def _bestmove(self, line: bytes) -> Event:
        if self._state != "searching" or self._listening is None:
            raise self._fault(f"answered {quoted(line)} unasked")
        if self._unready:
            raise self._fault("answered a search before readyok")
        best = [*line.decode("utf-8", "replace").lower().split(), ""][1]
        search_key, result = self._listening.search_key, self._listening.result(best)
        # Of several lines, and of a search stopped early, it is not that word that counts.
        told = {best, result.best, *(each.move for each in result.lines)} if result else {best}
        if not all(map(search_key.allows, told)):
            raise self._fault(f"answered {quoted(line)} in {position_words(search_key)}")
        if result is None and self._stopping:
            result = SearchResult(Score(0), best, depth=0)  # nobody wants it
        if result is None:
            raise self._fault(f"gave no score for {position_words(search_key)}")
        self._listening = None
        self._state = "idle"
        return SearchFinished(result=result, stopped=self._stopping)


def position_words(search_key: SearchKey) -> str:
    """What follows ``position``."""
    moves = f" moves {' '.join(search_key.moves)}" if search_key.moves else ""
    return f"fen {search_key.fen}{moves}"


def go_words(search_key: SearchKey) -> str:
    """What follows ``go``: the limit, then ``searchmoves``, which takes all words after it."""
    limit = _limit_words(search_key.limit)
    return limit if search_key.only is None else f"{limit} searchmoves {search_key.only}"


def _limit_words(limit: Limit) -> str:
    if limit.nodes is not None:
        return f"nodes {limit.nodes}"
    if limit.depth is not None:
        return f"depth {limit.depth}"
    return f"movetime {limit.movetime_ms}"
