"""One game: what is known of it, what people are shown of it, and how it is kept on disk. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import chess
import msgspec

from live.engine.search import SearchFailure, SearchOptions, SearchProgress, SearchResult
from live.events import (
    RESULT_POINTS,
    ClockMessage,
    Color,
    ComplexityView,
    CurvePoint,
    Curves,
    DifficultyView,
    GainKind,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    Mark,
    Move,
    MoveMessage,
    PlyView,
    PointMessage,
    RatingShare,
    Score,
    ScoreMessage,
)
from live.games.game import Game
from live.human.difficulty import (
    ERROR_CP,
    MIDDLE_ELO,
    Difficulty,
    MoveLosses,
    clamped,
    difficulty,
    is_find,
    is_trap,
    move_losses,
)
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    asked_elo,
    learned_kind,
    not_covered,
)
from live.ledger.game_evaluations import (
    EvaluatedPosition,
    EvaluationsValue,
    GameEvaluations,
    HumanRequest,
    KnownMove,
    OpenRequests,
    OutgoingMessages,
    RequestId,
    Urgency,
)
from live.ledger.measure import Measure, game_pace
from live.ledger.players import PlayedGame, PlayerTotals
from live.ledger.rate_game import COLORS, GameFigures, GameRater, MoveQuality, SideFigures
from live.ratings.alliot import complexity
from live.ratings.expected_result import ResultModel

#: Addresses of games played on a server, and of those only shown there.
_SERVERS = ("lichess.org/", "chess.com/", "freechess.org")
_SHOWN = ("/broadcast/", "/events/", "/study/")

_HardInput = tuple[HumanAnswer | None, EvaluatedPosition | None, tuple[tuple[str, int], ...]]


def played_online(game: Game) -> bool:
    """Whether a game was played on a server, as far as its headers say."""
    where = f"{game.headers.site} {game.headers.url}".lower()
    return any(server in where for server in _SERVERS) and not any(
        shown in where for shown in _SHOWN
    )


HUNDREDTHS = 2


class AskedFor(msgspec.Struct, frozen=True):
    """Whose moves are asked for in one game."""

    white: int | None
    """In hundreds, within the ratings learned; None without a rating."""
    black: int | None
    kind: str

    @classmethod
    def of(cls, game: Game) -> AskedFor:
        white, black = game.headers.white.elo, game.headers.black.elo
        return cls(
            asked_elo(white) if white else None,
            asked_elo(black) if black else None,
            learned_kind(game_pace(game), played_online(game)),
        )

    def elo(self, mover: Color) -> int | None:
        return self.white if mover == "white" else self.black


class HumanFigures:
    """The questions of one game, each sent once, and what was answered."""

    def __init__(self, game: Game, outgoing: OutgoingMessages) -> None:
        self._id = game.id
        self._outgoing = outgoing
        self.asked_for = AskedFor.of(game)
        self._start = game.start_fen
        self._board = chess.Board(game.start_fen, chess960=game.chess960)
        self._variant = game.headers.variant
        # Of each position, its FEN, and the moves between them.
        self._fens = [self._board.fen()]
        self._moves: list[str] = []
        self._answers: list[HumanAnswer | None] = [None]
        # How many positions were asked about.
        self._asked = 0
        self._open: dict[int, HumanRequest] = {}
        # How hard each position is for every rating asked for, with what that was made from:
        # several figures want it.
        self._hards: dict[int, tuple[_HardInput, tuple[Difficulty, ...]]] = {}

    def __len__(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def extend(self, uci: str) -> None:
        """One more move, known to be legal."""
        self._board.push(chess.Move.from_uci(uci))
        self._fens.append(self._board.fen())
        self._moves.append(uci)
        self._answers.append(None)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        while len(self._moves) > ply:
            self._moves.pop()
            self._board.pop()
        del self._fens[ply + 1 :]
        del self._answers[ply + 1 :]
        self._asked = min(self._asked, ply + 1)
        self._open = {index: request for index, request in self._open.items() if index <= ply}
        self._hards = {index: each for index, each in self._hards.items() if index <= ply}

    def ask(self, *, running: bool) -> None:
        """Ask about every position that was not asked about, the newest first; while the game is
        ``running``, that one is what people look at.
        """
        # With as much of the past as is walked back, mostly none.
        board = self._board.copy(stack=max(0, len(self._moves) - self._asked))
        for index in range(len(self._moves), self._asked - 1, -1):
            if self._is_covered(board):
                first = max(0, index - 2)
                mover: Color = "white" if board.turn else "black"
                question = HumanQuestion(
                    self._fens[first],
                    tuple(self._moves[first:index]),
                    self._elos(mover),
                    self.asked_for.kind,
                )
                newest = index == len(self._moves) and running
                request = HumanRequest(self._id, index, question, newest)
                self._open[index] = request
                self._outgoing.questions.append(request)
            if index > self._asked:
                board.pop()
        self._asked = len(self._moves) + 1

    def _is_covered(self, board: chess.Board) -> bool:
        return (
            self._variant == "standard"
            and not_covered(board, self._start) is None
            and any(board.generate_legal_moves())
        )

    def _elos(self, mover: Color) -> tuple[int, ...]:
        own = self.asked_for.elo(mover)
        return REFERENCE_ELOS if own is None else (own, *REFERENCE_ELOS)

    def answered(self, request: HumanRequest, answer: HumanAnswer | None) -> bool:
        """The network answered, or never will; False for a question no longer open."""
        if self._open.get(request.ply) != request:
            return False
        del self._open[request.ply]
        self._answers[request.ply] = answer
        return answer is not None

    def answer(self, index: int) -> HumanAnswer | None:
        """What is known of one position."""
        return self._answers[index]

    def answers(self) -> tuple[HumanAnswer | None, ...]:
        """All answers, by position."""
        return tuple(self._answers)

    def learn(self, answers: tuple[HumanAnswer | None, ...]) -> None:
        """Know what was answered of the same moves, all of which are there."""
        if len(answers) == len(self._answers):
            self._answers = list(answers)
            self._asked = len(answers)

    def people(self, moves: Sequence[str]) -> Mapping[str, float]:
        """How many play each move after these; of the mover's rating, or the first reference."""
        index = len(moves)
        if index >= len(self._answers) or list(moves) != self._moves[:index]:
            return {}
        answer = self._answers[index]
        if answer is None:
            return {}
        return {uci: many / 1000 for uci, many in answer.per_mille[0].items()}

    # --- what people see ------------------------------------------------------------------------

    def shown(self, view: PlyView, known: GameEvaluations) -> PlyView:
        """The ply with what players would have played instead, and would reply."""
        ply, mover = view.ply, known.mover(view.ply)
        before, after = self._answers[ply - 1], self._difficulty(ply, known)
        played: float | None = None
        references: tuple[RatingShare, ...] = ()
        rating: int | None = None
        if before is not None:
            hards = self._hard_for_all(ply - 1, known)
            losses = self._losses(ply - 1, known)
            if losses is not None and losses.of(view.uci) and view.gain_same_search_cp == 0:
                # Only the search of the move itself saw that it loses nothing.
                searched_cp = {**losses.searched_cp, view.uci: 0}
                hards = self._made_hard(ply - 1, known, losses._replace(searched_cp=searched_cp))
            played, references = self._shares(before, hards, view.uci)
            rating = self.asked_for.elo(mover) if before.by_elo else None
        return msgspec.structs.replace(
            view,
            played_share=played,
            played_elo=rating if played is not None else None,
            played_references=references,
            difficulty=after,
            mark=self._mark(view, known, played),
        )

    def _shares(
        self, answer: HumanAnswer, hards: tuple[Difficulty, ...], uci: str
    ) -> tuple[float | None, tuple[RatingShare, ...]]:
        """How many play a move, of the mover's rating and of the others; by the network alone
        until it is known what the moves lose.
        """
        first = len(answer.per_mille) - len(REFERENCE_ELOS)
        shares = [
            share if share is None or not hards else round(hards[asked].shares.get(uci, 0.0), 3)
            for asked in range(len(answer.per_mille))
            for share in (answer.share(asked, uci),)
        ]
        references = tuple(
            RatingShare(elo, share)
            for elo, share in zip(REFERENCE_ELOS, shares[first:], strict=True)
            if share is not None
        )
        return shares[0] if first else None, references if answer.by_elo else ()

    def _difficulty(self, index: int, known: GameEvaluations) -> DifficultyView | None:
        """Of a position, for the player to move."""
        answer, held = self._answers[index], known.position(index)
        elo = self.asked_for.elo(self._to_move(index, known))
        if answer is None or elo is None or held is None or held.best is None:
            return None
        rating = elo if answer.by_elo else None
        hards = self._hard_for_all(index, known)
        if not hards:
            return DifficultyView(rating, held.best)
        hard = hards[0]
        best, references = self._shares(answer, hards, held.best)
        error, loss = round(hard.error_chance, HUNDREDTHS), round(hard.expected_loss_cp)
        return DifficultyView(rating, held.best, best, references, error, loss)

    def _hard(self, index: int, known: GameEvaluations) -> Difficulty | None:
        """For players of the rating of the player to move, where that is known."""
        if self.asked_for.elo(self._to_move(index, known)) is None:
            return None
        return next(iter(self._hard_for_all(index, known)), None)

    def _hard_for_all(self, index: int, known: GameEvaluations) -> tuple[Difficulty, ...]:
        """For each rating asked for; none until it is known what the moves lose."""
        answer, held, replies = self._answers[index], known.position(index), known.replies(index)
        # Their order counts too: the last stands for all that were not searched.
        made_from = answer, held, tuple(replies.items()) if replies else ()
        kept = self._hards.get(index)
        if kept is None or kept[0] != made_from:
            losses = self._losses(index, known)
            hards = self._made_hard(index, known, losses) if losses is not None else ()
            kept = self._hards[index] = made_from, hards
        return kept[1]

    def _losses(self, index: int, known: GameEvaluations) -> MoveLosses | None:
        """What the moves of a position lose, as far as that was searched."""
        held, replies = known.position(index), known.replies(index)
        if held is None or held.best is None or not replies:
            return None
        return move_losses(replies, held.best, 1 if self._to_move(index, known) == "white" else -1)

    def _made_hard(
        self, index: int, known: GameEvaluations, losses: MoveLosses
    ) -> tuple[Difficulty, ...]:
        answer = self._answers[index]
        if answer is None:
            return ()
        elos: tuple[int, ...] = (MIDDLE_ELO,) * len(answer.per_mille)
        if answer.by_elo:
            elos = self._elos(self._to_move(index, known))
        return tuple(
            difficulty(shares, losses, elo)
            for shares, elo in zip(answer.per_mille, elos, strict=False)
        )

    def _to_move(self, index: int, known: GameEvaluations) -> Color:
        return "black" if known.mover(index) == "white" else "white"

    def _mark(self, view: PlyView, known: GameEvaluations, played: float | None) -> Mark | None:
        before, after = known.position(view.ply - 1), known.position(view.ply)
        if before is None or view.gain_cp is None:
            return None
        sign = 1 if known.mover(view.ply) == "white" else -1
        as_good = before.best == view.uci or view.gain_same_search_cp == 0
        hard = self._hard(view.ply - 1, known)
        if played is not None and as_good and hard is not None:
            # A search may see a move only once it is played: the others miss that, too.
            late_cp = (
                clamped(sign * after.score.cp) - clamped(sign * before.score.cp) if after else 0
            )
            others_cp = hard.others_lose_cp(view.uci) + (late_cp if late_cp >= ERROR_CP else 0)
            if is_find(played, others_cp, sign * before.score.cp):
                return "find"
        hard = self._hard(view.ply, known)
        if hard is None or after is None:
            return None
        return "trap" if is_trap(played, hard, -view.gain_cp, after.score.cp) else None


