"""Random and mutated PGN: nothing escapes, nothing blocks, nothing depends on where bytes are cut.

``LIVE_RATE_HOSTILE_TEXTS=100000 pytest tests/feeds/test_pgn_hostile.py`` runs as many texts as one
likes; the normal run takes a few hundred.
"""

import gc
import os
import random
import time
from collections.abc import Iterator

import chess
import msgspec
import pytest

from live.events import GameReport, Result
from live.feeds.pgn_decoder import PgnDecoder, PgnLimits, PgnReader
from tests.feeds.fakes import DATA

TEXTS = int(os.environ.get("LIVE_RATE_HOSTILE_TEXTS", "400"))
#: Limit of one slice of work, in CPU time.
SLICE_MS = 50.0
LIMITS = PgnLimits(games=50)

_SEEDS = [path.read_bytes() for path in sorted(DATA.glob("*.pgn"))]
_GAMES = [b"[Event " + game for text in _SEEDS for game in text.split(b"[Event ")[1:]]
_TOKENS = [
    *b"e4 e5 Nf3 Nc6 Bb5 a6 O-O 0-0 O-O-O e8=Q exd5 Qh9 -- Z0 e2e4 Ng1-f3 1. 1... 12.".split(),
    *b'1-0 0-1 1/2-1/2 * ( ) { } ; % $ $1 $99999 ! ?? += [ ] " \\ e8(Q) Pe4 0000 @@@@ e.p.'.split(),
    *b"\xbd-\xbd \xc2\xbd-\xc2\xbd \xef\xbb\xbf \xff\xfe \x00 \x1b[2J".split(),
    b"[%clk 0:1:2]", b"{[%clk 0:01:00]}", b"{[%eval #-3]}", b"{[%eval 0.3,18]}", b"{[%emt 0:0:1]}",
    b'[Event "x"]', b'[White "A"]', b'[FEN "8/8"]', b"\n", b"\n\n", b"\r\n", b"\r", b" ",
    b'\n[Event "y"]\n', b'\n\n[Event "z"]\n[Result "1-0"]\n\n',
]  # fmt: skip
_BOMBS = [b"(", b"{", b"}", b"( )", b"e4 ", b"[", b'[a "', b'"', b"\\", b"\r", b"* ", b"*\n", b"$9",
          b";", b";\n", b"%\n", b"1.", b"9", b" ", b"\n", b"{}", b"[Event \"x\"]\n", b"1-0\n\n",
          b"Nf3 Nf6 Ng1 Ng8 ", b"(e4) ", b"{[%clk 1:2:3]}", b"\xff", b"\xc3", b"{\n[Event \"x\"]\n",
          b"x" * 50, b"--", b"[%clk ", b"\x1b[", b"Nf3\n", b"{ 1-0\n"]  # fmt: skip


def hostile_texts(seed: int, count: int) -> Iterator[bytes]:
    """Random bytes, random tokens, mutated real games, and one thing said too often."""
    rng = random.Random(seed)
    for number in range(count):
        kind = number % 8
        if kind == 0:
            yield rng.randbytes(rng.randrange(400))
        elif kind in (1, 2):
            glue = rng.choice([b" ", b"", b"\n"])
            yield glue.join(rng.choices(_TOKENS, k=rng.randrange(1, 200)))
        elif kind == 3 and number % 64 == 3:
            head = rng.choice([b"", b'[White "A"]\n\n', b'[White "A"]\n\n1. e4 ', b"{ ", b"e4 ( "])
            bomb = rng.choice(_BOMBS)
            yield head + bomb * (rng.choice([2_000, 20_000, 200_000]) // len(bomb))
        else:
            yield _mutated(rng)


_REPLACED = [
    (b"\n", b"\r\n"),
    (b"\n", b"\r"),
    (b"\n\n", b"\n"),
    (b"\n", b" "),
    (b"}", b""),
    (b"{", b"("),
]


def _mutated(rng: random.Random) -> bytes:
    text = bytearray(b"".join(rng.choices(_GAMES, k=rng.choice([1, 1, 2, 3]))))
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(text) + 1)
        span = min(len(text) - at, int(rng.paretovariate(0.7)))
        kind = rng.randrange(6)
        if kind == 0:
            del text[at : at + span]
        elif kind == 1:
            text[at:at] = rng.choice(_TOKENS)
        elif kind == 2:
            text[at:at] = text[at : at + span][:2000]
        elif kind == 3 and at < len(text):
            text[at] = rng.randrange(256)
        elif kind == 4:
            other = rng.randrange(len(text) + 1)
            text[at : at + span] = text[other : other + span]
        else:
            text[at:] = text[at:].replace(*rng.choice(_REPLACED))
    return bytes(text)


