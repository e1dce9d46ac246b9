"""One engine's side of a UCI conversation, without I/O: received bytes are converted to
events, and commands to bytes to send.

``chess.engine`` is not used, because it reads every principal variation move by move
(1-5 ms of Python per search, too much for this service), does not show whether a score
is only a bound, and waits for ever for an engine that hangs under a node or depth
limit.

A fault is raised as :class:`live.errors.EngineFault`; after it the conversation has
ended, and the process must be killed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from live.engine.search import Line, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.errors import EngineFault
from live.messages.from_sources import MATE_CP, Score
from live.messages.values import Value


def can_stop_search_early(by_depth: Sequence[Score | None], used: float) -> bool:
    """Return whether a search can stop before its limit, at the end of an iteration.

    It can stop after three quarters of the limit, and earlier after a quarter plus a
    fortieth for each centipawn by which the scores of the last three depths differ.

    Source: Alliot 2017, section 2.3. The paper's limit was four minutes and the time to
    stop 4 x (10 + max |difference|) / 40 minutes; here times are shares of the limit.
    Under a limit of nodes the result depends only on the engine's output, so it is
    always the same. The paper's second condition (a game decided for three turns) is
    left out: with it the score of a position would depend on earlier scores, and boards
    could not share it.

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
    """Reader of the info lines of one search."""

    def __init__(self, search_key: SearchKey, *, adaptive: bool = False) -> None:
        self.search_key = search_key
        # Restricted searches are made for comparison, so they always use their whole
        # limit.
        self._adaptive = adaptive and search_key.only is None
        self.has_enough = False
        """True if the search can stop; later output of the engine does not count."""
        turn = (search_key.fen.split(" ", 2)[1] == "w") == (
            len(search_key.moves) % 2 == 0
        )
        self._sign = 1 if turn else -1
        # The last line with a score, bound or not, and the last exact one.
        self._last: Line | None = None
        self._exact: Line | None = None
        self._by_depth: list[Score | None] = []
        # The last value of each number that was reported.
        self._numbers: dict[bytes, int] = {}
        # Multi-PV: the lines of the depth being reported, by rank, and the last
        # complete set.
        self._ranks: dict[int, Line] = {}
        self._full: tuple[Line, ...] = ()

    def read_line(
        self, line: bytes, fault: Callable[[str], EngineFault]
    ) -> SearchProgress | None:
        """Read an info line; return its progress if it has an exact score at a new
        depth, otherwise None.
        """
        if self.has_enough or line.startswith(b"info string"):
            return None
        if not line.isascii():
            raise fault(f"unreadable line {quote_line(line)}")
        if b" score " not in line:
            return None
        head, _, pv = line.partition(b" pv ")
        words = head.split()
        try:
            numbers = {
                word: int(value) for word, value in pairwise(words) if word in _NUMBERS
            }
            score = _parse_score(words, self._sign)
        except (ValueError, IndexError):
            raise fault(f"unreadable line {quote_line(line)}") from None
        depth = numbers.get(b"depth", 0)
        rank = numbers.get(b"multipv", 1)
        if not 0 <= depth <= 1000:
            raise fault(f"impossible depth in {quote_line(line)}")
        self._numbers |= numbers
        exact = b"lowerbound" not in words and b"upperbound" not in words
        move = pv.split(b" ", 1)[0].strip().decode("utf-8", "replace")
        parsed_line = Line(move, score, depth)
        complete = exact
        if self.search_key.lines > 1:
            if rank == 1:
                # A new report begins, even if with a bound. Lines of the previous
                # report do not belong to it, because the moves can have changed ranks.
                self._ranks.clear()
            complete = exact and self._add_ranked_line(rank, parsed_line)
        deeper = rank == 1 and exact and depth > 0
        if rank == 1:
            self._last = parsed_line
            self._exact = parsed_line if exact else self._exact
        if deeper:
            self._by_depth += [None] * (depth - len(self._by_depth))
            self._by_depth[depth - 1] = score
        if self._adaptive and complete:
            # The search can stop only when all requested lines were searched to the
            # same depth.
            self.has_enough = can_stop_search_early(
                self._by_depth, self._measure_used_share()
            )
        return SearchProgress(score=score, depth=depth) if deeper else None

    def _measure_used_share(self) -> float:
        """Return the share of the limit used so far, 0 to 1; 0 under a depth limit."""
        limit = self.search_key.limit
        numbers = self._numbers
        if limit.nodes is not None:
            return numbers.get(b"nodes", 0) / limit.nodes
        return numbers.get(b"time", 0) / limit.movetime_ms if limit.movetime_ms else 0.0

    def _add_ranked_line(self, rank: int, ranked_line: Line) -> bool:
        """Add one of several lines; return whether it completes a set of the same
        depth.

        A line without a move is ignored: a search that is stopped before its first node
        prints such lines.
        """
        if not ranked_line.move:
            return False
        self._ranks[rank] = ranked_line
        lines = len(self._ranks)
        same_depth = len({line.depth for line in self._ranks.values()}) == 1
        if (
            lines >= len(self._full)
            and list(self._ranks) == list(range(1, lines + 1))
            and same_depth
        ):
            self._full = tuple(self._ranks.values())
            return lines == self.search_key.lines
        return False

    def build_result(self, best: str) -> SearchResult | None:
        """Return the result of the search; None if no score was reported.

        A whole search uses its last exact line (or its last bound, if the engine never
        printed an exact line). A restricted search uses its last line. A search of
        several lines uses the best one of the last complete set, so that all its scores
        are of the same depth (Alliot 2017, section 2.3).
        """
        exact = self._full[0] if self._full else self._exact
        line = self._last if self.search_key.only is not None else exact or self._last
        if line is None:
            return None
        exact_best = exact.move if exact is not None else ""
        return SearchResult(
            score=line.score,
            best=exact_best if self._full or self.has_enough else best,
            depth=line.depth,
            by_depth=tuple(self._by_depth),
            nodes=self._numbers.get(b"nodes", 0),
            time_ms=self._numbers.get(b"time", 0),
            exact_best=exact_best,
            lines=self._full,
            seldepth=self._numbers.get(b"seldepth", 0),
            tbhits=self._numbers.get(b"tbhits", 0),
        )