# --- archived game ------------------------------------------------------------------------------

# Archived games: values that can be kept on disk; what figures over the event need of them is at
# hand.
#
# Most games of a long event are over. An archived one costs little memory and nothing to bring
# back after a restart: it is its stored figures, not made anew. Its plies, curves and scores are
# read when somebody looks at them. It is tracked again when its source reports something new, or
# when it is to be rated by something else.


class ArchivedValues(msgspec.Struct, frozen=True, eq=False):
    """What is always at hand of an archived game."""

    game: Game
    view: GameView
    white: SideFigures
    black: SideFigures
    field: float | None
    """Mean Elo of the event's rated players, as it was rated."""


class ArchivedDetails(msgspec.Struct, frozen=True):
    """What is read when somebody looks at the game."""

    plies: tuple[PlyView, ...]
    curves: Curves
    moves: tuple[MoveQuality, ...]
    known: EvaluationsValue
    given_up: dict[int, str] = {}
    human: tuple[HumanAnswer | None, ...] = ()
    """What players would play, by position."""


Recall = Callable[[GameId], ArchivedDetails | None]
"""Gives the details of an archived game; None where they can be read no more."""


def pool(
    game: Game, players: Mapping[Color, PlayerTotals], white: SideFigures, black: SideFigures
) -> None:
    """Put what a game says of both players into what is pooled."""
    points = RESULT_POINTS.get(game.result, (None, None))
    sides = (game.headers.white, white), (game.headers.black, black)
    for color, (player, side), (other, _), won in zip(
        COLORS, sides, sides[::-1], points, strict=True
    ):
        played = PlayedGame(player, other.elo, won, len(game.moves), side)
        players[color].set(game.id, played)


