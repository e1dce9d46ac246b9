"""Boards in a hall, read through DGT LiveChess."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from typing import Any

import chess
import httpx
import msgspec
import pytest

from live.errors import FeedUnreadable
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
)
from live.messages.values import FeedName
from live.process.loop_slices import LoopShare, run_without_pause
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.sources import livechess_pairings
from live.sources.foreign_json import describe_unread, read_json
from live.sources.hall import MAX_BOARDS, MISSED, Hall
from live.sources.hall_games import SET_BACK, Seat, Seats
from live.sources.livechess_messages import LiveChessMessages
from live.sources.livechess_pairings import MAX_TOURNAMENTS, Pairings
from tests.sources.fakes import (
    CONFIG,
    GAMES,
    DrivenClock,
    Followed,
    Ledger,
    answer_with,
    follow_source,
    until,
    upto,
)
from tests.sources.hall_sources import LINES, DgtBoardRehearsal, FakeLiveChess

START = chess.STARTING_BOARD_FEN
FEN = chess.STARTING_FEN
EBOARDS = '{"response":"call","id":1,"param":[{"serialnr":"23946","state":"ACTIVE"}]}'
CLOCK = {"white": 90, "black": 80}
#: Positions after 1. e4 e5, after 2. Nf3, and after 2... Nc6.
OPEN = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR"
KNIGHT = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
OPENING = LINES["GAME"].split()[:12]
KNIGHTS = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"


class Board:
    """One board, to which the test sends messages directly."""

    def __init__(self) -> None:
        self.boards = LiveChessMessages(Hall(grace_s=20.0))
        assert json.loads(self.boards.build_boards_request()) == {
            "id": 1,
            "call": "eboards",
        }
        (sent,), _ = run_without_pause(self.boards.apply_message(EBOARDS, 0.0))
        wanted = {"feed": "eboardevent", "id": 1, "param": {"serialnr": "23946"}}
        assert json.loads(sent)["param"] == wanted

    def reconnect(self) -> None:
        """Lose the connection and connect again."""
        self.boards.hall.mark_disconnected()
        run_without_pause(self.boards.apply_message(EBOARDS, 0.0))

    def event(self, **param: object) -> tuple[list[bytes], list[GameReport]]:
        message = {"response": "feed", "id": 1, "param": {"serialnr": "23946", **param}}
        return run_without_pause(self.boards.apply_message(json.dumps(message), 0.0))

    def silent(self, **param: object) -> bool:
        """Return whether nothing is sent or reported after this event."""
        return self.event(**param) == ([], [])

    def setup(self, placed: str) -> str:
        """Put the pieces in a position; return the FEN that is sent to LiveChess.
        Nothing else may be sent or reported.
        """
        (sent,), games = self.event(board=placed)
        call = json.loads(sent)["param"]
        assert (call["id"], call["method"], games) == (1, "setup", [])
        fen: str = call["param"]["fen"]
        return fen

    def moves(self, *san: str, start: str = FEN, **param: object) -> GameReport:
        """Return the game of the board after these moves. No other game may be
        reported.
        """
        sent, games = self.event(san=list(san), start=start, **param)
        hall = self.boards.hall
        game = hall.game_of_board(hall.boards["23946"])
        assert sent == [] and game is not None and games in ([], [game])
        return game


@pytest.fixture
def board() -> Board:
    return Board()


def clocks(game: GameReport) -> list[tuple[str, float | None]]:
    return [(move.san, move.clock_s) for move in game.moves]


def test_a_board_in_its_starting_position_is_set_up_once(board: Board) -> None:
    assert board.silent(board=START.replace("BNR", "B1R"))
    assert board.setup(START) == FEN
    assert board.silent(board=START)


def test_what_is_for_no_board_that_is_followed_changes_nothing(board: Board) -> None:
    texts = ['{"response":"feed","id":1,"param":7}']
    for response, number in (("feed", 0), ("feed", 2), ("reply", 1)):
        message = {
            "response": response,
            "id": number,
            "param": {"san": ["e4"], "start": FEN},
        }
        texts.append(json.dumps(message))
    for text in texts:
        assert run_without_pause(board.boards.apply_message(text, 0.0)) == ([], [])


def test_each_event_is_the_whole_game_and_new_moves_have_their_clocks(
    board: Board,
) -> None:
    board.moves("e4", clock={"white": 5390, "black": 5400, "run": False, "time": 1})
    game = board.moves(
        "e4", "c5", clock={"white": 5390, "black": 5330, "run": True, "time": 2}
    )
    assert clocks(game) == [("e4", 5390), ("c5", 5330)]
    assert (game.key, game.headers.board, game.result) == ("23946/1", 1, "*")
    # If a move is corrected, the moves before it keep their clocks.
    assert clocks(board.moves("e4", "e5")) == [("e4", 5390), ("e5", 5330)]
    assert len(board.moves("e4").moves) == 1
    game = board.moves("e4", "Ke4")
    assert (len(game.moves), game.problem) == (1, "illegal move 1...Ke4")


def test_a_move_has_the_clock_that_its_player_pressed(board: Board) -> None:
    """The board detects a move while the clock is still running. The increment is added
    when the clock is pressed.
    """
    board.moves("e4", clock={"white": 5371, "black": 5400, "run": True})
    assert board.silent(clock={"white": 5370, "black": 5400, "run": True})
    _, (game,) = board.event(clock={"white": 5400, "black": 5400, "run": False})
    assert clocks(game) == [("e4", 5400)]
    # While Black thinks, nothing is reported. Then the arbiter stops the clocks and
    # sets them.
    assert board.silent(clock={"white": 5400, "black": 5399, "run": False})
    assert board.silent(clock={"white": 5520, "black": 5399, "run": None})
    game = board.moves("e4", "e5", clock={"white": 5520, "black": 5390, "run": True})
    assert clocks(game) == [("e4", 5400), ("e5", 5390)]


def test_a_game_that_began_while_nobody_listened_is_another() -> None:
    for now in (["e4"], ["e4", "e5", "Nc3"], ["d4", "d5"], [*OPENING[:3], "d6"]):
        board = Board()
        for plies in range(1, len(OPENING) + 1):
            board.moves(*OPENING[:plies], clock=CLOCK)
        board.reconnect()
        game = board.moves(*now, clock={"white": 5400, "black": 5390})
        assert game.key == "23946/2"
        # The new game must not have clocks of the old game.
        assert {move.clock_s for move in game.moves} <= {None, 5400, 5390}
    # An arbiter takes many moves back: the game stays the same.
    board = Board()
    board.moves(*OPENING, clock=CLOCK)
    assert board.moves(*OPENING[:5]).key == "23946/1"


def test_a_livechess_that_forgot_is_told_where_the_game_stands(board: Board) -> None:
    board.moves("e4", clock=CLOCK)
    board.moves("e4", "e5", clock=CLOCK)
    board.reconnect()
    # Nf3 was played during the interruption. The knight on b8 is lifted at first.
    assert board.silent(board=KNIGHT.replace("rn", "r1", 1))
    fen = board.setup(KNIGHT)
    assert fen == f"{KNIGHT} b KQkq - 1 2"
    game = board.moves("Nc6", start=fen, clock={"white": 70, "black": 60})
    assert clocks(game) == [("e4", 90), ("e5", 80), ("Nf3", None), ("Nc6", 60)]
    assert (game.key, game.start_fen) == ("23946/1", FEN)
    assert [move.san for move in board.moves(start=fen).moves] == ["e4", "e5", "Nf3"]
    board.moves("Nc6", start=fen)
    board.moves()  # the pieces are set back, so the next game begins
    game = board.moves("d4")
    assert (game.key, len(game.moves)) == ("23946/2", 1)


def test_a_livechess_that_follows_again_is_told_no_other_position(board: Board) -> None:
    board.moves("e4")
    board.moves("e4", "e5")
    board.reconnect()
    start = board.setup(OPEN)
    lifted = OPEN.replace("RNBQKBNR", "RNBQKB1R")
    board.moves(start=start, board=lifted, match=False)
    assert len(board.moves("Nf3", start=start, board=KNIGHT, match=True).moves) == 3
    # A move is on the board before LiveChess adds it to the list.
    assert board.silent(board=KNIGHTS)


def test_a_board_met_in_mid_game_begins_where_a_move_tells_whose_turn_it_is() -> None:
    board = Board()
    after = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R"
    assert board.silent(board=KNIGHTS)
    assert board.silent(board=KNIGHTS.replace("RNBQKB1R", "RNBQK2R"))
    fen = board.setup(after)
    assert fen == f"{after} b KQkq - 0 1"
    game = board.moves("a6", start=fen)
    assert (game.start_fen, [move.san for move in game.moves]) == (fen, ["a6"])


def seat_players(board: Board, result: Result = "*") -> None:
    """Pair Ann with Bea at the board."""
    headers = Headers(Player("Ann"), Player("Bea"), event="Open", round="1.1", board=1)
    run_without_pause(
        board.boards.hall.apply_pairings({"23946": (Seat(headers, result),)}, 0.0)
    )
    board.boards.hall.take_changed_games()


def state_after(
    board: Board, now_s: float, /, **param: object
) -> tuple[int, str | None]:
    """Return the plies and the problem of the board's game after this event."""
    message = {"response": "feed", "id": 1, "param": {"serialnr": "23946", **param}}
    run_without_pause(board.boards.apply_message(json.dumps(message), now_s))
    hall = board.boards.hall
    game = hall.game_of_board(hall.boards["23946"])
    assert game is not None and game.key == "23946/1.1"
    return len(game.moves), game.problem


