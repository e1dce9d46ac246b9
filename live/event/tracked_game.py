"""One game: what is known of it, what people are shown of it, and how it is kept on disk. Pure.

News say what is known; every figure is made from that by :mod:`live.event.rate_game`, what is
shown is a value, and messages are what differs from the value before (:func:`changes`).
"""

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import chess
import msgspec
from msgspec.structs import asdict, replace

from live.engine.search import SearchFailure, SearchOptions, SearchProgress, SearchResult
from live.event.game_evaluations import (
    EvaluatedPosition,
    GameEvaluations,
    HumanRequest,
    KnownGame,
    KnownMove,
    OpenRequests,
    Outbox,
    RequestId,
    SearchedPosition,
    Urgency,
)
from live.event.players import GamePlayers, PlayedGame, PlayerTotals
from live.event.rate_game import (
    COLORS,
    GameFigures,
    GameRater,
    HumanSearches,
    Measure,
    SideFigures,
    game_pace,
    in_common,
)
from live.games.game import Game, is_played
from live.human.difficulty import (
    ERROR_CP,
    Difficulty,
    clamp_score,
    compute_move_losses,
    estimate_difficulty,
    is_find,
    is_trap,
)
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    choose_kind,
    explain_not_covered,
    round_elo,
)
from live.messages.figures import (
    ComplexityView,
    CurvePoint,
    Curves,
    DifficultyView,
    GainKind,
    GameDetail,
    GameView,
    Mark,
    PlyView,
    RatingShare,
)
from live.messages.from_sources import RESULT_POINTS, Move
from live.messages.to_clients import (
    Change,
    ClockMessage,
    GameMessage,
    GoneMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
)
from live.messages.values import Color, GameId, Value
from live.ratings.alliot import measure_complexity
from live.ratings.expected_result import ResultModel

# --- what people are shown ----------------------------------------------------------------------

CHANCE_DECIMALS = 4


def changes(before: GameDetail | None, after: GameDetail | None) -> Iterator[Change]:
    """The messages that bring subscribers from one state of a game to the next; None: no game."""
    if after is None:
        if before is not None:
            yield GoneMessage(before.id)
        return
    id, plies, view = after.id, after.plies, view_of(after)
    if before is None:
        yield GameMessage(view)
    held = before.plies if before is not None else ()
    same = in_common(held, plies, _is_move)
    known = list(held[:same])
    for at, now in enumerate(plies[:same]):
        if (timed := _timed(known[at], now)) is not known[at]:
            known[at] = timed
            yield ClockMessage(id, now.ply, now.clock_s, now.spent_s)
    if same == len(plies) < len(held):
        yield MoveMessage(id, same + 1, None)
    for now in plies[same:]:
        known.append(unscored(now.ply, now))
        yield MoveMessage(id, now.ply, known[-1])
    for one, now in zip(known, plies, strict=True):
        if one is not now and one != now:
            yield ScoreMessage(id, now)
    for color in COLORS:
        points = getattr(before.curves, color) if before is not None else ()
        if same < len(held):
            # Subscribers drop them with the move.
            points = [point for point in points if point.ply <= same]
        yield from _point_changes(id, color, points, getattr(after.curves, color))
    if before is not None and view != view_of(before):
        yield GameMessage(view)


def _point_changes(
    id: GameId, color: Color, sent: Sequence[CurvePoint], now: Sequence[CurvePoint]
) -> Iterator[PointMessage]:
    """Where points have only gone, the last that stays is sent again: those behind it are dropped
    with it.
    """
    same = in_common(sent, now, operator.eq)
    if same < len(sent) and (same == len(now) or sent[same].ply < now[same].ply):
        same = max(0, same - 1)
    for point in now[same:]:
        yield PointMessage(id, color, point)


def _is_move(one: Move | PlyView, other: Move | PlyView) -> bool:
    return (one.uci, one.san) == (other.uci, other.san)


