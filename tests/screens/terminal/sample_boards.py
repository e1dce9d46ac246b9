"""Boards to draw, and renderables as the text a terminal would show."""

from io import StringIO

from msgspec.structs import replace
from rich.console import Console, RenderableType

from live.messages.figures import (
    CurvePoint,
    Curves,
    EngineInfo,
    GameDetail,
    HeadToHead,
    PlyView,
)
from live.messages.from_sources import Player
from tests.watch import games

ENGINE = EngineInfo("Stockfish 19 Lite", "100000 nodes", 2160, "field", 312)


def point(ply: int, rating: float | None, *, engine: int = 2160) -> CurvePoint:
    """An early point of Algorithm 4 alone, ``rating`` give or take 200; None: unbounded
    below.
    """
    difference = None if rating is None else rating - engine
    unknown = dict.fromkeys(("perceived", "low", "high", "usual_low", "usual_high"))
    return replace(
        games.point(ply, (ply + 1) // 2),
        gain_cp=-12,
        score=0.0 if rating is None else 0.3,
        difference=difference,
        difference_low=None if difference is None else difference - 200,
        difference_high=-126.0 if difference is None else difference + 200,
        **unknown,
    )


def full_point(ply: int, perceived: float = 2441.0) -> CurvePoint:
    """A point with every figure, not early."""
    return replace(
        point(ply, 2210.0),
        counted=20,
        perceived=perceived,
        low=perceived - 800,
        high=perceived + 900,
        usual_low=2180,
        usual_high=2750,
        percentile=74.0,
    )


def detail(
    id: str = "g1",
    board: int | None = 1,
    *,
    white: str = "Petriashvili, Nikoloz",
    black: str = "Sanchez Montesdeoca, Isaac",
    result: str = "*",
    provisional: bool = False,
    event: str = "Open",
    round: str = "1",
) -> GameDetail:
    """A game after 1.e4 c5, White rated and Black unbounded."""
    return games.game(
        id=id,
        feed="demo",
        event=event,
        round=round,
        board=board,
        white=Player(white, elo=2459, title="GM"),
        black=Player(black, elo=1807),
        result=result,
        start_score_cp=23,
        head_to_head=HeadToHead(0.61, 79.0),
        plies=(
            PlyView(1, "e4", "e2e4", score_cp=30, depth=16, final=True, gain_cp=0),
            PlyView(
                2, "c5", "c7c5", score_cp=37, depth=9, final=not provisional, gain_cp=-7
            ),
        ),
        curves=Curves(white=(point(1, 2210.4),), black=(point(2, None),)),
    )


def drawn(renderable: RenderableType, width: int = 120) -> str:
    """As a terminal of this width without colours shows it."""
    file = StringIO()
    Console(file=file, width=width, force_terminal=False, color_system=None).print(
        renderable
    )
    return file.getvalue()