def test_moves_that_a_forgetful_livechess_cannot_tell_any_more_make_no_second_game(
    board: Board,
) -> None:
    """A second game would appear in standings with the same result."""
    seat_players(board)
    board.moves("e4", clock=CLOCK)
    board.reconnect()
    # White and Black have each made two moves whose order is unknown.
    later = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N2N2/PPPP1PPP/R1BQKB1R"
    assert state_after(board, 0.0, board=later) == (1, None)
    assert state_after(board, 9.0, clock=CLOCK) == (1, None)
    assert state_after(board, 21.0, clock=CLOCK) == (1, MISSED)
    # The operator enters the moves.
    sans = ["e4", "e5", "Nf3", "Nf6", "Nc3"]
    assert state_after(board, 30.0, san=sans, start=FEN, match=True) == (5, None)


def test_the_first_moves_of_a_game_are_found_where_nobody_listened(
    board: Board,
) -> None:
    seat_players(board)
    start = board.setup(OPEN)
    assert state_after(board, 0.0, san=["Nf3"], start=start) == (3, None)


def test_a_cleared_board_keeps_its_game_and_says_so(board: Board) -> None:
    seat_players(board)
    for plies in range(5):
        board.moves(*["e4", "e5", "Nf3", "Nc6"][:plies])
    assert state_after(board, 0.0, san=[], start=FEN) == (4, SET_BACK)
    assert board.boards.hall.note == "1 board was set back without a result"
    seat_players(board, "1-0")
    assert state_after(board, 0.0, san=["d4"], start=FEN) == (4, None)
    assert board.boards.hall.note == ""


