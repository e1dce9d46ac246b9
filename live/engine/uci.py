"""One engine's side of a UCI conversation, without I/O: bytes in, events out, bytes to send out.

Ours and not ``chess.engine``, because that one reads every principal variation move by move (1-5 ms
of Python a search, more than this room may cost in all), hides whether a score is a bound's, and
waits without end for an engine that hangs under a node or depth limit.

After calling any method, the shell must write what :meth:`UciConversation.to_send` returns. A fault
is raised as :class:`live.errors.EngineFault`; the conversation is over then and the process must be
killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, Literal

import msgspec

from live.engine.search import Limit, Line, SearchKey, SearchProgress, SearchResult
from live.errors import EngineFault
from live.events import MATE_CP, Score


def used_share(limit: Limit, nodes: int, time_ms: int) -> float:
    """How much of the limit is used up, 0 to 1; nothing of a limit of depth."""
    if limit.nodes is not None:
        return nodes / limit.nodes
    return time_ms / limit.movetime_ms if limit.movetime_ms is not None else 0.0


def enough(by_depth: Sequence[Score | None], used: float) -> bool:
    """Whether a search may stop before its limit, at the end of an iteration.

    Always after three quarters of the limit; else after a quarter plus a fortieth for each
    centipawn by which the scores of the last three depths differ.

    Source: Alliot 2017, section 2.3. His limit was four minutes and the time to stop
    4 x (10 + max |difference|) / 40 minutes; here times are shares of the limit. Under a limit of
    nodes the result depends only on what the engine prints, so it is the same every time. His
    second condition (a game decided for three turns) is left out: the score of a position would
    depend on the scores before it, and boards could not share it.

    Args:
        by_depth: exact score after each depth from 1, the one just finished last.
        used: share of the limit, 0 to 1.
    """
    if used >= 0.75:
        return True
    last = [score.cp for score in by_depth[-3:] if score is not None]
    if len(last) < 3:
        return False
    return used > (10 + max(last) - min(last)) / 40


class UciInfoReader:
    """What the info lines of one search have given so far."""

    def __init__(self, search_key: SearchKey, *, adaptive: bool = False) -> None:
        self.search_key = search_key
        # Restricted searches are made for comparison, to their own limit.
        self._adaptive = adaptive and search_key.only is None
        self.enough = False
        """The search need not go on; what it prints from now on does not count."""
        turn = (search_key.fen.split(" ", 2)[1] == "w") == (len(search_key.moves) % 2 == 0)
        self._sign = 1 if turn else -1
        # The last line with a score, bound or not, and the last exact one.
        self._last: tuple[int, Score] | None = None
        self._exact: tuple[int, Score] | None = None
        self._exact_best = ""
        self._by_depth: list[Score | None] = []
        # The last of each number that was reported.
        self._numbers: dict[bytes, int] = {}
        # Multi-PV: the lines of the depth being reported, by rank, and the last full set.
        self._ranks: dict[int, Line] = {}
        self._full: tuple[Line, ...] = ()

    def info(self, line: bytes, fault: Callable[[str], EngineFault]) -> SearchProgress | None:
        """Take a line; gives what it shows where that is an exact score at a new depth."""
        if self.enough or line.startswith(b"info string"):
            return None
        if not line.isascii():
            raise fault(f"unreadable line {quoted(line)}")
        if b" score " not in line:
            return None
        head, _, pv = line.partition(b" pv ")
        words = head.split()
        try:
            given = {word: int(value) for word, value in pairwise(words) if word in _NUMBERS}
            score = _score(words, self._sign)
        except (ValueError, IndexError):
            raise fault(f"unreadable line {quoted(line)}") from None
        depth, rank = given.get(b"depth", 0), given.get(b"multipv", 1)
        if not 0 <= depth <= 1000:
            raise fault(f"impossible depth in {quoted(line)}")
        self._numbers |= given
        exact = b"lowerbound" not in words and b"upperbound" not in words
        complete = self.search_key.lines == 1
        if not complete:
            if rank == 1:
                # A new report. Lines of the last one are none of its own, also where it begins
                # with a bound: the moves may have changed ranks.
                self._ranks.clear()
            complete = exact and self._rank(rank, depth, score, pv)
        if rank != 1:
            self._consider(complete)
            return None
        self._last = (depth, score)
        if not exact:
            return None
        self._exact = (depth, score)
        self._exact_best = _first(pv)
        if depth < 1:
            return None
        while len(self._by_depth) < depth:
            self._by_depth.append(None)
        self._by_depth[depth - 1] = score
        self._consider(complete)
        return SearchProgress(score=score, depth=depth)

    def _consider(self, complete: bool) -> None:
        """Stop early? Only where all requested lines have been searched to the same depth."""
        if self._adaptive and complete:
            numbers = self._numbers
            used = used_share(
                self.search_key.limit, numbers.get(b"nodes", 0), numbers.get(b"time", 0)
            )
            self.enough = enough(self._by_depth, used)

    def _rank(self, rank: int, depth: int, score: Score, pv: bytes) -> bool:
        """Take one of several lines; whether it completes a set of the same depth.

        A search that is stopped before its first node reports every line without a move.
        """
        if not pv.strip():
            return False
        self._ranks[rank] = Line(move=_first(pv), score=score, depth=depth)
        top = self._ranks.get(1)
        if (
            top is not None
            and len(self._ranks) >= len(self._full)
            and list(self._ranks) == list(range(1, len(self._ranks) + 1))
            and all(line.depth == top.depth for line in self._ranks.values())
        ):
            self._full = tuple(self._ranks.values())
            return len(self._full) == self.search_key.lines
        return False

    def result(self, best: str) -> SearchResult | None:
        """What was found, or None when no score was ever reported.

        A whole search counts its last exact line (and, should an engine never print one, its
        last bound); a restricted one its last line; one of several lines the best of the last
        full set, so that all its scores are of the same depth (Alliot 2017, section 2.3).
        """
        told = self._last if self.search_key.only is not None else self._exact or self._last
        if told is None:
            return None
        depth, score = told
        exact_best = self._exact_best
        if self._full:
            depth, score, exact_best = self._full[0].depth, self._full[0].score, self._full[0].move
        if self._full or self.enough:
            best = exact_best
        return SearchResult(
            score=score,
            best=best,
            depth=depth,
            by_depth=tuple(self._by_depth),
            nodes=self._numbers.get(b"nodes", 0),
            time_ms=self._numbers.get(b"time", 0),
            exact_best=exact_best,
            lines=self._full,
            seldepth=self._numbers.get(b"seldepth", 0),
            tbhits=self._numbers.get(b"tbhits", 0),
        )


_NUMBERS: Final = frozenset((b"depth", b"seldepth", b"multipv", b"nodes", b"tbhits", b"time"))


def _score(words: list[bytes], sign: int) -> Score:
    """``score cp X`` or ``score mate N`` turned to White's side and clamped."""
    at = words.index(b"score")
    kind, value = words[at + 1], sign * int(words[at + 2])
    if kind == b"cp":
        return Score(cp=max(-MATE_CP, min(MATE_CP, value)))
    if kind != b"mate" or value == 0:
        # In ``mate 0`` the side to move is mated, which no position we send is.
        raise ValueError
    return Score(cp=MATE_CP if value > 0 else -MATE_CP, mate=value)


