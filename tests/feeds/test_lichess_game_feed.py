import json

import chess
import pytest

from live.config import FeedsConfig, LichessConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.events import GameReport
from live.feeds.lichess import MAX_LINE_BYTES, LichessGameStream, LichessTvStream, NdjsonLines
from live.network.retry import FeedTrouble
from live.rehearse.web_servers import serving
from tests.feeds.fakes import (
    CONFIG,
    GAMES,
    Followed,
    answering,
    following,
    until,
)
from tests.feeds.lichess_game_server import GAME_ID, lichess_game

GAME = GAMES[0]
MOVES = [(move.uci, move.clock_s) for move in GAME.moves]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "cut", "drop_after"),
    [
        (f"/{GAME_ID}", 1 << 20, None),
        (f"/{GAME_ID}", 1, None),
        (f"/{GAME_ID}", 7, 12),
        (f"/{GAME_ID}", 50, 0),
        ("/tv", 33, None),
    ],
)
async def test_a_game_is_followed_to_its_end_and_tv_for_ever(
    path: str, cut: int, drop_after: int | None
) -> None:
    async with lichess_game(GAME, cut=cut, drop_after=drop_after) as origin:
        config = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(base_url=origin))
        async with following(f"https://lichess.org{path}", config) as seen:
            if path == "/tv":
                await until(lambda: bool(seen.games) and moves(seen) == MOVES)
                assert not seen.done
                return
            await until(lambda: seen.done)
    assert moves(seen) == MOVES
    (game,) = seen.games
    assert (game.key, game.result) == (GAME_ID, GAME.result)
    for told, player in (
        (game.headers.white, GAME.headers.white),
        (game.headers.black, GAME.headers.black),
    ):
        assert (told.name, told.elo, told.title) == (player.name, player.elo, player.title)
    assert seen.states[-1] == "finished"


def moves(seen: Followed) -> list[tuple[str, float | None]]:
    (game,) = seen.games
    return [(move.uci, move.clock_s) for move in game.moves]


async def test_no_such_game_and_html_instead_of_one() -> None:
    async with lichess_game(GAME) as origin:
        with pytest.raises(FeedNotFound):
            await Followed(f"lichess+{origin}/abcd9999", CONFIG).run()
    async with serving(answering(200, b"<!DOCTYPE html>\n<title>x</title>\n")) as origin:
        with pytest.raises(FeedUnreadable, match="HTML"):
            await Followed(f"lichess+{origin}/{GAME_ID}", CONFIG).run()


def test_lines_cut_anywhere_and_one_without_end() -> None:
    lines = NdjsonLines()
    assert [*lines.feed(b'{"a":'), *lines.feed(b'1}\n\n \n{"b"'), *lines.feed(b":2}\n")] == [
        b'{"a":1}',
        b'{"b":2}',
    ]
    with pytest.raises(FeedTrouble, match="without end"):
        list(lines.feed(b"x" * (MAX_LINE_BYTES + 1)))


@pytest.mark.parametrize(
    ("status", "winner", "result", "over"),
    [
        (20, None, "*", False),
        (25, None, "*", True),
        (30, "white", "1-0", True),
        (35, "black", "0-1", True),
        (34, None, "1/2-1/2", True),
        (32, None, "1/2-1/2", True),
        (37, None, "*", True),
    ],
)
def test_results(status: int, winner: str | None, result: str, over: bool) -> None:
    stream = LichessGameStream("x")
    told = {"id": "abcd1234", "status": {"id": status}, "winner": winner}
    game = stream.line(json.dumps(told).encode())
    assert game is not None and game.result == result
    assert stream.over is over


def test_other_variants_are_named_and_left_alone() -> None:
    stream = LichessGameStream("x")
    stream.line(b'{"id": "abcd1234", "variant": {"key": "atomic"}}')
    game = stream.line(b'{"fen":"x","lm":"e2e4"}')
    assert game is not None and game.moves == ()
    assert game.headers.variant == "atomic" and game.problem is not None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'"x"', b'{"id":3}', b"\xff"])
def test_what_cannot_be_read_is_passed_over(raw: bytes) -> None:
    assert LichessGameStream("x").line(raw) is None
    assert LichessTvStream("x").line(raw) is None


class Tv:
    """A channel that features a game from a position on."""

    def __init__(self, fen: str = chess.STARTING_FEN, channel: str = "") -> None:
        self.stream = LichessTvStream("x", channel)
        self.featured(fen)

    def featured(self, fen: str, key: str = "abcd1234") -> GameReport | None:
        return self._line("featured", {"id": key, "fen": fen})

    def shown(self, board: chess.Board, move: str) -> GameReport:
        side = "w" if board.turn else "b"
        told = {"fen": f"{board.board_fen()} {side}", "lm": move, "wc": 9, "bc": 8}
        game = self._line("fen", told)
        assert game is not None
        return game

    def _line(self, kind: str, told: dict[str, object]) -> GameReport | None:
        return self.stream.line(json.dumps({"t": kind, "d": told}).encode())


def test_tv_castling_is_king_to_rook_and_another_game_replaces_the_first() -> None:
    tv, board = Tv(), chess.Board()
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"):
        board.push_uci(uci)
        tv.shown(board, uci)
    board.push_uci("e1g1")
    last = tv.shown(board, "e1h1").moves[-1]
    assert (last.san, last.uci, last.clock_s) == ("O-O", "e1g1", 9)
    game = tv.featured(chess.STARTING_FEN, "efgh5678")
    assert game is not None and (game.key, game.moves) == ("efgh5678", ())


def test_tv_starts_anew_where_a_line_was_missed() -> None:
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    game = Tv().shown(board, "e7e5")
    assert (game.moves, game.problem) == ((), None)
    assert game.start_fen.startswith(board.board_fen())


@pytest.mark.parametrize("rights", ["", " kq - 0 20"])
def test_castling_of_a_standard_game_met_in_the_middle_is_one_that_engines_know(
    rights: str,
) -> None:
    """``e8h8`` with the variant "standard" left engines without a score (audit, row 7)."""
    fen = "rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b"
    board = chess.Board(f"{fen} kq - 0 20")
    board.push_uci("e8g8")
    game = Tv(fen + rights).shown(board, "e8h8")
    assert game.headers.variant == "standard"
    assert [(move.uci, move.san) for move in game.moves] == [("e8g8", "O-O")]
    chess.Board(game.start_fen).push_uci(game.moves[0].uci)


def test_castling_on_the_chess960_channel_is_king_to_rook() -> None:
    fen = "bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/2RK1R1B w"
    after = chess.Board(fen + " CF - 0 1", chess960=True)
    after.push_uci("d1c1")
    game = Tv(fen, "chess960").shown(after, "d1c1")
    assert game.headers.variant == "chess960"
    assert [(move.uci, move.san) for move in game.moves] == [("d1c1", "O-O-O")]