def _timed(view: PlyView, now: Move | PlyView) -> PlyView:
    """The ply with this clock."""
    if view is now or (view.clock_s, view.spent_s) == (now.clock_s, now.spent_s):
        return view
    return replace(view, clock_s=now.clock_s, spent_s=now.spent_s)


def view_of(detail: GameDetail) -> GameView:
    """The game without its plies and curves."""
    return GameView(*[getattr(detail, name) for name in GameView.__struct_fields__])


def unscored(ply: int, move: Move | PlyView) -> PlyView:
    """The ply as its source reports it."""
    return PlyView(ply=ply, san=move.san, uci=move.uci, clock_s=move.clock_s, spent_s=move.spent_s)


def scored(
    shown: PlyView, known: KnownMove, provisional: SearchProgress | None, gain: GainKind
) -> PlyView:
    """The ply with everything known of it now; a provisional score counts only without a final
    one.
    """
    before, after, played, gains = known.before, known.after, known.played, known.gains
    found = after or provisional
    hard = measure_complexity(after.by_depth) if after else None
    return replace(
        shown,
        score_cp=found.score.cp if found else None,
        mate=found.score.mate if found else None,
        depth=found.depth if found else None,
        final=after is not None,
        best=before.best if before else None,
        played_cp=played.cp if played else None,
        gain_cp=gains.of(gain),
        gain_same_search_cp=gains.same_search_cp,
        gain_successive_cp=gains.successive_cp,
        complexity=ComplexityView(round(hard.stability_cp, 1), hard.jump_cp, hard.jump_depth)
        if hard
        else None,
    )


# --- what players would have played ---------------------------------------------------------------

#: Addresses of games played on a server, and of those only shown there.
_SERVERS = ("lichess.org/", "chess.com/", "freechess.org")
_SHOWN = ("/broadcast/", "/events/", "/study/")


def played_online(game: Game) -> bool:
    """Whether a game was played on a server, as far as its headers say."""
    where = f"{game.headers.site} {game.headers.url}".lower()
    return any(server in where for server in _SERVERS) and not any(
        shown in where for shown in _SHOWN
    )


def asked_for(game: Game) -> tuple[dict[Color, int | None], str]:
    """Whose moves are asked for in one game: each side's rating in hundreds, within those learned,
    and the kind of game.
    """
    elos: dict[Color, int | None] = {}
    for color in COLORS:
        elo = getattr(game.headers, color).elo
        elos[color] = round_elo(elo) if elo else None
    return elos, choose_kind(game_pace(game), played_online(game))


