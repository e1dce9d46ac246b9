"""Damaged JSON of every protocol. No move may be lost, no takeback reported, no other
game affected, and the message must name the damage.

Set ``LIVE_RATE_DAMAGES=200`` to test two hundred damaged documents for each protocol.
"""

import json
import os
import random
from functools import cache
from typing import Any

import chess
import pytest

from live.messages.from_sources import FeedReport, Headers, Player
from live.process.loop_slices import run_without_pause
from live.rehearse.web_server import serve_http
from live.settings import FeedsConfig
from live.sources.hall import Hall
from live.sources.hall_games import Seat
from live.sources.lichess_game import LichessGameStream, LichessTvStream
from live.sources.livechess_messages import LiveChessMessages
from live.sources.mqtt_games import MqttGames
from tests.sources.damaged_json import (
    Damage,
    Shown,
    damages,
    long_game,
    names_damage,
    sans_of,
)
from tests.sources.fakes import Followed, follow_source, until
from tests.sources.livechess_cloud_server import UUID, LiveChessCloudRehearsal

DAMAGES = int(os.environ.get("LIVE_RATE_DAMAGES", "40"))
ALL = pytest.param(DAMAGES, marks=pytest.mark.whole)


def in_pieces(quick: int) -> list[Any]:
    """Return test parameters: the first ``quick`` numbers, and all numbers in ranges of
    20 for the whole run. Each test reads its game from the start.
    """
    firsts = range(0, DAMAGES, 20)
    pieces = [
        pytest.param(range(each, each + 20), marks=pytest.mark.whole) for each in firsts
    ]
    return [range(quick), *pieces]


BOARDS = (1, 2, 3)
#: Games long enough for two moves per damage, and the moves before the first.
GAMES = {board: long_game(board, 2 * DAMAGES + 40) for board in BOARDS}
LINES = {board: sans_of(moves) for board, moves in GAMES.items()}


# --- LiveChess Cloud ------------------------------------------------------------------


class Cloud(LiveChessCloudRehearsal):
    """A round of three boards. All gain a move at every call of ``grow``."""

    def __init__(self) -> None:
        super().__init__()
        self.plies = dict.fromkeys(BOARDS, 6)
        self.files = self.whole()

    def whole(self) -> dict[str, Any]:
        """Return all files without damage."""
        pairings = [
            {
                "white": {
                    "fname": "Ines",
                    "lname": f"W{board}",
                    "title": "IM",
                    "fideid": board,
                },
                "black": {
                    "fname": "Petr",
                    "lname": f"B{board}",
                    "title": "IM",
                    "fideid": 9 + board,
                },
                "result": "*",
                "live": True,
            }
            for board in BOARDS
        ]
        files: dict[str, Any] = {
            "tournament.json": {
                "id": UUID,
                "name": "Harbour Cup",
                "location": "Port Elin",
                "timecontrol": "90+30",
                "rounds": [{"count": 3, "live": 0}, {"count": 3, "live": 3}],
            },
            "round-2/index.json": {"date": "2026-11-28", "pairings": pairings},
        }
        for board in BOARDS:
            files[file_of(board)] = {
                "live": True,
                "chess960": 518,
                "result": None,
                "clock": {"white": 5000, "black": 5000},
                "moves": [f"{san} 5000+7" for san in LINES[board][: self.plies[board]]],
            }
        return files

    def grow(self) -> None:
        """Add one move to all boards, and repair all files."""
        for board in BOARDS:
            self.plies[board] += 1
        self.files = self.whole()


def file_of(board: int) -> str:
    return f"round-2/game-{board}.json"


def boards_of(file: str, damage: Damage) -> set[int]:
    """Return the boards whose own data are damaged."""
    if "game" in file:
        return {int(file[13])}
    if damage.path[0] != "pairings":
        return set()
    return set(BOARDS) if len(damage.path) == 1 else {int(damage.path[1]) + 1}


#: Longest time between two requests for the file of a board, seconds.
ASKED_S = 24.0


async def heard(seen: Followed, shown: Shown) -> None:
    """Wait until all files have been requested, and apply the reports."""
    end_s = seen.clock.now() + ASKED_S
    await until(lambda: seen.clock.now() > end_s)
    reports, seen.ledger.reports = seen.ledger.reports, []
    shown.take(reports)