class ArchivedGame:
    """One archived game, pooled with the others."""

    pending = 0
    """A game is archived only when no search of it is open."""
    rated = True

    def __init__(
        self, values: ArchivedValues, players: dict[Color, PlayerTotals], recall: Recall
    ) -> None:
        self.values = values
        self.game = values.game
        self.players = players
        self._recall = recall

    def enter(self) -> None:
        """Put everything into what is pooled."""
        pool(self.game, self.players, self.values.white, self.values.black)

    def close(self) -> None:
        """Take everything out of it again."""
        for player in self.players.values():
            player.set(self.game.id, None)

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        """Every move, judged or not; none where they can no longer be read."""
        details = self.details()
        return details.moves if details is not None else ()

    def answers(self) -> tuple[HumanAnswer | None, ...]:
        """What people would play in each position, as far as that is known."""
        details = self.details()
        return details.human if details is not None else ()

    def details(self) -> ArchivedDetails | None:
        """All else that is known."""
        details = self._recall(self.game.id)
        return details if details and len(details.plies) == len(self.game.moves) else None

    def view(self) -> GameView:
        """The game without plies and curves."""
        return self.values.view

    def detail(self) -> GameDetail:
        """The game in full; without plies and curves where they can no longer be read."""
        fields = msgspec.structs.asdict(self.values.view)
        details = self.details()
        if details is None:
            return GameDetail(**fields)
        return GameDetail(**fields, plies=details.plies, curves=details.curves)


