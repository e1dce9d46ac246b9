"""The event of the tests of reports: two games whose names are as hostile as can be."""

from msgspec.structs import asdict, replace

from live.messages.figures import (
    AnalysedGame,
    AnalysedPlayer,
    ChoiceEvidence,
    CurvePoint,
    Curves,
    EngineInfo,
    Intrinsic,
    PlayerGains,
    PlayerMethods,
    PlyView,
    Share,
)
from live.server.analysis import Analysis
from tests.screens.terminal.sample_boards import detail
from tests.screens.terminal.sample_boards import point as sample_point

SCRIPT = '<script>alert("1")</script>'
FORMULA = '=HYPERLINK("http://example.org","x")'
LONG = "Lång " * 3000
STRANGE = "A\x1b[2J\u202eB\u200dC\x00D"
NAME = "Stockfish 19 Lite WASM Multithreaded"
ENGINE = EngineInfo(NAME, "100000 nodes", 2209, "field", 900, ("classical",), "402")

_LINE = (
    ("e4", "e2e4"),
    ("e5", "e7e5"),
    ("Nf3", "g1f3"),
    ("Nc6", "b8c6"),
    ("Bb5", "f1b5"),
)


def point(ply: int, rating: float | None) -> CurvePoint:
    return replace(
        sample_point(ply, rating, engine=2209),
        perceived=2000 + ply,
        usual_low=1800,
        usual_high=2200,
        percentile=60.0,
        difference_low=None,
    )


def game(
    id: str, white: str, black: str, *, board: int, plies: int = 5
) -> AnalysedGame:
    told = tuple(
        PlyView(
            index + 1,
            *_LINE[index],
            clock_s=5400.0 - index,
            score_cp=20 - 60 * index,
            final=True,
            gain_cp=-60 * index,
        )
        for index in range(plies)
    )
    whole = detail(
        id, board, white=white, black=black, result="1-0", event="Open <b>2025</b>"
    )
    shown = replace(
        whole,
        url="javascript:alert(1)",
        plies_played=plies,
        plies_scored=plies,
        date="2025.04.12",
        plies=told,
        curves=Curves(
            tuple(
                point(ply, None if ply == 1 else 2150.0)
                for ply in range(1, plies + 1, 2)
            ),
            tuple(point(ply, 2050.0) for ply in range(2, plies + 1, 2)),
        ),
    )
    return AnalysedGame(**asdict(shown))


INTRINSIC = Intrinsic(
    turns=40,
    rating=2100.0,
    low=1900.0,
    high=2300.0,
    beyond=False,
    move_match=0.6,
    average_difference=0.12,
    projected_match=0.5,
    projected_difference=0.15,
    match_z=1.25,
    difference_z=0.75,
    table="ten-lines",
)


def player(id: str, name: str, share: float = 0.5, moves: int = 40) -> AnalysedPlayer:
    choices = Share(share, share - 0.1, share + 0.1, moves)
    return AnalysedPlayer(
        id,
        name,
        2000,
        1,
        moves,
        -12.5,
        counted=moves,
        perceived=2060,
        usual_low=1800,
        usual_high=2200,
        percentile=60.0,
        score=0.4,
        difference=-40.0,
        difference_low=-200.0,
        difference_high=90.0,
        methods=PlayerMethods(first_choice=choices, intrinsic=INTRINSIC),
        agreement=ChoiceEvidence(moves, round(share * moves), 0.45 * moves, 2.5),
    )


def event() -> Analysis:
    return Analysis(
        ENGINE,
        "same-search",
        (game("g2", FORMULA, STRANGE, board=2), game("g1", SCRIPT, LONG, board=1)),
        (
            player("a", SCRIPT, 0.9),
            player("b", LONG),
            player("c", FORMULA),
            player("d", STRANGE),
        ),
        gains=(
            PlayerGains("a", ((-900, 1), (-10, 2), (0, 5))),
            PlayerGains("c", ((0, 1),)),
        ),
        engine_gains=((0, 1),),
    )