_NUMBERS = frozenset((b"depth", b"seldepth", b"multipv", b"nodes", b"tbhits", b"time"))


def _parse_score(words: list[bytes], sign: int) -> Score:
    """Return ``score cp X`` or ``score mate N`` from White's side, clamped."""
    at = words.index(b"score")
    kind = words[at + 1]
    value = sign * int(words[at + 2])
    if kind == b"cp":
        return Score(cp=max(-MATE_CP, min(MATE_CP, value)))
    if kind != b"mate" or value == 0:
        # In ``mate 0`` the side to move is mated, but no such position is ever sent.
        raise ValueError
    return Score(cp=MATE_CP if value > 0 else -MATE_CP, mate=value)


def quote_line(line: bytes) -> str:
    """Return the beginning of a line, safe to print."""
    return repr(line[:80].decode("utf-8", "replace"))


#: Maximum length of a line that an engine prints, bytes. Stockfish's longest principal
#: variations are below 2 kB.
MAX_LINE = 65_536
#: Maximum number of meaningless lines in one search, and of all lines in a greeting,
#: before an engine counts as broken. Stockfish greets with 30.
MAX_STRAY_LINES = 1_000
#: UCI words that can begin a line and that are not used here.
_IGNORED = (b"info", b"option", b"id", b"copyprotection", b"registration")
_OWN_WORDS = (*_IGNORED, b"uciok", b"readyok", b"bestmove")
#: Number of lines for people that are kept from the end of an engine's output, and
#: maximum length of each. They are shown if the engine fails.
ASIDE_LINES = 6
ASIDE_CHARS = 300


class UciSettings(Value):
    """Setup of an engine, on which its results depend."""

    threads: int = 1
    hash_mb: int = 16
    reproducible: bool = True
    """True to clear the hash before each search, so that a score depends on position,
    engine and limit alone.
    """
    adaptive: bool = False
    """True to stop a search before its limit when its score is stable."""


class EngineIdentity(Value):
    """Identity of an engine: all that a result depends on, besides the search."""

    name: str
    """Name from ``id name``."""
    options: tuple[str, ...]
    """Options that were set, as ``Hash=16``, and others that are known to change
    results, as ``EvalFile=…``.
    """
    chess960: bool = False
    """True if it plays Chess960."""

    def __str__(self) -> str:
        """Return name and options, for cache keys, clusters and export."""
        return "; ".join((self.name, *self.options))