# --- game views ---------------------------------------------------------------------------------

# What people see of a game, made from what is known. Pure.


CHANCE_DECIMALS = 4


def unscored(ply: int, move: Move) -> PlyView:
    """The ply as its source reports it."""
    return PlyView(ply=ply, san=move.san, uci=move.uci, clock_s=move.clock_s, spent_s=move.spent_s)


def scored(
    shown: PlyView, known: KnownMove, provisional: SearchProgress | None, gain: GainKind
) -> PlyView:
    """The ply with everything known of it now; a provisional score counts only without a final
    one.
    """
    before, after, played, gains = known.before, known.after, known.played, known.gains
    score, depth, source = (after.score, after.depth, "") if after else (None, None, "")
    if after is None and provisional is not None:
        score, depth, source = provisional.score, provisional.depth, provisional.source
    return msgspec.structs.replace(
        shown,
        score_cp=score.cp if score else None,
        mate=score.mate if score else None,
        depth=depth,
        final=after is not None,
        best=before.best if before else None,
        played_cp=played.cp if played else None,
        gain_cp=gains.of(gain),
        gain_same_search_cp=gains.same_search_cp,
        gain_successive_cp=gains.successive_cp,
        complexity=_complexity(after.by_depth) if after else None,
        score_source=source,
    )


def with_chances(
    view: PlyView, results: ResultModel | None, white_elo: int | None, black_elo: int | None
) -> PlyView:
    """The ply with what is expected of the position after it."""
    if results is None or view.score_cp is None:
        # A search that deepened and then failed takes with it what it promised.
        return msgspec.structs.replace(view, win=None, draw=None, loss=None)
    chances = results.chances(view.score_cp, view.ply, white_elo, black_elo)
    win, draw, loss = (round(each, CHANCE_DECIMALS) for each in chances)
    return msgspec.structs.replace(view, win=win, draw=draw, loss=loss)


def _complexity(by_depth: tuple[Score | None, ...]) -> ComplexityView | None:
    found = complexity(by_depth)
    if found is None:
        return None
    return ComplexityView(round(found.stability_cp, 1), found.jump_cp, found.jump_depth)


