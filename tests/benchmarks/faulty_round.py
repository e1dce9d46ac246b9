"""A round of 36 boards over four sources at once, with all that goes wrong in a hall,
judged by what the sources themselves showed and when.

    python -m tests.benchmarks.faulty_round PGN ROUND --seed N [--delay 12] [--seconds
        100] [--keep FOLDER]

Boards 1 to 10 of ROUND of PGN come from a lichess broadcast, 10 to 20 from a PGN page,
20 to 28 from a folder of single files with a combined one and others beside them, 29 to
36 from LiveChess in the hall (:mod:`tests.benchmarks.faulty_hall`). From the seed
follow: forfeits last in a file, colours and names put right later, files cut in a
clock, one away for long that comes back half-written, rounds spelled in several ways or
not at all, other games beside the round's, takebacks, slips, corrected and withdrawn
results, a pairing that vanishes, a rising clock, dropped connections, failing, empty
and wrong pages, old copies, engines that die, hostile clients, and two kills: one while
all goes on, one while the sources stand still and half of the hall's games are over,
after which everything must be as before.

Judged: every board once, with its moves, names and result; no alert of what never
happened; nothing public before its time by websocket, HTTP, MQTT, pictures, moments and
standings; figures and log refused to the public; after each restart the public has what
it had; results sheet, standings and PGN of the report are what was played; the service
ends when asked to, and no process of it is left. Exit code 1 where anything is wrong.
The summary is JSON.
"""

# ruff: noqa: ASYNC240 - its files are small
import argparse
import asyncio
import contextlib
import csv
import functools
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import unicodedata
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import aiomqtt
import chess
import msgspec

from live.messages.alerts import Alert
from live.messages.figures import GameDetail, GameView, PlayerView
from live.messages.from_sources import RESULT_POINTS, GameReport, Player, Result
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    GameMessage,
    GoneMessage,
    Message,
    MomentMessage,
    MoveMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.rehearse.rehearsal import PgnUrlRehearsal, write_pgn
from live.rehearse.web_server import ServedReply, ServedRequest
from live.server.board_picture import draw_board
from live.server.png import render_png
from live.server.reference_client import OutOfStep
from live.sources.game_timeline import PlannedIncident, choose_wrong_move, plan_timeline
from live.sources.pgn_decoder import PgnReader
from tests.benchmarks.drills import (
    DrilledService,
    Follower,
    differences,
    free_port,
    get,
    run_tasks,
    toml,
    until,
)
from tests.benchmarks.faulty_hall import FaultyHall, upto
from tests.fuzz.mutation import mutate
from tests.fuzz.service import FRAME_TOKENS, FRAMES, HTTP_TOKENS, REQUESTS, UPGRADE
from tests.games.short_reports import change_headers
from tests.rehearse.faults import GOOD, ConnectionFaults, FaultyLichess, FaultyReply
from tests.server.mosquitto import run_broker
from tests.server.serving import token_file

BOARDS = 36
#: The first board of the hall.
HALL = 29
LOST_AFTER_S = 8.0
#: How long the end may take to be shown, besides the delay.
PATIENCE_S = 60.0
#: How long a start may take, and how long all may take to stand still, where others
#: work here, too.
START_S = 240.0
STILL_S = 400.0
EVENT = "Open 2025"
SPELLINGS = ("{0}", "{0}.{1}", "Round {0}", "0{0}.{1}", "")
FORFEITS: dict[str, Result] = {
    "+:-": "1-0",
    "-:+": "0-1",
    "+/-": "1-0",
    "-/-": "0-0",
    "0-0": "0-0",
}
#: Alerts about what happened on a board, which the drill does on purpose and judges. A
#: new kind belongs here only if the drill does what it is about.
JUDGED = (
    "takeback",
    "correction",
    "vanished",
    "result-corrected",
    "players-swapped",
    "illegal-move",
    "illegal-stands",
    "unreadable",
    "sources-differ",
)
#: Where a clock that is cut looks like a result.
_LIKE_RESULT = re.compile(r"\[%clk (?:1:0|0:1)")
Act = Callable[[], Awaitable[None] | None]
Listed = TypeVar("Listed", GameView, Moment, PlayerView)


