"""What players of these ratings would have played in one game: questions, answers, figures. Pure.

Position ``k`` is the one after ``k`` plies. Shares are those of players of the mover's rating among
themselves, and of two reference ratings; a player without a rating has those alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import chess
import msgspec

from live.events import Color, DifficultyView, Mark, PlyView, RatingShare
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
from live.ledger.game_evaluations import EvaluatedPosition, GameEvaluations
from live.ledger.measure import game_pace
from live.ledger.outgoing_messages import HumanRequest, OutgoingMessages

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
