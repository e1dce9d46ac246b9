import json

import msgspec
import pytest

from live.config import FeedsConfig, LiveChessCloudConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.events import STANDS, GameReport
from live.feeds.livechess_cloud import (
    CloudBoard,
    CloudPairing,
    CloudPlayer,
    CloudRoundIndex,
    CloudTournament,
    current_round,
    due_s,
    game_reports,
    read,
)
from live.feeds.open_feed import open_feed
from live.feeds.source_address import livechess_cloud
from live.games.game_index import GameIndex
from live.games.report_changes import plan
from live.rehearse.web_servers import ServedReply, ServedRequest, serving
from tests.feeds.dgt.livechess_cloud_server import UUID, LiveChessCloudRehearsal
from tests.feeds.fakes import DATA, DrivenClock, Ledger, conditions, decode, running, told_by, until

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


def report(
    board: dict[str, object], result: str = "*", white: dict[str, object] | None = None
) -> GameReport:
    pairing = {"white": {"lname": "A", **(white or {})}, "black": {"lname": "B"}, "result": result}
    index = read(json.dumps({"date": None, "pairings": [pairing]}).encode(), CloudRoundIndex)
    held = read(json.dumps(board).encode(), CloudBoard)
    assert index is not None and held is not None
    return game_reports(CloudTournament(), 1, 1, index, held)[0]


def told(game: GameReport) -> tuple[object, ...]:
    """What the protocol carries: no ratings."""
    sides = [(p.name, p.title, p.fide_id) for p in (game.headers.white, game.headers.black)]
    return (sides, game.result, [(m.uci, m.clock_s) for m in game.moves])


def test_moves_with_clocks_as_the_service_writes_them() -> None:
    game = report({"moves": ["e4 4903+556", "c5 5453", "Nf3 +26", "d6", "d4 soon"]})
    assert [(m.san, m.clock_s, m.spent_s) for m in game.moves] == [
        ("e4", 4903, 556),
        ("c5", 5453, None),
        ("Nf3", None, 26),
        ("d6", None, None),
        ("d4", None, None),
    ]


def test_the_clock_at_rest_is_the_better_one_while_the_game_is_live() -> None:
    live = {"live": True, "clock": {"white": 77, "black": 88}, "moves": ["e4 90", "e5 91"]}
    assert [m.clock_s for m in report(live).moves] == [90, 88]
    assert [m.clock_s for m in report({**live, "live": False}).moves] == [90, 91]
    white_moved = {**live, "moves": ["e4 90", "e5 91", "Nf3 92"]}
    assert [m.clock_s for m in report(white_moved).moves] == [90, 91, 77]


def test_kings_in_the_centre_at_the_end_are_no_moves() -> None:
    game = report({"moves": ["e4 1", "e5 1", "Kd4", "Ke5"], "result": "DRAW", "live": False})
    assert [m.san for m in game.moves] == ["e4", "e5"]
    assert (game.problem, game.result) == (None, "1/2-1/2")


def test_an_illegal_move_ends_the_game_there_and_is_named() -> None:
    game = report({"moves": ["e4", "e5", "Qh7", "Nf6"]})
    assert len(game.moves) == 2
    assert game.problem == "illegal move Qh7 at ply 3"


def test_an_illegal_move_that_the_game_went_on_from_stands() -> None:
    """Audit of the feeds, row 15."""
    index = CloudRoundIndex(pairings=[CloudPairing()])
    moves = ["e4 90", "e5 80", "Qh7 85", "Nf6 70+10", "Nf3 82", "Nc6 60"]
    board = CloudBoard(moves=moves, live=True)
    one, other = game_reports(CloudTournament(), 1, 1, index, board)
    assert one.problem == f"illegal move Qh7 at ply 3 {STANDS}" and len(one.moves) == 2
    assert [move.san for move in other.moves] == ["Nf6", "Nf3", "Nc6"]
    assert other.moves[0].clock_s == 70 and other.key.endswith("from ply 3")
    assert other.start_fen.startswith("rnbqkbnr/pppp1ppQ/8/4p3/4P3/8/PPPP1PPP/RNB1KBNR b")


@pytest.mark.parametrize(
    ("pairing", "board", "result"),
    [
        ("1-0", {"live": True}, "1-0"),
        ("*", {"live": False, "result": "BLACKWIN"}, "0-1"),
        ("*", {"live": True, "result": "BLACKWIN"}, "*"),
        ("*", {"live": False, "result": "NOTPLAYED"}, "*"),
        ("1/2-1/2", {"live": False, "result": "WHITEWIN"}, "1/2-1/2"),
    ],
)
def test_the_pairing_knows_the_result_best(
    pairing: str, board: dict[str, object], result: str
) -> None:
    assert report(board, pairing).result == result


