"""Games as the story desk is shown them, made up to tell one thing each."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from live.messages.figures import (
    CurvePoint,
    Curves,
    DifficultyView,
    GameDetail,
    HeadToHead,
    PlyView,
)
from live.messages.from_sources import Player
from live.messages.moments import Moment, MomentText

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#: Knights go out and back: moves that can be played for ever.
SHUFFLE = (("Nf3", "g1f3"), ("Nf6", "g8f6"), ("Ng1", "f3g1"), ("Ng8", "f6g8"))


def ply(number: int, win: float | None = 0.5, **more: Any) -> PlyView:
    """One ply after which White is expected to score ``win``; None: not scored yet."""
    san, uci = SHUFFLE[(number - 1) % 4]
    known: dict[str, Any] = {}
    if win is not None:
        known = {
            "score_cp": round(1000 * (win - 0.5)),
            "final": True,
            "win": win,
            "draw": 0.0,
        }
    return PlyView(**{"ply": number, "san": san, "uci": uci, **known, **more})


def point(number: int, moves: int, percentile: float | None = None) -> CurvePoint:
    return CurvePoint(
        ply=number,
        n=moves,
        counted=moves,
        gain_cp=0,
        perceived=2500,
        low=1700,
        high=3300,
        usual_low=2200,
        usual_high=2800,
        percentile=percentile,
        score=0.5,
        difference=0.0,
        difference_low=-100.0,
        difference_high=100.0,
    )


def difficulty(error_chance: float, elo: int = 2000) -> DifficultyView:
    return DifficultyView(elo=elo, best="e2e4", error_chance=error_chance)


def game(
    wins: Sequence[float | None] = (),
    *,
    id: str = "g",
    result: str = "*",
    white: Player | None = None,
    black: Player | None = None,
    plies: Sequence[PlyView] | None = None,
    curves: Curves | None = None,
    **more: Any,
) -> GameDetail:
    """A game whose expected scores for White are these, ply by ply."""
    told = [ply(n, win) for n, win in enumerate(wins, 1)] if plies is None else plies
    fields: dict[str, Any] = {
        "id": id,
        "feed": "hall",
        "event": "Open",
        "round": "1",
        "board": 1,
        "url": "",
        "start_fen": START,
        "start_score_cp": 0,
        "head_to_head": HeadToHead(),
        "plies_played": len(told),
        "plies_scored": sum(each.final for each in told),
        **more,
    }
    return GameDetail(
        **fields,
        white=white or Player("Adams, Ann", elo=2500),
        black=black or Player("Berg, Bo", elo=2480),
        result=result,  # type: ignore[arg-type]
        plies=tuple(told),
        curves=curves or Curves(),
    )


#: Of a game whose theory is over.
late = partial(game, start_fen=START[:-1] + "11")


def moment(game: str = "g", ply: int = 1, **more: Any) -> Moment:
    text = msgspec.convert(
        {code: f"It happened ({code})." for code in MomentText.__struct_fields__},
        MomentText,
    )
    fields: dict[str, Any] = {
        "id": f"{game}:turn:{ply}",
        "game": game,
        "ply": ply,
        "kind": "turn",
        "color": "white",
        "at_s": 100.0,
        "weight": 0.8,
        "figures": (),
        "text": text,
        **more,
    }
    return Moment(**fields)