def _cut(rng: random.Random, text: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(text):
        size = rng.choice([1, 2, 7, 100, 1000, 4096, 60_000])
        yield text[at : at + size]
        at += size


def _check(report: GameReport) -> None:
    """What holds of every report: legal moves, bounded text, a known result."""
    board = chess.Board(report.start_fen, chess960=report.headers.variant == "chess960")
    for move in report.moves:
        played = board.parse_uci(move.uci)
        assert board.san(played) == move.san
        board.push(played)
    assert msgspec.json.decode(msgspec.json.encode(report), type=GameReport) == report
    for name in (report.headers.white.name, report.headers.black.name, report.headers.event):
        assert name.isprintable() and len(name) <= 200
    assert report.result in Result.__args__  # type: ignore[attr-defined]
    assert report.problem is None or report.problem.isprintable()


def timed(slices: Iterator[list[GameReport]]) -> tuple[list[GameReport], float]:
    """All games, and the CPU time of the slowest slice in milliseconds."""
    games: list[GameReport] = []
    slowest_ms = 0.0
    while True:
        start = time.thread_time()
        reports = next(slices, None)
        slowest_ms = max(slowest_ms, (time.thread_time() - start) * 1000)
        if reports is None:
            return games, slowest_ms
        games += reports


def decoded(text: bytes) -> tuple[list[GameReport], list[GameReport]]:
    """What a new decoder and a new reader say of a text, no slice of which takes long.

    What a text costs it costs again; what the machine does in between, it does not.
    """
    for _ in range(3):
        decoder = PgnDecoder()
        streamed, first_ms = timed(decoder.slices(text))
        rest, last_ms = timed(decoder.finish_slices())
        read, read_ms = timed(PgnReader(limits=LIMITS).slices(text))
        if max(first_ms, last_ms, read_ms) < SLICE_MS:
            return streamed + rest, read
    pytest.fail(f"blocks: {text[:200]!r}")


@pytest.fixture
def own_objects_only() -> Iterator[None]:
    """Keeps the garbage collector from sweeping what other tests left while time is taken."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


_BEFORE = [b"", b'[White "A"]\n\n', b'[White "A"]\n\n1. e4 ', b"{ ", b"e4 ( ", b"{\n", b"e4\n"]


@pytest.mark.slow
@pytest.mark.parametrize("head", _BEFORE)
def test_floods_do_not_block(own_objects_only: None, head: bytes) -> None:
    """One thing said over and over: what is quadratic shows."""
    for bomb in _BOMBS:
        decoded(head + bomb * (50_000 // len(bomb)))


@pytest.mark.slow
@pytest.mark.timeout(3600 if TEXTS > 2000 else 120)
def test_hostile_texts(own_objects_only: None) -> None:
    rng = random.Random(7)
    kept = PgnReader(limits=LIMITS)
    games = 0
    for number, text in enumerate(hostile_texts(20261121, TEXTS)):
        reports, fresh = decoded(text)
        pieces = PgnDecoder()
        cut = [report for piece in _cut(rng, text) for report in pieces.feed(piece)]
        assert cut + pieces.finish() == reports, text
        # A reader that remembers everything before must say what a new one says.
        assert kept.read(text) == fresh, text
        if number % 10 == 0:
            for report in (*reports, *fresh):
                _check(report)
        games += len(reports)
    assert games > TEXTS / 4
