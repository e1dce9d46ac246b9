"""DGT LiveChess Cloud: how its files become games, and how often they are requested."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain

import msgspec
import pytest

from live.errors import FeedNotFound, FeedUnreadable
from live.games.game import Game, GameGone, ResultChanged, Step, TailReplaced, TakenBack
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import STANDS, GameReport
from live.rehearse.web_server import serve_http
from live.settings import FeedsConfig, LiveChessCloudConfig
from live.sources.cloud_files import (
    CloudBoard,
    CloudPairing,
    CloudRoundIndex,
    CloudTournament,
    build_reports,
    find_current_round,
    poll_interval_s,
)
from live.sources.foreign_json import read_json
from live.sources.kept_moves import keep_unread
from tests.rehearse.faults import ALL_GOOD, GOOD, ConnectionFaults
from tests.sources.fakes import (
    CONFIG,
    GAMES,
    DrivenClock,
    Followed,
    answer_with,
    follow_source,
    until,
    upto,
)
from tests.sources.livechess_cloud_server import UUID, LiveChessCloudRehearsal


def report(board: dict[str, object] | None, **pairing: object) -> GameReport:
    told = {"white": {"lname": "A"}, "black": {"lname": "B"}, "result": "*", **pairing}
    index = read_json(
        json.dumps({"date": None, "pairings": [told]}).encode(), CloudRoundIndex
    )
    held = None if board is None else read_json(json.dumps(board).encode(), CloudBoard)
    assert index is not None and (held is not None or board is None)
    return build_reports(CloudTournament(), 1, 1, index, held)[0]


def clocks(game: GameReport) -> list[float | None]:
    return [move.clock_s for move in game.moves]


def test_moves_with_clocks_as_the_service_writes_them() -> None:
    game = report({"moves": ["e4 4903+556", "c5 5453", "Nf3 +26", "d6", "d4 soon"]})
    assert [move.san for move in game.moves] == ["e4", "c5", "Nf3", "d6", "d4"]
    assert clocks(game) == [4903, 5453, None, None, None]
    assert [move.spent_s for move in game.moves] == [556, None, 26, None, None]


def test_the_clock_at_rest_is_the_better_one_while_the_game_is_live() -> None:
    live = {
        "live": True,
        "clock": {"white": 77, "black": 88},
        "moves": ["e4 90", "e5 91"],
    }
    assert clocks(report(live)) == [90, 88]
    assert clocks(report({**live, "live": False})) == [90, 91]
    assert clocks(report({**live, "moves": ["e4 90", "e5 91", "Nf3 92"]})) == [
        90,
        91,
        77,
    ]


def test_kings_put_in_the_centre_are_no_moves_and_illegal_moves_end_a_game() -> None:
    game = report(
        {"moves": ["e4 1", "e5 1", "Kd4", "Ke5"], "result": "DRAW", "live": False}
    )
    assert [m.san for m in game.moves] == ["e4", "e5"]
    assert (game.problem, game.result) == (None, "1/2-1/2")
    game = report({"moves": ["e4", "e5", "Qh7", "Nf6"]})
    assert (len(game.moves), game.problem) == (2, "illegal move 2.Qh7")


def test_an_illegal_move_that_the_game_went_on_from_stands() -> None:
    """After an illegal move that stands, a second report continues from the position
    after it.
    """
    index = CloudRoundIndex(pairings=(CloudPairing(),))
    moves = ("e4 90", "e5 80", "Qh7 85", "Nf6 70+10", "Nf3 82", "Nc6 60")
    board = CloudBoard(moves=moves, live=True)
    one, other = build_reports(CloudTournament(), 1, 1, index, board)
    assert one.problem == f"illegal move 2.Qh7 {STANDS}" and len(one.moves) == 2
    assert [move.san for move in other.moves] == ["Nf6", "Nf3", "Nc6"]
    assert other.moves[0].clock_s == 70 and other.key.endswith("from ply 3")
    assert other.start_fen.startswith(
        "rnbqkbnr/pppp1ppQ/8/4p3/4P3/8/PPPP1PPP/RNB1KBNR b"
    )


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
    assert report(board, result=pairing).result == result


def test_chess960_by_its_number_and_standard_by_518() -> None:
    assert report({"chess960": 518}).headers.variant == "standard"
    game = report({"chess960": 0, "moves": ["e4"]})
    assert (game.headers.variant, len(game.moves)) == ("chess960", 1)
    assert game.start_fen.startswith("bbqnnrkr/")


@pytest.mark.parametrize(
    ("person", "name", "fide_id"),
    [
        ({"lname": "A", "fname": "Magnus", "fideid": 1503014}, "A, Magnus", 1503014),
        (
            {"lname": "A", "fname": "M", "mname": "S", "fideid": "1503014"},
            "A, M S",
            1503014,
        ),
        ({"lname": None, "fideid": 0}, "?", None),
        ({"lname": "A", "fname": "\x1b[31mX", "fideid": "none"}, "A, X", None),
        (None, "?", None),  # a bye has no second player
    ],
)
def test_names_and_ids(
    person: dict[str, object] | None, name: str, fide_id: int | None
) -> None:
    white = report(None, white=person).headers.white
    assert (white.name, white.fide_id) == (name, fide_id)


def test_the_round_being_played_is_followed_when_none_is_named() -> None:
    def rounds(*told: tuple[int, int]) -> int:
        body = json.dumps(
            {"rounds": [{"count": c, "live": n} for c, n in told]}
        ).encode()
        tournament = read_json(body, CloudTournament)
        assert tournament is not None
        return find_current_round(tournament)

    assert rounds((10, 0), (10, 7), (10, 0)) == 2
    assert rounds((10, 0), (10, 0), (0, 0)) == 2
    assert rounds() == 1


def test_boards_are_asked_for_as_often_as_they_change() -> None:
    live = CloudBoard(live=True, moves=("e4",))
    assert [poll_interval_s(live, still) for still in (0, 64, 1000)] == [4, 8, 16]
    assert (
        poll_interval_s(CloudBoard(live=False, result="1/2-1/2", moves=("e4",)), 0)
        == 480
    )
    assert poll_interval_s(None, 0) == poll_interval_s(CloudBoard(), 0) == 20
    assert [poll_interval_s(live, still, is_over=True) for still in (0, 64, 9999)] == [
        4,
        8,
        16,
    ]
    ended = CloudBoard(live=False, moves=("e4",))
    assert [poll_interval_s(ended, still, is_over=True) for still in (0, 64, 9999)] == [
        4,
        32,
        480,
    ]
    assert poll_interval_s(None, 0, is_over=True) == 480  # no file will come


@asynccontextmanager
async def rehearse_round(
    shown: int = 4, *, lasting: bool = False
) -> AsyncIterator[tuple[LiveChessCloudRehearsal, Followed]]:
    """Follow a round of four games, of which the first ``shown`` are uploaded; yield
    the server and the source.
    """
    site = LiveChessCloudRehearsal(GAMES, clock=DrivenClock())
    for index, game in enumerate(GAMES[:shown]):
        site.show_report(index, game)
    if not shown:
        site.files.clear()
    async with site.serve() as spec, follow_source(spec, lasting=lasting) as seen:
        yield site, seen


async def test_a_round_is_followed_to_its_end_kindly() -> None:
    async with rehearse_round() as (site, seen):
        for index, game in enumerate(GAMES):
            site.show_report(index, upto(game, 9))
        await seen.wait_for_games(4)
        await until(lambda: len(site.requests) > 100)
        kind = len(site.requests) / ((seen.clock.now() - 1000) / 4)
        await site.play_games(speed=50_000)
        await until(lambda: seen.done)
    assert seen.states[-1] == "finished"
    assert (
        kind < 4
    )  # a request for each of four boards and for the list would make five a period
    assert any("if-none-match" in request.headers for request in site.requests)


async def test_the_configured_base_url_replaces_the_service() -> None:
    site = Site(0)
    site.write(1, 1, "1-0", "e4")
    async with serve_http(site.answer) as origin:
        config = FeedsConfig(livechess_cloud=LiveChessCloudConfig(base_url=origin))
        async with follow_source(
            f"https://view.livechesscloud.com/#{UUID}", config
        ) as seen:
            await until(lambda: seen.done)
    assert boards(seen) == {"W11": (1, "1-0")}


async def test_failing_boards_are_named_by_number_and_at_the_board() -> None:
    """If a board's file fails, the message must name the board, and the game must have
    a problem.
    """
    async with rehearse_round(lasting=True) as (site, seen):
        for board in (2, 4):
            site.files[f"round-1/game-{board}.json"] = 502
        said = (
            "its moves cannot be fetched: the source reports a fault of its own (502)"
        )
        await until(lambda: f"board 2, board 4: kept: {said}" in seen.detail)
        await until(lambda: {game.problem for game in seen.games} == {None, said})
        assert f"board 2, board 4: {said}" in seen.detail
        for board in (2, 4):
            site.show_report(board - 1, GAMES[board - 1])
        await until(lambda: not any(game.problem for game in seen.games))
        await until(lambda: seen.detail == "4 games")


HTML = b"<html><body>502 Bad gateway</body></html>"


async def collect_shown_games(seen: Followed, held: GameIndex) -> dict[str, Game]:
    """Return the games after all reports, by White's name. No report may take anything
    back.
    """
    for step in steps(seen, held):
        assert not isinstance(
            step, TakenBack | TailReplaced | GameGone | ResultChanged
        ), step
    return {game.headers.white.name: game for game in held}


def steps(seen: Followed, held: GameIndex) -> list[Step]:
    """Return the steps that follow from all reports. The source keeps its name over
    restarts.
    """
    reports, seen.ledger.reports = seen.ledger.reports, []
    made: list[Step] = []
    for told_now in reports:
        for step in plan_report_steps(
            held, msgspec.structs.replace(told_now, feed="cloud")
        ):
            held.apply(step)
            made.append(step)
    return made


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_file_that_cannot_be_read_keeps_its_board_and_says_so(
    restarted: bool,
) -> None:
    """An HTML page in place of the file must not take the game back to its start."""
    site, held = Site(2), GameIndex()
    site.write(1, 1, "*", "e4", "e5", "Nf3")
    site.write(1, 2, "*", "d4")
    said = "its moves cannot be fetched: the file is an HTML page"
    said += " (perhaps a login page)"
    async with site.follow_source() as seen:
        await seen.wait_for_moves(4)
        await collect_shown_games(seen, held)
        if not restarted:
            site.files["round-1/game-1.json"] = HTML
            site.write(1, 2, "*", "d4", "d5")
            await until(lambda: f"board 1: kept: {said}" in seen.detail)
            await seen.wait_for_moves(5)
            games = await collect_shown_games(seen, held)
    site.files["round-1/game-1.json"] = HTML
    async with site.follow_source() as seen:
        await until(lambda: f"board 1: {said}" in seen.detail)
        games = await collect_shown_games(seen, held)
        assert (len(games["W11"].moves), games["W11"].problem) == (
            3,
            f"{said}; the last known state is shown",
        )
        site.write(1, 1, "*", "e4", "e5", "Nf3", "Nc6")
        await until(lambda: seen.plies["W11"] == 4)
        games = await collect_shown_games(seen, held)
    assert (len(games["W11"].moves), games["W11"].problem) == (4, None)
    assert len(games) == 2 and games["W12"].problem is None
    assert set(seen.states) == {"connecting", "live"}


async def test_a_file_that_is_gone_keeps_its_board() -> None:
    site, held = Site(1), GameIndex()
    site.write(1, 1, "*", "e4", "e5")
    async with site.follow_source() as seen:
        await seen.wait_for_moves(2)
        await collect_shown_games(seen, held)
        del site.files["round-1/game-1.json"]
        await until(
            lambda: (
                "its moves cannot be fetched: the source has nothing there"
                in seen.detail
            )
        )
        await collect_shown_games(seen, held)
    async with site.follow_source() as seen:
        await seen.wait_for_games(1)
        games = await collect_shown_games(seen, held)
    assert len(games["W11"].moves) == 2
    assert games["W11"].problem == "kept: its source now shows less of this game"


@pytest.mark.parametrize("restarted", [False, True])
async def test_an_odd_pairing_costs_its_board_alone(restarted: bool) -> None:
    """An unexpected value in one pairing must not stop the other boards."""
    site, held = Site(2), GameIndex()
    site.write(1, 1, "*", "e4")
    site.write(1, 2, "*", "d4")
    async with site.follow_source() as seen:
        await seen.wait_for_moves(2)
        await collect_shown_games(seen, held)
        pairings = site.files["round-1/index.json"]["pairings"]
        paired, pairings[0] = pairings[0], 7
        if not restarted:
            await until(
                lambda: "board 1: kept: its pairing cannot be read" in seen.detail
            )
            await collect_shown_games(seen, held)
    async with site.follow_source() as seen:
        site.write(1, 2, "1-0", "d4", "d5")
        await until(
            lambda: "cannot be read" in seen.detail and seen.plies == {"W12": 2}
        )
        steps(seen, held)
        assert {game.headers.white.name: len(game.moves) for game in held} == {
            "W11": 1,
            "W12": 2,
        }
        assert not any("no longer" in (game.problem or "") for game in held)
        pairings[0] = paired
        site.write(1, 1, "*", "e4", "e5")
        await until(lambda: seen.plies.get("W11") == 2)
        games = await collect_shown_games(seen, held)
    assert (len(games["W11"].moves), games["W11"].problem) == (2, None)
    assert len(games) == 2


async def test_an_odd_field_costs_that_field_and_is_named() -> None:
    site = Site(2)
    site.write(1, 1, "*", "e4")
    site.write(1, 2, "*", "d4")
    first = site.files["round-1/index.json"]["pairings"][0]
    first["white"]["fideid"] = False
    async with site.follow_source() as seen:
        await until(lambda: "board 1: not read: white.fideid (false)" in seen.detail)
        first["white"]["fideid"] = "14300011"
        await until(lambda: seen.detail == "2 games")
    assert boards(seen) == {"W11": (1, "*"), "W12": (1, "*")}
    assert seen.ledger.games["1.1", "W11", "B11"].headers.white.fide_id == 14300011


@pytest.mark.parametrize(
    ("file", "body", "what"),
    [
        ("tournament.json", HTML, "an HTML page (perhaps a login page)"),
        ("round-1/index.json", HTML, "an HTML page (perhaps a login page)"),
        ("round-1/index.json", b'{"pairings": null}', "a file without pairings"),
    ],
)
async def test_a_list_that_cannot_be_read_stands_as_it_was(
    file: str, body: bytes, what: str
) -> None:
    site = Site(1)
    site.write(1, 1, "*", "e4")
    async with site.follow_source() as seen:
        await seen.wait_for_games(1)
        whole, site.files[file] = site.files[file], body
        await until(lambda: f"{file}: cannot be read, it is {what}" in seen.detail)
        site.files["round-1/game-1.json"]["moves"] = ["e4", "e5"]
        await seen.wait_for_moves(2)
        site.files[file] = whole
        await until(lambda: seen.detail == "1 game")
    assert set(seen.states) == {"connecting", "live"}


@pytest.mark.parametrize("rounds", [None, [{"count": 10, "live": 0}, None]])
async def test_odd_rounds_end_no_round(rounds: object) -> None:
    site, held = Site(0, 1), GameIndex()
    site.write(2, 1, "*", "e4")
    site.write(1, 1, "1-0", "d4")
    async with site.follow_source() as seen:
        await seen.wait_for_games(1)
        await collect_shown_games(seen, held)
        site.files["tournament.json"]["rounds"] = rounds
        await until(lambda: "tournament.json: its rounds cannot be read" in seen.detail)
        site.write(2, 1, "*", "e4", "e5")
        await until(lambda: seen.plies.get("W21") == 2)
    async with site.follow_source() as seen:
        await until(lambda: bool(seen.ledger.reports))
        games = await collect_shown_games(seen, held)
        assert not any(game.problem for game in games.values())


@pytest.mark.parametrize(
    ("field", "odd", "problem"),
    [
        ("moves", None, "its moves cannot be read (null)"),
        ("moves", {}, "its moves cannot be read (an object)"),
        (
            "moves",
            ["e4", None, "Nf3"],
            "its moves cannot be read further (null as entry 2)",
        ),
        ("chess960", [], "its starting position cannot be read (a list)"),
        ("chess960", "9" * 400, "its starting position cannot be read (a text)"),
        ("clock", {"white": "x", "black": 88}, "not read: clock.white (a text)"),
        ("clock", "5:00", "not read: clock (a text)"),
        ("live", [], "not read: live (a list)"),
        ("result", 7, "not read: result (a number)"),
    ],
)
def test_an_odd_field_of_a_file_is_named(field: str, odd: object, problem: str) -> None:
    game = report({"live": True, "moves": ["e4", "e5"], field: odd})
    assert game.problem == problem
    kept = keep_unread(game, report({"moves": ["e4", "e5", "Nf3"]}))
    assert (len(kept.moves) == 3) is not problem.startswith("not read")


def test_a_number_as_a_text_and_a_result_that_is_none() -> None:
    game = report(
        {"live": 1, "chess960": "518", "moves": ["e4"], "clock": {"white": "77"}}
    )
    assert (clocks(game), game.problem) == ([77], None)
    game = report({"moves": ["e4"]}, result="7-3")
    assert (game.result, game.unread) == ("*", ("result",))
    assert game.problem == "not read: result (a text)"
    assert report({"moves": ["e4"]}, result=None).unread == ()


async def test_a_tournament_that_is_not_uploaded_yet_is_waited_for() -> None:
    """The source waits for the round in its address until it is uploaded."""
    async with rehearse_round(0, lasting=True) as (site, seen):
        await until(lambda: seen.states == ["connecting", "waiting"])
        site.show_report(0, GAMES[0])
        await until(lambda: bool(seen.games))
    assert all(wait_s >= 10 for wait_s in seen.clock.slept[:1])


class Site(LiveChessCloudRehearsal):
    """A tournament whose rounds are written by the test."""

    def __init__(self, *live: int) -> None:
        super().__init__()
        self.live(*live)

    @property
    def asked_paths(self) -> list[str]:
        return [request.path.removeprefix(f"/get/{UUID}/") for request in self.requests]

    def live(self, *rounds: int) -> None:
        """Set the number of live games in each round of ten."""
        self.files["tournament.json"] = {
            "rounds": [{"count": 10, "live": n} for n in rounds]
        }

    def write(self, number: int, board: int, result: str, *moves: str) -> None:
        pairings = self.files.setdefault(
            f"round-{number}/index.json", {"pairings": []}
        )["pairings"]
        while len(pairings) < board:
            name = f"{number}{len(pairings) + 1}"
            pairings.append(
                {"white": {"lname": f"W{name}"}, "black": {"lname": f"B{name}"}}
            )
        pairings[board - 1]["result"] = result
        file = {"live": result == "*", "result": None, "moves": list(moves)}
        self.files[f"round-{number}/game-{board}.json"] = file

    def reorder(self, number: int) -> None:
        """Move the last board of a round to the first place."""
        pairings = self.files[f"round-{number}/index.json"]["pairings"]
        pairings.insert(0, pairings.pop())
        paths = [
            f"round-{number}/game-{board}.json" for board in range(1, len(pairings) + 1)
        ]
        files = [self.files[path] for path in paths]
        self.files.update(zip(paths, [files[-1], *files[:-1]], strict=True))

    @asynccontextmanager
    async def follow_source(self, round_: str = "") -> AsyncIterator[Followed]:
        async with (
            serve_http(self.answer) as origin,
            follow_source(
                f"livechess-cloud+{origin}/#{UUID}{round_}", FeedsConfig()
            ) as seen,
        ):
            yield seen


def boards(seen: Followed) -> dict[str, tuple[int, str]]:
    return {
        game.headers.white.name: (len(game.moves), game.result) for game in seen.games
    }


async def wait_on_feed_clock(seen: Followed, seconds: float) -> None:
    """Wait until this much of the feed's time has passed."""
    end_s = seen.clock.now() + seconds
    await until(lambda: seen.clock.now() > end_s)