async def test_a_board_plugged_in_is_found_however_much_the_others_send() -> None:
    service = DgtBoardRehearsal(GAMES[:1])
    async with service.serve() as spec, follow_source(spec) as seen:
        await until(lambda: service.boards_ready == 1)
        service.plug_in(GAMES[1])
        for plies in range(1, 10):
            seen.clock.time_s += 5
            await service.show_report(0, upto(GAMES[0], plies))
            await until(lambda n=plies: len(seen.ledger.reports) >= n)  # type: ignore[misc]
        await until(lambda: service.boards_ready == 2, within_s=5)


def has_moves(seen: Followed, moves: Sequence[Move]) -> bool:
    """Return whether these are the moves of all games together."""
    found = chain.from_iterable(game.moves for game in seen.games)
    return [move.uci for move in found] == [move.uci for move in moves]


async def test_a_livechess_that_forgets_with_the_connection_loses_no_move() -> None:
    """Some moves are played while the connection is lost."""
    game = GAMES[0]
    service = DgtBoardRehearsal([game], clock=DrivenClock(), forgets=True)

    async with service.serve() as spec, follow_source(spec) as seen:
        await until(lambda: service.boards_ready == 1)
        for plies in range(1, len(game.moves) + 1):
            if plies % 9 == 0:
                service.drop()
            await service.show_report(0, upto(game, plies))
            if plies % 9 or plies == len(game.moves):
                await until(partial(has_moves, seen, game.moves[:plies]))
    assert seen.ledger.reports[-1].games[0].key == "10001/1"


