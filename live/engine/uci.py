"""One engine's side of a UCI conversation, without I/O: bytes in, events and bytes to send out.

Ours and not ``chess.engine``, because that one reads every principal variation move by move (1-5 ms
of Python a search, more than this room may cost in all), hides whether a score is a bound's, and
waits without end for an engine that hangs under a node or depth limit.

A fault is raised as :class:`live.errors.EngineFault`; the conversation is over then and the process
must be killed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from live.engine.search import Line, SearchKey, SearchProgress, SearchResult
from live.errors import EngineFault
from live.events import MATE_CP, Score, Value


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
        self._last: Line | None = None
        self._exact: Line | None = None
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
        move = pv.split(b" ", 1)[0].strip().decode("utf-8", "replace")
        found = Line(move, score, depth)
        complete = exact
        if self.search_key.lines > 1:
            if rank == 1:
                # A new report. Lines of the last one are none of its own, also where it begins
                # with a bound: the moves may have changed ranks.
                self._ranks.clear()
            complete = exact and self._rank(rank, found)
        deeper = rank == 1 and exact and depth > 0
        if rank == 1:
            self._last = found
            self._exact = found if exact else self._exact
        if deeper:
            self._by_depth += [None] * (depth - len(self._by_depth))
            self._by_depth[depth - 1] = score
        if self._adaptive and complete:
            # Only where all requested lines have been searched to the same depth.
            self.enough = enough(self._by_depth, self._used())
        return SearchProgress(score=score, depth=depth) if deeper else None

    def _used(self) -> float:
        """How much of the limit is used up, 0 to 1; nothing of a limit of depth."""
        limit, numbers = self.search_key.limit, self._numbers
        if limit.nodes is not None:
            return numbers.get(b"nodes", 0) / limit.nodes
        return numbers.get(b"time", 0) / limit.movetime_ms if limit.movetime_ms else 0.0

    def _rank(self, rank: int, found: Line) -> bool:
        """Take one of several lines; whether it completes a set of the same depth.

        A search that is stopped before its first node reports every line without a move.
        """
        if not found.move:
            return False
        self._ranks[rank] = found
        many = len(self._ranks)
        same_depth = len({line.depth for line in self._ranks.values()}) == 1
        if many >= len(self._full) and list(self._ranks) == list(range(1, many + 1)) and same_depth:
            self._full = tuple(self._ranks.values())
            return many == self.search_key.lines
        return False

    def result(self, best: str) -> SearchResult | None:
        """What was found, or None when no score was ever reported.

        A whole search counts its last exact line (and, should an engine never print one, its
        last bound); a restricted one its last line; one of several lines the best of the last
        full set, so that all its scores are of the same depth (Alliot 2017, section 2.3).
        """
        exact = self._full[0] if self._full else self._exact
        found = self._last if self.search_key.only is not None else exact or self._last
        if found is None:
            return None
        exact_best = exact.move if exact is not None else ""
        return SearchResult(
            score=found.score,
            best=exact_best if self._full or self.enough else best,
            depth=found.depth,
            by_depth=tuple(self._by_depth),
            nodes=self._numbers.get(b"nodes", 0),
            time_ms=self._numbers.get(b"time", 0),
            exact_best=exact_best,
            lines=self._full,
            seldepth=self._numbers.get(b"seldepth", 0),
            tbhits=self._numbers.get(b"tbhits", 0),
        )


_NUMBERS = frozenset((b"depth", b"seldepth", b"multipv", b"nodes", b"tbhits", b"time"))


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


def quoted(line: bytes) -> str:
    """The beginning of a line, harmless to print."""
    return repr(line[:80].decode("utf-8", "replace"))


#: Longest line an engine may print. Stockfish's longest principal variations are under 2 kB.
MAX_LINE = 65_536
#: Lines of no meaning an engine may print in one search, and of any in its greeting, before it
#: counts as broken: Stockfish greets with 30.
MAX_STRAY_LINES = 1_000
#: UCI's own words that may begin a line and that we have no use for.
_IGNORED = (b"info", b"option", b"id", b"copyprotection", b"registration")
_OWN_WORDS = (*_IGNORED, b"uciok", b"readyok", b"bestmove")
#: What is kept of an engine's words for people, to be shown where it fails.
ASIDE_LINES, ASIDE_CHARS = 6, 300


class UciSettings(Value):
    """How an engine is set up. Part of what a result depends on."""

    threads: int = 1
    hash_mb: int = 16
    reproducible: bool = True
    """Clear the hash before each search, so that a score depends on position, engine and limit
    alone."""
    adaptive: bool = False
    """Stop a search that has seen enough before its limit."""


class EngineIdentity(Value):
    """Which engine it is: what a result depends on besides the search."""

    name: str
    """``id name``."""
    options: tuple[str, ...]
    """What was set, ``Hash=16``, and what else is known to change results, ``EvalFile=…``."""
    chess960: bool = False
    """Whether it plays Chess960."""

    def __str__(self) -> str:
        """Name and options, for cache keys, clusters and export."""
        return "; ".join((self.name, *self.options))


class SearchFinished(Value):
    """The search ended."""

    result: SearchResult
    stopped: bool
    """Stopped early: ``result`` is short of the limit, or empty."""


Event = EngineIdentity | SearchProgress | SearchFinished


class UciConversation:
    """UCI with one engine process, from ``uci`` on: the handshake ends with its
    :class:`EngineIdentity`, each search with :class:`SearchFinished`.
    """

    def __init__(self, settings: UciSettings, send: Callable[[bytes], object]) -> None:
        self._settings = settings
        self._send = send
        # Bytes after the last line feed.
        self._rest = b""
        self.greeting = True
        """``uci`` has not been answered with ``uciok`` yet."""
        self.aside: deque[str] = deque(maxlen=ASIDE_LINES)
        """The last lines that are for people: chat, ``info string``."""
        self._ready = False
        self._name = ""
        self._options: dict[str, str] = {}
        # What ``setoption`` last said, so that it is said again only when it changes.
        self._said = {"MultiPV": "1", "UCI_Chess960": "false"}
        # ``isready`` sent and not yet answered.
        self._unready = 0
        # The hash was cleared since the last search.
        self._clean = False
        self._stray = 0
        self._stopping = False
        self._reader: UciInfoReader | None = None
        self._say("uci")

    def begin(self, search_key: SearchKey) -> None:
        """Start a search.

        UCI lets an engine read on while it works, so the cleared hash costs no round trip (the
        result is the same, measured for Stockfish 15.1 and 19 lite).
        """
        self._set("MultiPV", search_key.lines)
        self._set("UCI_Chess960", str(search_key.chess960).lower())
        self.tidy()
        self._clean = False
        self._say(f"position {position_words(search_key)}", f"go {go_words(search_key)}")
        self._stopping = False
        self._stray = 0
        self._reader = UciInfoReader(search_key, adaptive=self._settings.adaptive)

    def tidy(self) -> None:
        """Clear the hash for the next search, if it must be and is not yet.

        Worth doing while the engine is idle: it takes Stockfish 19 lite 60 ms, against 95 ms for
        100,000 nodes (measured).
        """
        if self._settings.reproducible and not self._clean and self._reader is None:
            self._say("ucinewgame", "isready")
            self._unready += 1
            self._clean = True

    def stop(self) -> None:
        """Ask the running search to end now; a :class:`SearchFinished` event still follows."""
        if self._reader is not None and not self._stopping:
            self._stopping = True
            self._say("stop")

    def receive(self, data: bytes) -> Iterator[Event]:
        """Read what the engine printed, cut anywhere.

        Raises:
            EngineFault: what it printed cannot be right.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            event = self._read(line.strip())
            if event is not None:
                yield event
        if len(self._rest) > MAX_LINE:
            raise self._fault(f"a line of more than {MAX_LINE} bytes")

    def _say(self, *lines: str) -> None:
        self._send("".join(f"{line}\n" for line in lines).encode())

    def _fault(self, what: str) -> EngineFault:
        return EngineFault(self._name or "engine", what)

    def _set(self, option: str, value: object) -> None:
        if self._said.get(option) != str(value):
            self._said[option] = str(value)
            self._say(f"setoption name {option} value {value}")

    def _read(self, line: bytes) -> Event | None:
        word, reader = line.split(b" ", 1)[0], self._reader
        if line and (word not in _OWN_WORDS or line.startswith(b"info string")):
            said = line.removeprefix(b"info string ")[:ASIDE_CHARS]
            self.aside.append(said.decode("utf-8", "replace"))
        if reader is not None and word == b"info":
            had_enough = reader.enough
            deepened = reader.info(line, self._fault)
            if reader.enough and not had_enough:
                # Not :meth:`stop`: the owner gets a full result.
                self._say("stop")
            return deepened
        if word == b"bestmove":
            return self._bestmove(line)
        if word == b"readyok":
            return self._readyok()
        if self.greeting:
            self._stray += 1
            self._greeted(line.decode("utf-8", "replace"))
        elif line and word not in _IGNORED:
            # Some engines chat, and UCI says to ignore it. Noise may be what is left of a line
            # that counted.
            if not line.decode("utf-8", "replace").replace("\ufffd", "\0").isprintable():
                raise self._fault(f"prints noise: {quoted(line)}")
            self._stray += 1
        if self._stray > MAX_STRAY_LINES:
            raise self._fault(f"prints lines that are no UCI, the last {quoted(line)}")
        return None

    def _greeted(self, text: str) -> None:
        if text == "uci":
            raise self._fault("echoes what it is told")
        if text.startswith("id name "):
            self._name = text[8:].strip()
        elif text.startswith("option name "):
            # ``option name <id> type <t> [default <x>] …``; names may hold blanks.
            name, _, kind = text[12:].partition(" type ")
            default = kind.partition(" default ")[2]
            self._options[name.strip()] = default.split(" ")[0]
        elif text.partition(" ")[0] == "uciok":
            self.greeting, self._stray = False, 0
            settings = {"Threads": self._settings.threads, "Hash": self._settings.hash_mb}
            for option in (each for each in settings if each in self._options):
                self._set(option, settings[option])
                self._options[option] = str(settings[option])
            self._say("isready")
            self._unready = 1

    def _readyok(self) -> Event | None:
        if self._unready == 0:
            raise self._fault("answered readyok unasked")
        self._unready -= 1
        if self._ready:
            return None
        self._ready = True
        # ``EvalFile`` names the network: same name, other network, other scores.
        known = [name for name in ("Threads", "Hash", "EvalFile") if name in self._options]
        return EngineIdentity(
            name=self._name or "unnamed engine",
            options=(
                *(f"{name}={self._options[name]}" for name in known),
                "hash cleared" if self._settings.reproducible else "hash kept",
                *(("adaptive",) if self._settings.adaptive else ()),
            ),
            chess960="UCI_Chess960" in self._options,
        )

    def _bestmove(self, line: bytes) -> Event:
        reader = self._reader
        if reader is None:
            raise self._fault(f"answered {quoted(line)} unasked")
        if self._unready:
            raise self._fault("answered a search before readyok")
        best = [*line.decode("utf-8", "replace").lower().split(), ""][1]
        search_key, result = reader.search_key, reader.result(best)
        # Of several lines, and of a search stopped early, it is not that word that counts.
        moves = {best, result.best, *(each.move for each in result.lines)} if result else {best}
        if not all(map(search_key.allows, moves)):
            raise self._fault(f"answered {quoted(line)} in {position_words(search_key)}")
        if result is None and self._stopping:
            result = SearchResult(Score(0), best, depth=0)  # nobody wants it
        if result is None:
            raise self._fault(f"gave no score for {position_words(search_key)}")
        self._reader = None
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
