"""What people see of a game, made from what is known. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from live.engine.search import SearchProgress
from live.events import (
    Color,
    ComplexityView,
    GainKind,
    GameMethods,
    GameView,
    HeadToHead,
    Move,
    PlyView,
    Score,
    SideMethods,
    UsualAccuracy,
)
from live.games.game import Game
from live.ledger.calibrations_in_use import ELO_DECIMALS, SCORE_DECIMALS, rounded
from live.ledger.game.game_evaluations import GameEvaluations, QuickAndFull
from live.ratings.alliot.complexity import complexity
from live.ratings.calibration.calibration_choice import CalibrationChoice
from live.ratings.ferreira.algorithm_1 import Algorithm1 as Duel
from live.ratings.strength.loss_model import Alone
from live.ratings.strength.performance import Results

CHANCE_DECIMALS = 4


def unscored(ply: int, move: Move) -> PlyView:
    """The ply as its source reports it."""
    return PlyView(ply=ply, san=move.san, uci=move.uci, clock_s=move.clock_s, spent_s=move.spent_s)


def scored(
    shown: PlyView, tiers: QuickAndFull, provisional: SearchProgress | None, gain: GainKind
) -> PlyView:
    """The ply with everything known of it now; a provisional score counts only without a final
    one, and a quick look's is provisional.
    """
    known = tiers.at(shown.ply)
    before, after = known.position(shown.ply - 1), tiers.position(shown.ply)
    quick = tiers.quick.position(shown.ply) if tiers.quick else None
    if quick is not None and (provisional is None or provisional.depth < (quick.depth or 0)):
        provisional = SearchProgress(quick.score, quick.depth or 0)
    played = known.played(shown.ply)
    gains = known.gains(shown.ply)
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
    view: PlyView, results: Results | None, elos: Mapping[Color, int | None]
) -> PlyView:
    """The ply with what is expected of the position after it."""
    if results is None or view.score_cp is None:
        # A search that deepened and then failed takes with it what it promised.
        return msgspec.structs.replace(view, win=None, draw=None, loss=None)
    chances = results.chances(view.score_cp, view.ply, elos["white"], elos["black"])
    win, draw, loss = (round(each, CHANCE_DECIMALS) for each in chances)
    return msgspec.structs.replace(view, win=win, draw=draw, loss=loss)


def with_others(side: SideMethods, found: Alone | None, usual: UsualAccuracy | None) -> SideMethods:
    """One side of a game with its performance, and its accuracy beside that of players rated like
    this one.
    """
    if usual is not None:
        side = msgspec.structs.replace(side, usual_accuracy=usual)
    if found is None:
        return side
    return msgspec.structs.replace(
        side,
        performance=rounded(found.elo, ELO_DECIMALS),
        performance_low=rounded(found.low, ELO_DECIMALS),
        performance_high=rounded(found.high, ELO_DECIMALS),
    )


def _complexity(by_depth: tuple[Score | None, ...]) -> ComplexityView | None:
    found = complexity(by_depth)
    if found is None:
        return None
    return ComplexityView(round(found.stability_cp, 1), found.jump_cp, found.jump_depth)


def game_view(
    game: Game,
    known: GameEvaluations,
    duel: Duel,
    methods: GameMethods,
    choice: CalibrationChoice,
    note: str,
    *,
    scored: int,
    problem: str | None,
) -> GameView:
    """The game without plies and curves; ``scored`` plies have their final score, ``note`` is what
    people should know of its figures.
    """
    headers = game.headers
    start = known.position(0)
    calibration = choice.calibration
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
        head_to_head=HeadToHead(
            rounded(duel.expected_score, SCORE_DECIMALS), rounded(duel.difference, ELO_DECIMALS)
        ),
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
        methods=methods,
        calibration=calibration.name if calibration else None,
        calibration_note="; ".join(filter(None, (choice.told, note))),
    )