async def test_the_last_moves_of_a_round_are_heard_though_the_next_has_begun() -> None:
    site = Site(1, 0)
    site.write(1, 1, "*", "e4")
    async with site.follow_source() as seen:
        await until(lambda: boards(seen) == {"W11": (1, "*")})
        site.live(0, 1)
        site.write(2, 1, "*", "d4")
        await until(lambda: "W21" in boards(seen))
        site.write(1, 1, "1-0", "e4", "e5", "Qh5")
        await until(lambda: boards(seen) == {"W11": (3, "1-0"), "W21": (1, "*")})
        # Then round 1 is over and no longer requested.
        await wait_on_feed_clock(seen, 40)
        site.requests.clear()
        await wait_on_feed_clock(seen, 100)
        assert not [path for path in site.asked_paths if path.startswith("round-1/")]
        site.write(2, 1, "0-1", "d4", "d5")
        await until(lambda: seen.done)
    assert boards(seen) == {"W11": (3, "1-0"), "W21": (2, "0-1")}
    assert seen.states[-1] == "finished"


async def test_a_tournament_is_not_over_before_its_last_round() -> None:
    site = Site()
    site.files["tournament.json"] = {
        "rounds": [{"count": 1, "live": 0}, {"count": 0, "live": 0}]
    }
    site.write(1, 1, "1-0", "e4")
    async with site.follow_source() as seen:
        await wait_on_feed_clock(seen, 600)
        assert not seen.done
        # Between rounds, the source makes at most four requests a minute.
        assert len(site.asked_paths) < 4 * 10
        site.live(0, 1)
        site.write(2, 1, "*", "d4")
        await until(lambda: "W21" in boards(seen))