def test_chess960_by_its_number_and_standard_by_518() -> None:
    assert report({"chess960": 518}).headers.variant == "standard"
    game = report({"chess960": 0, "moves": ["e4"]})
    assert game.headers.variant == "chess960"
    assert game.start_fen.startswith("bbqnnrkr/")
    assert len(game.moves) == 1


@pytest.mark.parametrize(
    ("person", "name", "fide_id"),
    [
        ({"fname": "Magnus", "fideid": 1503014}, "A, Magnus", 1503014),
        ({"fname": "M", "mname": "S", "fideid": "1503014"}, "A, M S", 1503014),
        ({"lname": None, "fideid": 0}, "?", None),
        ({"fname": "\x1b[31mX", "fideid": "none"}, "A, X", None),
    ],
)
def test_names_and_ids(person: dict[str, object], name: str, fide_id: int | None) -> None:
    white = report({}, white=person).headers.white
    assert (white.name, white.fide_id) == (name, fide_id)


def test_the_round_being_played_is_followed_when_none_is_named() -> None:
    def rounds(*told: tuple[int, int]) -> int:
        body = json.dumps({"rounds": [{"count": c, "live": n} for c, n in told]}).encode()
        tournament = read(body, CloudTournament)
        assert tournament is not None
        return current_round(tournament)

    assert rounds((10, 0), (10, 7), (10, 0)) == 2
    assert rounds((10, 0), (10, 0), (0, 0)) == 2
    assert rounds() == 1


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"moves": 3}', b'{"moves": [1]}', b"\xff"]
)
def test_what_is_no_file_of_the_service(body: bytes) -> None:
    assert read(body, CloudBoard) is None


def test_boards_are_asked_for_as_often_as_they_change() -> None:
    live = CloudBoard(live=True, moves=["e4"])
    assert [due_s(live, still) for still in (0, 64, 1000)] == [4, 8, 16]
    assert due_s(CloudBoard(live=False, result="DRAW", moves=["e4"]), 0) == 480
    assert due_s(None, 0) == due_s(CloudBoard(), 0) == 20
    assert [due_s(live, still, over=True) for still in (0, 64, 9999)] == [4, 8, 16]
    ended = CloudBoard(live=False, moves=["e4"])
    assert [due_s(ended, still, over=True) for still in (0, 64, 9999)] == [4, 32, 480]
    assert due_s(None, 0, over=True) == 480  # nobody came: no file will


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (f"https://view.livechesscloud.com/#{UUID}", (UUID, None)),
        (f"https://view.livechesscloud.com/#{UUID}/3", (UUID, 3)),
        (f"https://view.livechesscloud.com/#{UUID}/3/12", (UUID, 3)),
        (f"https://view.livechesscloud.com/{UUID}", (UUID, None)),
        (f"https://view.livechesscloud.com/#{UUID.upper()}/0", (UUID.lower(), None)),
        ("https://view.livechesscloud.com/#about", None),
    ],
)
def test_tournament_and_round_of_a_viewers_url(
    url: str, found: tuple[str, int | None] | None
) -> None:
    assert livechess_cloud(url) == found


@pytest.mark.slow
async def test_a_round_is_followed_to_its_end_kindly() -> None:
    site, ledger, clock = (
        LiveChessCloudRehearsal(GAMES, clock=DrivenClock()),
        Ledger(),
        DrivenClock(),
    )
    begun = [msgspec.structs.replace(g, moves=g.moves[:9], result="*") for g in GAMES]
    for index, game in enumerate(begun[:3]):  # the fourth board has no file yet
        site.show(index, game)
    async with site.serving() as spec:
        feed = open_feed(spec, FeedsConfig(timeout_s=5.0), conditions=conditions(clock=clock))
        async with running(feed, ledger) as task:
            await until(lambda: len(ledger.games) == 4)
            await until(lambda: len(site.requests) > 100)
            kind = len(site.requests) / ((clock.now() - 1000) / 4)
            await site.play(speed=1000)
            await until(task.done)
    wanted = {told_by(game)[1:]: told(game) for game in GAMES}
    assert {board[1:]: told(game) for board, game in ledger.games.items()} == wanted
    assert ledger.last.state == "finished"
    assert kind < 4  # a request for each of four boards and the list would be five a period
    assert any("if-none-match" in request.headers for request in site.requests)