class HallLedger(Ledger):
    """Records games as the service does, over all its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.index = GameIndex()

    async def report(self, report: FeedReport) -> None:
        await super().report(report)
        for step in plan_report_steps(
            self.index, msgspec.structs.replace(report, feed="hall")
        ):
            self.index.apply(step)

    def known_games(self, feed: FeedName) -> tuple[GameReport, ...]:
        return tuple(game.to_report() for game in self.index)

    @property
    def games_held(self) -> list[tuple[str, str, int]]:
        """White's name, result and number of plies of every game."""
        return [
            (game.headers.white.name, game.result, len(game.moves))
            for game in self.index
        ]


@pytest.mark.parametrize("forgets", [False, True])
async def test_after_a_restart_every_board_stands_as_it_stood(forgets: bool) -> None:
    """After a restart, a board sends nothing yet, or that its pieces were set back. Its
    recorded game must keep all moves.
    """
    running, over = GAMES[:2]
    empty = [upto(game, 0) for game in (running, over)]
    service = FakeLiveChess(empty, forgets=forgets)
    for table, game in enumerate((running, over), 1):
        service.pair(1, table, game.headers)
    ledger = HallLedger()
    names = [game.headers.white.name for game in (running, over)]

    async def come_to(*wanted: tuple[str, str, int]) -> None:
        await until(lambda: ledger.games_held == list(wanted))

    async with service.serve() as spec:
        async with follow_source(spec, ledger=ledger):
            await until(lambda: service.boards_ready == 2)
            for plies in range(1, 31):
                await service.put(0, upto(running, plies))
                await service.put(1, upto(over, plies))
            await come_to((names[0], "*", 30), (names[1], "*", 30))
        await until(lambda: not service.listeners)
        # While the service is stopped, one game gets its result and its pieces are set
        # back, and a move is played on the other board.
        service.pair(1, 2, over.headers, "1-0")
        await service.put(1, upto(over, 0))
        await service.put(0, upto(running, 31))
        for plies in (31, 32):
            async with follow_source(spec, ledger=ledger) as seen:
                await service.put(0, upto(running, plies))
                await come_to((names[0], "*", plies), (names[1], "1-0", 30))
                assert "finished" not in seen.states
            await until(lambda: not service.listeners)
        # The next round begins, with clocks set and the pieces in the same position.
        service.pair(2, 2, running.headers)
        async with follow_source(spec, ledger=ledger):
            await until(lambda: len(ledger.games_held) == 3)
            for plies in (1, 2, 3):
                await service.put(1, upto(GAMES[2], plies))
                await come_to(
                    (names[0], "*", 32), (names[1], "1-0", 30), (names[0], "*", plies)
                )
    assert [game.key for game in ledger.index] == [
        "10001/1.1",
        "10002/1.2",
        "10002/2.2",
    ]


async def test_a_journal_of_before_pairings_made_keys_goes_on() -> None:
    """The keys of version 0.3 counted the games of a board."""
    ledger = HallLedger()
    game = GAMES[0]
    headers = msgspec.structs.replace(
        game.headers,
        event="Open",
        round="1.1",
        board=1,
        white=Player("Boe"),
        black=Player("Coy"),
    )
    held = msgspec.structs.replace(upto(game, 20), key="10001/1", headers=headers)
    await ledger.report(FeedReport("hall", (held,)))
    service = FakeLiveChess([upto(game, 22)])
    service.pair(1, 1, headers)
    async with service.serve() as spec, follow_source(spec, ledger=ledger):
        await until(lambda: ledger.games_held == [("Boe", "*", 22)])
    assert [each.key for each in ledger.index] == ["10001/1"]


