"""An engine made of arithmetic: the same search always has the same answer, at once.

Stands where the real one would only be slower: the event is about what follows from
answers.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import chess

from live.engine.requests import RequestId, SearchDropped, SearchRequest
from live.engine.search import Line, Search, SearchFailure, SearchResult
from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.game_record import ArchivedValues
from live.event.rate_game import Measure
from live.games.game import Game, GameConfirmed, NewGame, Step
from live.human.question import HumanAnswer, HumanRequest
from live.messages.figures import EngineInfo, GameDetail, PlayerView
from live.messages.from_sources import Headers, Move, Player, Score
from live.messages.to_clients import Change
from live.process.loop_slices import run_without_pause

ANAND = Player("Anand", elo=2811)
CARLSEN = Player("Carlsen", elo=2826)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def answer(search: Search) -> SearchResult:
    """Score and first choice drawn from the position's own text."""
    position = search.position
    board = chess.Board(position.start_fen, chess960=position.chess960)
    for uci in position.moves:
        board.push_uci(uci)
    limit = search.limit or ""
    draw = _number(
        f"{position.start_fen} {' '.join(position.moves)} {search.only}{limit}"
    )
    legal = sorted(move.uci() for move in board.legal_moves)
    # Few alternatives, so that first choices, gains of 0 and losses all happen often.
    at = draw % min(2, len(legal))
    best, score = search.only or legal[at], Score(draw % 401 - 200)
    lines: tuple[Line, ...] = ()
    if search.lines > 1:
        chosen = [*legal[at:], *legal[:at]][: search.lines]
        sign = 1 if board.turn == chess.WHITE else -1
        lines = tuple(
            Line(move, Score(score.cp - sign * 7 * rank), 10)
            for rank, move in enumerate(chosen)
        )
    return SearchResult(score, best, depth=10 + len(position.moves) % 3, lines=lines)


def answer_or_failure(search: Search) -> SearchResult | SearchFailure:
    """Like :func:`answer`, but one search in nineteen always kills its engines."""
    position = search.position
    draw = _number(f"fails? {' '.join(position.moves)} {search.only}")
    return SearchFailure("killed three engines") if draw % 19 == 0 else answer(search)


def line(*choices: int, start_fen: str = chess.STARTING_FEN) -> tuple[Move, ...]:
    """Legal moves from the start: each choice picks one of the legal moves in UCI
    order.
    """
    board = chess.Board(start_fen)
    moves = []
    for choice in choices:
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        move = legal[choice % len(legal)]
        moves.append(Move(uci=move.uci(), san=board.san(move)))
        board.push(move)
    return tuple(moves)


def game(
    id: str = "g1",
    moves: tuple[Move, ...] = (),
    *,
    white: Player = ANAND,
    black: Player = CARLSEN,
    start_fen: str = chess.STARTING_FEN,
    start_eval: Score | None = None,
    **headers: Any,
) -> Game:
    return Game(
        id=id,
        feed="test",
        key=id,
        headers=Headers(white=white, black=black, event="Test", **headers),
        start_fen=start_fen,
        moves=moves,
        start_eval=start_eval,
    )


class Effects(NamedTuple):
    """What an event has returned."""

    dropped: list[RequestId]
    requests: list[SearchRequest]
    changes: list[Change]
    questions: list[HumanRequest]


def sort_changes(changes: Iterable[EventChange]) -> Effects:
    """The changes by their kind."""
    effects = Effects([], [], [], [])
    for change in changes:
        match change:
            case SearchDropped(id=id):
                effects.dropped.append(id)
            case SearchRequest():
                effects.requests.append(change)
            case HumanRequest():
                effects.questions.append(change)
    effects.changes.extend(select_messages(changes))
    return effects


class Held(Event):
    """An event that tells what reports and answers led to."""

    def __init__(
        self,
        measure: Measure = Measure("same-search"),  # noqa: B008 - frozen
        rating: int = 2800,
        source: str = "calibration",
        **settings: Any,
    ) -> None:
        super().__init__(
            measure,
            engine=EngineInfo("Arithmetic", "1 look", rating, source),
            **settings,
        )

    def report_step(self, step: Step) -> Effects:
        return sort_changes(self.apply_step(step))

    def report_result(
        self, request_id: RequestId, result: SearchResult | SearchFailure
    ) -> Effects:
        return sort_changes(self.apply_result(request_id, result))

    def people_say(self, request: HumanRequest, given: HumanAnswer | None) -> Effects:
        return sort_changes(self.apply_answer(request, given))

    def detail(self, id: str = "g1") -> GameDetail:
        found = self.game(id)
        assert found is not None
        return found

    def player(self, name: str) -> PlayerView:
        return next(view for view in self.players() if view.name == name)

    def follow(self, *steps: Step) -> None:
        """Steps, each until nothing more is to be searched."""
        for step in steps:
            requests = self.report_step(step).requests
            while requests:
                request = requests.pop()
                requests += self.report_result(
                    request.id, answer(request.search)
                ).requests

    def resumed(self, archived: Sequence[ArchivedValues]) -> Effects:
        """Games of an earlier start, all of which their sources report again."""
        changes = list(run_without_pause(self.resume(archived)))
        for values in archived:
            changes += self.apply_step(GameConfirmed(values.game.id))
        return sort_changes(changes)

    def _delete_failed_game(self, id: str) -> None:
        raise


@cache
def event(plies: int = 70) -> Held:
    """Six games of so many plies, of three players who meet twice; the third has no
    rating. Not to be changed.
    """
    held = Held()
    pairs = permutations((ANAND, CARLSEN, Player("Ding, Liren")), 2)
    for number, (one, other) in enumerate(pairs, 1):
        moves = line(*(step * step + 7 * number for step in range(plies)))
        held.follow(NewGame(game(f"g{number}", moves, white=one, black=other)))
    return held