async def test_the_configured_base_url_replaces_the_service() -> None:
    site, ledger = LiveChessCloudRehearsal(GAMES), Ledger()
    for index, game in enumerate(GAMES):
        site.show(index, game)
    async with site.serving() as spec:
        base = spec.removeprefix("livechess-cloud+").partition("/#")[0]
        config = FeedsConfig(livechess_cloud=LiveChessCloudConfig(base_url=base))
        url = f"https://view.livechesscloud.com/#{UUID}"
        feed = open_feed(url, config, conditions=conditions(config))
        async with running(feed, ledger) as task:
            await until(task.done)
    assert len(ledger.games) == 4
    assert site.requests[0].path == f"/meta/{UUID}"


class Site:
    """A tournament as its files have it: JSON by path, or the status to answer with."""

    def __init__(self) -> None:
        self.files: dict[str, object] = {"tournament.json": {"rounds": []}}
        self.asked: list[str] = []

    def live(self, *rounds: int) -> None:
        """How many games are live in each round of ten."""
        self.files["tournament.json"] = {"rounds": [{"count": 10, "live": n} for n in rounds]}

    def play(self, number: int, board: int, result: str, *moves: str) -> None:
        index = self.files.setdefault(f"round-{number}/index.json", {"pairings": []})
        assert isinstance(index, dict)
        pairings = index["pairings"]
        while len(pairings) < board:
            name = f"{number}{len(pairings) + 1}"
            pairings.append({"white": {"lname": f"W{name}"}, "black": {"lname": f"B{name}"}})
        pairings[board - 1]["result"] = result
        file = {"live": result == "*", "result": None, "moves": list(moves)}
        self.files[f"round-{number}/game-{board}.json"] = file

    def reorder(self, number: int) -> None:
        """The last board becomes the first one."""
        index = self.files[f"round-{number}/index.json"]
        assert isinstance(index, dict)
        count = len(index["pairings"])
        index["pairings"].insert(0, index["pairings"].pop())
        paths = [f"round-{number}/game-{board}.json" for board in range(1, count + 1)]
        files = [self.files[path] for path in paths]
        self.files.update(zip(paths, [files[-1], *files[:-1]], strict=True))

    async def answer(self, request: ServedRequest, reply: ServedReply) -> None:
        path = request.path.partition(f"/get/{UUID}/")[2]
        self.asked.append(path)
        found = {} if request.path.startswith("/meta/") else self.files.get(path, 404)
        if isinstance(found, int):
            await reply.whole(found)
        else:
            await reply.whole(200, json.dumps(found).encode())


def followed(ledger: Ledger) -> dict[str, tuple[int, str]]:
    return {g.headers.white.name: (len(g.moves), g.result) for g in ledger.games.values()}


@pytest.mark.slow
async def test_the_last_moves_of_a_round_are_heard_though_the_next_has_begun() -> None:
    site, ledger, clock = Site(), Ledger(), DrivenClock()
    site.live(1, 0)
    site.play(1, 1, "*", "e4")
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock))
        async with running(feed, ledger) as task:
            await until(lambda: followed(ledger) == {"W11": (1, "*")})
            site.live(0, 1)
            site.play(2, 1, "*", "d4")
            await until(lambda: "W21" in followed(ledger))
            site.play(1, 1, "1-0", "e4", "e5", "Qh5")
            await until(lambda: followed(ledger) == {"W11": (3, "1-0"), "W21": (1, "*")})
            # Then round 1 is over, and asked about no more.
            settled_s = clock.now() + 120
            await until(lambda: clock.now() > settled_s)
            site.asked.clear()
            settled_s += 400
            await until(lambda: clock.now() > settled_s)
            assert not [path for path in site.asked if path.startswith("round-1/")]
            site.play(2, 1, "0-1", "d4", "d5")
            await until(task.done)
    assert followed(ledger) == {"W11": (3, "1-0"), "W21": (2, "0-1")}
    assert ledger.last.state == "finished"


@pytest.mark.slow
async def test_a_tournament_is_not_over_before_its_last_round() -> None:
    site, ledger, clock = Site(), Ledger(), DrivenClock()
    site.live(0, 0)
    site.files["tournament.json"] = {"rounds": [{"count": 1, "live": 0}, {"count": 0, "live": 0}]}
    site.play(1, 1, "1-0", "e4")
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock))
        async with running(feed, ledger) as task:
            await until(lambda: clock.now() > 4600)
            assert not task.done()
            # An hour between the rounds costs the service little.
            assert len(site.asked) < 4 * 60
            site.live(0, 1)
            site.play(2, 1, "*", "d4")
            await until(lambda: "W21" in followed(ledger))


