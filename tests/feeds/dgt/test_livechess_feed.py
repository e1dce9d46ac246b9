import json

import msgspec
import pytest

from live.config import FeedsConfig
from live.errors import FeedUnreadable
from live.events import GameReport
from live.feeds.game_timeline import PlannedIncident
from live.feeds.livechess import LiveChessMessages
from live.feeds.open_feed import open_feed
from live.rehearse.livechess_server import DgtBoardRehearsal
from live.rehearse.web_servers import ServedReply, ServedRequest, serving
from tests.feeds.fakes import DATA, DrivenClock, Ledger, conditions, decode, running, until

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
FEN = f"{START} w KQkq - 0 1"


class Case:
    """One board, spoken to directly."""

    def __init__(self) -> None:
        self.boards = LiveChessMessages()
        assert json.loads(self.boards.ask()) == {"id": 1, "call": "eboards"}
        (sent,), _ = self.boards.receive(
            '{"response":"call","id":1,"param":[{"serialnr":"23946","state":"ACTIVE"}]}'
        )
        assert json.loads(sent)["param"] == {
            "feed": "eboardevent",
            "id": 1,
            "param": {"serialnr": "23946"},
        }

    def reconnect(self) -> None:
        """The connection was lost and is there again."""
        self.boards.reconnected()
        self.boards.receive(
            '{"response":"call","id":1,"param":[{"serialnr":"23946","state":"ACTIVE"}]}'
        )

    def event(self, **param: object) -> tuple[list[bytes], list[GameReport]]:
        message = {"response": "feed", "id": 1, "param": {"serialnr": "23946", **param}}
        return self.boards.receive(json.dumps(message))

    def moves(self, *san: str, **param: object) -> GameReport:
        sent, (game,) = self.event(san=list(san), start=FEN, **param)
        assert sent == []
        return game


def test_a_board_in_its_starting_position_is_set_up_once() -> None:
    case = Case()
    assert case.event(board="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R") == ([], [])
    (setup,), games = case.event(board=START)
    assert json.loads(setup)["param"] == {"id": 1, "method": "setup", "param": {"fen": FEN}}
    assert games == []
    assert case.event(board=START) == ([], [])


def test_each_event_is_the_whole_game_and_new_moves_have_their_clocks() -> None:
    case = Case()
    case.moves("e4", clock={"white": 5390, "black": 5400, "run": False, "time": 1})
    game = case.moves("e4", "c5", clock={"white": 5390, "black": 5330, "run": True, "time": 2})
    assert [(m.uci, m.clock_s) for m in game.moves] == [("e2e4", 5390), ("c7c5", 5330)]
    assert (game.key, game.headers.board, game.result) == ("23946/1", 1, "*")


def test_a_corrected_move_keeps_the_clocks_before_it() -> None:
    case = Case()
    clock = {"white": 90, "black": 80}
    case.moves("e4", clock=clock)
    case.moves("e4", "c5", clock=clock)
    game = case.moves("e4", "e5")
    assert [(m.san, m.clock_s) for m in game.moves] == [("e4", 90), ("e5", 80)]
    assert len(case.moves("e4").moves) == 1


def test_pieces_set_back_after_a_game_begin_another() -> None:
    case = Case()
    assert case.moves("e4", "e5", "Nf3", "Nc6").key == "23946/1"
    assert case.moves().key == "23946/2"
    assert case.moves("d4").key == "23946/2"
    assert case.moves().key == "23946/2"


def test_a_move_has_the_clock_that_its_player_pressed() -> None:
    """It is sensed while the clock still runs; the increment comes with the press."""
    case = Case()
    case.moves("e4", clock={"white": 5371, "black": 5400, "run": True})
    assert case.event(clock={"white": 5370, "black": 5400, "run": True}) == ([], [])
    _, (game,) = case.event(clock={"white": 5400, "black": 5400, "run": False})
    assert [m.clock_s for m in game.moves] == [5400]
    # Black thinks: nothing to tell. Then the arbiter stops the clocks and sets them.
    assert case.event(clock={"white": 5400, "black": 5399, "run": False}) == ([], [])
    assert case.event(clock={"white": 5520, "black": 5399, "run": None}) == ([], [])
    game = case.moves("e4", "e5", clock={"white": 5520, "black": 5390, "run": True})
    assert [m.clock_s for m in game.moves] == [5400, 5390]