async def test_an_unreadable_board_costs_no_other_and_idle_boards_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    site = Site(3)
    for board in (1, 2, 3):
        site.write(1, board, "*", "e4")
    site.files["round-1/game-1.json"] = 403
    async with site.follow_source() as seen:
        await until(lambda: site.asked_paths.count("round-1/game-1.json") > 2)
        site.write(1, 3, "*", "e4", "d5")
        await until(lambda: boards(seen).get("W13") == (2, "*"))
    assert boards(seen) == {"W11": (0, "*"), "W12": (1, "*"), "W13": (2, "*")}
    assert set(seen.states) == {"connecting", "live"}
    assert (
        caplog.text.count("game-1.json left out: the source refuses access (403)") == 1
    )
    first, last = seen.ledger.reports[0].games, seen.ledger.reports[-1].games
    assert last[1] is first[1] and last[2] is not first[2]


async def test_a_request_for_fewer_requests_is_followed_once() -> None:
    site = Site(2)
    site.write(1, 1, "*", "e4")
    site.write(1, 2, "*", "e4")
    # The first three requests are for the host, the tournament and the round; this one
    # is for the first board.
    busy = ConnectionFaults(refuse=429, retry_after_s=1)
    site._fates = chain([GOOD] * 3, [busy], ALL_GOOD)
    async with site.follow_source() as seen:
        await until(lambda: boards(seen) == {"W11": (1, "*"), "W12": (1, "*")})
        await wait_on_feed_clock(seen, 60)
    assert seen.states.count("retrying") == 1