async def test_a_game_at_a_board_that_is_off_keeps_the_source_going() -> None:
    """A source is finished only if no recorded game is running, even on a board that is
    off.
    """
    ledger = HallLedger()
    running, over = (
        msgspec.structs.replace(game, key=f"{serial}/1.1")
        for game, serial in ((upto(GAMES[0], 20), 10002), (GAMES[1], 10001))
    )
    service = FakeLiveChess([upto(GAMES[1], 0)])
    service.pair(1, 1, over.headers, over.result)
    await ledger.report(FeedReport("hall", (running, over)))
    async with (
        service.serve() as spec,
        follow_source(spec, ledger=ledger, lasting=True) as seen,
    ):
        for _ in range(3):
            await until(lambda: service.boards_ready == 1)
            await seen.clock.expire()
        assert "finished" not in seen.states
        await seen.ledger.report(FeedReport("hall", (running,)))


async def test_something_else_on_that_port() -> None:
    async with serve_http(answer_with(200, b"a web server")) as origin:
        with pytest.raises(FeedUnreadable, match="is not LiveChess"):
            await Followed(origin.replace("http", "ws"), CONFIG).run()


ANN = {"fname": "Ann", "mname": None, "lname": "Boe", "title": "WGM", "fideid": "7"}
BEA = {"fname": "Bea", "mname": None, "lname": "Coy", "title": None, "fideid": None}
PAIRING = {
    "nr": 2,
    "uuid": "g",
    "white": ANN,
    "black": BEA,
    "live": True,
    "result": None,
}


Fetch = Callable[[], Coroutine[Any, Any, Seats | None]]


class HallSite:
    """The HTTP server of LiveChess, and a reader of its pairings."""

    def __init__(self, **last: object) -> None:
        """Create a tournament of one round; ``last`` replaces fields of its pairing."""
        self.files: dict[str, object] = {
            "tournaments": [{"uuid": "t"}],
            "tournament/t": {"name": "Open", "rounds": 1, "eboards": ["11", "12"]},
            "round/t/0": {"pairings": [{**PAIRING, **last}]},
        }
        self.instead: dict[str, tuple[int, bytes]] = {}
        """Status and body by path, sent in place of the file."""
        self.silent_path = ""
        """Path whose requests get no answer."""
        self.is_waiting = asyncio.Event()
        self.asked: Counter[str] = Counter()

    async def answer(self, request: ServedRequest, reply: ServedReply) -> None:
        path = request.path.removeprefix("/api/v1.0/")
        self.asked[path.partition("/")[0]] += 1
        if path == self.silent_path:
            self.is_waiting.set()
            await asyncio.Event().wait()
        file = self.files.get(path)
        usual = (404 if file is None else 200, json.dumps(file).encode())
        await reply.send_whole(*self.instead.get(path, usual))

    @asynccontextmanager
    async def read(
        self, path: str = "/api/v1.0"
    ) -> AsyncIterator[tuple[Pairings, Fetch]]:
        """Yield the pairings, and the function that fetches them."""
        async with (
            serve_http(self.answer) as origin,
            httpx.AsyncClient(timeout=5.0) as client,
        ):
            pairings = Pairings("hall", f"ws{origin.removeprefix('http')}{path}")
            share = LoopShare(DrivenClock())
            yield pairings, partial(pairings.fetch_pairings, client, share)


async def seats(path: str = "/api/v1.0", **last: Any) -> Seats | None:
    """Return what is read from LiveChess; ``last`` replaces fields of the pairing of
    the last round.
    """
    site = HallSite(live=False, result="DRAW")
    site.files["tournament/t"] = {"name": "Open", "rounds": 2, "eboards": ["11", "12"]}
    site.files["round/t/1"] = {"pairings": [{**PAIRING, **last}]}
    async with site.read(path) as (_, fetch):
        return await fetch()


async def test_livechess_says_who_sits_at_which_board() -> None:
    white, black = Player("Boe, Ann", title="WGM", fide_id=7), Player("Coy, Bea")
    first = Headers(white, black, event="Open", round="1.2", board=2)
    second = msgspec.structs.replace(first, round="2.2")
    draw = Seat(first, "1/2-1/2")
    assert await seats() == {"12": (draw, Seat(second))}
    assert await seats(live=False) == {"12": (draw, Seat(second, is_begun=False))}
    assert await seats(nr=3) == {"12": (draw,)}, "a table without a board"
    assert await seats("/elsewhere") is None