def test_a_game_that_began_while_nobody_listened_is_another() -> None:
    opening = [
        "e4",
        "e5",
        "Nf3",
        "Nc6",
        "Bb5",
        "a6",
        "Ba4",
        "Nf6",
        "O-O",
        "Be7",
        "Re1",
        "b5",
        "Bb3",
        "d6",
    ]
    clock = {"white": 90, "black": 80}
    for now in (["e4"], ["e4", "e5", "Nc3"], ["d4", "d5"], [*opening[:3], "d6"]):
        case = Case()
        for plies in range(1, len(opening) + 1):
            case.moves(*opening[:plies], clock=clock)
        case.reconnect()
        game = case.moves(*now, clock={"white": 5400, "black": 5390})
        assert game.key == "23946/2"
        # The old game's clocks are not this one's.
        assert {move.clock_s for move in game.moves} <= {None, 5400, 5390}
    # An arbiter takes a game back a long way: it is the same.
    case = Case()
    case.moves(*opening, clock=clock)
    assert case.moves(*opening[:5]).key == "23946/1"


def test_a_livechess_that_forgot_is_told_where_the_game_stands() -> None:
    case = Case()
    clock = {"white": 90, "black": 80}
    case.moves("e4", clock=clock)
    case.moves("e4", "e5", clock=clock)
    case.reconnect()
    # Nf3 was played meanwhile; the knight of b8 is in the air at first.
    after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
    assert case.event(board=after.replace("rn", "r1", 1)) == ([], [])
    (setup,), games = case.event(board=after)
    fen = f"{after} b KQkq - 1 2"
    assert json.loads(setup)["param"] == {"id": 1, "method": "setup", "param": {"fen": fen}}
    assert games == []
    sent, (game,) = case.event(san=["Nc6"], start=fen, clock={"white": 70, "black": 60})
    assert sent == []
    told = [(move.san, move.clock_s) for move in game.moves]
    assert told == [("e4", 90), ("e5", 80), ("Nf3", None), ("Nc6", 60)]
    assert (game.key, game.start_fen) == ("23946/1", FEN)
    _, (game,) = case.event(san=[])
    assert [move.san for move in game.moves] == ["e4", "e5", "Nf3"]
    case.event(san=["Nc6"])
    # The pieces are set back: the next game.
    _, (game,) = case.event(san=[], start=FEN)
    assert (game.key, game.moves) == ("23946/2", ())


def test_a_livechess_that_follows_again_is_told_no_other_position() -> None:
    case = Case()
    case.moves("e4")
    case.moves("e4", "e5")
    case.reconnect()
    here = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR"
    (setup,), _ = case.event(board=here)
    start = json.loads(setup)["param"]["param"]["fen"]
    lifted = here.replace("RNBQKBNR", "RNBQKB1R")
    sent, _ = case.event(san=[], start=start, board=lifted, match=False)
    assert sent == []
    after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
    sent, (game,) = case.event(san=["Nf3"], start=start, board=after, match=True)
    assert (sent, len(game.moves)) == ([], 3)
    # The next move is on the board before it is in the list.
    next_up = after.replace("rnbqkbnr", "r1bqkbnr").replace("/8/4p3", "/2n5/4p3")
    assert case.event(board=next_up) == ([], [])


def test_a_board_met_in_the_middle_begins_where_one_move_tells_whose_turn_it_is() -> None:
    case = Case()
    before = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
    after = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R"
    assert case.event(board=before) == ([], [])
    assert case.event(board=before.replace("RNBQKB1R", "RNBQK2R")) == ([], [])
    (setup,), _ = case.event(board=after)
    fen = f"{after} b KQkq - 0 1"
    assert json.loads(setup)["param"]["param"] == {"fen": fen}
    _, (game,) = case.event(san=["a6"], start=fen)
    assert (game.start_fen, [move.san for move in game.moves]) == (fen, ["a6"])


def test_an_illegal_move_ends_the_game_there() -> None:
    game = Case().moves("e4", "Ke4")
    assert len(game.moves) == 1 and game.problem == "illegal move Ke4 at ply 2"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[]",
        '{"response":"error","id":1,"param":{"message":"x"}}',
        '{"response":"feed","id":99,"param":{}}',
        '{"response":"feed","id":1,"param":{"san":3}}',
        '{"response":"feed","id":1,"param":{"san":[],"start":"nonsense"}}',
        '{"response":"call","id":1,"param":[3,{"serialnr":null}]}',
        b"\xff",
    ],
)
def test_what_cannot_be_read_is_passed_over(raw: str | bytes) -> None:
    assert Case().boards.receive(raw) == ([], [])