class SearchFinished(Value):
    """End of a search."""

    result: SearchResult
    stopped: bool
    """True if it was stopped early: ``result`` is then incomplete, or empty."""


Event = EngineIdentity | SearchProgress | SearchFinished


class UciConversation:
    """UCI conversation with one engine process, beginning with ``uci``.

    The handshake ends with an :class:`EngineIdentity`, each search with a
    :class:`SearchFinished`.
    """

    def __init__(self, settings: UciSettings, send: Callable[[bytes], object]) -> None:
        self._settings = settings
        self._send = send
        # Bytes after the last line feed.
        self._rest = b""
        self.is_greeting = True
        """True until ``uci`` is answered with ``uciok``."""
        self.aside: deque[str] = deque(maxlen=ASIDE_LINES)
        """The last lines for people: chat and ``info string``."""
        self._is_ready = False
        self._name = ""
        self._options: dict[str, str] = {}
        # The last value sent for each option, which is sent again only when it changes.
        self._options_sent = {"MultiPV": "1", "UCI_Chess960": "false"}
        # Number of ``isready`` sent and not answered yet.
        self._unready = 0
        # True if the hash was cleared since the last search.
        self._is_hash_clear = False
        self._stray = 0
        self._is_stopping = False
        self._reader: UciInfoReader | None = None
        self._send_lines("uci")

    def begin_search(self, search_key: SearchKey) -> None:
        """Start a search.

        UCI allows commands while an engine works, so clearing the hash costs no round
        trip (the result is the same, as measured with Stockfish 15.1 and 19 lite).
        """
        self._set_option("MultiPV", search_key.lines)
        self._set_option("UCI_Chess960", str(search_key.chess960).lower())
        self.clear_hash()
        self._is_hash_clear = False
        self._send_lines(
            f"position {format_position(search_key)}", f"go {format_go(search_key)}"
        )
        self._is_stopping = False
        self._stray = 0
        self._reader = UciInfoReader(search_key, adaptive=self._settings.adaptive)

    def clear_hash(self) -> None:
        """Clear the hash for the next search, unless it is clear already or must be
        kept.

        This is best done while the engine is idle: it takes Stockfish 19 lite 60 ms,
        and a search of 100,000 nodes takes 95 ms (measured).
        """
        if (
            self._settings.reproducible
            and not self._is_hash_clear
            and self._reader is None
        ):
            self._send_lines("ucinewgame", "isready")
            self._unready += 1
            self._is_hash_clear = True

    def stop_search(self) -> None:
        """Ask the running search to end now; a :class:`SearchFinished` event still
        follows.
        """
        if self._reader is not None and not self._is_stopping:
            self._is_stopping = True
            self._send_lines("stop")

    def receive(self, data: bytes) -> Iterator[Event]:
        """Read a chunk of the engine's output, which can end inside a line; yield
        events.

        Raises:
            EngineFault: the output cannot be correct.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            event = self._read_line(line.strip())
            if event is not None:
                yield event
        if len(self._rest) > MAX_LINE:
            raise self._build_fault(f"a line of more than {MAX_LINE} bytes")

    def _send_lines(self, *lines: str) -> None:
        self._send("".join(f"{line}\n" for line in lines).encode())

    def _build_fault(self, problem: str) -> EngineFault:
        return EngineFault(self._name or "engine", problem)

    def _set_option(self, option: str, value: object) -> None:
        """Send ``setoption`` if the option has a new value."""
        if self._options_sent.get(option) != str(value):
            self._options_sent[option] = str(value)
            self._send_lines(f"setoption name {option} value {value}")

    def _read_line(self, line: bytes) -> Event | None:
        word = line.split(b" ", 1)[0]
        reader = self._reader
        if line and (word not in _OWN_WORDS or line.startswith(b"info string")):
            remark = line.removeprefix(b"info string ")[:ASIDE_CHARS]
            self.aside.append(remark.decode("utf-8", "replace"))
        if reader is not None and word == b"info":
            had_enough = reader.has_enough
            deepened = reader.read_line(line, self._build_fault)
            if reader.has_enough and not had_enough:
                # :meth:`stop_search` is not used here, because its result would count
                # as incomplete.
                self._send_lines("stop")
            return deepened
        if word == b"bestmove":
            return self._read_bestmove(line)
        if word == b"readyok":
            return self._read_readyok()
        if self.is_greeting:
            self._stray += 1
            self._read_greeting(line.decode("utf-8", "replace"))
        elif line and word not in _IGNORED:
            # Some engines print chat, and UCI requires that it is ignored. Unprintable
            # text is refused, because it can be the rest of a damaged UCI line.
            if (
                not line.decode("utf-8", "replace")
                .replace("\ufffd", "\0")
                .isprintable()
            ):
                raise self._build_fault(f"prints noise: {quote_line(line)}")
            self._stray += 1
        if self._stray > MAX_STRAY_LINES:
            raise self._build_fault(
                f"prints lines that are not UCI, the last {quote_line(line)}"
            )
        return None

    def _read_greeting(self, text: str) -> None:
        """Read a line that the engine prints between ``uci`` and ``uciok``."""
        if text == "uci":
            raise self._build_fault("echoes its input")
        if text.startswith("id name "):
            self._name = text[8:].strip()
        elif text.startswith("option name "):
            # ``option name <id> type <t> [default <x>] …``; names can contain spaces.
            name, _, kind = text[12:].partition(" type ")
            default = kind.partition(" default ")[2]
            self._options[name.strip()] = default.split(" ")[0]
        elif text.partition(" ")[0] == "uciok":
            self.is_greeting = False
            self._stray = 0
            settings = {
                "Threads": self._settings.threads,
                "Hash": self._settings.hash_mb,
            }
            for option in (setting for setting in settings if setting in self._options):
                self._set_option(option, settings[option])
                self._options[option] = str(settings[option])
            self._send_lines("isready")
            self._unready = 1

    def _read_readyok(self) -> Event | None:
        """Count a ``readyok``; return the engine's identity for the first one,
        otherwise None.
        """
        if self._unready == 0:
            raise self._build_fault("answered readyok unasked")
        self._unready -= 1
        if self._is_ready:
            return None
        self._is_ready = True
        # ``EvalFile`` names the neural network; another network gives other scores
        # under the same engine name.
        option_names = [
            name for name in ("Threads", "Hash", "EvalFile") if name in self._options
        ]
        return EngineIdentity(
            name=self._name or "unnamed engine",
            options=(
                *(f"{name}={self._options[name]}" for name in option_names),
                "hash cleared" if self._settings.reproducible else "hash kept",
                *(("adaptive",) if self._settings.adaptive else ()),
            ),
            chess960="UCI_Chess960" in self._options,
        )

    def _read_bestmove(self, line: bytes) -> Event:
        """Return the end of the running search. Raises EngineFault for an impossible
        answer.
        """
        reader = self._reader
        if reader is None:
            raise self._build_fault(f"answered {quote_line(line)} unasked")
        if self._unready:
            raise self._build_fault("answered a search before readyok")
        best = [*line.decode("utf-8", "replace").lower().split(), ""][1]
        search_key = reader.search_key
        result = reader.build_result(best)
        # With several lines, and after an early stop, the result's best move can differ
        # from ``bestmove``, so all moves are checked.
        moves = (
            {best, result.best, *(ranked.move for ranked in result.lines)}
            if result
            else {best}
        )
        if not all(map(search_key.can_be_best, moves)):
            raise self._build_fault(
                f"answered {quote_line(line)} in {format_position(search_key)}"
            )
        if result is None and self._is_stopping:
            result = SearchResult(Score(0), best, depth=0)  # no one needs the result
        if result is None:
            raise self._build_fault(f"gave no score for {format_position(search_key)}")
        self._reader = None
        return SearchFinished(result=result, stopped=self._is_stopping)


def format_position(search_key: SearchKey) -> str:
    """Return the arguments of the UCI command ``position``."""
    moves = f" moves {' '.join(search_key.moves)}" if search_key.moves else ""
    return f"fen {search_key.fen}{moves}"


def format_go(search_key: SearchKey) -> str:
    """Return the arguments of the UCI command ``go``: the limit, then ``searchmoves``,
    which treats all words after it as moves.
    """
    limit = search_key.limit
    words = f"movetime {limit.movetime_ms}"
    if limit.nodes is not None:
        words = f"nodes {limit.nodes}"
    elif limit.depth is not None:
        words = f"depth {limit.depth}"
    return (
        words if search_key.only is None else f"{words} searchmoves {search_key.only}"
    )