async def damaged_once(
    site: Cloud, seen: Followed, shown: Shown, number: int, now: bool
) -> None:
    """Damage one file, check the reports, and repair the file. ``now`` is true if the
    file was whole when the source was opened.
    """
    file = random.Random(number).choice(sorted(site.files))
    before = dict(site.plies)
    site.grow()
    (damage,) = damages(site.files[file], seed=number, count=1)
    damaged = boards_of(file, damage)
    site.files[file] = damage.document
    await heard(seen, shown)
    # If the list of pairings is damaged from the start, nothing is known of any board.
    others = set(BOARDS) - damaged if now or "game" in file else set()
    shown.check(before, site.plies, well=others)
    if damage.is_odd and damage.field != "id":
        assert names_damage(damage, seen.detail), (str(damage), seen.detail)
        for board in damaged:
            assert names_damage(damage, shown.words(board)), (
                str(damage),
                shown.words(board),
            )
    site.grow()
    wanted = {f"W{board}, Ines": plies for board, plies in site.plies.items()}
    await until(lambda: (seen.plies, seen.detail) == (wanted, "3 games"))
    await heard(seen, shown)
    shown.check(site.plies, site.plies, well=BOARDS)


@pytest.mark.parametrize("numbers", in_pieces(6), ids=str)
async def test_files_of_livechess_cloud_damaged_one_after_the_other(
    numbers: range,
) -> None:
    site, shown = Cloud(), Shown()
    async with (
        serve_http(site.answer) as origin,
        follow_source(f"livechess-cloud+{origin}/#{UUID}", FeedsConfig()) as seen,
    ):
        await heard(seen, shown)
        for number in numbers:
            await damaged_once(site, seen, shown, number, now=True)


@pytest.mark.parametrize("numbers", in_pieces(3), ids=str)
async def test_files_of_livechess_cloud_that_are_damaged_at_the_start(
    numbers: range,
) -> None:
    site, shown = Cloud(), Shown()
    async with serve_http(site.answer) as origin:
        spec = f"livechess-cloud+{origin}/#{UUID}"
        async with follow_source(spec, FeedsConfig(), lasting=True) as seen:
            await heard(seen, shown)
        for number in numbers:
            shown.restart()
            async with follow_source(spec, FeedsConfig(), lasting=True) as seen:
                await damaged_once(site, seen, shown, 1000 + number, now=False)


# --- LiveChess in the hall ------------------------------------------------------------


def hall_event(board: int, plies: int) -> dict[str, Any]:
    """Return the message of LiveChess about a board after this number of plies."""
    after = chess.Board()
    for move in GAMES[board][:plies]:
        after.push(move)
    return {
        "response": "feed",
        "id": board,
        "param": {
            "serialnr": str(board),
            "board": after.board_fen(),
            "clock": {"white": 5000, "black": 5000, "run": plies % 2 == 0},
            "start": chess.STARTING_FEN,
            "san": LINES[board][:plies],
            "match": True,
        },
    }


HALL_SEATS = {
    str(board): (
        Seat(
            Headers(
                Player(f"W{board}"),
                Player(f"B{board}"),
                "Open",
                "",
                f"1.{board}",
                board,
            )
        ),
    )
    for board in BOARDS
}


@pytest.mark.parametrize("count", [30, ALL])
@pytest.mark.parametrize("restarts", [False, True])
def test_messages_of_livechess_in_the_hall(restarts: bool, count: int) -> None:
    shown = Shown()
    plies = dict.fromkeys(BOARDS, 6)
    listed = {
        "response": "call",
        "id": 1,
        "param": [{"serialnr": str(each)} for each in BOARDS],
    }

    def started() -> LiveChessMessages:
        """Return the reader of messages of a service that has just started."""
        boards = LiveChessMessages(Hall(shown.reports, 20.0))
        run_without_pause(boards.hall.apply_pairings(HALL_SEATS, 0.0))
        hear(boards, listed)
        return boards

    def hear(boards: LiveChessMessages, message: object) -> None:
        _, games = run_without_pause(boards.apply_message(json.dumps(message), 0.0))
        shown.take([FeedReport("hall", tuple(games))])

    boards = started()
    for board in BOARDS:
        hear(boards, hall_event(board, plies[board]))
    for number in range(count):
        board = BOARDS[number % 3]
        if restarts:
            shown.restart()
            boards = started()
        before = dict(plies)
        for each in BOARDS:
            plies[each] += 1
            if each != board:
                hear(boards, hall_event(each, plies[each]))
        (damage,) = damages(hall_event(board, plies[board]), seed=number, count=1)
        hear(boards, damage.document)
        shown.check(before, plies, well={*BOARDS} - {board})
        if damage.is_odd and len(damage.path) > 1 and damage.field != "serialnr":
            assert names_damage(damage, shown.words(board)), (
                str(damage),
                shown.words(board),
            )
        for each in BOARDS:
            hear(boards, hall_event(each, plies[each]))
        shown.check(plies, plies, well=BOARDS)
        assert boards.note == ""