def _first(pv: bytes) -> str:
    """The move a principal variation begins with."""
    return pv.split(b" ", 1)[0].strip().decode("utf-8", "replace")


def quoted(line: bytes) -> str:
    """The beginning of a line, harmless to print."""
    return repr(line[:80].decode("utf-8", "replace"))


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


Event = EngineReady | SearchProgress | SearchFinished
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
        self._said = {"MultiPV": "1", "UCI_Chess960": "false"}
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
        self._set("MultiPV", search_key.lines)
        self._set("UCI_Chess960", str(search_key.chess960).lower())
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

    def _set(self, option: str, value: object) -> None:
        if self._said.get(option) != str(value):
            self._said[option] = str(value)
            self._say(f"setoption name {option} value {value}")

    def _read(self, line: bytes) -> Event | None:
        line = line.strip()
        word = line.split(b" ", 1)[0]
        if self._state == "searching" and word == b"info" and self._listening is not None:
            had_enough = self._listening.enough
            deepened = self._listening.info(line, self._fault)
            if self._listening.enough and not had_enough:
                # Not :meth:`stop`: the owner gets a full result.
                self._say("stop")
            return deepened
        if word == b"bestmove":
            return self._bestmove(line)
        if word == b"readyok":
            return self._readyok()
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
        if text.partition(" ")[0] == "uciok":
            self._configure()
        elif text.startswith("id name "):
            self._name = text[8:].strip()
        elif text.startswith("option name "):
            # ``option name <id> type <t> [default <x>] …``; names may hold blanks.
            name, _, kind = text[12:].partition(" type ")
            default = kind.partition(" default ")[2]
            self._options[name.strip()] = default.split(" ")[0]
        elif line and not text.startswith("id "):
            self._stray += 1

    def _configure(self) -> None:
        settings = (("Threads", self._settings.threads), ("Hash", self._settings.hash_mb))
        for option, value in settings:
            if option in self._options:
                self._set(option, value)
                self._options[option] = str(value)
        self._say("isready")
        self._state = "readying"

    def _readyok(self) -> Event | None:
        if self._state == "readying":
            self._state = "idle"
            # ``EvalFile`` names the network: same name, other network, other scores.
            options = self._options
            return EngineReady(
                name=self._name or "unnamed engine",
                options=tuple(
                    f"{option}={options[option]}"
                    for option in ("Threads", "Hash", "EvalFile")
                    if option in options
                ),
                chess960="UCI_Chess960" in options,
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
    limit = search_key.limit
    words = f"movetime {limit.movetime_ms}"
    if limit.nodes is not None:
        words = f"nodes {limit.nodes}"
    elif limit.depth is not None:
        words = f"depth {limit.depth}"
    return words if search_key.only is None else f"{words} searchmoves {search_key.only}"
