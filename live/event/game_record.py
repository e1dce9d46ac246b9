"""The record of one game, which is the only object that stores the game's state. Pure.

Reports, search results and answers about human moves change the record. Ratings are
computed from it (:mod:`live.event.rate_game`). Messages to subscribers are made from
the plies that changed.

In a long event most games have ended. The record of such a game is archived as
:class:`ArchivedValues`, which need a tenth of the memory. Its plies and curves are
decompressed when a client asks for them. The record is opened again when its source
reports a change or when other models rate it. After a restart every record begins
archived, so that restoring it takes little time.
"""

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

import chess
import msgspec
from msgspec.structs import asdict, replace

from live.engine.requests import (
    RequestId,
    RequestKind,
    SearchDropped,
    SearchRequest,
    Urgency,
)
from live.engine.search import (
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.event.game_change import EventChange, GameChange
from live.event.human_figures import (
    HumanProfile,
    build_profile,
    build_question,
    collect_human_fields,
)
from live.event.players import GamePlayers, PlayedGame
from live.event.ply import (
    EvaluatedPosition,
    KeptPly,
    KnownGame,
    Ply,
    build_search,
    build_unscored_view,
    collect_score_fields,
    collect_search_results,
    describe_move,
    list_missing,
    list_moves,
    play_move,
    set_found,
    set_played,
    set_source_eval,
    start_game,
)
from live.event.rate_game import (
    COLORS,
    GameFigures,
    GameRater,
    Measure,
    SideFigures,
    count_common,
    game_pace,
)
from live.games.game import Game, is_played
from live.human.question import HumanAnswer, HumanRequest
from live.messages.figures import NO_SCORE, Curves, GameDetail, GameView, PlyView
from live.messages.from_sources import RESULT_POINTS, Move
from live.messages.to_clients import (
    Change,
    ClockMessage,
    GameMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
)
from live.messages.values import Value
from live.ratings.expected_result import ResultModel

CHANCE_DECIMALS = 4

# --- archived games -------------------------------------------------------------------


class ArchivedDetails(Value):
    """The part of an archived game that is decompressed when its record is opened
    again.
    """

    plies: tuple[KeptPly, ...]
    curves: Curves
    asked: int
    """Number of positions for which human moves were requested."""


class _ShownPly(Value):
    view: PlyView


class _ShownDetails(Value):
    """The part of an archived game that is decompressed when a client asks for the
    game.
    """

    plies: tuple[_ShownPly, ...]
    curves: Curves


_encode_details = msgspec.msgpack.Encoder().encode
_decode_details = msgspec.msgpack.Decoder(ArchivedDetails).decode
_decode_shown = msgspec.msgpack.Decoder(_ShownDetails).decode


class ArchivedValues(Value, eq=False):
    """All stored values of an archived game."""

    game: Game
    view: GameView
    white: SideFigures
    black: SideFigures
    field: float | None
    """Mean Elo of the event's rated players when the game was rated."""
    packed: bytes
    """Compressed :class:`ArchivedDetails`, about a tenth of their original size."""

    def unpack_details(self) -> ArchivedDetails:
        return _decode_details(zlib.decompress(self.packed))


@lru_cache(maxsize=4)  # some 130 kB each; several clients often ask for the same game
def unpack_detail(values: ArchivedValues) -> GameDetail:
    """Return an archived game with its plies and curves, as subscribers see it."""
    details = _decode_shown(zlib.decompress(values.packed))
    plies = tuple(ply.view for ply in details.plies[1:])
    return GameDetail(**asdict(values.view), plies=plies, curves=details.curves)


def _keep_ply(ply: Ply) -> KeptPly:
    return KeptPly(*[getattr(ply, name) for name in KeptPly.__struct_fields__])


def _copy_plies(kept_plies: Iterable[KeptPly]) -> list[Ply]:
    return [Ply(**asdict(ply)) for ply in kept_plies]


# --- the record -----------------------------------------------------------------------


class GameRecord:
    """One game with its scores and ratings. Applies reports and answers in any order.

    Args:
        game: the game as its source reports it.
        players: the two players.
        measure: the definitions and models with which the game is rated.
        field: returns the mean Elo of the event's rated players; None while no player
            is rated.
        collect: receives requests and questions.
        engine_scores: False uses the source's ``[%eval]`` comments instead of searches.
        archived: the values of an archived record; None for a new game.
    """

    def __init__(
        self,
        game: Game,
        players: GamePlayers,
        *,
        measure: Measure,
        field: Callable[[], float | None],
        collect: Callable[[EventChange], None],
        engine_scores: bool,
        archived: ArchivedValues | None = None,
    ) -> None:
        self.game = game
        self.players = players
        """The two players."""
        self.archived = archived
        """Values of an archived record; None while the record is open."""
        self.plies: list[Ply] = []
        """Every position from the start, with the move that led to it; empty if
        archived.
        """
        # The last move of an archived record, cached because clients often ask for it.
        self._last_at_rest: PlyView | None = None
        self._measure = measure
        self._field = field
        self._collect = collect
        self._engine_scores = engine_scores
        self._search_options = SearchOptions()
        if engine_scores:
            self._search_options = measure.search_options
        self._requests: dict[tuple[RequestKind, int], tuple[RequestId, Urgency]] = {}
        self._generation = 0
        self._questions: dict[int, HumanRequest] = {}
        # Number of positions, from the start, for which human moves were requested.
        self._asked_positions = 0
        # Changes since the last call of :meth:`take_changes`: whether the game is new,
        # which moves changed, messages about moves and clocks, and plies with new
        # figures. The last of these attributes is the curves that the last call sent.
        self._is_new = False
        self._change: GameChange | None = None
        self._moved: list[Change] = []
        self._touched: set[int] = set()
        self._sent_curves = Curves()
        if archived is not None:
            self.view = archived.view
            """The game's header and figures as subscribers see them."""
            self._update_player_figures(archived)
        else:
            self._open_with_plies([start_game(game.start_fen, self._make_board())])
            self.view = self._build_view()

    def _make_board(self) -> chess.Board:
        return chess.Board(self.game.start_fen, chess960=self.game.chess960)

    def _open_with_plies(self, plies: list[Ply]) -> None:
        """Open the record with these plies."""
        self.plies = plies
        # The position after all moves.
        self._board = self._make_board()
        for ply in plies[1:]:
            self._board.push_uci(ply.view.uci)
        # Searches of a game that was seen in progress stay urgent when the game ends,
        # because screens show the game.
        self._has_run = self.game.result == "*"
        self._profile: HumanProfile = build_profile(self.game)
        self._odds = self._choose_odds()
        self._rater = GameRater()
        self._figures = self._rate(self._rater)

    def rest(self, values: ArchivedValues) -> None:
        """Archive the record as ``values``, the last values that :meth:`archive`
        returned.
        """
        self.archived = values
        self.plies = []
        del self._board, self._rater, self._figures
        self._sent_curves = Curves()

    def reopen_if_archived(self) -> None:
        """Open the record again if it is archived."""
        if self.archived is None:
            return
        details = self.archived.unpack_details()
        self.archived = None
        self._last_at_rest = None
        self._asked_positions = details.asked
        self._sent_curves = details.curves
        self._open_with_plies(_copy_plies(details.plies))

    @property
    def moves(self) -> Sequence[PlyView]:
        """Return every move as subscribers see it. This takes time proportional to
        their number.
        """
        if self.archived is not None:
            return unpack_detail(self.archived).plies
        return [ply.view for ply in self.plies[1:]]

    @property
    def ply_count(self) -> int:
        """Return the number of moves of the game."""
        return len(self.game.moves)

    @property
    def last_move(self) -> PlyView | None:
        """Return the last move as subscribers see it; None before the first move."""
        if self.ply_count == 0:
            return None
        if self.archived is None:
            return self.plies[-1].view
        if self._last_at_rest is None:
            self._last_at_rest = self.moves[-1]
        return self._last_at_rest

    # --- reports ----------------------------------------------------------------------

    def begin(self) -> None:
        """Apply the first report of the game."""
        self._is_new = True
        if self.game.moves:
            self._change = GameChange(self.game.id, 1)
        self._take_source_evals(range(1))
        self._play_moves(0)

    def follow(self, game: Game, players: GamePlayers) -> None:
        """Apply the latest report of the game, and set its players."""
        self.reopen_if_archived()
        before, self.game = self.game, game
        staying = list(players.values())
        for player in self.players.values():
            if player not in staying:
                player.set_game(game.id, None)
        self.players = players
        common_plies = count_common(before.moves, game.moves, _is_same_move)
        self._correct_clocks(game.moves[:common_plies])
        withdrawn = tuple(ply.view for ply in self.plies[common_plies + 1 :])
        if withdrawn or common_plies < len(game.moves):
            is_disputed = bool(before.dispute or game.dispute)
            self._change = GameChange(game.id, common_plies + 1, withdrawn, is_disputed)
        if common_plies < len(before.moves):
            self._take_back(common_plies)
        self._play_moves(common_plies, has_reopened=before.result != game.result)

    def _correct_clocks(self, moves: Sequence[Move]) -> None:
        for ply, move in zip(self.plies[1:], moves, strict=False):
            view = ply.view
            if (view.clock_s, view.spent_s) != (move.clock_s, move.spent_s):
                clocks = move.clock_s, move.spent_s
                ply.view = replace(view, clock_s=clocks[0], spent_s=clocks[1])
                self._moved.append(ClockMessage(self.game.id, view.ply, *clocks))

    def _take_back(self, last: int) -> None:
        """Remove every move after ply ``last``, with its scores and requests."""
        for _ in self.plies[last + 1 :]:
            self._board.pop()
        del self.plies[last + 1 :]
        self._touched = {ply for ply in self._touched if ply <= last}
        self._sent_curves = Curves(
            tuple(point for point in self._sent_curves.white if point.ply <= last),
            tuple(point for point in self._sent_curves.black if point.ply <= last),
        )
        self._asked_positions = min(self._asked_positions, last + 1)
        for index in [index for index in self._questions if index > last]:
            del self._questions[index]
        self._drop_requests(last + 1)
        if len(self.game.moves) == last:
            self._moved.append(MoveMessage(self.game.id, last + 1, None))

    def _play_moves(self, common_plies: int, *, has_reopened: bool = False) -> None:
        """Play the game's moves after the first ``common_plies``, and rate the game.

        ``has_reopened`` says that the result changed, so that all missing searches get
        a new urgency.
        """
        last = len(self.game.moves)
        for ply, move in enumerate(self.game.moves[common_plies:], common_plies + 1):
            view = build_unscored_view(ply, move)
            self.plies.append(play_move(self._board, self.plies[-1], view))
            self._moved.append(MoveMessage(self.game.id, ply, view))
        self._take_source_evals(range(common_plies + 1, last + 1))
        first = common_plies + 1
        if (odds := self._choose_odds()) != self._odds:
            self._odds = odds
            first = 1
        if (profile := build_profile(self.game)) != self._profile:
            self._profile = profile
            self._forget_answers()
            first = 1
        self._update_ply_views(range(first, last + 1))
        # The urgency of a request from one move ago can change from ``head`` to
        # ``backlog``. If the result changes, the urgency of every missing search
        # changes.
        earliest = 0 if has_reopened else max(common_plies - 1, 0)
        self._rate_and_request_searches(range(last, earliest - 1, -1))
        self._request_human_moves()

    def _take_source_evals(self, plies: Iterable[int]) -> None:
        if self._engine_scores:
            return
        for index in plies:
            reported = self.game.start_eval
            if index:
                reported = self.game.moves[index - 1].eval
            set_source_eval(self.plies, index, reported)

    def _choose_odds(self) -> tuple[ResultModel | None, int | None, int | None]:
        """Return the inputs of the chances of results: a model, and White's and Black's
        Elo.
        """
        headers = self.game.headers
        results = self._measure.results_of(game_pace(self.game))
        return results, headers.white.elo, headers.black.elo

    def close(self) -> None:
        """Remove the game from its players' figures, and cancel its requests."""
        self._drop_requests(0)
        for player in self.players.values():
            player.set_game(self.game.id, None)

    # --- results of searches ----------------------------------------------------------

    def apply_result(
        self, request_id: RequestId, result: SearchResult | SearchFailure
    ) -> None:
        """Apply the result of a search.

        A result for a request that is no longer open changes nothing.
        """
        if not self._is_request_open(request_id):
            return
        del self._requests[request_id.kind, request_id.ply]
        kind, index = request_id.kind, request_id.ply
        ply = self.plies[index]
        if isinstance(result, SearchFailure):
            ply.lost |= {kind}
            if kind != "replies":
                ply.failure = f"{NO_SCORE} {index}: {result.reason}"
        elif kind == "position":
            set_found(self.plies, index, EvaluatedPosition.from_result(result))
        elif kind == "replies":
            ply.replies = {line.move: line.score.cp for line in result.lines}
        else:
            set_played(ply, result.score)
        ply.progress = None
        self._update_ply_views((index, index + 1))
        self._rate_and_request_searches((index, index + 1))

    def apply_progress(self, request_id: RequestId, progress: SearchProgress) -> None:
        """Show the depth and score of an unfinished search as provisional.

        Figures do not use them.
        """
        kind, index = request_id.kind, request_id.ply
        if self._is_request_open(request_id) and kind == "position" and index:
            self.plies[index].progress = progress
            self._update_ply_views((index,))

    # --- answers about human moves ----------------------------------------------------

    def apply_answer(self, request: HumanRequest, answer: HumanAnswer | None) -> None:
        """Apply an answer about human moves; None means that no answer will come."""
        index = request.ply
        if self._questions.get(index) != request:
            return
        del self._questions[index]
        if answer is None:
            return
        ply = self.plies[index]
        ply.answer = answer
        if self._measure.human is not None and not self._has_single_legal_move(index):
            ply.wanted = self._measure.human
        self._update_ply_views((index, index + 1))
        self._rate_and_request_searches((index,))

    def _has_single_legal_move(self, index: int) -> bool:
        """Return whether a position has exactly one legal move."""
        if index + 1 < len(self.plies):
            board = self.plies[index + 1].board
            assert board is not None, "it has a move"
            return board.is_forced
        return len(list(islice(self._board.generate_legal_moves(), 2))) == 1

    def _forget_answers(self) -> None:
        """Drop all answers about human moves, so that new questions are sent for all
        positions.
        """
        for ply in self.plies:
            ply.answer = None
            ply.difficulties = {}
        self._questions = {}
        self._asked_positions = 0

    def _request_human_moves(self) -> None:
        """Send a question about every position without one, the newest
        position first.
        """
        if self._measure.human is None:
            return
        last = len(self.plies) - 1
        if self.game.headers.variant == "standard":
            for index in range(last, self._asked_positions - 1, -1):
                question = build_question(self.plies, index, self._profile)
                if question is None:
                    continue
                is_newest = index == last and self.game.result == "*"
                request = HumanRequest(self.game.id, index, question, is_newest)
                self._questions[index] = request
                self._collect(request)
        self._asked_positions = last + 1

    def find_human_shares(self, moves: Sequence[str]) -> Mapping[str, float]:
        """Return the share of players who would play each move in a position, by UCI
        move.

        ``moves`` lead to the position. The players are those of the mover's rating, or
        of the first reference rating if the mover's rating is unknown.
        """
        index = len(moves)
        if index >= len(self.plies) or tuple(moves) != list_moves(self.plies, 0, index):
            return {}
        answer = self.plies[index].answer
        if answer is None:
            return {}
        return {uci: share / 1000 for uci, share in answer.per_mille[0].items()}

    # --- requests ---------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Return the number of open requests and questions."""
        return len(self._requests) + len(self._questions)

    @property
    def is_rated(self) -> bool:
        """Return whether the figures include every move whose score can be known.

        Searches of urgency ``spare`` do not count as missing, because they only show
        how difficult a position is.
        """
        return all(urgency == "spare" for _, urgency in self._requests.values())

    def _is_request_open(self, request_id: RequestId) -> bool:
        request = self._requests.get((request_id.kind, request_id.ply))
        return request is not None and request[0] == request_id

    def _request_missing_searches(self, index: int) -> None:
        """Request every missing search of a position.

        A search is requested only once, unless its urgency changes.
        """
        before = self.plies[index - 1] if index else None
        for kind in list_missing(before, self.plies[index]):
            urgency = "spare" if kind == "replies" else self._choose_urgency(index)
            id, known_urgency = self._requests.get((kind, index), (None, None))
            if known_urgency == urgency:
                continue
            if id is None:
                id = RequestId(self.game.id, index, kind, self._generation)
            self._requests[kind, index] = id, urgency
            search = build_search(
                self.plies,
                kind,
                index,
                self._search_options,
                chess960=self.game.chess960,
            )
            self._collect(SearchRequest(id, search, urgency))

    def _choose_urgency(self, index: int) -> Urgency:
        if self.game.result != "*":
            return "closing" if self._has_run else "finished"
        self._has_run = True
        # The gain of the last move also needs the score of the position before it.
        return "head" if index >= len(self.plies) - 2 else "backlog"

    def _drop_requests(self, first: int) -> None:
        """Cancel the requests from this ply on, because their moves were taken back."""
        self._generation += 1
        for key in [key for key in self._requests if key[1] >= first]:
            request_id, _ = self._requests.pop(key)
            self._collect(SearchDropped(request_id))

    # --- ratings ----------------------------------------------------------------------

    def measure_by(self, measure: Measure) -> None:
        """Rate the game with other models, or with a new mean Elo of the field."""
        self.reopen_if_archived()
        self._measure = measure
        self._rate_and_request_searches(())

    def rate_again(self) -> GameRater:
        """Return a new rater that has rated the game from scratch, for an
        explanation.
        """
        self.reopen_if_archived()
        rater = GameRater()
        self._rate(rater)
        return rater

    def _rate(self, rater: GameRater) -> GameFigures:
        answers = [ply.answer for ply in self.plies]
        searches = collect_search_results(self.plies)
        return rater.rate(self.game, searches, answers, self._field(), self._measure)

    def _rate_and_request_searches(self, plies: Iterable[int]) -> None:
        """Rate the game, and request the missing searches at ``plies``.

        ``plies`` must be in the order of urgency, the most urgent first.
        """
        self._figures = self._rate(self._rater)
        self._update_player_figures(self._figures)
        # Engines cannot analyse other variants, or an unreadable start position.
        is_supported = self.game.headers.variant in ("standard", "chess960")
        is_readable = len(self.plies) > 1 or self.game.problem is None
        if self._engine_scores and is_supported and is_readable:
            for index in plies:
                if index < len(self.plies):
                    self._request_missing_searches(index)

    def _update_player_figures(self, figures: GameFigures | ArchivedValues) -> None:
        """Update the game's part in the figures of both players."""
        game = self.game
        points = RESULT_POINTS.get(game.result, (None, None))
        for color, opponent, won in zip(COLORS, COLORS[::-1], points, strict=True):
            played = PlayedGame(
                getattr(game.headers, color),
                getattr(game.headers, opponent).elo,
                won,
                is_played(game),
                getattr(figures, color),
                game.headers.date,
            )
            self.players[color].set_game(game.id, played)

    def collect_search_results(self) -> KnownGame:
        """Return all results of searches about the game."""
        if self.archived is not None:
            return collect_search_results(
                _copy_plies(self.archived.unpack_details().plies)
            )
        return collect_search_results(self.plies)

    # --- for subscribers --------------------------------------------------------------

    def _update_ply_views(self, plies: Iterable[int]) -> None:
        """Update these plies as subscribers see them.

        A new score of a position can change the move before the position and the move
        after it.
        """
        results, white, black = self._odds
        for index in plies:
            if not 1 <= index < len(self.plies):
                continue
            before, ply = self.plies[index - 1], self.plies[index]
            move = describe_move(before, ply)
            scores = collect_score_fields(move, ply.progress, self._measure.gain)
            win = draw = None
            if results is not None and scores["score_cp"] is not None:
                chances = results.predict_chances(
                    scores["score_cp"], index, white, black
                )
                win = round(chances[0], CHANCE_DECIMALS)
                draw = round(chances[1], CHANCE_DECIMALS)
            view = replace(ply.view, **scores, win=win, draw=draw)
            human = collect_human_fields(view, before, ply, self._profile)
            view = replace(view, **human)
            if view != ply.view:
                ply.view = view
                self._touched.add(index)

    def take_changes(self) -> Iterator[EventChange]:
        """Yield the changes since the last call, in order."""
        if self.archived is not None:
            return
        if self._change is not None:
            yield self._change
        before, self.view = self.view, self._build_view()
        if self._is_new:
            yield GameMessage(self.view)
        yield from self._moved
        for ply in sorted(self._touched):
            yield ScoreMessage(self.game.id, self.plies[ply].view)
        curves = self._figures.curves
        for color in COLORS:
            sent, points = getattr(self._sent_curves, color), getattr(curves, color)
            for point in points[count_common(sent, points, operator.eq) :]:
                yield PointMessage(self.game.id, color, point)
        if self.view != before and not self._is_new:
            yield GameMessage(self.view)
        self._is_new = False
        self._change = None
        self._moved = []
        self._touched = set()
        self._sent_curves = curves

    def build_detail(self) -> GameDetail:
        """Return the game with its plies and curves, as subscribers see it."""
        if self.archived is not None:
            return unpack_detail(self.archived)
        curves = self._figures.curves
        return GameDetail(**asdict(self.view), plies=tuple(self.moves), curves=curves)

    def _build_view(self) -> GameView:
        game, figures, start = self.game, self._figures, self.plies[0].found
        failures = (ply.failure for ply in self.plies if ply.failure)
        return GameView(
            **asdict(game.headers),
            id=game.id,
            feed=game.feed,
            result=game.result,
            start_fen=game.start_fen,
            start_score_cp=start.score.cp if start else None,
            head_to_head=figures.head_to_head,
            plies_played=len(self.plies) - 1,
            plies_scored=sum(ply.view.final for ply in self.plies),
            problem=game.problem or next(failures, None),
            also=game.also,
            dispute=game.dispute,
            model=figures.model,
            note=figures.note,
        )

    def archive(self) -> ArchivedValues:
        """Return all data of the game, except open searches, as values to store."""
        kept_plies = tuple(map(_keep_ply, self.plies))
        details = ArchivedDetails(
            kept_plies, self._figures.curves, self._asked_positions
        )
        return ArchivedValues(
            self.game,
            self.view,
            self._figures.white,
            self._figures.black,
            self._field(),
            # Level 1 compresses fast; size matters less.
            zlib.compress(_encode_details(details), 1),
        )


def _is_same_move(first: Move, second: Move) -> bool:
    return (first.uci, first.san) == (second.uci, second.san)
