"""What people see of a game, made from what is known. Pure."""

from __future__ import annotations

import msgspec

from live.engine.search import SearchProgress
from live.events import ComplexityView, GainKind, GameView, Move, PlyView, Score
from live.games.game import Game
from live.ledger.game.game_evaluations import GameEvaluations, KnownMove
from live.ledger.rate_game import GameFigures
from live.ratings.alliot.complexity import complexity
from live.ratings.strength.expected_result import Results

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
    view: PlyView, results: Results | None, white_elo: int | None, black_elo: int | None
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
    headers = game.headers
    start = known.position(0)
    return GameView(
        id=game.id,
        feed=game.feed,
        event=headers.event,
        round=headers.round,
        board=headers.board,
        white=headers.white,
        black=headers.black,
        result=game.result,
        url=headers.url,
        start_fen=game.start_fen,
        start_score_cp=start.score.cp if start else None,
        head_to_head=figures.head_to_head,
        plies_played=len(known),
        plies_scored=scored,
        variant=headers.variant,
        problem=problem,
        also=game.also,
        dispute=game.dispute,
        site=headers.site,
        date=headers.date,
        time_control=headers.time_control,
        eco=headers.eco,
        opening=headers.opening,
        methods=figures.methods,
        model=figures.model,
        note=figures.note,
    )