class HumanFigures:
    """What players of these ratings would have played in one game: the questions, each sent once,
    and what was answered.

    Position ``k`` is the one after ``k`` plies. Shares are those of players of the mover's rating
    among themselves, and of two reference ratings; a player without a rating has those alone.
    ``searches`` None: nobody is asked.
    """

    def __init__(
        self,
        game: Game,
        known: GameEvaluations,
        outbox: Outbox,
        searches: HumanSearches | None,
    ) -> None:
        self._id = game.id
        self._variant = game.headers.variant
        self._known = known
        self._outbox = outbox
        self._searches = searches
        self.asked_for = self._own_elos, self._kind = asked_for(game)
        self._answers: dict[int, HumanAnswer] = {}
        # How many positions were asked about.
        self._asked = 0
        self._open: dict[int, HumanRequest] = {}
        # How hard each position is for every rating asked for, with what that was made from:
        # several figures want it.
        self._hards: dict[tuple[int, str], tuple[object, tuple[Difficulty, ...]]] = {}

    def __len__(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        self._asked = min(self._asked, ply + 1)
        self._answers = {at: each for at, each in self._answers.items() if at <= ply}
        self._open = {at: each for at, each in self._open.items() if at <= ply}
        self._hards = {at: each for at, each in self._hards.items() if at[0] <= ply}

    def ask(self, *, running: bool) -> None:
        """Ask about every position that was not asked about, the newest first; while the game is
        ``running``, that one is what people look at.
        """
        last, known = len(self._known), self._known
        if self._searches is None:
            return
        for index in range(last, self._asked - 1, -1):
            if not self._is_covered(chess.Board(known.fen(index))):
                continue
            # A question gives two moves more of the past.
            start = max(0, index - 2)
            fen, moves = known.fen(start), known.moves(start, index)
            question = HumanQuestion(fen, moves, self._elos(self._to_move(index)), self._kind)
            request = HumanRequest(self._id, index, question, index == last and running)
            self._open[index] = request
            self._outbox.questions.append(request)
        self._asked = last + 1

    def _is_covered(self, board: chess.Board) -> bool:
        return (
            self._variant == "standard"
            and explain_not_covered(board, self._known.start_fen) is None
            and any(board.generate_legal_moves())
        )

    def _elos(self, mover: Color) -> tuple[int, ...]:
        own = self._own_elos[mover]
        return REFERENCE_ELOS if own is None else (own, *REFERENCE_ELOS)

    def answered(self, request: HumanRequest, answer: HumanAnswer | None) -> bool:
        """The network answered, or never will; False where that changes nothing."""
        if self._open.get(request.ply) != request:
            return False
        del self._open[request.ply]
        if answer is None:
            return False
        self._answers[request.ply] = answer
        if self._searches is not None and not self._known.is_forced(request.ply):
            self._known.want_replies(request.ply, self._searches)
        return True

    def answers(self) -> tuple[HumanAnswer | None, ...]:
        """All answers, by position; empty where nobody was asked."""
        return tuple(map(self._answers.get, range(self._asked)))

    def learn(self, answers: tuple[HumanAnswer | None, ...]) -> None:
        """Know what was answered of the same moves, all of which are there."""
        if len(answers) == len(self._known) + 1:
            self._answers = {at: each for at, each in enumerate(answers) if each is not None}
            self._asked = len(answers)

    def people(self, moves: Sequence[str]) -> Mapping[str, float]:
        """How many play each move after these; of the mover's rating, or the first reference."""
        index = len(moves)
        answer = self._answers.get(index)
        if answer is None or tuple(moves) != self._known.moves(0, index):
            return {}
        return {uci: many / 1000 for uci, many in answer.per_mille[0].items()}

    def shown(self, view: PlyView) -> PlyView:
        """The ply with what players would have played instead, and would reply."""
        index = view.ply - 1
        answer = self._answers.get(index)
        played: float | None = None
        references: tuple[RatingShare, ...] = ()
        if answer is not None:
            lossless = view.uci if view.gain_same_search_cp == 0 else ""
            played, references = self._shares(answer, self._hard(index, lossless), view.uci)
        return replace(
            view,
            played_share=played,
            played_elo=self._own_elos[self._to_move(index)] if played is not None else None,
            played_references=references,
            difficulty=self._difficulty(view.ply),
            mark=self._mark(view, played),
        )

    def _shares(
        self, answer: HumanAnswer, hards: tuple[Difficulty, ...], uci: str
    ) -> tuple[float | None, tuple[RatingShare, ...]]:
        """How many players play a move, of the mover's rating and of the others; by the network
        alone until it is known what the moves lose.
        """
        first = len(answer.per_mille) - len(REFERENCE_ELOS)
        shares = [
            share if share is None or not hards else round(hards[asked].shares.get(uci, 0.0), 3)
            for asked in range(len(answer.per_mille))
            for share in (answer.find_share(asked, uci),)
        ]
        references = tuple(
            RatingShare(elo, share)
            for elo, share in zip(REFERENCE_ELOS, shares[first:], strict=True)
            if share is not None
        )
        return shares[0] if first else None, references

    def _difficulty(self, index: int) -> DifficultyView | None:
        """Of a position, for the player to move."""
        answer, held = self._answers.get(index), self._known.position(index)
        elo = self._own_elos[self._to_move(index)]
        if answer is None or elo is None or held is None or held.best is None:
            return None
        hards = self._hard(index)
        if not hards:
            return DifficultyView(elo, held.best)
        hard = hards[0]
        best, references = self._shares(answer, hards, held.best)
        error, loss = round(hard.error_chance, 2), round(hard.expected_loss_cp)
        return DifficultyView(elo, held.best, best, references, error, loss)

    def _hard(self, index: int, lossless: str = "") -> tuple[Difficulty, ...]:
        """For each rating asked for; none until it is known what the moves lose. ``lossless``: a
        move of which only its own search may have seen that it loses nothing.
        """
        answer, held = self._answers.get(index), self._known.position(index)
        replies = self._known.replies(index) or {}
        if answer is None or held is None or held.best is None:
            return ()
        key = index, lossless if lossless != held.best else ""
        # Their order counts too: the last stands for all that were not searched.
        made_from = answer, held, tuple(replies.items())
        kept = self._hards.get(key)
        if kept is None or kept[0] != made_from:
            mover = self._to_move(index)
            sign = 1 if mover == "white" else -1
            losses = compute_move_losses(replies, held.best, sign, held.score.cp)
            if losses is None:
                return ()
            if key[1] and losses.find_loss(lossless):
                losses = losses._replace(searched_cp={**losses.searched_cp, lossless: 0})
            asked = zip(answer.per_mille, self._elos(mover), strict=False)
            hards = tuple(estimate_difficulty(shares, losses, elo) for shares, elo in asked)
            kept = self._hards[key] = made_from, hards
        return kept[1]

    def _to_move(self, index: int) -> Color:
        return self._known.mover(index + 1)

    def _mark(self, view: PlyView, played: float | None) -> Mark | None:
        before, after = self._known.position(view.ply - 1), self._known.position(view.ply)
        if before is None or view.gain_cp is None:
            return None
        sign = 1 if self._known.mover(view.ply) == "white" else -1
        as_good = before.best == view.uci or view.gain_same_search_cp == 0
        # For players of the rating of the player to move, where that is known.
        here, there = (
            next(iter(self._hard(at)), None) if self._own_elos[self._to_move(at)] else None
            for at in (view.ply - 1, view.ply)
        )
        if played is not None and as_good and here is not None:
            # A search may see a move only once it is played: the others miss that, too.
            late_cp = 0
            if after is not None:
                late_cp = clamp_score(sign * after.score.cp) - clamp_score(sign * before.score.cp)
            missed_cp = late_cp if late_cp >= ERROR_CP else 0
            others_cp = here.average_loss_of_others_cp(view.uci) + missed_cp
            second_cp = here.find_second_loss_cp(view.uci) + missed_cp
            if is_find(played, others_cp, second_cp, sign * before.score.cp):
                return "find"
        if there is None or after is None:
            return None
        return "trap" if is_trap(played, there, -view.gain_cp, after.score.cp) else None


# --- archived game ------------------------------------------------------------------------------

# Most games of a long event are over. An archived one costs little memory and nothing to bring
# back after a restart: it is its stored figures, not made anew. Its plies, curves and scores are
# unpacked when somebody looks at them. It is tracked again when its source reports something new,
# or when it is to be rated by something else.


class ShownDetails(Value):
    """What is shown of the details."""

    plies: tuple[PlyView, ...]
    curves: Curves


class ArchivedDetails(ShownDetails):
    """What is unpacked when somebody looks at the game."""

    known: tuple[SearchedPosition, ...]
    given_up: dict[int, str]
    human: tuple[HumanAnswer | None, ...] = ()
    """What players would play, by position."""


_encode_details = msgspec.msgpack.Encoder().encode
_decode_details = msgspec.msgpack.Decoder(ArchivedDetails).decode
_decode_shown = msgspec.msgpack.Decoder(ShownDetails).decode


class ArchivedValues(Value, eq=False):
    """All that is kept of an archived game."""

    game: Game
    view: GameView
    white: SideFigures
    black: SideFigures
    field: float | None
    """Mean Elo of the event's rated players, as it was rated."""
    packed: bytes
    """Its details, at a tenth of their size."""

    def details(self) -> ArchivedDetails:
        """All else that is known."""
        return _decode_details(zlib.decompress(self.packed))


def pool(
    game: Game, players: Mapping[Color, PlayerTotals], figures: GameFigures | ArchivedValues
) -> None:
    """Put what a game says of both players into what is pooled."""
    points = RESULT_POINTS.get(game.result, (None, None))
    for color, other, won in zip(COLORS, COLORS[::-1], points, strict=True):
        player, opponent = getattr(game.headers, color), getattr(game.headers, other)
        side = getattr(figures, color)
        date = game.headers.date
        played = PlayedGame(player, opponent.elo, won, is_played(game), side, date)
        players[color].set(game.id, played)


class ArchivedGame:
    """One archived game, pooled with the others."""

    pending = 0
    """A game is archived only when no search of it is open."""
    rated = True

    def __init__(self, values: ArchivedValues, players: GamePlayers) -> None:
        self.values = values
        self.game = values.game
        self.players = players
        pool(self.game, players, values)

    def close(self) -> None:
        """Nothing of it stays in what is pooled."""
        for player in self.players.values():
            player.set(self.game.id, None)

    def collect_known(self) -> KnownGame:
        """Return all that searches have shown of it."""
        found = GameEvaluations(self.game.start_fen, chess960=self.game.chess960)
        found.learn(self.values.details().known)
        return found.collect_known()

    def view(self) -> GameView:
        """The game without plies and curves."""
        return self.values.view

    def detail(self) -> GameDetail:
        """The game in full."""
        return _looked_at(self.values)


@lru_cache(maxsize=4)  # some 130 kB each: what several ask for at once is unpacked once
def _looked_at(values: ArchivedValues) -> GameDetail:
    shown = _decode_shown(zlib.decompress(values.packed))
    fields = asdict(values.view)
    return GameDetail(**fields, plies=shown.plies, curves=shown.curves)


# --- tracked game -------------------------------------------------------------------------------


class TrackedGame:
    """Applies news in any order.

    Args:
        game: as its source reports it.
        players: who plays.
        field: mean Elo of the event's rated players; None while nobody is rated.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
        shown: what subscribers hold of it.
    """

    def __init__(
        self,
        game: Game,
        players: GamePlayers,
        *,
        measure: Measure,
        field: Callable[[], float | None],
        outbox: Outbox,
        engine_scores: bool,
        shown: GameDetail | None,
    ) -> None:
        self.game = game
        self.players = players
        """Who plays."""
        self._outbox = outbox
        self._measure = measure
        self._field = field
        self._engine_scores = engine_scores
        options = measure.search_options if engine_scores else SearchOptions()
        self._evaluations = GameEvaluations(
            game.start_fen, chess960=game.chess960, search_options=options
        )
        self._human = self._nobody_asked()
        self._plies: list[PlyView] = []
        self._odds_by = self._odds_now()
        self._provisional: tuple[int, SearchProgress] | None = None
        self._requests = OpenRequests(game.id, outbox)
        self._given_up: dict[int, str] = {}
        # Whoever watched it run waits for its last scores.
        self._ran = game.result == "*"
        self._rater = GameRater()
        self._figures = self._rated(self._rater)
        self._shown = shown

    def _nobody_asked(self) -> HumanFigures:
        return HumanFigures(self.game, self._evaluations, self._outbox, self._measure.human)

    def _odds_now(self) -> tuple[ResultModel | None, int | None, int | None]:
        """What the odds of positions go by."""
        headers = self.game.headers
        results = self._measure.results_of(game_pace(self.game))
        return results, headers.white.elo, headers.black.elo

    def _rated(self, rater: GameRater) -> GameFigures:
        known, answers = self._evaluations.collect_known(), self._human.answers()
        return rater.rate(self.game, known, answers, self._field(), self._measure)

    def rated_again(self) -> GameRater:
        """Once more, from nothing."""
        rater = GameRater()
        self._rated(rater)
        return rater

    # --- the game changes -----------------------------------------------------------------------

    def begin(self) -> None:
        """Take in what there is of it."""
        self._take_source_evals(range(1))
        self._play(0)

    def news(self) -> Iterator[Change]:
        """What brings subscribers to what is shown now."""
        before, self._shown = self._shown, self._detail()
        yield from changes(before, self._shown)

    def follow(self, game: Game, players: GamePlayers) -> None:
        """The game, or who plays it, is this now."""
        before, self.game = self.game, game
        staying = [id(each) for each in players.values()]
        for player in self.players.values():
            if id(player) not in staying:
                player.set(game.id, None)
        self.players = players
        same = in_common(before.moves, game.moves, _is_move)
        self._plies[:same] = map(_timed, self._plies, game.moves[:same])
        self._forget_from(same + 1)
        self._play(same, reopened=before.result != game.result)

    def _play(self, same: int, *, reopened: bool = False) -> None:
        """The game goes on as it says behind ``same`` plies, and is rated as it says;
        ``reopened``: every missing search is of another urgency now.
        """
        last = len(self.game.moves)
        for ply, move in enumerate(self.game.moves[same:], same + 1):
            self._evaluations.extend(move.uci)
            self._plies.append(unscored(ply, move))
        self._take_source_evals(range(same + 1, last + 1))
        first = same + 1
        if (odds := self._odds_now()) != self._odds_by:
            self._odds_by, first = odds, 1
        if asked_for(self.game) != self._human.asked_for:
            self._human, first = self._nobody_asked(), 1
        self._refresh(range(first, last + 1))
        # What was head a move ago is backlog now; what ended is as urgent as its last scores.
        self._settle(range(last, -1 if reopened else max(same - 2, -1), -1))
        self._human.ask(running=self.game.result == "*")

    def measure_by(self, measure: Measure) -> None:
        """Other models, or another field, rate the game from now on."""
        self._measure = measure
        self._settle(())

    def close(self) -> None:
        """The game is gone: nothing of it stays anywhere."""
        self._requests.drop_from(0)
        for player in self.players.values():
            player.set(self.game.id, None)

    def _forget_from(self, ply: int) -> None:
        if ply > len(self._plies):
            return
        del self._plies[ply - 1 :]
        if self._provisional is not None and self._provisional[0] >= ply:
            self._provisional = None
        self._given_up = {at: why for at, why in self._given_up.items() if at < ply}
        self._evaluations.truncate(ply - 1)
        self._human.truncate(ply - 1)
        self._requests.drop_from(ply)

    # --- scores arrive --------------------------------------------------------------------------

    def searched(self, request_id: RequestId, result: SearchResult | SearchFailure) -> None:
        """A search is over. The result of a request no longer open changes nothing."""
        if not self._requests.close(request_id):
            return
        known, kind, ply = self._evaluations, request_id.kind, request_id.ply
        if isinstance(result, SearchFailure):
            known.give_up(kind, ply)
            if kind != "replies":
                self._given_up[ply] = f"no score at ply {ply}: {result.reason}"
        elif kind == "position":
            known.set_position(ply, EvaluatedPosition.of(result))
        elif kind == "replies":
            known.set_replies(ply, result.lines)
        else:
            known.set_played(ply, result.score)
        if self._provisional is not None and self._provisional[0] == ply:
            self._provisional = None
        self._refresh((ply, ply + 1))
        self._settle((ply, ply + 1))

    def answered(self, request: HumanRequest, answer: HumanAnswer | None) -> None:
        """The network of human moves answered, or never will."""
        if self._human.answered(request, answer):
            self._refresh((request.ply, request.ply + 1))
            self._settle((request.ply,))

    def people(self, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI."""
        return self._human.people(moves)

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> None:
        """A search deepens: shown as provisional, in no histogram."""
        if request_id in self._requests and request_id.kind == "position" and request_id.ply:
            self._provisional = (request_id.ply, progress)
            self._refresh((request_id.ply,))

    def _take_source_evals(self, plies: range) -> None:
        if self._engine_scores:
            return
        for ply in plies:
            reported = self.game.start_eval if ply == 0 else self.game.moves[ply - 1].eval
            self._evaluations.take_source_eval(ply, reported)

    # --- what follows ---------------------------------------------------------------------------

    def _settle(self, plies: Iterable[int]) -> None:
        """Bring figures and requests up to what is now known; request what is missing at
        ``plies``, most urgent first as they are given.
        """
        self._figures = figures = self._rated(self._rater)
        pool(self.game, self.players, figures)
        # Another variant, or a start nobody could read, cannot be analysed.
        supported = self.game.headers.variant in ("standard", "chess960")
        if self._engine_scores and supported and (self._plies or self.game.problem is None):
            for ply in plies:
                if 0 <= ply <= len(self._plies):
                    self._requests.review(ply, self._urgency(ply), self._evaluations)

    def _urgency(self, ply: int) -> Urgency:
        if self.game.result != "*":
            return "closing" if self._ran else "finished"
        self._ran = True
        # The gain of the last move needs the position before it as well.
        return "head" if ply >= len(self._plies) - 1 else "backlog"

    @property
    def pending(self) -> int:
        """How many requests and questions are open."""
        return len(self._requests) + len(self._human)

    @property
    def rated(self) -> bool:
        """Whether figures rest on every move played, or never will."""
        return not self._requests.rating

    def _refresh(self, plies: Iterable[int]) -> None:
        """Show what is known of these plies. What is known at a position shows in the move to it
        and in the one after.
        """
        results, white, black = self._odds_by
        for ply in plies:
            if not 1 <= ply <= len(self._plies):
                continue
            shown, provisional = self._plies[ply - 1], self._provisional
            progress = provisional[1] if provisional and provisional[0] == ply else None
            known = self._evaluations.known_move(ply)
            view = scored(shown, known, progress, self._measure.gain)
            win = draw = None
            if results is not None and view.score_cp is not None:
                win, draw, _ = (
                    round(each, CHANCE_DECIMALS)
                    for each in results.predict_chances(view.score_cp, ply, white, black)
                )
            view = self._human.shown(replace(view, win=win, draw=draw))
            if view != shown:
                self._plies[ply - 1] = view

    def view(self) -> GameView:
        """The game without plies and curves."""
        return view_of(self.detail())

    def detail(self) -> GameDetail:
        """The game in full, as subscribers hold it."""
        assert self._shown is not None, "shown when it began"
        return self._shown

    def _detail(self) -> GameDetail:
        game, figures, start = self.game, self._figures, self._evaluations.position(0)
        return GameDetail(
            **asdict(game.headers),
            id=game.id,
            feed=game.feed,
            result=game.result,
            start_fen=game.start_fen,
            start_score_cp=start.score.cp if start else None,
            head_to_head=figures.head_to_head,
            plies_played=len(self._plies),
            plies_scored=sum(view.final for view in self._plies),
            problem=game.problem or self._given_up.get(min(self._given_up, default=0)),
            also=game.also,
            dispute=game.dispute,
            model=figures.model,
            note=figures.note,
            plies=tuple(self._plies),
            curves=figures.curves,
        )

    def collect_known(self) -> KnownGame:
        """Return all that searches have shown of it."""
        return self._evaluations.collect_known()

    # --- archive --------------------------------------------------------------------------------

    def archive(self) -> ArchivedValues:
        """All that is known of it, as values. Searches that are open are not part of it."""
        figures = self._figures
        details = ArchivedDetails(
            plies=tuple(self._plies),
            curves=figures.curves,
            known=self._evaluations.look(),
            given_up=dict(self._given_up),
            human=self._human.answers(),
        )
        # Fast rather than small.
        packed = zlib.compress(_encode_details(details), 1)
        sides = figures.white, figures.black
        return ArchivedValues(self.game, self.view(), *sides, self._field(), packed)

    def resume(self, details: ArchivedDetails) -> None:
        """Restore what was known when it was archived.

        Raises:
            ValueError: that was of other moves.
        """
        self._evaluations.learn(details.known)
        self._human.learn(details.human)
        self._plies = list(details.plies)
        self._given_up = dict(details.given_up)
        self._figures = self._rated(self._rater)
