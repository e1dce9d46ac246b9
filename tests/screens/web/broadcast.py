"""A round of 56 boards as the service holds it: real games, the real ledger, and an
engine made of dice, which is told how strong each player is.

Stands where searching thousands of positions would only be slower: overlays are about
showing what follows from answers.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import chess
import msgspec

from live.engine.requests import RequestId, SearchDropped, SearchRequest
from live.engine.search import Search, SearchResult
from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.rate_game import Measure
from live.messages.figures import CurvePoint, Curves, EngineInfo, GameDetail
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
    Score,
)
from live.messages.health import FeedHealth
from live.messages.to_clients import ChangeListener
from live.ratings.model_choice import MODELS, Models
from live.server.server import Publisher
from live.settings import ServerConfig
from tests.screens.web.games import moment
from tests.server.world import World

GAMES = Path(__file__).parent.parent.parent / "data" / "forty-games.txt"
BOARDS = 56

#: Made up; family names that no list of players holds.
_FAMILY = (
    "Abelsen",
    "Bravik",
    "Cardoza",
    "Dumitrel",
    "Eskelund",
    "Farragher",
    "Grünfeldt",
    "Hallasaar",
    "Ibarrola",
    "Jankulov",
    "Kowalinska",
    "Lindqvar",
    "Montserat",
    "Novačik",
    "Okonjima",
    "Petrides",
    "Quillfeldt",
    "Rozenbergs",
    "Sørvaag",
    "Takemori",
)
_GIVEN = (
    "Ana",
    "Bo",
    "Chiara",
    "Dag",
    "Emil",
    "Fatou",
    "Gita",
    "Hugo",
    "Ines",
    "Jo",
    "Kaisa",
    "Luka",
    "Mara",
    "Nils",
)
_TITLES = ("GM", "IM", "WGM", "FM", None)
_FEDERATIONS = (
    "NOR",
    "GER",
    "IND",
    "ESP",
    "USA",
    "POL",
    "GRE",
    "JPN",
    "ENG",
    "ARG",
    "EST",
    "NGR",
)


def players(count: int = 2 * BOARDS) -> list[Player]:
    """Player ``n`` is at board ``n // 2 + 1``, White first; strength falls with the
    board.
    """
    return [
        Player(
            name=f"{_FAMILY[n % len(_FAMILY)]}, {_GIVEN[n * 5 % len(_GIVEN)]}",
            elo=2650 - 12 * n + n * 37 % 60,
            title=_TITLES[min(n // 9, 4)],
            fide_id=9_000_000 + n,
            federation=_FEDERATIONS[n * 7 % len(_FEDERATIONS)],
        )
        for n in range(count)
    ]


def lines() -> list[tuple[Move, ...]]:
    """The moves of the games, with clocks as of 90 minutes and 30 seconds a move."""
    found = []
    for number, text in enumerate(GAMES.read_text().splitlines()):
        board, moves, random = chess.Board(), [], Random(number)
        clocks = {chess.WHITE: 5400.0, chess.BLACK: 5400.0}
        for uci in text.split():
            spent = min(random.expovariate(1 / 90), clocks[board.turn] * 0.4)
            clocks[board.turn] += 30 - spent
            move = chess.Move.from_uci(uci)
            moves.append(
                Move(uci, board.san(move), float(int(clocks[board.turn])), spent)
            )
            board.push(move)
        found.append(tuple(moves))
    return found


class Broadcast:
    """Moves come when asked for; the engine answers at once."""

    def __init__(self, boards: int = BOARDS, names: Sequence[str] = ()) -> None:
        """``names`` in turn for players, where they matter."""
        models = Models([MODELS.load("classical")], by_name=True)
        self.listener: ChangeListener = lambda changes: None
        self.state = Event(
            Measure("same-search", models),
            engine=EngineInfo("Stockfish 19 lite", "100000 nodes", 2160, "calibration"),
        )
        self.boards = boards
        everybody, all_lines = players(2 * boards), lines()
        for n, player in enumerate(everybody if names else ()):
            everybody[n] = msgspec.structs.replace(player, name=names[n % len(names)])
        self._line = {n + 1: all_lines[n % len(all_lines)] for n in range(boards)}
        self._sides = {
            n + 1: (everybody[2 * n], everybody[2 * n + 1]) for n in range(boards)
        }
        self._results: dict[int, Result] = {}
        self._played = dict.fromkeys(self._line, 0)
        self._wishes: list[tuple[Search, RequestId]] = []
        self._walks: dict[int, list[tuple[int, int]]] = {}
        self.publish(self.state.update_feed_health(FeedHealth("hall", "live")))
        self.tell()

    def publish(self, changes: Sequence[EventChange]) -> None:
        """What the event has returned."""
        for change in changes:
            match change:
                case SearchRequest(id=request_id, search=search):
                    self._wishes.append((search, request_id))
                case SearchDropped(id=request_id):
                    self._drop(request_id)
        self.listener(select_messages(changes))

    # --- what happens in the hall -----------------------------------------------------

    def play(self, plies: int = 1, *, board: int | None = None) -> None:
        """So many plies at every board that is not over, or at one."""
        for each in self._line if board is None else (board,):
            if each not in self._results:
                self._played[each] = min(
                    self._played[each] + plies, len(self._line[each])
                )
        self.tell()

    def take_back(self, board: int, plies: int) -> None:
        """So many plies were wrong."""
        self._played[board] -= plies
        # A source that rewrites whole texts is believed at the second look.
        self.tell()
        self.tell()

    def end(self, board: int, result: Result) -> None:
        self._results[board] = result
        self.tell()

    def tell(self) -> None:
        """The source says how everything stands."""
        games = tuple(
            GameReport(
                key=f"board{n}",
                headers=Headers(
                    white=self._sides[n][0],
                    black=self._sides[n][1],
                    event="Harbour Open",
                    round=f"4.{n}",
                    board=n,
                    date="2026.05.02",
                    time_control="90+30",
                ),
                start_fen=chess.STARTING_FEN,
                moves=self._line[n][: self._played[n]],
                result=self._results.get(n, "*"),
            )
            for n in self._line
        )
        report = FeedReport("hall", games, complete=True)
        for changes in self.state.apply_report(report):
            self.publish(changes)
        self.answer()

    # --- the engine -------------------------------------------------------------------

    def _drop(self, request_id: RequestId) -> None:
        self._wishes = [wish for wish in self._wishes if wish[1] != request_id]

    def answer(self) -> None:
        """Answer every search that waits, early plies first: no figure is made
        twice.
        """
        while self._wishes:
            self._wishes.sort(key=lambda wish: len(wish[0].position.moves))
            search, request_id = self._wishes.pop(0)
            found = self._searched(search, request_id)
            self.publish(self.state.apply_result(request_id, found))

    def _searched(self, search: Search, request_id: RequestId) -> SearchResult:
        game = self.state.game(request_id.game)
        assert game is not None
        assert game.board is not None
        walk, line = self._walk(game.board), self._line[game.board]
        at = len(search.position.moves)
        score, _ = walk[at]
        if search.only is not None:
            mover = 1 if at % 2 == 0 else -1
            return SearchResult(Score(score - mover * walk[at + 1][1]), search.only, 16)
        follows = at < len(line) and walk[at + 1][1] == 0
        best = line[at].uci if follows else _another(search)
        return SearchResult(Score(score), best, 16)

    def _walk(self, board: int) -> list[tuple[int, int]]:
        """Per position its score, and how many centipawns the move that led
        there lost.
        """
        if board not in self._walks:
            random = Random(1000 + board)
            walk = [(20, 0)]
            for ply in range(len(self._line[board])):
                elo = self._sides[board][ply % 2].elo or 2000
                strength = (elo - 1300) / 1500
                good = random.random() < 0.42 + 0.3 * strength
                lost = (
                    0 if good else int(random.expovariate(1 / (75 - 45 * strength))) + 1
                )
                score = (
                    walk[-1][0]
                    - (lost if ply % 2 == 0 else -lost)
                    + random.randint(-6, 6)
                )
                walk.append((max(-900, min(900, score)), lost))
            self._walks[board] = walk
        return self._walks[board]


def _another(search: Search) -> str:
    """A move nobody plays in these games, so that it is never the one played."""
    position = chess.Board(search.position.start_fen)
    for uci in search.position.moves:
        position.push_uci(uci)
    moves = sorted(move.uci() for move in position.legal_moves)
    return moves[-1] if moves else "0000"


@asynccontextmanager
async def on_air(
    boards: int = BOARDS, plies: int = 0, names: Sequence[str] = (), **config: Any
) -> AsyncIterator[tuple[Broadcast, Publisher]]:
    """A round under way, and its service."""
    broadcast = Broadcast(boards, names)
    broadcast.play(plies)
    async with Publisher(ServerConfig(port=0, **config), broadcast.state) as publisher:
        broadcast.listener = publisher.audiences.publish
        yield broadcast, publisher


#: One word, two, a title's worth of letters: each is 30 letters long.
LONG_NAMES = (
    "Venkatanarasimharajuvaripetaka",
    "Nepomniachtchi-Vachier-Lagrave",
    "Wolkenschlegelsteinhausenberge",
    "Alexandra Konstantinova-Ivanov",
)


def standing_still(broadcast: Broadcast, *, extreme: bool = False) -> World:
    """The round as it stands, with a moment. ``extreme``: every figure at the end of
    what is shown, and nobody at board 3 has an Elo.
    """
    world = World()
    world.info = broadcast.state.engine()
    world.feed_health = (FeedHealth("hall", "live"),)
    for view in broadcast.state.games():
        game = broadcast.state.game(view.id)
        assert game is not None
        world.held[game.id] = _extreme(game) if extreme else game
    for player in broadcast.state.players():
        changed = msgspec.structs.replace(player, perceived=3200) if extreme else player
        world.standings[player.id] = changed
    first = next(iter(world.held.values()))
    name = first.white.name
    said = f"{name} falls from 87 % to 33 % with 22. Rg2. Best was Qh3."
    world.told["m"] = moment(first.id, len(first.plies), said, at_s=1.0)
    return world


def _extreme(game: GameDetail) -> GameDetail:
    replace = msgspec.structs.replace
    nothing_usual = dict.fromkeys(("usual_low", "usual_high", "percentile"))
    unrated = game.board == 3

    def changed(point: CurvePoint) -> CurvePoint:
        known = point.perceived is not None and point.ply > len(game.plies) - 12
        point = replace(point, perceived=3200) if known else point
        return replace(point, **nothing_usual) if unrated else point

    white, black = (
        tuple(map(changed, each)) for each in (game.curves.white, game.curves.black)
    )
    game = replace(
        game, curves=Curves(white, black), event=f"{LONG_NAMES[0]} {LONG_NAMES[1]}"
    )
    if not unrated:
        return game
    return replace(
        game, white=replace(game.white, elo=None), black=replace(game.black, elo=None)
    )