# --- MQTT -----------------------------------------------------------------------------


def published(board: int, plies: int) -> dict[str, Any]:
    """Return a whole game in this project's schema."""
    return {
        "white": {"name": f"W{board}", "elo": 2231, "title": "IM", "fide_id": board},
        "black": f"B{board}",
        "event": "Club",
        "site": "Port Elin",
        "round": 1,
        "board": board,
        "date": "2026.11.28",
        "time_control": "90+30",
        "result": "*",
        "start_fen": chess.STARTING_FEN,
        "variant": "standard",
        "moves": [{"move": san, "clock_s": 5000.5} for san in LINES[board][:plies]],
    }


def published_as_text(board: int, plies: int) -> dict[str, Any]:
    """Return the same game with its moves as one text."""
    return published(board, plies) | {"moves": " ".join(LINES[board][:plies])}


def published_position(board: int, plies: int) -> dict[str, Any]:
    """Return the game as its position and last move, without the list of moves."""
    game = published(board, plies)
    for name in ("moves", "start_fen", "variant"):
        del game[name]
    after = chess.Board()
    for move in GAMES[board][:plies]:
        after.push(move)
    clocks = {"white_clock_s": 5000.5, "black_clock_s": 5000.5}
    return {**game, "fen": after.fen(), "move": after.peek().uci(), **clocks}


@pytest.mark.parametrize("count", [30, ALL])
@pytest.mark.parametrize(
    ("publish", "restarts"),
    [
        (published, False),
        (published, True),
        (published_as_text, False),
        (published_as_text, True),
        (published_position, False),
    ],
)
def test_mqtt(publish: Any, restarts: bool, count: int) -> None:
    games, shown = MqttGames(), Shown()
    plies = dict.fromkeys(BOARDS, 0)

    def hear(board: int, document: object) -> None:
        for _ in games.read_message(f"club/{board}", json.dumps(document).encode()):
            pass
        told, complete = games.take_reports()
        shown.take([FeedReport("hall", tuple(told), complete)])

    def hear_all() -> None:
        for board in BOARDS:
            plies[board] += 1
            hear(board, publish(board, plies[board]))

    for _ in range(6):
        hear_all()
    for number in range(count):
        board = BOARDS[number % 3]
        if restarts:
            games = MqttGames()
            shown.restart()
        before = dict(plies)
        for each in BOARDS:
            plies[each] += 1
            if each != board:
                hear(each, publish(each, plies[each]))
        (damage,) = damages(publish(board, plies[board]), seed=number, count=1)
        hear(board, damage.document)
        shown.check(before, plies, well={*BOARDS} - {board})
        if damage.is_odd:
            assert names_damage(damage, shown.words(board)), (
                str(damage),
                shown.words(board),
            )
        hear_all()
        shown.check(plies, plies, well=BOARDS)
        assert games.note == ""


# --- lichess --------------------------------------------------------------------------


DESCRIBED: dict[str, Any] = {
    "id": "abcd1234",
    "variant": {"key": "standard", "name": "Standard"},
    "speed": "classical",
    "initialFen": chess.STARTING_FEN,
    "status": {"id": 20, "name": "started"},
    "players": {
        "white": {"user": {"name": "W1", "title": "IM"}, "rating": 2231},
        "black": {"user": {"name": "B1"}, "rating": 2200},
    },
}
#: Fields of a game's description that the reader ignores.
NOT_READ = {"name"}


