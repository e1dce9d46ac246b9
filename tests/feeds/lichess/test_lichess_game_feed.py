import json

import chess
import pytest

from live.config import FeedsConfig, LichessConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.lichess import MAX_LINE_BYTES, LichessGameStream, LichessTvStream, NdjsonLines
from live.feeds.open_feed import open_feed
from live.feeds.source_address import lichess_watch
from live.network.retry import FeedTrouble
from live.rehearse.web_servers import ServedReply, ServedRequest, serving
from tests.feeds.fakes import DATA, DrivenClock, Ledger, conditions, decode, running, until
from tests.feeds.lichess.lichess_game_server import GAME_ID, LichessGameRehearsal

GAME = decode((DATA / "four-boards.pgn").read_bytes())[0]
MOVES = [(move.uci, move.clock_s) for move in GAME.moves]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/abcd1234", ("game", "abcd1234")),
        ("/abcd1234/black", ("game", "abcd1234")),
        ("/abcd1234WXYZ", ("game", "abcd1234")),
        ("/api/stream/game/abcd1234", ("game", "abcd1234")),
        ("/tv", ("tv", "")),
        ("/tv/blitz", ("tv", "blitz")),
        ("/api/tv/feed", ("tv", "")),
        ("/api/tv/ultraBullet/feed", ("tv", "ultraBullet")),
        ("/training", None),
        ("/@/somebody", None),
        ("/", None),
    ],
)
def test_games_and_channels_by_their_urls(path: str, found: tuple[str, str] | None) -> None:
    assert lichess_watch("https://lichess.org" + path) == found


async def followed(site: LichessGameRehearsal, path: str, ledger: Ledger) -> None:
    clock = DrivenClock()
    async with site.serving() as origin:
        config = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(base_url=origin))
        feed = open_feed(
            f"https://lichess.org{path}", config, conditions=conditions(config, clock), env={}
        )
        async with running(feed, ledger) as task:
            for plies in range(0, len(MOVES), 5):
                await site.show(plies)
            await site.show(len(MOVES), over=path != "/tv")
            if path == "/tv":
                await until(lambda: bool(ledger.reports) and moves(ledger) == MOVES)
                assert not task.done()
            else:
                await until(task.done)


def moves(ledger: Ledger) -> list[tuple[str, float | None]]:
    (game,) = ledger.games.values()
    return [(move.uci, move.clock_s) for move in game.moves]


@pytest.mark.slow
@pytest.mark.parametrize(("cut", "drop_after"), [(1 << 20, None), (1, None), (7, 12), (50, 0)])
async def test_a_game_is_followed_to_its_end(cut: int, drop_after: int | None) -> None:
    ledger = Ledger()
    await followed(
        LichessGameRehearsal(GAME, cut=cut, drop_after=drop_after), f"/{GAME_ID}", ledger
    )
    (game,) = ledger.games.values()
    assert moves(ledger) == MOVES
    assert (game.key, game.result) == (GAME_ID, GAME.result)
    white, black = game.headers.white, game.headers.black
    assert (white.name, white.elo, white.title) == (
        GAME.headers.white.name,
        GAME.headers.white.elo,
        GAME.headers.white.title,
    )
    assert black.name == GAME.headers.black.name
    assert ledger.last.state == "finished"


async def test_tv_shows_the_featured_game_and_never_ends() -> None:
    ledger = Ledger()
    await followed(LichessGameRehearsal(GAME, cut=33), "/tv", ledger)
    assert moves(ledger) == MOVES


async def test_no_such_game() -> None:
    with pytest.raises(FeedNotFound):
        await followed_error("/abcd9999")


async def test_html_instead_of_a_game() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(200, b"<!DOCTYPE html>\n<title>x</title>\n")

    async with serving(answer) as origin:
        feed = open_feed(f"lichess+{origin}/{GAME_ID}", FeedsConfig(), conditions=conditions())
        with pytest.raises(FeedUnreadable, match="HTML"):
            await feed.run(Ledger())


async def followed_error(path: str) -> None:
    async with LichessGameRehearsal(GAME).serving() as origin:
        spec = f"lichess+{origin}{path}"
        await open_feed(spec, FeedsConfig(), conditions=conditions(), env={}).run(Ledger())