def plain(name: str) -> str:
    """A name without accents and case."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return letters.casefold()


def line_of(game: GameDetail | GameReport) -> str:
    plies = game.plies if isinstance(game, GameDetail) else game.moves
    return " ".join(ply.uci for ply in plies)


class Board:
    """One game: what is true of it, and since when its sources show what."""

    def __init__(self, name: str, game: GameReport, delay_s: float) -> None:
        self.name = name
        self.game = game
        self.delay_s = delay_s
        self.players = frozenset(
            map(plain, (game.headers.white.name, game.headers.black.name))
        )
        self.since: dict[object, float] = {}
        """Since when sources show a line, a number of plies, a move at its ply, a
        result.
        """
        self.happened: Counter[str] = Counter()
        """Kinds of alerts that this board gives reason for."""
        self.changed_plies: set[int] = set()
        """Plies that are taken back or first shown wrong."""
        self.expected = True
        self.sources = 1

    def show(self, report: GameReport) -> None:
        """A source is about to show this."""
        now_s = time.monotonic()
        words = [move.uci for move in report.moves]
        found: list[object] = [("result", report.result)]
        # Who is mated has lost, whatever the source says of it yet.
        if report.moves and report.moves[-1].san.endswith("#"):
            found.append(("result", "1-0" if len(words) % 2 else "0-1"))
        for ply in range(len(words), -1, -1):
            line = " ".join(words[:ply])
            if line in self.since:
                break
            found += [line, ply, *([(ply, words[ply - 1])] if ply else ())]
        for each in found:
            self.since.setdefault(each, now_s)

    def public_plies(self, now_s: float) -> int:
        due = [
            n for n, since_s in self.since.items() if since_s + self.delay_s <= now_s
        ]
        return max((n for n in due if isinstance(n, int)), default=0)


class Judge:
    """Compares what comes out with what is true."""

    def __init__(self, boards: list[Board]) -> None:
        self.boards = boards
        self.violations: dict[str, list[str]] = {}
        self.counts: Counter[str] = Counter()
        self.alerts: dict[tuple[str, int], str] = {}
        self.views: dict[str, GameView] = {}

    def wrong(self, what: str, example: str) -> None:
        self.violations.setdefault(what, []).append(example)

    def find(self, view: GameView, line: str | None = None) -> Board | None:
        names = frozenset(map(plain, (view.white.name, view.black.name)))
        found = [board for board in self.boards if board.players == names]
        fitting = [board for board in found if line is not None and line in board.since]
        white = plain(view.white.name)
        choice = (fitting or found) if line else found
        seated = [
            each for each in choice if plain(each.game.headers.white.name) == white
        ]
        return next(iter(seated or choice), None)

    def _due(self, way: str, board: Board, shown: object, what: str) -> None:
        since_s = board.since.get(shown)
        early_s = 0.0 if since_s is None else since_s + board.delay_s - time.monotonic()
        self.counts[way] += 1
        if since_s is None:
            self.wrong(f"{way}: shown by no source", f"board {board.name}: {what}")
        elif early_s > 0:
            self.wrong(
                f"{way}: public too early",
                f"board {board.name}: {what}, {early_s:.2f} s",
            )

    def public_view(self, way: str, view: GameView, line: str | None = None) -> None:
        """Somebody without a token was given this."""
        board = self.find(view, line)
        if board is None:
            names = f"{view.white.name} - {view.black.name}"
            self.wrong(
                f"{way}: a game that nobody plays", f"{names}, round {view.round!r}"
            )
            return
        self._due(
            way,
            board,
            view.plies_played if line is None else line,
            f"{view.plies_played}",
        )
        self._due(way, board, ("result", view.result), f"result {view.result}")

    def public_move(self, way: str, id: str, ply: int, uci: str) -> None:
        board = self._board(id)
        if board is not None:
            same = [each for each in self.boards if each.players == board.players]
            shown = [each for each in same if (ply, uci) in each.since] or [board]
            first = min(shown, key=lambda each: each.since.get((ply, uci), 0.0))
            self._due(way, first, (ply, uci), f"{ply} {uci}")

    def _board(self, id: str | None) -> Board | None:
        view = self.views.get(id or "")
        return None if view is None else self.find(view)

    def public_moment(self, way: str, moment: Moment) -> None:
        board = self._board(moment.game)
        if board is not None:
            self._due(way, board, moment.ply, f"moment {moment.id}")

    def public_player(self, way: str, player: PlayerView) -> None:
        now_s, name = time.monotonic(), plain(player.name)
        mine = [board for board in self.boards if name in board.players]
        # What two sources have may be two games for a while.
        most = sum(
            (board.public_plies(now_s) + 1) // 2 * board.sources for board in mine
        )
        self.counts[way] += 1
        if mine and player.moves > most:
            self.wrong(
                f"{way}: public too early",
                f"{player.name}: {player.moves} of {most} moves",
            )

    def alert(self, alert: Alert, public: bool) -> None:
        """An arbiter, or somebody without a token, was given this."""
        if public:
            self.wrong("alert: shown to the public", alert.text)
        if alert.kind not in JUDGED or alert.game is None:
            return
        seen = (alert.id, alert.times)
        if seen in self.alerts:
            if self.alerts[seen] != alert.text and alert.kind in (
                "takeback",
                "vanished",
            ):
                self.wrong(
                    "alert: another text", f"{self.alerts[seen]} -> {alert.text}"
                )
                self.alerts[seen] = alert.text
            return
        self.alerts[seen] = alert.text
        self.counts[f"alert {alert.kind}"] += 1
        board = self._board(alert.game)
        true = board is not None and board.happened[alert.kind] > 0
        if (
            board is not None
            and alert.kind in ("takeback", "correction")
            and alert.ply is not None
        ):
            true = any(abs(alert.ply - ply) <= 1 for ply in board.changed_plies)
        if not true:
            name = "?" if board is None else board.name
            self.wrong(f"alert: false {alert.kind}", f"board {name}: {alert.text}")

    def end(self, who: str, games: list[GameDetail]) -> list[str]:
        """What is not as it should be when all is over."""
        found = []
        by_board: dict[str, list[GameDetail]] = {}
        for game in games:
            board = self.find(game, line_of(game))
            if board is None:
                found.append(
                    f"{who}: nobody plays {game.white.name} - {game.black.name}"
                )
            else:
                by_board.setdefault(board.name, []).append(game)
        for board in self.boards:
            here = by_board.get(board.name, [])
            if len(here) != board.expected:
                each = [
                    f"{one.round!r} {one.plies_played} plies {one.problem}"
                    for one in here
                ]
                found.append(
                    f"{who}: board {board.name} is there {len(here)} times {each}"
                )
                continue
            true = board.game
            names = (true.headers.white.name, true.headers.black.name)
            wanted = (line_of(true), true.result, names, "")
            for one in here:
                shown = (
                    line_of(one),
                    one.result,
                    (one.white.name, one.black.name),
                    one.problem,
                )
                found += [
                    (
                        f"{who}: board {board.name}: "
                        f"{what} {str(is_)[-60:]} not {str(should)[-60:]}"
                    )
                    for what, is_, should in zip(
                        ("moves", "result", "names", "problem"),
                        shown,
                        wanted,
                        strict=True,
                    )
                    if (is_ or "") != should
                ]
        return found

    def order(self, games: list[GameView]) -> None:
        numbers = [
            int(board.name)
            for view in games
            # Where a source says no round, nobody knows which of the rounds it is.
            if view.round
            and (board := self.find(view)) is not None
            and board.name.isdigit()
        ]
        if numbers != sorted(numbers):
            self.wrong("boards out of order", str(numbers))


class Watcher(Follower):
    """One websocket, all of which is judged."""

    def __init__(self, port: int, judge: Judge, token: str = "") -> None:
        super().__init__(port, token)
        self._judge = judge
        self.public = not token

    def lost(self, error: OutOfStep) -> None:
        super().lost(error)
        self._judge.wrong("websocket: out of step", str(error))

    def take(self, message: Message) -> None:
        judge, public = self._judge, self.public
        match message:
            case SnapshotMessage(games=games, alerts=alerts):
                judge.views.update((game.id, game) for game in games)
                if public:
                    for game in games:
                        judge.public_view("websocket", game, line_of(game))
                    for moment in message.moments:
                        judge.public_moment("websocket moments", moment)
                    for player in message.players:
                        judge.public_player("websocket standings", player)
                for alert in alerts:
                    judge.alert(alert, public)
            case GameMessage(game=view):
                judge.views[view.id] = view
                if public:
                    judge.public_view("websocket", view)
            case MoveMessage(game=id) if (
                public and (moved := self.state.game(id)) is not None
            ):
                judge.public_view("websocket", moved, line_of(moved))
            case GoneMessage():
                judge.counts["games gone"] += 1
            case StandingMessage(player=player) if public and player.games:
                judge.public_player("websocket standings", player)
            case MomentMessage(moment=moment, holds=True) if public:
                judge.public_moment("websocket moments", moment)
            case AlertMessage(alert=alert):
                judge.alert(alert, public)

    def games(self) -> list[GameDetail]:
        return [] if self.state.seq is None else list(self.state.snapshot().games)


class Asking:
    """HTTP with and without an arbiter's token."""

    def __init__(
        self, port: int, judge: Judge, token: str, chance: random.Random
    ) -> None:
        self._port, self._judge, self._token, self._chance = port, judge, token, chance

    async def _get(self, path: str, token: str = "") -> tuple[int, bytes]:
        return await get(self._port, path, token)

    async def run(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(0.5)

    async def _look(self) -> None:
        judge = self._judge
        for path in ("/metrics", "/api/v3/incidents"):
            status, _ = await self._get(path)
            judge.counts["refused"] += status in (401, 403)
            if status not in (0, 401, 403):
                judge.wrong(f"http: {path} is not refused", str(status))
        for token in ("", self._token):
            views = await self.list("games", GameView, token)
            for view in views:
                judge.views[view.id] = view
                if not token:
                    judge.public_view("http", view)
            if views:
                await self._game(self._chance.choice(views), token)
        for moment in await self.list("moments", Moment):
            judge.public_moment("http moments", moment)
        for player in await self.list("players", PlayerView):
            judge.public_player("http standings", player)

    async def list(
        self, name: str, kind: type[Listed], token: str = ""
    ) -> list[Listed]:
        status, body = await self._get(f"/api/v3/{name}", token)
        if status != 200:
            return []
        return msgspec.json.decode(body, type=dict[str, list[kind]])[name]  # type: ignore[valid-type]

    async def _game(self, view: GameView, token: str) -> None:
        judge, path = self._judge, f"/api/v3/games/{quote(view.id, safe='')}"
        status, pgn = await self._get(f"{path}.pgn", token)
        if status == 200 and not token:
            for report in PgnReader().read_text(pgn, closed=True):
                shown = msgspec.structs.replace(view, result=report.result)
                judge.public_view("http pgn", shown, line_of(report))
        status, before = await self._get(path, token)
        if status != 200 or token:
            return
        detail = msgspec.json.decode(before, type=GameDetail)
        judge.public_view("http game", detail, line_of(detail))
        status, page = await self._get(f"/share?game={quote(view.id, safe='')}")
        found = re.search(rb"1-0|0-1|1/2-1/2|0-0", page)
        if (
            status == 200
            and found is not None
            and found[0].decode() not in ("", detail.result)
        ):
            fresh = msgspec.structs.replace(detail, result=found[0].decode())
            judge.public_view("share page", fresh)
        status, picture = await self._get(f"{path}.png")
        _, after = await self._get(path)
        if status == 200 and before == after:
            judge.counts["pictures"] += 1
            expected = await render_png(draw_board(detail))
            if (
                expected != picture
            ):  # kept from a moment ago, or made of what is held back
                judge.counts["pictures of before"] += 1
                status, whole = await self._get(path, self._token)
                if status != 200:
                    return
                known = msgspec.json.decode(whole, type=GameDetail)
                if picture == await render_png(draw_board(known)):
                    judge.wrong(
                        "pictures: public too early", f"{view.id}, {known.plies_played}"
                    )


async def read_mqtt(client: aiomqtt.Client, judge: Judge) -> None:
    """What everybody at the broker is given."""
    await client.subscribe("#", qos=1)
    async for message in client.messages:
        assert isinstance(message.payload, bytes)
        match str(message.topic).rpartition("/")[2], message.payload:
            case _, b"":
                pass
            case "game", payload:
                game = msgspec.json.decode(payload, type=GameMessage)
                judge.views[game.game.id] = game.game
                judge.public_view("mqtt", game.game)
            case "move", payload:
                move = msgspec.json.decode(payload, type=MoveMessage)
                if move.move is not None:
                    judge.public_move("mqtt", move.game, move.ply, move.move.uci)
            case _, payload if b'"standing"' in payload:
                standing = msgspec.json.decode(payload, type=StandingMessage)
                judge.public_player("mqtt standings", standing.player)


def descendants(root: int) -> list[int]:
    """Processes below ``root`` now."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
    return found[1:]


async def kill_engines(
    service: DrilledService, judge: Judge, chance: random.Random
) -> None:
    while True:
        await asyncio.sleep(chance.uniform(5, 15))
        running = [] if service.process is None else descendants(service.process.pid)
        engines = []
        for pid in running:
            with contextlib.suppress(OSError):
                if b"stockfish" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    engines.append(pid)
        if engines:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(engines), signal.SIGKILL)
                judge.counts["engines killed"] += 1


async def intrude(port: int, judge: Judge, chance: random.Random) -> None:
    """Clients that never read, and such as send nonsense."""
    lazy: deque[socket.socket] = deque()
    try:
        while True:
            await asyncio.sleep(chance.uniform(0.1, 0.5))
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(5):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                if chance.random() < 0.3:
                    lazy.append(writer.get_extra_info("socket").dup())
                    writer.write(UPGRADE)
                elif chance.random() < 0.5:
                    writer.write(mutate(chance, chance.choice(REQUESTS), HTTP_TOKENS))
                else:
                    frame = mutate(chance, chance.choice(FRAMES), FRAME_TOKENS)
                    writer.write(UPGRADE + frame)
                await writer.drain()
                writer.transport.abort()
            while len(lazy) > 20:
                lazy.popleft().close()
            judge.counts["intruders"] += 1
    finally:
        for each in lazy:
            each.close()


class Round:
    """The sources, and what goes wrong with them."""

    def __init__(
        self, games: list[GameReport], args: argparse.Namespace, folder: Path
    ) -> None:
        self.chance = chance = random.Random(args.seed)
        self.length_s: float = args.seconds
        self.round = str(args.round)
        self.share = folder / "share" / "round"
        self.share.mkdir(parents=True)
        self.log: list[str] = []
        self.events: list[tuple[float, Act]] = []
        self.lichess = FaultyLichess([], keep_alive_s=5.0, fates=self._fates())
        self.page = PgnUrlRehearsal([])
        self.page.answer_request = self._answer  # type: ignore[method-assign]
        self.page_fault = ""
        self.copies: deque[tuple[float, bytes]] = deque(maxlen=400)
        self.file_faults: dict[str, str] = {}
        self.share_away = False
        self.now: dict[str, GameReport] = {}
        # Rounds are spelled in one way by each source.
        self.spelling = dict(
            zip(("lichess", "page", "share"), chance.sample(SPELLINGS, 3), strict=True)
        )
        self.spelling["lichess"] = "{0}.{1}"
        self.wrong_colors, self.wrong_name = "", ""
        self.boards: dict[str, Board] = {}
        played = [
            each
            for each in games
            if _round(each) == self.round and len(each.moves) > 24
        ]
        for number, game in enumerate(played[:BOARDS], 1):
            self._add(str(number), game, args.delay, number)
        self._more_games(games, args.delay)
        names = [str(number) for number in range(HALL, BOARDS + 1)]
        self.hall = FaultyHall(
            [self.boards[name].game for name in names],
            HALL,
            int(self.round),
            self.length_s,
            chance,
            self._true_in_hall,
        )
        for place, name in enumerate(names):
            # Its pairings answer as soon as anybody asks.
            self._true_in_hall(place, upto(self.boards[name].game, 0))
        self.spoken = {
            "19": chance.choice(list(FORFEITS)),
            "27": chance.choice(list(FORFEITS)),
        }
        for name, spelled in self.spoken.items():
            board = self.boards[name]
            board.game = msgspec.structs.replace(
                board.game, moves=(), result=FORFEITS[spelled], problem=None
            )
        self._plan()

    # --- what is played ---------------------------------------------------------------

    def _add(
        self, name: str, game: GameReport, delay_s: float, number: int | None
    ) -> Board:
        headers = msgspec.structs.replace(
            game.headers, event=EVENT, board=number, url="", site="", round=self.round
        )
        moves = tuple(msgspec.structs.replace(each, eval=None) for each in game.moves)
        whole = msgspec.structs.replace(
            game, key="", headers=headers, moves=moves, start_eval=None, problem=None
        )
        board = self.boards[name] = Board(name, whole, delay_s)
        board.sources = len(self.sources(name))
        return board

    def _more_games(self, games: list[GameReport], delay_s: float) -> None:
        """An Armageddon game after board 28, one adjourned before, one of another
        event.
        """
        others = [
            each
            for each in games
            if _round(each) != self.round and len(each.moves) > 40
        ]
        extra, adjourned, side = self.chance.sample(others, 3)
        last = self.boards["28"].game.headers
        for name, game, white, black in (
            ("28b", extra, last.black, last.white),
            ("24a", adjourned, Player("Late, Walter"), Player("Late, Berta")),
            ("side", side, Player("Side, Wanda"), Player("Side, Bruno")),
        ):
            self._add(
                name, change_headers(game, white=white, black=black), delay_s, None
            )

    def sources(self, name: str) -> list[str]:
        if not name.isdigit():
            return ["page" if name == "ghost" else "share"]
        number = int(name)
        spans = {
            "lichess": (1, 10),
            "page": (10, 20),
            "share": (20, 28),
            "hall": (HALL, BOARDS),
        }
        return [each for each, (low, high) in spans.items() if low <= number <= high]

    def _plan(self) -> None:
        chance, events = self.chance, self.events
        calm_s, rough_s = (
            0.62 * self.length_s,
            chance.uniform(0.25, 0.45) * self.length_s,
        )
        self.kills_s = rough_s, calm_s
        self.on_kill: list[Callable[[], Awaitable[None]]] = []
        incidents: dict[str, PlannedIncident] = {}
        for span, kinds in (
            (range(1, 10), ["takeback", "slip", "takeback", "slip", "clock-rising"]),
            (range(11, 19), ["takeback", "slip"]),
            (range(21, 27), ["takeback", "slip"]),
        ):
            for number, kind in zip(
                chance.sample(span, len(kinds)), kinds, strict=True
            ):
                name, game = str(number), self.boards[str(number)].game
                ply = chance.randint(10, len(game.moves) - 8)
                incidents[name] = PlannedIncident(kind, 0, ply)  # type: ignore[arg-type]
                if kind != "clock-rising":
                    self._give_reason(name, "takeback", "correction")
                    self.boards[name].changed_plies.add(ply)
                other = kind == "slip" and choose_wrong_move(game, ply) is None
                self._note(
                    kind, f"{name} at ply {ply}{', no other move' if other else ''}"
                )
        shy = set(incidents)
        free = [str(n) for n in (*range(1, 10), *range(11, 19), *range(21, 27))]
        corrected = set(chance.sample([name for name in free if name not in shy], 3))
        longest = max(
            plan_timeline([board.game])[-1].at_s for board in self.boards.values()
        )
        for name, board in self.boards.items():
            if "hall" in self.sources(name):
                continue
            planned = [incidents[name]] if name in incidents else []
            course = [
                (moment.at_s, moment.report)
                for moment in plan_timeline(
                    [board.game], speed=longest / self.length_s, incidents=planned
                )
            ]
            if name in ("24a", "28b", "side"):
                course = [
                    (at_s + 0.1 * self.length_s, report) for at_s, report in course
                ]
            if name in incidents and incidents[name].kind == "clock-rising":
                board.game = course[-1][1]
            if name in self.spoken:
                course = [
                    course[0],
                    (chance.uniform(0.03, 0.2) * self.length_s, board.game),
                ]
            if name in corrected:
                course = self._other_result(name, course)
            for at_s, report in course:
                self._at(at_s, functools.partial(self.tell, name, report))
        self._plan_hall()
        self._plan_page(shy, calm_s)
        self._plan_share(calm_s)
        for _ in range(3):
            self._at(self._free_s(calm_s, 1), self.lichess.hang_up)
        self._at(rough_s, lambda: self.on_kill[0]())
        self._at(calm_s, lambda: self.on_kill[1]())
        events.sort(key=lambda each: each[0])

    def _other_result(
        self, name: str, course: list[tuple[float, GameReport]]
    ) -> list[tuple[float, GameReport]]:
        """The result is first another one for some seconds, or comes early and is
        withdrawn.
        """
        self._give_reason(name, "result-corrected")
        early = self.chance.random() < 0.4
        at = len(course) * 2 // 3 if early else len(course) - 1
        at_s, report = course[at]
        other: Result = "0-1" if course[-1][1].result != "0-1" else "1-0"
        wrong = msgspec.structs.replace(report, result=other)
        self._note("result withdrawn" if early else "result corrected", name)
        if early:
            return [*course[: at + 1], (at_s + 0.01, wrong), *course[at + 1 :]]
        return [*course[:at], (at_s, wrong), (at_s + 4.0, report)]

    def _plan_hall(self) -> None:
        self.events += self.hall.events
        self.log += self.hall.log
        for place, kind, ply in self.hall.changed:
            name = str(HALL + place)
            self._give_reason(name, kind, "takeback", "correction")
            self.boards[name].changed_plies.add(ply)

    def _true_in_hall(self, place: int, report: GameReport) -> None:
        name = str(HALL + place)
        self.boards[name].show(report)
        self.now[name] = report

    def _plan_page(self, shy: set[str], calm_s: float) -> None:
        chance = self.chance
        for kind in ("404", "500", "empty", "html", "half", "half", "old", "drop"):
            fault = functools.partial(setattr, self, "page_fault")
            self._during(
                f"page {kind}",
                self._free_s(calm_s, 3),
                chance.uniform(1, 3),
                fault,
                kind,
            )
        colors, name = chance.sample(
            [str(n) for n in range(11, 19) if str(n) not in shy], 2
        )
        self.wrong_colors, self.wrong_name = colors, name
        self._give_reason(colors, "players-swapped")
        at_s = chance.uniform(0.1, 0.5) * self.length_s
        self._note("colours and name put right", f"{colors}, {name} at {at_s:.0f} s")
        self._at(at_s, lambda: setattr(self, "wrong_colors", ""))
        later_s = at_s + chance.choice([0.0, 3.0])
        self._at(later_s, lambda: setattr(self, "wrong_name", ""))
        one, two = (self.boards[each].game.headers for each in ("11", "12"))
        headers = msgspec.structs.replace(one, board=99, black=two.white)
        nobody = GameReport(
            key="", headers=headers, start_fen=chess.STARTING_FEN, moves=()
        )
        ghost = self.boards["ghost"] = Board("ghost", nobody, self.boards["11"].delay_s)
        ghost.expected = False
        self._at(chance.uniform(1, 10), lambda: self.tell("ghost", nobody))
        self._at(
            chance.uniform(15, 30), functools.partial(self.now.__delitem__, "ghost")
        )

    def _plan_share(self, calm_s: float) -> None:
        chance = self.chance
        files = [f"game-{n}.pgn" for n in (21, 22, 23, 24, 25, 26, 28)]
        away = chance.choice(files)
        files.remove(away)
        self._give_reason(away[5:-4], "vanished")
        at_s, gone_s = chance.uniform(0.12, 0.3) * self.length_s, LOST_AFTER_S + 4
        planned = [(away, "away", at_s, gone_s), (away, "half", at_s + gone_s, 1.5)]
        planned += [
            ("games.pgn", "half", self._free_s(calm_s, 2), 1.5) for _ in range(2)
        ]
        planned += [
            (
                chance.choice(files),
                kind,
                self._free_s(calm_s, 2),
                chance.uniform(0.3, 1.6),
            )
            for kind in ("cut",) * 14 + ("half", "half")
        ]
        for file, kind, at_s, lasts_s in planned:
            fault = functools.partial(self._spoil, file)
            self._during(f"{file} {kind}", at_s, lasts_s, fault, kind)
        self._during("share away", self._free_s(calm_s, 3), 2, self._share_is, "away")

    def _spoil(self, file: str, kind: str) -> None:
        self.file_faults[file] = kind
        self._write(file)

    def _during(
        self,
        what: str,
        at_s: float,
        lasts_s: float,
        fault: Callable[[str], None],
        kind: str,
    ) -> None:
        """A fault of this kind for so long, and then none."""
        self._note(what, f"{at_s:.1f} s for {lasts_s:.1f} s")
        self._at(at_s, lambda: fault(kind))
        self._at(at_s + lasts_s, lambda: fault(""))

    def _free_s(self, calm_s: float, lasts_s: float) -> float:
        """A time at which nothing that lasts so long reaches into the calm kill."""
        while True:
            at_s = self.chance.uniform(0.08, 0.9) * self.length_s
            if not calm_s - lasts_s - 2 < at_s < calm_s + 2:
                return at_s

    def _at(self, at_s: float, act: Act) -> None:
        self.events.append((at_s, act))

    def _give_reason(self, name: str, *kinds: str) -> None:
        self.boards[name].happened.update(kinds)

    def _note(self, what: str, where: str) -> None:
        self.log.append(f"{what}: {where}")

    def _fates(self) -> Iterator[ConnectionFaults]:
        chance = random.Random(self.chance.random())
        cuts = tuple(chance.randint(1, 3000) for _ in range(17))
        yield GOOD
        yield ConnectionFaults(drop_after=chance.randint(500, 20_000), cuts=cuts)
        yield ConnectionFaults(refuse=503)
        yield ConnectionFaults(drop_after=chance.randint(500, 60_000), repeat=True)
        while True:
            yield ConnectionFaults(cuts=cuts)

    # --- what the sources show --------------------------------------------------------

    def tell(self, name: str, report: GameReport) -> None:
        """This is so from now on, in all sources of the board."""
        board, before = self.boards[name], self.now.get(name)
        board.show(report)
        self.now[name] = report
        for source in self.sources(name):
            if source == "lichess":
                index, shown = int(name) - 1, self._headed("lichess", name)
                if before is not None and len(report.moves) < len(before.moves):
                    self.lichess.store_unsent(index, shown)
                else:
                    self.lichess.show_report(index, shown)
            elif source == "share":
                self._write(_file(name))
                if name.isdigit():
                    self._write("games.pgn")
        if "page" in self.sources(name):
            self.copies.append((time.monotonic(), self._page_text()))

    def _headed(self, source: str, name: str) -> GameReport:
        report = self.now[name]
        number = name if name.isdigit() else ""
        spelled = self.spelling[source].format(self.round, number or 1)
        if name == "24a":
            spelled = str(int(self.round) - 1)
        white, black = report.headers.white, report.headers.black
        if source != "lichess":
            white, black = (
                msgspec.structs.replace(each, fide_id=None) for each in (white, black)
            )
        if name == self.wrong_name:
            white = msgspec.structs.replace(white, name=white.name.replace("a", "á", 1))
        if name == self.wrong_colors:
            white, black = black, white
        return change_headers(report, white=white, black=black, round=spelled)

    def _text(self, source: str, name: str) -> str:
        report = self._headed(source, name)
        text, spelled = write_pgn(report), self.spoken.get(name)
        if spelled is None or report.result == "*":
            return text
        text = text.replace(f'[Result "{report.result}"]', f'[Result "{spelled}"]')
        return f"{text[: -len(report.result) - 1]}{spelled}\n"

    def _page_text(self) -> bytes:
        """The forfeit stands last."""
        names = [str(n) for n in (*range(10, 19), 20)] + ["ghost", "19"]
        return "\n".join(self._text("page", n) for n in names if n in self.now).encode()

    async def _answer(self, request: ServedRequest, reply: ServedReply) -> None:
        body, kind = self._page_text(), {"Content-Type": "application/x-chess-pgn"}
        fault, status = self.page_fault, 200
        if fault == "drop":
            reply = FaultyReply(reply, ConnectionFaults(drop_after=len(body) // 2))
        elif fault == "old":
            old_s = time.monotonic() - 5
            body = next((text for at_s, text in self.copies if at_s >= old_s), body)
        elif fault == "half":
            body = body[: self.chance.randint(0, len(body))]
        elif fault:
            status = int(fault) if fault.isdigit() else 200
            body = {"empty": b"", "html": b"<!DOCTYPE html><html>Back soon</html>"}.get(
                fault, b"busy"
            )
        await reply.send_whole(status, body, kind if fault != "html" else {})

    def _write(self, file: str) -> None:
        if self.share_away:
            return
        path, kind = self.share / file, self.file_faults.get(file, "")
        if kind == "away":
            path.unlink(missing_ok=True)
            return
        if file == "games.pgn":
            names = [str(n) for n in range(20, 29)]
        else:
            names = [name for name in self.now if _file(name) == file]
        text = "\n".join(
            self._text("share", name) for name in names if name in self.now
        )
        if kind == "cut" and "[%clk " in text:
            # At best so that what is left ends like a result.
            results = [
                found.end() for found in _LIKE_RESULT.finditer(text, len(text) - 150)
            ]
            text = text[: results[-1] if results else text.rfind("[%clk ") + 9]
        elif kind == "half":
            text = text[: len(text) * 3 // 5]
        if text:
            path.write_text(text, encoding="utf-8")

    def _share_is(self, away: str) -> None:
        self.share_away = bool(away)
        here, there = self.share, self.share.parent.parent / "away"
        if away:
            here.rename(there)
            return
        there.rename(here)
        for file in {_file(name) for name in self.now if "share" in self.sources(name)}:
            self._write(file)
        self._write("games.pgn")

    async def play(self) -> None:
        """All of it; what takes long holds everything up."""
        stopped_s, begun_s = 0.0, time.monotonic()
        for at_s, act in self.events:
            await asyncio.sleep(max(0.0, begun_s + stopped_s + at_s - time.monotonic()))
            waiting = act()
            if waiting is not None:
                before_s = time.monotonic()
                await waiting
                stopped_s += time.monotonic() - before_s


def csv_rows(path: Path, *columns: str) -> list[tuple[str, ...]]:
    """These columns of a table."""

    def choose_columns(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[column] for column in columns)

    with path.open(encoding="utf-8", newline="") as file:
        return [choose_columns(row) for row in csv.DictReader(file)]


def told_line(game: GameReport) -> tuple[str, ...]:
    """Players, result and moves, as PGN has them: it knows no result without points."""
    headers = game.headers
    result = "*" if game.result == "0-0" else game.result
    return (headers.white.name, headers.black.name, result, line_of(game))


def _round(game: GameReport) -> str:
    return game.headers.round.partition(".")[0]


def _file(name: str) -> str:
    return {"side": "side-event.pgn", "24a": "adjourned-24.pgn"}.get(
        name, f"game-{name}.pgn"
    )


def kept_state(follower: Watcher) -> dict[str, Any]:
    """What must be the same after a kill, by what it is of."""
    state = follower.state
    if state.seq is None:
        return {}
    whole = state.snapshot()
    games = [
        msgspec.structs.replace(game, restored=False, feed="", also=())
        for game in whole.games
    ]
    # A value equal to the default is left out only where it is that very object.
    found = {
        f"game {each.id}": msgspec.to_builtins(each)
        | msgspec.to_builtins(
            {"curves": each.curves, "head_to_head": each.head_to_head}
        )
        for each in games
    }
    found |= {f"player {each.id}": msgspec.to_builtins(each) for each in whole.players}
    for alert in whole.alerts:
        if alert.kind in JUDGED:
            found[f"alert {alert.id}"] = (alert.text, alert.times, alert.first_seen_s)
    return found | {
        f"moment {each.id}": msgspec.to_builtins(each.text) for each in whole.moments
    }


class Drill:
    """Everything together."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        games = PgnReader().read_text(Path(args.pgn).read_bytes(), closed=True)
        self.args, self.folder = args, folder
        self.round = Round(list(games), args, folder)
        self.judge = Judge(list(self.round.boards.values()))
        self.token, self.tokens = token_file(folder, arbiter=True)

    def settings(self, lichess: str, broker: int, port: int) -> str:
        feeds = {"poll_s": LOST_AFTER_S / 30}
        return toml(
            {
                "server": {"port": port, "public": True, "tokens_file": self.tokens},
                "engine": {"nodes": self.args.nodes, "engines": 1, "speculate": False},
                "human": {"enabled": False},
                "feeds": {**feeds, "delay_s": self.args.delay},
                "feeds.lichess": {"base_url": lichess},
                "mqtt": {"publish": f"mqtt://127.0.0.1:{broker}"},
                "journal": {"file": str(self.folder / "journal.sqlite")},
            }
        )

    async def run(self) -> dict[str, Any]:
        began_s, rounds = time.monotonic(), self.round
        program = shutil.which(
            "mosquitto", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
        )
        assert program, "the drill needs Mosquitto"
        async with (
            rounds.lichess.serve() as lichess,
            rounds.page.serve() as page,
            rounds.hall.livechess.serve() as hall,
            run_broker(program, self.folder) as broker,
            broker.client() as client,
        ):
            origin = lichess.removeprefix("lichess+").partition("/broadcast")[0]
            specs = [lichess, page, str(rounds.share.parent), hall]
            port, config = free_port(), self.folder / "config.toml"
            config.write_text(self.settings(origin, broker.port, port))
            words = chain.from_iterable(("--feed", spec) for spec in specs)
            service = self.service = DrilledService(
                self.folder, "--headless", "--config", str(config), *words
            )
            self.public = Watcher(port, self.judge)
            self.arbiter = Watcher(port, self.judge, self.token)
            asking = Asking(port, self.judge, self.token, random.Random(self.args.seed))
            rounds.on_kill = [self._again, self._calm]
            readers = (self.public.run(), self.arbiter.run(), asking.run())
            chance = random.Random(self.args.seed)
            disturbing = (
                kill_engines(service, self.judge, chance),
                intrude(port, self.judge, chance),
            )
            try:
                async with run_tasks(
                    *readers, read_mqtt(client, self.judge), *disturbing
                ):
                    await service.start()
                    async with asyncio.timeout(START_S):
                        await self.arbiter.here.wait()
                    await self._hall_is_heard()
                    await rounds.play()
                    played_s = time.monotonic() - began_s
                    for text in await self._ends():
                        self.judge.wrong("end", text)
                    self.judge.order(await asking.list("games", GameView, self.token))
                assert service.process is not None
                below = descendants(service.process.pid)
                await service.end(signal.SIGTERM)
                left = [pid for pid in below if Path(f"/proc/{pid}").exists()]
                if service.process.returncode or left:
                    text = (
                        f"exit code {service.process.returncode}, "
                        f"processes left: {left}"
                    )
                    self.judge.wrong("the end of the service", text)
                await self._compare_report()
            finally:
                await service.kill()
        text = service.log.read_text(errors="replace")
        for line in text.splitlines():
            if "Traceback" in line or "public misses a change" in line:
                self.judge.wrong("the service's log", line)
        wrong = self.judge.violations
        return {
            "round": self.args.round,
            "seed": self.args.seed,
            "delay_s": self.args.delay,
            "spellings": rounds.spelling,
            "forfeits": rounds.spoken,
            "played_s": round(played_s, 1),
            "wall_s": round(time.monotonic() - began_s, 1),
            "faults": rounds.log,
            "counts": dict(sorted(self.judge.counts.items())),
            "violations": {
                what: {"times": len(found), "examples": found[:6]}
                for what, found in wrong.items()
            },
            "good": not wrong,
        }

    async def _ends(self) -> list[str]:
        """Wait until arbiters and the public hold what is true; what they still
        do not.
        """

        def wrong() -> list[str]:
            found = self.judge.end("arbiter", self.arbiter.games())
            return found + self.judge.end("public", self.public.games())

        await until(lambda: not wrong(), self.args.delay + PATIENCE_S)
        return wrong()

    async def _compare_report(self) -> None:
        """Results sheet, standings and PGN, made of the journal, with what was
        played.
        """
        folder = self.folder / "report"
        formats = ("--format", "pgn", "--format", "csv")
        words = ("report", "journal.sqlite", "--out", str(folder), *formats)
        report = await self.service.run(*words, stdout=asyncio.subprocess.DEVNULL)
        if await report.wait():
            self.judge.wrong("the report", f"exit code {report.returncode}")
            return
        played = [board.game for board in self.round.boards.values() if board.expected]
        pairs = [(game.headers.white.name, game.headers.black.name) for game in played]
        wanted_rows = [
            (*pair, game.result) for pair, game in zip(pairs, played, strict=True)
        ]
        rows = csv_rows(folder / "journal-results.csv", "white", "black", "result")
        self._compare("results sheet", rows, wanted_rows)
        points: Counter[str] = Counter()
        for game, pair in zip(played, pairs, strict=True):
            for name, won in zip(pair, RESULT_POINTS[game.result], strict=True):
                points[name] += won  # type: ignore[assignment]
        standings = csv_rows(folder / "journal-players.csv", "name", "points")
        found = [(name, str(float(won or 0))) for name, won in standings]
        self._compare(
            "standings",
            found,
            [(name, str(float(won))) for name, won in points.items()],
        )
        games = PgnReader().read_text(
            (folder / "journal.pgn").read_bytes(), closed=True
        )
        self._compare("report PGN", map(told_line, games), map(told_line, played))

    def _compare(
        self, what: str, found: Iterable[object], wanted: Iterable[object]
    ) -> None:
        here, should = Counter(found), Counter(wanted)
        self.judge.counts[what] += should.total()
        for each in here - should:
            self.judge.wrong(f"{what}: was not played", str(each)[:200])
        for each in should - here:
            self.judge.wrong(f"{what}: missing", str(each)[:200])

    async def _again(self) -> None:
        """Kill, start, and compare what the public has at once with what it had."""
        had, rounds = self._public_plies(), self.round
        await self.service.kill()
        self.public.here.clear()
        self.arbiter.here.clear()
        await self.service.start()
        await self._hall_is_heard()
        self.judge.counts["kills"] += 1

        async def compare() -> None:
            async with asyncio.timeout(START_S):
                await self.public.here.wait()
            has = self._public_plies()
            for name, plies in had.items():
                back = 1 + 2 * bool(rounds.boards[name].happened["takeback"])
                if rounds.boards[name].expected and has.get(name, -back) < plies - back:
                    text = f"board {name}: {has.get(name)} of {plies} plies"
                    self.judge.wrong("restart: the public has less", text)

        self._compared = asyncio.create_task(compare())

    async def _hall_is_heard(self) -> None:
        """Wait until the service listens to every board: what one does before, and is
        put back, nobody can know.
        """
        hall = self.round.hall.livechess
        await until(lambda: hall.listeners == len(hall.boards), START_S)
        await until(lambda: hall.boards_ready == len(hall.boards), START_S)

    def _public_plies(self) -> dict[str, int]:
        """How far the public is, by board."""
        found: dict[str, int] = {}
        for game in self.public.games():
            if (board := self.judge.find(game, line_of(game))) is not None:
                found[board.name] = max(len(game.plies), found.get(board.name, 0))
        return found

    async def _calm(self) -> None:
        """While nothing happens: all must be as before."""
        # A fault of the pairings would last as long as the calm.
        self.round.hall.livechess.answers_http = True
        before = await self._still()
        await self._again()
        async with asyncio.timeout(START_S):
            await self.arbiter.here.wait()
        await until(lambda: kept_state(self.arbiter) == before, START_S)
        now = kept_state(self.arbiter)
        for what in sorted(before.keys() | now.keys()):
            if before.get(what) != now.get(what):
                text = (
                    f"{what}: {next(differences(before.get(what), now.get(what)), '')}"
                )
                self.judge.wrong("kill: not as before", text)
        await self._compared

    async def _still(self) -> dict[str, Any]:
        """The arbiter's state when all that the sources show is in it and scored, and
        it has stood for two seconds.
        """
        state, since_s, began_s = (
            kept_state(self.arbiter),
            time.monotonic(),
            time.monotonic(),
        )
        while not self._caught_up() or time.monotonic() - since_s < 2:
            if time.monotonic() - began_s > STILL_S:
                self.judge.wrong(
                    "the drill", "not caught up before the calm kill; is it busy here?"
                )
                break
            await asyncio.sleep(0.2)
            if (now := kept_state(self.arbiter)) != state:
                state, since_s = now, time.monotonic()
        return state

    def _caught_up(self) -> bool:
        found = {}
        for game in self.arbiter.games():
            if (board := self.judge.find(game, line_of(game))) is not None:
                found[board.name] = line_of(game)
                # Pairings are looked at twice a minute.
                entered = (
                    self.round.now[board.name].result if board.name.isdigit() else "*"
                )
                if "hall" in self.round.sources(board.name) and entered not in (
                    "*",
                    game.result,
                ):
                    return False
            if game.plies_scored < game.plies_played:
                return False
        return all(
            found.get(name, "") == line_of(report)
            for name, report in self.round.now.items()
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pgn")
    parser.add_argument("round", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=100.0, help="how long the round lasts"
    )
    parser.add_argument("--delay", type=float, default=12.0)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--keep", help="a folder for log, journal and settings")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if args.keep:
            shutil.rmtree(args.keep, ignore_errors=True)
            Path(args.keep).mkdir(parents=True)
        folder = args.keep or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="round-")
        )
        summary = asyncio.run(Drill(args, Path(folder)).run())
    sys.stdout.write(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    return 0 if summary["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