async def test_what_does_not_answer_just_now_stays_as_it_was() -> None:
    site = HallSite()
    async with site.read() as (_, fetch):
        whole = await fetch()
        for path in site.files:
            for way in ((500, b""), (404, b""), (200, b"<html>")):
                site.instead = {path: way}
                assert await fetch() == whole, (path, way)
        site.instead = {}
        site.files["tournaments"] = []
        assert await fetch() == {}


@pytest.mark.parametrize("path", ["tournament/t", "round/t/0"])
async def test_pairings_that_were_never_read_are_unknown_and_not_gone(
    path: str,
) -> None:
    """Without pairings, boards would begin games without players after a restart."""
    site = HallSite()
    site.instead = {path: (500, b"")}
    async with site.read() as (pairings, fetch):
        for _ in range(2):
            assert await fetch() == {}
            assert not pairings.is_complete
        site.instead = {}
        assert list(await fetch() or {}) == ["12"]
        assert pairings.is_complete


async def test_a_fetch_that_is_cancelled_forgets_no_earlier_answer() -> None:
    site = HallSite()
    async with site.read() as (_, fetch):
        whole = await fetch()
        site.silent_path = "round/t/0"
        fetching = asyncio.create_task(fetch())
        await site.is_waiting.wait()
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)
        site.silent_path = ""
        site.instead = {"round/t/0": (500, b"")}
        assert await fetch() == whole


async def test_a_look_at_the_pairings_is_bounded_whatever_there_is() -> None:
    site = HallSite()
    site.files["tournaments"] = [{"uuid": str(number)} for number in range(99)]
    for number in range(MAX_TOURNAMENTS):
        site.files[f"tournament/{number}"] = {"rounds": 99}
    serials = [str(number) for number in range(2000)]
    site.files["tournament/0"] = {"rounds": 99, "eboards": serials}
    pairings = [{**PAIRING, "nr": number} for number in range(2000)]
    site.files["round/0/0"] = {"pairings": pairings}
    async with site.read() as (_, fetch):
        found = await fetch()
    assert site.asked == {"tournaments": 1, "tournament": MAX_TOURNAMENTS, "round": 120}
    assert found is not None and len(found) == MAX_BOARDS - 1, (
        "no table has the number 0"
    )


async def test_an_odd_pairing_stays_as_it_was_and_is_named() -> None:
    """A pairing with an unexpected value keeps its last good state."""
    drawn = {**PAIRING, "live": False, "result": "DRAW"}
    pairings: list[object] = [{**drawn, "nr": 1}, drawn]
    site = HallSite()
    site.files["round/t/0"] = {"pairings": pairings}
    changes: list[tuple[dict[str, object], str]] = [
        ({"result": 7}, "result (a number)"),
        ({"white": 5}, "white (a number)"),
        ({"white": {**ANN, "fideid": []}}, "white.fideid (a list)"),
        ({"nr": []}, "nr (a list)"),
        ({"live": "x"}, "live (a text)"),
    ]
    async with site.read() as (asked, fetch):
        whole = await fetch()
        assert whole is not None and (asked.unread, asked.note) == ({}, "")
        for change, words in changes:
            pairings[1] = {**drawn, **change}
            assert await fetch() == whole
            assert describe_unread(asked.unread["12"]) == f"not read: {words}"
            # A service that has just started has no earlier pairing to keep. No result
            # is withdrawn.
            async with site.read() as (_, fetch_first):
                fresh = await fetch_first()
            assert fresh is not None and fresh["11"] == whole["11"]
            assert [seat.result for seat in fresh.get("12", ())] in ([], ["1/2-1/2"])
        odd_ones: list[object] = [None, 7, []]
        for odd in odd_ones:
            pairings[1] = odd
            assert await fetch() == whole
            assert list(asked.unread) == ["12"]
        site.files["round/t/0"] = {"pairings": None}
        assert await fetch() == whole
        site.files["tournament/t"] = {"name": [], "rounds": {}, "eboards": "x"}
        assert await fetch() == whole
        assert asked.note == (
            "tournament/t: not read: name (a list), rounds (an object), "
            "eboards (a text)"
        )


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ({"san": "e4 e5"}, "its moves cannot be read (a text)"),
        ({"san": ["e4", None, "Nf3"]}, "its moves cannot be read (null as entry 2)"),
        ({"start": []}, "not read: start (a list)"),
        ({"clock": {"white": "x", "black": 80}}, "not read: clock.white (a text)"),
        ({"match": "x"}, "not read: match (a text)"),
        ({"board": 7.5, "clock": 3}, "not read: clock (a number)"),
    ],
)
def test_an_odd_field_of_an_event_is_named_and_takes_no_move_back(
    board: Board, odd: dict[str, object], problem: str
) -> None:
    board.moves("e4", "e5", "Nf3", clock=CLOCK)
    sent, (game,) = board.event(**{"san": ["e4", "e5", "Nf3"], "start": FEN, **odd})
    assert (sent, game.problem, len(game.moves)) == ([], problem, 3)
    # The problem is reported once, until a good message comes.
    assert board.silent(**{"san": ["e4", "e5", "Nf3"], "start": FEN, **odd})
    _, (game,) = board.event(san=["e4", "e5", "Nf3"], start=FEN)
    assert game.problem is None and len(game.moves) == 3
    assert len(board.moves("e4", "e5", "Nf3", "Nc6").moves) == 4