@pytest.mark.slow
async def test_boards_in_the_hall_are_followed_through_a_lost_connection() -> None:
    service, ledger = DgtBoardRehearsal(GAMES, clock=DrivenClock()), Ledger()
    wanted = {
        index: [(m.uci, m.clock_s) for m in game.moves] for index, game in enumerate(GAMES, start=1)
    }

    def told() -> dict[int | None, list[tuple[str, float | None]]]:
        latest = {game.headers.board: game for report in ledger.reports for game in report.games}
        return {board: [(m.uci, m.clock_s) for m in game.moves] for board, game in latest.items()}

    async with service.serving() as spec:
        feed = open_feed(spec, FeedsConfig(timeout_s=5.0), conditions=conditions())
        async with running(feed, ledger) as task:
            await until(lambda: service.boards_ready == 4)
            await service.play(
                speed=60,
                incidents=[PlannedIncident("slip", 0, 9), PlannedIncident("takeback", 1, 8)],
            )
            await until(lambda: told() == wanted)
            service.drop()
            await until(lambda: "retrying" in ledger.states)
            assert not task.done()
    detail = next(health.detail for health in ledger.healths if health.state == "retrying")
    assert detail == "connection to LiveChess lost, trying again in 1 s"


async def test_a_board_plugged_in_is_found_however_much_the_others_have_to_say() -> None:
    service, ledger, clock = DgtBoardRehearsal(GAMES[:1]), Ledger(), DrivenClock()
    async with service.serving() as spec:
        feed = open_feed(spec, FeedsConfig(timeout_s=5.0), conditions=conditions(clock=clock))
        async with running(feed, ledger):
            await until(lambda: service.boards_ready == 1)
            service.plug_in(GAMES[1])
            for plies in range(1, 10):
                clock.time_s += 5
                shown = msgspec.structs.replace(GAMES[0], moves=GAMES[0].moves[:plies])
                await service.show(0, shown)
                await until(lambda n=plies: len(ledger.reports) >= n)  # type: ignore[misc]
            await until(lambda: service.boards_ready == 2, within_s=5)


@pytest.mark.slow
async def test_a_livechess_that_forgets_with_the_connection_loses_no_move() -> None:
    """Now and then a move is played while nobody listens."""
    game = GAMES[0]
    service, ledger = DgtBoardRehearsal([game], clock=DrivenClock(), forgets=True), Ledger()

    def heard(plies: int) -> bool:
        told = [m.uci for m in ledger.reports[-1].games[0].moves] if ledger.reports else []
        return told == [m.uci for m in game.moves[:plies]]

    async with service.serving() as spec:
        feed = open_feed(spec, FeedsConfig(timeout_s=5.0), conditions=conditions())
        async with running(feed, ledger):
            await until(lambda: service.boards_ready == 1)
            for plies in range(1, len(game.moves) + 1):
                shown = msgspec.structs.replace(game, moves=game.moves[:plies], result="*")
                if plies % 9 == 0:
                    service.drop()
                await service.show(0, shown)
                if plies % 9 or plies == len(game.moves):
                    await until(lambda told=plies: heard(told))  # type: ignore[misc]
    assert ledger.reports[-1].games[0].key == "10001/1"


async def test_no_livechess_there_yet() -> None:
    service, ledger = DgtBoardRehearsal(GAMES), Ledger()
    async with service.serving() as spec:
        port = int(spec.split(":")[2].partition("/")[0])
    feed = open_feed(spec, FeedsConfig(timeout_s=5.0), conditions=conditions())
    async with running(feed, ledger):
        await until(lambda: ledger.states.count("retrying") > 1)
        assert "cannot reach LiveChess" in ledger.healths[1].detail
        async with service.serving(port=port):
            await until(lambda: service.boards_ready == 4)
            await service.show(0, msgspec.structs.replace(GAMES[0], moves=GAMES[0].moves[:1]))
            await until(lambda: any(r.games[0].moves for r in ledger.reports))


async def test_something_else_on_that_port() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(200, b"a web server")

    async with serving(answer) as origin:
        feed = open_feed(origin.replace("http", "ws"), FeedsConfig(), conditions=conditions())
        with pytest.raises(FeedUnreadable, match="is no LiveChess"):
            await feed.run(Ledger())