def game_view(
    game: Game,
    known: GameEvaluations,
    figures: GameFigures,
    *,
    scored: int,
    problem: str | None,
) -> GameView:
    """The game without plies and curves; ``scored`` plies have their final score."""
    start = known.position(0)
    return GameView(
        **msgspec.structs.asdict(game.headers),
        id=game.id,
        feed=game.feed,
        result=game.result,
        start_fen=game.start_fen,
        start_score_cp=start.score.cp if start else None,
        head_to_head=figures.head_to_head,
        plies_played=len(known),
        plies_scored=scored,
        problem=problem,
        also=game.also,
        dispute=game.dispute,
        methods=figures.methods,
        model=figures.model,
        note=figures.note,
    )


# --- tracked game -------------------------------------------------------------------------------

# One game with everything known about it, and what each news changes for subscribers.
#
# News say what is known; every figure is made from that by :mod:`live.ledger.rate_game`, and
# messages are what differs from what was sent.


class _Odds(NamedTuple):
    """What the odds of positions go by."""

    results: ResultModel | None
    white: int | None
    black: int | None


class TrackedGame:
    """Applies news in any order.

    Args:
        game: as its source reports it.
        players: who plays.
        field: mean Elo of the event's rated players; None while nobody is rated.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        game: Game,
        players: dict[Color, PlayerTotals],
        *,
        measure: Measure,
        field: Callable[[], float | None],
        outgoing: OutgoingMessages,
        engine_scores: bool,
    ) -> None:
        self.game = game
        self.players = players
        """Who plays."""
        self._outgoing = outgoing
        self._measure = measure
        self._field = field
        self._engine_scores = engine_scores
        self._evaluations = self._nothing_known()
        self._human = HumanFigures(game, outgoing) if measure.human is not None else None
        self._plies: list[PlyView] = []
        self._odds = self._odds_now()
        self._provisional: tuple[int, SearchProgress] | None = None
        self._requests = OpenRequests(game.id, outgoing)
        self._given_up: dict[int, str] = {}
        # Whoever watched it run waits for its last scores.
        self._ran = game.result == "*"
        self._rater = GameRater()
        self._figures = self._rated()
        # What subscribers hold.
        self._shown: GameView | None = None
        self._points: dict[Color, tuple[CurvePoint, ...]] = {"white": (), "black": ()}

    def _nothing_known(self) -> GameEvaluations:
        options = self._measure.search_options if self._engine_scores else SearchOptions()
        return GameEvaluations(
            self.game.start_fen, chess960=self.game.chess960, search_options=options
        )

    def _odds_now(self) -> _Odds:
        headers = self.game.headers
        results = self._measure.results_of(game_pace(self.game))
        return _Odds(results, headers.white.elo, headers.black.elo)

    def _rated(self) -> GameFigures:
        return self._rater.rate(
            self.game, self._evaluations.known(), self.answers(), self._field(), self._measure
        )

    def rated_again(self) -> GameRater:
        """Once more, from nothing."""
        rater = GameRater()
        known, answers = self._evaluations.known(), self.answers()
        rater.rate(self.game, known, answers, self._field(), self._measure)
        return rater

    # --- the game changes -----------------------------------------------------------------------

    def begin(self) -> None:
        """Show the game, then its moves."""
        self._take_source_evals(range(1))
        self._settle(())
        self._play(0)

    def follow(self, game: Game, players: dict[Color, PlayerTotals]) -> None:
        """The game, or who plays it, is this now."""
        before, self.game = self.game, game
        staying = [id(each) for each in players.values()]
        for player in self.players.values():
            if id(player) not in staying:
                player.set(game.id, None)
        self.players = players
        same = _moves_alike(before, game)
        if not self._engine_scores and _evals_changed(before, game, same):
            # What is left of a curve is what its source says now.
            self._forget_from(1)
            self._evaluations = self._nothing_known()
            self._take_source_evals(range(1))
            same = 0
        for ply in range(1, same + 1):
            self._correct_clock(ply)
        if same < len(self._plies):
            self._forget_from(same + 1)
            if same == len(game.moves):
                self._outgoing.changes.append(MoveMessage(game.id, same + 1, None))
        self._play(same, reopened=before.result != game.result)

    def _play(self, same: int, *, reopened: bool = False) -> None:
        """The game goes on as it says behind ``same`` plies, and is rated as it says;
        ``reopened``: every missing search is of another urgency now.
        """
        last = len(self.game.moves)
        for ply, move in enumerate(self.game.moves[same:], same + 1):
            self._evaluations.extend(move.uci)
            if self._human is not None:
                self._human.extend(move.uci)
            self._plies.append(unscored(ply, move))
            self._outgoing.changes.append(MoveMessage(self.game.id, ply, self._plies[-1]))
        self._take_source_evals(range(same + 1, last + 1))
        first = same + 1
        if (odds := self._odds_now()) != self._odds:
            self._odds, first = odds, 1
        if self._human is not None and AskedFor.of(self.game) != self._human.asked_for:
            self._human = HumanFigures(self.game, self._outgoing)
            for view in self._plies:
                self._human.extend(view.uci)
            first = 1
        for ply in range(first, last + 1):
            self._refresh(ply)
        # What was head a move ago is backlog now; what ended is as urgent as its last scores.
        ended = self.game.result != "*"
        self._settle(range(last, -1 if reopened else max(same - 2, -1), -1))
        if self._human is not None:
            self._human.ask(running=not ended)

    def _correct_clock(self, ply: int) -> None:
        view, move = self._plies[ply - 1], self.game.moves[ply - 1]
        if (view.clock_s, view.spent_s) != (move.clock_s, move.spent_s):
            self._plies[ply - 1] = msgspec.structs.replace(
                view, clock_s=move.clock_s, spent_s=move.spent_s
            )
            self._outgoing.changes.append(
                ClockMessage(self.game.id, ply, move.clock_s, move.spent_s)
            )

    def measure_by(self, measure: Measure) -> None:
        """Other models, or another field, rate the game from now on."""
        self._measure = measure
        self._settle(())

    def close(self) -> None:
        """The game is gone: nothing of it stays anywhere."""
        self._forget_from(1)
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
        if self._human is not None:
            self._human.truncate(ply - 1)
        self._requests.drop_from(ply)
        for color, points in self._points.items():
            # Subscribers drop them with the move.
            self._points[color] = tuple(point for point in points if point.ply < ply)

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
        self._refresh_both(ply)
        self._settle((ply, ply + 1))

    def answered(self, request: HumanRequest, answer: HumanAnswer | None) -> None:
        """The network of human moves answered, or never will."""
        if self._human is None or not self._human.answered(request, answer):
            return
        wanted = self._measure.human
        if wanted is not None and not self._evaluations.is_forced(request.ply):
            self._evaluations.want_replies(request.ply, wanted.lines, wanted.limit)
        self._refresh_both(request.ply)
        self._settle((request.ply,))

    def answers(self) -> tuple[HumanAnswer | None, ...]:
        """What people would play in each position, as far as that is known."""
        return self._human.answers() if self._human is not None else ()

    def people(self, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI."""
        return self._human.people(moves) if self._human is not None else {}

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> None:
        """A search deepens: shown as provisional, in no histogram."""
        if request_id not in self._requests or request_id.kind != "position" or request_id.ply == 0:
            return
        self._provisional = (request_id.ply, progress)
        self._refresh(request_id.ply)

    def _take_source_evals(self, plies: range) -> None:
        if self._engine_scores:
            return
        for ply in plies:
            reported = self.game.start_eval if ply == 0 else self.game.moves[ply - 1].eval
            self._evaluations.take_source_eval(ply, reported)

    # --- what follows ---------------------------------------------------------------------------

    def _settle(self, plies: Iterable[int]) -> None:
        """Bring figures, requests (of ``plies``) and what is shown up to what is now known."""
        self._figures = figures = self._rated()
        pool(self.game, self.players, figures.white, figures.black)
        for color, now in zip(COLORS, (figures.curves.white, figures.curves.black), strict=True):
            self._outgoing.changes += point_changes(self.game.id, color, self._points[color], now)
            self._points[color] = now
        self._request_missing(plies)
        view = self.view()
        if view != self._shown:
            self._shown = view
            self._outgoing.changes.append(GameMessage(view))

    def _request_missing(self, plies: Iterable[int]) -> None:
        """Request what is missing at ``plies``, most urgent first as they are given."""
        if not self._engine_scores or not self._searchable:
            return
        for ply in plies:
            if 0 <= ply <= len(self._plies):
                self._requests.review(ply, self._urgency(ply), self._evaluations)

    @property
    def _searchable(self) -> bool:
        """False for what cannot be analysed: another variant, or a start nobody could read."""
        supported = self.game.headers.variant in ("standard", "chess960")
        return supported and (bool(self._plies) or self.game.problem is None)

    def _urgency(self, ply: int) -> Urgency:
        if self.game.result != "*":
            return "closing" if self._ran else "finished"
        self._ran = True
        # The gain of the last move needs the position before it as well.
        return "head" if ply >= len(self._plies) - 1 else "backlog"

    @property
    def pending(self) -> int:
        """How many requests and questions are open."""
        return len(self._requests) + (len(self._human) if self._human is not None else 0)

    @property
    def rated(self) -> bool:
        """Whether figures rest on every move played, or never will."""
        return not self._requests.rating

    # --- what people see ------------------------------------------------------------------------

    def _refresh_both(self, index: int) -> None:
        """What is known at a position shows in the move to it and in the one after."""
        for ply in (index, index + 1):
            if 1 <= ply <= len(self._plies):
                self._refresh(ply)

    def _refresh(self, ply: int) -> None:
        """Show what is known of ``ply``, if that differs from what was shown."""
        shown, odds = self._plies[ply - 1], self._odds
        provisional = (
            self._provisional[1] if self._provisional and self._provisional[0] == ply else None
        )
        view = scored(shown, self._evaluations.known_move(ply), provisional, self._measure.gain)
        view = with_chances(view, odds.results, odds.white, odds.black)
        if self._human is not None:
            view = self._human.shown(view, self._evaluations)
        if view != shown:
            self._plies[ply - 1] = view
            self._outgoing.changes.append(ScoreMessage(self.game.id, view))

    def view(self) -> GameView:
        """The game without plies and curves."""
        return game_view(
            self.game,
            self._evaluations,
            self._figures,
            scored=sum(view.final for view in self._plies),
            problem=self.game.problem or self._given_up.get(min(self._given_up, default=0)),
        )

    def detail(self) -> GameDetail:
        """The game in full."""
        return GameDetail(
            **msgspec.structs.asdict(self.view()),
            plies=tuple(self._plies),
            curves=self._figures.curves,
        )

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        """Every move, judged or not."""
        return self._figures.moves

    # --- archive --------------------------------------------------------------------------------

    def archive(self) -> tuple[ArchivedValues, ArchivedDetails]:
        """All that is known of it, as values. Searches that are open are not part of it."""
        figures = self._figures
        values = ArchivedValues(self.game, self.view(), figures.white, figures.black, self._field())
        details = ArchivedDetails(
            plies=tuple(self._plies),
            curves=figures.curves,
            moves=figures.moves,
            known=self._evaluations.look(),
            given_up=dict(self._given_up),
            human=self.answers(),
        )
        return values, details

    def resume(self, details: ArchivedDetails, shown: GameView) -> None:
        """Restore what was known when it was archived; ``shown`` is what subscribers hold of it.

        Raises:
            ValueError: that was of other moves.
        """
        for move in self.game.moves:
            self._evaluations.extend(move.uci)
            if self._human is not None:
                self._human.extend(move.uci)
        if self._human is not None:
            self._human.learn(details.human)
        self._evaluations.learn(details.known)
        self._plies = list(details.plies)
        self._given_up = dict(details.given_up)
        self._points = {"white": details.curves.white, "black": details.curves.black}
        self._shown = shown
        self._figures = self._rated()


def point_changes(
    id: GameId, color: Color, sent: Sequence[CurvePoint], now: Sequence[CurvePoint]
) -> Iterator[PointMessage]:
    """What brings a curve that was sent to what it is now. Where points have only gone, the last
    that stays is sent again: those behind it are dropped with it.
    """
    same = 0
    for one, other in zip(sent, now, strict=False):
        if one is not other and one != other:
            break
        same += 1
    if same < len(sent) and (same == len(now) or sent[same].ply < now[same].ply):
        same = max(0, same - 1)
    for point in now[same:]:
        yield PointMessage(id, color, point)


def _moves_alike(one: Game, other: Game) -> int:
    """How many plies from the start are the same moves."""
    same = 0
    for a, b in zip(one.moves, other.moves, strict=False):
        if a is not b and (a.uci, a.san) != (b.uci, b.san):
            break
        same += 1
    return same


def _evals_changed(one: Game, other: Game, plies: int) -> bool:
    """Whether the source's own evaluations of the first plies, or of the start, are others."""
    if one.start_eval != other.start_eval:
        return True
    pairs = zip(one.moves[:plies], other.moves[:plies], strict=True)
    return any(a is not b and a.eval != b.eval for a, b in pairs)
