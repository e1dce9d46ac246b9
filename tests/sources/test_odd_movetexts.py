"""Real games with the typography of many programs: other spaces, dashes, numbers,
letters and charsets, and texts that are cut.

No move may be lost or taken back, and problems must be named correctly.
"""

import random
from collections.abc import Callable, Iterator

import chess
import pytest

from live.games.game import TailReplaced, TakenBack
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import FeedReport, GameReport, Move
from live.sources.charset_guess import guess_charset
from live.sources.pgn_decoder import PgnReader
from tests.sources.fakes import DATA

SEEDS = 200
#: Number of seeds in the normal run; ``-m whole`` runs all.
FAST = 20
PLIES = 40

FILES = ("otb-2024-25.pgn", "four-boards.pgn", "dgt-livechess-round.pgn")


def read_games() -> Iterator[GameReport]:
    for name in FILES:
        yield from PgnReader().read_text((DATA / name).read_bytes(), closed=True)


GAMES = [
    game
    for game in read_games()
    if len(game.moves) >= PLIES and game.start_fen == chess.STARTING_FEN
]

BLANKS = "\xa0\u2002\u2003\u2007\u2009\u200a\u202f\u205f\u3000\u200b\u2028"
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\xad\u200e"
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
LANGUAGES = {
    "English": "KQRBN",
    "German": "KDTLS",
    "French": "RDTFC",
    "Spanish": "RDTAC",
    "Portuguese": "RDTBC",
    "Russian": "КФЛСК",
    "figurines": "♔♕♖♗♘",
}
RESULTS = {
    "1-0": ["1-0", "1–0", "1 - 0", "1:0", "1_0"],
    "0-1": ["0-1", "0—1", "0:1", "0‑1"],
    "1/2-1/2": ["1/2-1/2", "½-½", "½–½", "1/2", "0.5-0.5", "1⁄2−1⁄2"],
}
CHARSETS = [
    "utf-8",
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "cp1251",
]
#: Words that are no moves, and the problem that is reported for each.
NO_MOVES = {"xyz": "unreadable move", "Qh9": "illegal move", "Kz3": "unreadable move"}