@cache
def all_positions() -> list[dict[str, Any]]:
    board = chess.Board()
    found: list[dict[str, Any]] = [
        {"fen": f"{board.board_fen()} w", "wc": 5400, "bc": 5400}
    ]
    for move in GAMES[1]:
        board.push(move)
        fen = f"{board.board_fen()} {'w' if board.turn else 'b'}"
        found.append({"fen": fen, "lm": move.uci(), "wc": 5000, "bc": 5000})
    return found


def positions(plies: int) -> list[dict[str, Any]]:
    """Return the lines of a stream from the starting position on."""
    return all_positions()[: plies + 1]


class Stream:
    """A stream of one game, and the game after the lines that were read."""

    def __init__(self, stream: LichessGameStream) -> None:
        self.stream = stream
        self.shown = Shown()
        self.problem: str | None = None

    def hear(self, line: object) -> None:
        game = self.stream.read_line(json.dumps(line).encode())
        if game is not None:
            self.problem = game.problem
            self.shown.take([FeedReport("hall", (game,), complete=True)])

    @property
    def plies(self) -> int:
        (game,) = self.shown.index
        return len(game.moves)


@pytest.mark.parametrize("numbers", in_pieces(30), ids=str)
@pytest.mark.parametrize("restarts", [False, True])
def test_lines_of_a_game_of_lichess(restarts: bool, numbers: range) -> None:
    heard_of = Stream(LichessGameStream("x"))
    plies = 6
    for line in (DESCRIBED, *positions(plies)):
        heard_of.hear(line)
    for number in numbers:
        lines = [DESCRIBED, *positions(plies)] if restarts or number % 2 else []
        if restarts:
            heard_of.stream = LichessGameStream("x")
            heard_of.stream.reconnect(heard_of.shown.reports)
            heard_of.shown.restart()
        elif lines:
            heard_of.stream.reconnect()
        at = 0
        plies = heard_of.plies
        if not lines:
            plies += 1
            lines = positions(plies)[-1:]
        elif number % 4 == 3:
            at = random.Random(number).randrange(1, len(lines))
        (damage,) = damages(lines[at], seed=number, count=1)
        if damage.kind == "text as number" and damage.field == "id":
            continue  # a different id means a different game
        lines[at] = damage.document
        before = heard_of.plies
        for place, line in enumerate(lines):
            heard_of.hear(line)
            if (
                place == at
                and damage.is_odd
                and not NOT_READ & {*damage.path}
                and number % 4 != 3
            ):
                said = heard_of.problem or ""
                assert names_damage(damage, said) or damage.field == "id", (
                    str(damage),
                    said,
                )
        assert heard_of.plies >= before
        heard_of.stream.reconnect()
        plies += 1
        for line in (DESCRIBED, *positions(plies)):
            heard_of.hear(line)
        assert (heard_of.plies, heard_of.problem) == (plies, None)


def featured(plies: int) -> dict[str, Any]:
    """Return the message in which a channel announces its game."""
    players = [
        {"color": "white", "user": {"name": "W1", "title": "IM"}, "rating": 2231},
        {"color": "black", "user": {"name": "B1"}, "rating": 2200},
    ]
    fen = positions(plies)[-1]["fen"]
    return {"t": "featured", "d": {"id": "abcd1234", "players": players, "fen": fen}}


@pytest.mark.parametrize("count", [30, ALL])
def test_lines_of_a_channel_of_lichess(count: int) -> None:
    heard_of = Stream(LichessTvStream("x"))
    heard_of.hear(featured(0))
    for number in range(count):
        plies = heard_of.plies + 1
        lines = [featured(plies - 1), {"t": "fen", "d": positions(plies)[-1]}]
        (damage,) = damages(lines[number % 2], seed=number, count=1)
        if damage.kind == "text as number" and damage.field == "id":
            continue  # a different id means a different game
        lines[number % 2] = damage.document
        before = heard_of.plies
        for line in lines:
            heard_of.hear(line)
        assert heard_of.plies >= before
        plies += 1
        heard_of.hear(featured(plies - 1))
        heard_of.hear({"t": "fen", "d": positions(plies)[-1]})
        assert (heard_of.plies, heard_of.problem) == (plies, None)