async def test_a_board_that_cannot_be_had_costs_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    site, ledger, clock = Site(), Ledger(), DrivenClock()
    site.live(2)
    site.play(1, 1, "*", "e4")
    site.play(1, 2, "*", "d4")
    site.files["round-1/game-1.json"] = 403
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock))
        async with running(feed, ledger):
            await until(lambda: site.asked.count("round-1/game-1.json") > 2)
    assert followed(ledger) == {"W11": (0, "*"), "W12": (1, "*")}
    assert set(ledger.states) == {"connecting", "live"}
    assert caplog.text.count("game-1.json left out: the source refuses access (403)") == 1


async def test_a_board_that_fails_at_the_end_is_waited_for() -> None:
    site, ledger, clock = Site(), Ledger(), DrivenClock()
    site.live(1)
    site.play(1, 1, "1-0", "e4")
    file, site.files["round-1/game-1.json"] = site.files["round-1/game-1.json"], 500
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}/1"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock))
        async with running(feed, ledger) as task:
            await until(lambda: clock.now() > 1100)
            assert not task.done()
            # As kind as the rest: every 20 s.
            assert site.asked.count("round-1/game-1.json") <= 6
            site.files["round-1/game-1.json"] = file
            await until(task.done)
    assert followed(ledger) == {"W11": (1, "1-0")}


async def test_boards_that_stand_still_are_not_read_again() -> None:
    site, ledger, clock = Site(), Ledger(), DrivenClock()
    site.live(2)
    site.play(1, 1, "*", "e4")
    site.play(1, 2, "*", "d4")
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock))
        async with running(feed, ledger):
            await until(lambda: len(followed(ledger)) == 2)
            site.play(1, 2, "*", "d4", "d5")
            await until(lambda: followed(ledger).get("W12") == (2, "*"))
    first, last = ledger.reports[0].games, ledger.reports[-1].games
    assert last[0] is first[0] and last[1] is not first[1]


@pytest.mark.parametrize("moves", [["e4"], []])
async def test_boards_that_the_organiser_reorders_keep_their_games(moves: list[str]) -> None:
    site, ledger = Site(), Ledger()
    site.live(2)
    site.play(1, 1, "*", *moves)
    site.play(1, 2, "*")
    async with serving(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        feed = open_feed(spec, FeedsConfig(), conditions=conditions())
        async with running(feed, ledger):
            await until(lambda: len(ledger.games) == 2)
            site.reorder(1)
            await until(lambda: followed(ledger).get("W12") is not None and len(ledger.reports) > 1)
            site.play(1, 1, "*", "d4")
            site.play(1, 2, "*", *moves, "e5" if moves else "e4")
            wanted = {"W12": (1, "*"), "W11": (len(moves) + 1, "*")}
            await until(lambda: followed(ledger) == wanted)
    held = GameIndex()
    seated: dict[str, str] = {}
    for told_now in ledger.reports:
        for step in plan(held, told_now):
            held.apply(step)
        for game in held:
            assert seated.setdefault(game.id, game.headers.white.name) == game.headers.white.name
    assert len(seated) == 2


async def test_no_such_tournament() -> None:
    site = LiveChessCloudRehearsal(GAMES)
    async with site.serving() as spec:
        other = spec.replace("1111", "9999")
        with pytest.raises(FeedNotFound):
            await open_feed(other, FeedsConfig(), conditions=conditions()).run(Ledger())


async def test_html_instead_of_a_tournament() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(200, b"<html>")

    async with serving(answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        with pytest.raises(FeedUnreadable, match="something else"):
            await open_feed(spec, FeedsConfig(), conditions=conditions()).run(Ledger())


def test_a_bye_has_no_second_player() -> None:
    body = b'{"pairings": [{"white": {"lname": "A"}, "black": null, "result": "1-0"}]}'
    index = read(body, CloudRoundIndex)
    assert index is not None
    (game,) = game_reports(CloudTournament(), 1, 1, index, None)
    assert (game.headers.black.name, game.moves, game.result) == ("?", (), "1-0")
    assert index.pairings[0].white == CloudPlayer(lname="A")