def test_lines_cut_anywhere_and_one_without_end() -> None:
    lines = NdjsonLines()
    assert [*lines.feed(b'{"a":'), *lines.feed(b'1}\n\n \n{"b"'), *lines.feed(b":2}\n")] == [
        b'{"a":1}',
        b'{"b":2}',
    ]
    with pytest.raises(FeedTrouble, match="without end"):
        list(lines.feed(b"x" * (MAX_LINE_BYTES + 1)))


def described(**more: object) -> bytes:
    return json.dumps({"id": "abcd1234", **more}).encode()


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
    game = stream.line(described(status={"id": status}, winner=winner))
    assert game is not None and game.result == result
    assert stream.over is over


def test_other_variants_are_named_and_left_alone() -> None:
    stream = LichessGameStream("x")
    stream.line(described(variant={"key": "atomic"}))
    game = stream.line(b'{"fen":"x","lm":"e2e4"}')
    assert game is not None and game.moves == ()
    assert game.headers.variant == "atomic" and game.problem is not None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'"x"', b'{"id":3}', b"\xff"])
def test_what_cannot_be_read_is_passed_over(raw: bytes) -> None:
    assert LichessGameStream("x").line(raw) is None
    assert LichessTvStream("x").line(raw) is None


def tv(kind: str, board: chess.Board, **more: object) -> bytes:
    side = "w" if board.turn else "b"
    return json.dumps({"t": kind, "d": {"fen": f"{board.board_fen()} {side}", **more}}).encode()


def test_tv_castling_is_king_to_rook_and_another_game_replaces_the_first() -> None:
    stream, board = LichessTvStream("x"), chess.Board()
    start = {"t": "featured", "d": {"id": "abcd1234", "players": [], "fen": board.fen()}}
    stream.line(json.dumps(start).encode())
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"):
        board.push_uci(uci)
        stream.line(tv("fen", board, lm=uci))
    board.push_uci("e1g1")
    game = stream.line(tv("fen", board, lm="e1h1", wc=9, bc=8))
    assert game is not None and game.moves[-1].san == "O-O"
    assert (game.moves[-1].uci, game.moves[-1].clock_s) == ("e1g1", 9)
    game = stream.line(tv("featured", chess.Board(), id="efgh5678"))
    assert game is not None and (game.key, game.moves) == ("efgh5678", ())


def test_tv_starts_anew_where_a_line_was_missed() -> None:
    stream, board = LichessTvStream("x"), chess.Board()
    stream.line(tv("featured", board, id="abcd1234"))
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    game = stream.line(tv("fen", board, lm="e7e5"))
    assert game is not None and game.moves == ()
    assert game.problem is None and game.start_fen.startswith(board.board_fen())


@pytest.mark.parametrize("rights", ["", " kq - 0 20"])
def test_castling_of_a_standard_game_met_in_the_middle_is_one_that_engines_know(
    rights: str,
) -> None:
    """``e8h8`` with the variant "standard" left engines without a score (audit, row 7)."""
    stream = LichessTvStream("x")
    fen = "rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b" + rights
    stream.line(json.dumps({"t": "featured", "d": {"id": "abcd1234", "fen": fen}}).encode())
    board = chess.Board(fen[: -len(rights)] + " kq - 0 20" if rights else fen + " kq - 0 20")
    board.push_uci("e8g8")
    game = stream.line(tv("fen", board, lm="e8h8"))
    assert game is not None and game.headers.variant == "standard"
    assert [(move.uci, move.san) for move in game.moves] == [("e8g8", "O-O")]
    chess.Board(game.start_fen).push_uci(game.moves[0].uci)


def test_castling_on_the_chess960_channel_is_king_to_rook() -> None:
    stream = LichessTvStream("x", "chess960")
    fen = "bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/2RK1R1B w"
    stream.line(json.dumps({"t": "featured", "d": {"id": "abcd1234", "fen": fen}}).encode())
    after = chess.Board(fen + " CF - 0 1", chess960=True)
    after.push_uci("d1c1")
    game = stream.line(tv("fen", after, lm="d1c1"))
    assert game is not None and game.headers.variant == "chess960"
    assert [(move.uci, move.san) for move in game.moves] == [("d1c1", "O-O-O")]