async def test_a_board_that_fails_at_the_end_is_waited_for() -> None:
    site = Site(1)
    site.write(1, 1, "1-0", "e4")
    file, site.files["round-1/game-1.json"] = site.files["round-1/game-1.json"], 500
    async with site.follow_source("/1") as seen:
        await wait_on_feed_clock(seen, 100)
        assert not seen.done
        # The file of a failing board is requested every 20 s.
        assert site.asked_paths.count("round-1/game-1.json") <= 6
        site.files["round-1/game-1.json"] = file
        await until(lambda: seen.done)
    assert boards(seen) == {"W11": (1, "1-0")}


@pytest.mark.parametrize("moves", [["e4"], []])
async def test_boards_that_the_organiser_reorders_keep_their_games(
    moves: list[str],
) -> None:
    site = Site(2)
    site.write(1, 1, "*", *moves)
    site.write(1, 2, "*")
    async with site.follow_source() as seen:
        await seen.wait_for_games(2)
        site.reorder(1)
        await until(lambda: len(seen.ledger.reports) > 1)
        site.write(1, 1, "*", "d4")
        site.write(1, 2, "*", *moves, "e5" if moves else "e4")
        wanted = {"W12": (1, "*"), "W11": (len(moves) + 1, "*")}
        await until(lambda: boards(seen) == wanted)
    held = GameIndex()
    seated: dict[str, str] = {}
    for told_now in seen.ledger.reports:
        for step in plan_report_steps(held, told_now):
            held.apply(step)
        for game in held:
            assert (
                seated.setdefault(game.id, game.headers.white.name)
                == game.headers.white.name
            )
    assert len(seated) == 2


async def test_no_such_tournament_and_html_instead_of_one() -> None:
    async with LiveChessCloudRehearsal(GAMES).serve() as spec:
        with pytest.raises(FeedNotFound):
            await Followed(spec.replace("1111", "9999"), CONFIG).run()
    async with serve_http(answer_with(200, b"<html>")) as origin:
        with pytest.raises(FeedUnreadable, match="something other"):
            await Followed(f"livechess-cloud+{origin}/#{UUID}", CONFIG).run()