class Writer:
    """Writer of one game whose typography changes at random at every call."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.game = self.rng.choice(GAMES)
        self.language = self.rng.choice(list(LANGUAGES))
        self.charset = self.rng.choice(CHARSETS)

    def text(self, plies: int, ending: str) -> bytes:
        """Return the PGN of the game after this number of plies."""
        rng = self.rng
        blank = rng.choice([" ", rng.choice(BLANKS)])
        dash = rng.choice(["-", rng.choice(DASHES)])
        number: Callable[[int, bool], str] = rng.choice(NUMBERS)
        say = rng.choice(COMMENTS)
        words: list[str] = []
        for ply, move in enumerate(self.game.moves[:plies]):
            text = self.move(move).replace("-", dash)
            words.append(f"{number(ply // 2 + 1, ply % 2 == 0)}{text}{say(ply)}")
        body = self.joined(words, blank)
        name, other = rng.choice([('"', '"'), ("“", "”"), ("„", "“"), ("«", "»")])
        head = "".join(
            f"[{tag}{rng.choice([' ', blank])}{name}{value}{other}]\n"
            for tag, value in (("Event", "Open"), ("White", "Anna"), ("Black", "Bea"))
        )
        newline = rng.choice(["\n", "\r\n", "\r"])
        return self.encoded(f"{head}\n{body}{blank}{ending}".replace("\n", newline))

    def move(self, move: Move) -> str:
        rng = self.rng
        text = move.san
        if text.startswith("O-O"):
            text = text.replace("O", rng.choice("O0"))
        letters = dict(zip("KQRBN", LANGUAGES[self.language], strict=True))
        if self.language == "Russian":
            letters["K"] = "Кр"
        text = "".join(letters.get(sign, sign) for sign in text)
        text = text.replace("x", rng.choice(["x", "x", ":", "×"]))
        if rng.random() < 0.2 and text[0].isalpha() and text[0] != "О":
            text = text[0] + rng.choice(UNSEEN) + text[1:]
        return text + rng.choice(["", "", "", "!", "?!", "‼"])

    def joined(self, words: list[str], blank: str) -> str:
        """Join words with line breaks and indents at random places."""
        rng = self.rng
        between = [
            rng.choice([blank, blank, f"{blank} ", " \n", f"\n{blank}"]) for _ in words
        ]
        if blank in "\u200b\u2028":
            between = [f" {blank}"] * len(words)
        return "".join(
            f"{gap}{word}" for gap, word in zip(["", *between], words, strict=False)
        )

    def encoded(self, text: str) -> bytes:
        try:
            return text.encode(self.charset)
        except UnicodeEncodeError:
            return text.encode()


def _no_comment(ply: int) -> str:
    return ""


def _clock(ply: int) -> str:
    return f" {{[%clk 1:{59 - ply // 2:02}:00]}}"


def _words(ply: int) -> str:
    return " {Kömmentar – “1. e4” (1–0)}" if ply % 5 == 4 else ""


COMMENTS = [_no_comment, _clock, _words]
NUMBERS: list[Callable[[int, bool], str]] = [
    lambda number, white: f"{number}. " if white else "",
    lambda number, white: f"{number}." if white else "",
    lambda number, white: f"{number}." if white else f"{number}…",
    lambda number, white: f"{number}．" if white else f"{number}... ",
    lambda number, white: "",
]


def moves_of(report: GameReport) -> list[str]:
    return [move.uci for move in report.moves]


def read(text: bytes, *, closed: bool) -> GameReport:
    """Return the only game of a text, read by a new reader."""
    (game,) = PgnReader(fallback_charset=guess_charset(text) or "cp1252").read_text(
        text, closed=closed
    )
    return game


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=[pytest.mark.whole] * (seed >= FAST))
        for seed in range(SEEDS)
    ],
)
def test_a_game_written_in_any_manner(seed: int) -> None:
    writer = Writer(seed)
    rng = writer.rng
    true = moves_of(writer.game)[:PLIES]
    held = GameIndex()
    taken_back: list[object] = []

    def follow(game: GameReport) -> None:
        for step in plan_report_steps(held, FeedReport("hall", (game,), complete=True)):
            if isinstance(step, TakenBack | TailReplaced):
                taken_back.append(step)
            held.apply(step)

    # The game grows. Its typography changes at every reading, and its last word can be
    # incomplete.
    for plies in range(4, PLIES, 6):
        text = writer.text(plies, "")
        game = read(text[: len(text) - rng.randrange(4)], closed=False)
        assert moves_of(game) == true[: len(game.moves)]
        assert len(game.moves) >= plies - 2
        follow(game)
        game = read(writer.text(plies, "*"), closed=False)
        assert (moves_of(game), game.problem, game.result) == (true[:plies], None, "*")
        follow(game)

    # The text is cut at any place.
    text = writer.text(PLIES, result := rng.choice(list(RESULTS)))
    for end in rng.choices(range(len(text)), k=8):
        for game in PgnReader(
            fallback_charset=guess_charset(text) or "cp1252"
        ).read_text(text[:end]):
            assert moves_of(game) == true[: len(game.moves)]
            assert game.problem is None and game.result in ("*", result)

    # The text ends with a result, or with a word that is no move.
    follow(game := read(writer.text(PLIES, rng.choice(RESULTS[result])), closed=True))
    assert (moves_of(game), game.problem, game.result) == (true, None, result)
    word = rng.choice(list(NO_MOVES))
    game = read(writer.text(PLIES, f"{word} {result}"), closed=True)
    assert (moves_of(game), game.result) == (true, result)
    assert game.problem is not None
    assert game.problem.startswith(f"{NO_MOVES[word]} {PLIES // 2 + 1}.{word}")
    follow(game)

    assert taken_back == []
    (kept,) = held
    assert [move.uci for move in kept.moves] == true
    assert (kept.headers.white.name, kept.headers.black.name) == ("Anna", "Bea")
