"""One engine's side of a UCI conversation, without I/O: bytes in, events out, bytes to send out.

Ours and not ``chess.engine``, because that one reads every principal variation move by move
(1-5 ms of Python a search, more than this room may cost in all), hides whether a score is a
bound's, and waits without end for an engine that hangs under a node or depth limit.

After calling any method, the shell must write what :meth:`Conversation.to_send` returns. A fault
is raised as :class:`live.errors.EngineFault`; the conversation is over then and the process must
be killed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from live.engine.question import Question
from live.engine.search import Limit, Line, Progress, SearchResult
from live.errors import EngineFault
from live.events import MATE_CP, Score

#: Longest line an engine may print. Stockfish's longest principal variations are under 2 kB.
MAX_LINE: Final = 65_536
#: Lines of no meaning an engine may print in one search before it counts as broken.
MAX_STRAY_LINES: Final = 1_000
#: UCI's own words at the beginning of a line that we have no use for.
_IGNORED: Final = (b"info", b"option", b"id", b"copyprotection", b"registration")


class Settings(msgspec.Struct, frozen=True):
    """How an engine is set up. Part of what a result depends on."""

    threads: int = 1
    hash_mb: int = 16
    reproducible: bool = True
    """Clear the hash before each search, so that a score depends on position, engine and limit
    alone."""


class Ready(msgspec.Struct, frozen=True):
    """The handshake is over."""

    name: str
    """``id name``."""
    options: tuple[str, ...]
    """What was set, ``Hash=16``, and what else is known to change results, ``EvalFile=…``."""
    chess960: bool
    """Whether it plays Chess960."""


class Deepened(msgspec.Struct, frozen=True):
    """An exact score at a new depth."""

    progress: Progress


class Finished(msgspec.Struct, frozen=True):
    """The search ended."""

    result: SearchResult
    stopped: bool
    """We asked for the end: the limit may not have been reached."""


Event = Ready | Deepened | Finished
_State = Literal["new", "greeting", "readying", "idle", "searching", "broken"]


class Conversation:
    """UCI with one engine process, from ``uci`` to ``quit``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._out: list[bytes] = []
        # Bytes after the last line feed.
        self._rest = b""
        self._state: _State = "new"
        self._name = ""
        self._options: dict[str, str] = {}
        # What ``setoption`` last said, so that it is said again only when it changes.
        self._lines = 1
        self._chess960 = False
        # ``isready`` sent before the running search and not yet answered.
        self._unready = 0
        self._stray = 0
        self._stopping = False
        self._listening: _Listening | None = None

    @property
    def idle(self) -> bool:
        return self._state == "idle"

    def to_send(self) -> bytes:
        """All bytes to write now; each is handed out once."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def greet(self) -> None:
        """Begin the handshake; ends with a :class:`Ready` event."""
        self._state = "greeting"
        self._say("uci")

    def begin(self, question: Question) -> None:
        """Start a search; ends with a :class:`Finished` event.

        Everything goes out in one write: UCI lets an engine read on while it works, so the
        cleared hash costs no round trip (the result is the same, measured for Stockfish 15.1 and
        19 lite).
        """
        if self._state != "idle":
            raise RuntimeError(f"begin while {self._state}")
        self._set_up(question)
        if self._settings.reproducible:
            self._say("ucinewgame")
            self._say("isready")
            self._unready += 1
        self._say(f"position {position_words(question)}")
        self._say(f"go {go_words(question)}")
        self._state = "searching"
        self._stopping = False
        self._stray = 0
        self._listening = _Listening(question)

    def stop(self) -> None:
        """Ask the running search to end now; a :class:`Finished` event still follows."""
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

    def _set_up(self, question: Question) -> None:
        if question.lines != self._lines:
            self._say(f"setoption name MultiPV value {question.lines}")
            self._lines = question.lines
        if question.chess960 != self._chess960:
            self._say(f"setoption name UCI_Chess960 value {str(question.chess960).lower()}")
            self._chess960 = question.chess960

    def _read(self, line: bytes) -> Event | None:
        line = line.strip()
        if self._state == "searching" and line.startswith(b"info "):
            assert self._listening is not None
            return self._listening.info(line, self._fault)
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
            self._stray += 1
        if self._stray > MAX_STRAY_LINES:
            raise self._fault(f"prints lines that are no UCI, the last {_quoted(line)}")
        return None

    def _greeting(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
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
            return Ready(
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
            raise self._fault(f"answered {_quoted(line)} unasked")
        if self._unready:
            raise self._fault("answered a search before readyok")
        words = line.decode("utf-8", "replace").split()
        best = words[1].lower() if len(words) > 1 else ""
        question = self._listening.question
        if not question.allows(best):
            raise self._fault(f"answered {_quoted(line)} in {position_words(question)}")
        result = self._listening.result(best)
        if result is None:
            raise self._fault(f"gave no score for {position_words(question)}")
        self._listening = None
        self._state = "idle"
        return Finished(result=result, stopped=self._stopping)


class _Listening:
    """What the info lines of one search have told so far."""

    def __init__(self, question: Question) -> None:
        self.question = question
        turn = (question.fen.split(" ", 2)[1] == "w") == (len(question.moves) % 2 == 0)
        self._sign = 1 if turn else -1
        # The last line with a score, bound or not, and the last exact one.
        self._last: tuple[int, Score] | None = None
        self._exact: tuple[int, Score] | None = None
        self._exact_best = ""
        self._by_depth: list[Score | None] = []
        self._nodes = 0
        self._time_ms = 0
        # Multi-PV: the lines of the depth being reported, by rank, and the last full set.
        self._ranks: dict[int, Line] = {}
        self._full: tuple[Line, ...] = ()

    def info(self, line: bytes, fault: Callable[[str], EngineFault]) -> Deepened | None:
        at = line.find(b" score ")
        if at < 0 or line.startswith(b"info string"):
            return None
        head, _, pv = line.partition(b" pv ")
        words = head.split()
        try:
            seen = _numbers(words)
            score = _score(words, self._sign)
        except (ValueError, IndexError):
            raise fault(f"unreadable line {_quoted(line)}") from None
        depth = seen.get(b"depth", 0)
        rank = seen.get(b"multipv", 1)
        if not 0 <= depth <= 1000:
            raise fault(f"impossible depth in {_quoted(line)}")
        self._nodes = seen.get(b"nodes", self._nodes)
        self._time_ms = seen.get(b"time", self._time_ms)
        exact = b"lowerbound" not in words and b"upperbound" not in words
        if self.question.lines > 1 and exact:
            self._rank(rank, depth, score, pv)
        if rank != 1:
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
        return Deepened(Progress(score=score, depth=depth))

    def _rank(self, rank: int, depth: int, score: Score, pv: bytes) -> None:
        if rank == 1:
            self._ranks.clear()
        self._ranks[rank] = Line(move=_first(pv), score=score, depth=depth)
        top = self._ranks.get(1)
        if (
            top is not None
            and len(self._ranks) >= len(self._full)
            and list(self._ranks) == list(range(1, len(self._ranks) + 1))
            and all(line.depth == top.depth for line in self._ranks.values())
        ):
            self._full = tuple(self._ranks.values())

    def result(self, best: str) -> SearchResult | None:
        """What was found, or None when no score was ever told.

        A whole search counts its last exact line (and, should an engine never print one, its
        last bound); a restricted one its last line (METHODS section 6).
        """
        told = self._last if self.question.only is not None else self._exact or self._last
        if told is None:
            return None
        depth, score = told
        return SearchResult(
            score=score,
            best=best,
            depth=depth,
            by_depth=tuple(self._by_depth),
            nodes=self._nodes,
            time_ms=self._time_ms,
            exact_best=self._exact_best,
            lines=self._full,
        )


def position_words(question: Question) -> str:
    """What follows ``position``."""
    moves = f" moves {' '.join(question.moves)}" if question.moves else ""
    return f"fen {question.fen}{moves}"


def go_words(question: Question) -> str:
    """What follows ``go``: the limit, then ``searchmoves``, which takes all words after it."""
    limit = _limit_words(question.limit)
    return limit if question.only is None else f"{limit} searchmoves {question.only}"


def _limit_words(limit: Limit) -> str:
    if limit.nodes is not None:
        return f"nodes {limit.nodes}"
    if limit.depth is not None:
        return f"depth {limit.depth}"
    return f"movetime {limit.movetime_ms}"


_NUMBERS: Final = frozenset((b"depth", b"multipv", b"nodes", b"time"))


def _numbers(words: list[bytes]) -> dict[bytes, int]:
    return {word: int(words[index + 1]) for index, word in enumerate(words) if word in _NUMBERS}


def _score(words: list[bytes], sign: int) -> Score:
    """``score cp X`` or ``score mate N`` turned to White's side and clamped."""
    at = words.index(b"score")
    kind, value = words[at + 1], sign * int(words[at + 2])
    if kind == b"cp":
        return Score(cp=max(-MATE_CP, min(MATE_CP, value)))
    if kind == b"mate":
        if value == 0:
            # The side to move is mated, which no position we send is.
            raise ValueError
        return Score(cp=MATE_CP if value > 0 else -MATE_CP, mate=value)
    raise ValueError


def _first(pv: bytes) -> str:
    """The move a principal variation begins with."""
    return pv.split(b" ", 1)[0].strip().decode("utf-8", "replace")


def _quoted(line: bytes) -> str:
    """The beginning of a line, harmless to print."""
    return repr(line[:80].decode("utf-8", "replace"))
