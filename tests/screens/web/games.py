"""Games as the service tells them, for the page's pure modules."""

import json
from typing import Any

import msgspec

from live.catalogue import EARLY_MOVES
from live.messages.figures import CurvePoint, Curves, GameDetail, PlayerView, PlyView
from live.messages.from_sources import Player
from live.messages.moments import Moment, MomentText
from tests.server.world import World
from tests.watch import games

START = games.START

#: A short game, twice round the Ruy Lopez.
MOVES = (
    ("e4", "e2e4"),
    ("e5", "e7e5"),
    ("Nf3", "g1f3"),
    ("Nc6", "b8c6"),
    ("Bb5", "f1b5"),
    ("a6", "a7a6"),
)

#: Markup, script, quotes, right-to-left with an override, emoji, a line break, a
#: formula.
HOSTILE = (
    "=1+1<img src=x onerror=\"document.title='owned'\"> ' </script>"
    "<script>document.title='owned'</script> \u202eמשה\u202c 🏆\n&amp;"
)


def ply(
    number: int,
    cp: int | None = None,
    gain: int | None = None,
    final: bool = True,
    **more: Any,
) -> PlyView:
    san, uci = MOVES[(number - 1) % len(MOVES)]
    scored = {
        "score_cp": cp,
        "final": final and cp is not None,
        "gain_cp": gain,
        "played_cp": cp,
    }
    return PlyView(number, san, uci, **{**scored, **more})


def point(number: int, counted: int, perceived: int | None, **more: Any) -> CurvePoint:
    """A point as it is published: nothing is usual under ten counted moves."""
    settled = perceived is not None and counted >= EARLY_MOVES
    fields: dict[str, Any] = {
        "n": counted,
        "perceived": perceived,
        "low": 800,
        "high": None,
        "usual_low": 1900 if settled else None,
        "usual_high": 2300 if settled else None,
        "score": 0.4,
        "difference": -70.0,
        "difference_low": -170.0,
        "difference_high": 30.0,
        **more,
    }
    known = games.point(number, counted, 50.0 if settled else None)
    return msgspec.structs.replace(known, **fields)


def game(name: str = "g1", **more: Any) -> GameDetail:
    fields: dict[str, Any] = {
        "feed": "demo",
        "white": Player("Anna", elo=2100, title="WIM"),
        "black": Player("Bea", elo=2000),
        "start_score_cp": 20,
        "plies": tuple(ply(number, 20 + number, 0) for number in range(1, 5)),
        "curves": Curves(
            white=(point(1, 1, 2100), point(3, 2, 2150)), black=(point(2, 1, None),)
        ),
        **more,
    }
    return games.game(id=name, **fields)


def plain(value: Any) -> Any:
    """As JSON has it, with what messages leave out of it."""
    match value:
        case msgspec.Struct():
            kind = type(value)
            held = {
                name: plain(getattr(value, name)) for name in kind.__struct_fields__
            }
            tag = kind.__struct_config__.tag
            return held if tag is None else {"type": tag, **held}
        case tuple() | list():
            return [plain(each) for each in value]
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case _:
            return json.loads(msgspec.json.encode(value))


def hostile_world() -> World:
    """One game, one player and one moment, of which every text is hostile."""
    world = World(12, "g1")
    player = Player(HOSTILE, elo=2000, title=HOSTILE, federation=HOSTILE, team=HOSTILE)
    names = dict.fromkeys(("event", "round", "problem", "time_control"), HOSTILE)
    world.held["g1"] = game(
        white=player,
        black=player,
        url="javascript:document.title='owned'",
        plies=(ply(1, 31, 0, clock_s=60.0), PlyView(2, HOSTILE, "e7e5")),
        curves=Curves(white=(point(1, 1, 2850),)),
        **names,
    )
    world.standings[HOSTILE] = PlayerView(
        HOSTILE,
        HOSTILE,
        None,
        1,
        1,
        0.0,
        1,
        2850,
        2450,
        3150,
        score=0.5,
        difference=0.0,
    )
    world.told["m"] = moment("g1", 1, HOSTILE, at_s=1.0)
    return world


def moment(game: str, ply: int, text: str, *, at_s: float) -> Moment:
    """A turn of a game, in these words in every language; `{}` is the
    language's code.
    """
    said = MomentText(
        *(text.replace("{}", code) for code in MomentText.__struct_fields__)
    )
    return games.moment(game, ply, id="m", at_s=at_s, weight=0.9, text=said)