@pytest.mark.parametrize("line", [["e4", "??"], ["xx"], ["e4", "e5", "Ng9"]])
def test_a_line_that_cannot_be_read_is_neither_less_nor_another_game(
    board: Board, line: list[str]
) -> None:
    before = board.moves(*OPENING, clock=CLOCK)
    _, (game,) = board.event(san=line, start=FEN)
    assert (game.key, game.moves) == (before.key, before.moves)
    assert "move" in (game.problem or "") and game.unread == ("moves",)
    assert board.moves(*OPENING, "Bb3").problem is None


def test_a_message_that_is_no_json_is_said(board: Board) -> None:
    assert run_without_pause(
        board.boards.apply_message('{"response": "feed", "id":', 0.0)
    ) == ([], [])
    assert board.boards.note == "a message of it is damaged JSON"
    board.moves("e4")
    assert board.boards.note == ""
    listed = {"response": "call", "id": 1, "param": [{"serialnr": ["5"]}, 7, None]}
    assert run_without_pause(board.boards.apply_message(json.dumps(listed), 0.0)) == (
        [],
        [],
    )
    assert list(board.boards.hall.boards) == ["23946"]


def read_round(*pairings: dict[str, object]) -> livechess_pairings._Round:
    found = read_json(
        json.dumps({"nr": 1, "pairings": list(pairings)}), livechess_pairings._Round
    )
    assert found is not None
    return found


def paired(white: str, black: str, **more: object) -> dict[str, object]:
    return {"nr": 1, "white": {"lname": white}, "black": {"lname": black}, **more}


@pytest.mark.parametrize(
    ("result", "is_begun"), [(None, False), ("", False), ("*", False), ("DRAW", True)]
)
def test_a_pairing_has_begun_once_it_has_a_result(
    result: str | None, is_begun: bool
) -> None:
    (pairing,) = read_round(paired("Cat", "Dan", result=result)).pairings or ()
    assert livechess_pairings._create_seat("Open", 2, pairing).is_begun is is_begun


def test_a_result_that_cannot_be_read_is_that_of_the_same_players_alone() -> None:
    before = read_round(paired("Cat", "Dan", result="DRAW"))
    for players, result in ((("Cat", "Dan"), "1/2-1/2"), (("Eva", "Flo"), None)):
        now = read_round(paired(*players, result={}))
        (pairing,) = livechess_pairings._merge_round(now, before).pairings or ()
        assert pairing.result == result


def test_an_odd_serial_number_costs_its_own_table_alone() -> None:
    before, now = (
        read_json(json.dumps({"eboards": serials}), livechess_pairings._Tournament)
        for serials in (["1", "2", "3", None], ["1", ["q"], 3, "", "5"])
    )
    found = livechess_pairings._merge_tournament(now, before).eboards or ()
    assert list(map(livechess_pairings._read_serial, found)) == [
        "1",
        "2",
        "3",
        None,
        "5",
    ]
    # At the first reading, nothing is known of that table.
    first = livechess_pairings._merge_tournament(now, None).eboards or ()
    assert list(map(livechess_pairings._read_serial, first)) == [
        "1",
        None,
        "3",
        None,
        "5",
    ]
