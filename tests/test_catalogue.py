"""The catalogue: every row can be read of what it is a figure of, and is
written right.
"""

import json

import msgspec
from msgspec.structs import replace

from live.catalogue import (
    BY_ID,
    FIGURES,
    LIVE_FIGURES,
    Reading,
    encode_catalogue,
    explain_no_percentile,
    rank_players,
    read,
    write_band,
    write_elo,
    write_interval,
    write_percentile,
    write_points,
    write_sentence,
    write_value,
)
from live.messages.figures import AnalysedPlayer, PlayerMethods, PlayerView, Share
from live.server.static_files import CATALOGUE, generate_module
from tests.watch.games import point

POINT = msgspec.structs.replace(
    point(63, 32, 62.3),
    perceived=2340.4,
    usual_low=1950.2,
    usual_high=2549.8,
    difference=-140.0,
    difference_low=-200.0,
    difference_high=-80.0,
)
PLAYER = AnalysedPlayer(
    id="fide:1",
    name="Somebody",
    elo=2251,
    games=3,
    moves=97,
    mean_gain_cp=-21.04,
    counted=95,
    perceived=2310,
    usual_low=2000,
    usual_high=2500,
    percentile=58.0,
    score=0.3,
    difference=-148.0,
    points=2.5,
    methods=PlayerMethods(
        first_choice=Share(0.5, 0.4, 0.6, 60), missing={"accuracy": "no score at ply 3"}
    ),
)


def test_a_figure_that_is_missing_has_no_interval() -> None:
    """Where nobody is rated, the interval is that of a difference."""
    figures = PlayerMethods(
        tournament_difference=3, tournament_low=-20, tournament_high=25
    )
    unrated = replace(PLAYER, methods=figures)
    assert write_interval(BY_ID["tournament"], unrated) == ""
    figures = PlayerMethods(
        tournament_rating=2400, tournament_low=2380, tournament_high=2425
    )
    rated = replace(PLAYER, methods=figures)
    assert write_interval(BY_ID["tournament"], rated) == "2380–2425"


def _fields(struct: type[msgspec.Struct], path: str) -> bool:
    """Whether a dotted path names fields of this and what it holds."""
    for name in path.split("."):
        known = {field.name: field.type for field in msgspec.structs.fields(struct)}
        if name not in known:
            return False
        inner = known[name]
        args = [*getattr(inner, "__args__", ()), inner]
        struct = next(
            (each for each in args if hasattr(each, "__struct_fields__")),
            msgspec.Struct,
        )
    return True


def test_every_figure_is_a_field_of_a_player() -> None:
    for kind, rows in ((AnalysedPlayer, FIGURES), (PlayerView, LIVE_FIGURES)):
        for row in rows:
            assert all(
                _fields(kind, path) for path in (row.value, row.low, row.high) if path
            )


def test_ids_and_names_stand_once() -> None:
    assert len(BY_ID) == len(FIGURES) == len({each.name for each in FIGURES})
    assert all(each.meaning.endswith(".") for each in FIGURES)


def test_algorithm_4_adds_the_engines_rating_to_value_and_interval() -> None:
    figure = BY_ID["algorithm4"]
    assert read(figure, POINT, 2360) == Reading(2220.0, 2160.0, 2280.0)
    assert read(BY_ID["perceived"], POINT, 2360) == Reading(2340.4, 1950.2, 2549.8)


def test_shares_lie_in_the_methods_that_reports_have() -> None:
    figure = BY_ID["first_choice"]
    assert read(figure, PLAYER) == Reading(0.5, 0.4, 0.6)
    assert write_value(figure, 0.25) == "25 %"
    assert read(figure, replace(PLAYER, methods=None)) == Reading(None)


def test_ends_of_what_is_shown_mean_or_beyond() -> None:
    assert [write_elo(elo) for elo in (3200, 3199, 801, 800)] == [
        "3200+",
        "3199",
        "801",
        "≤800",
    ]
    assert write_band(800.2, 1400) == "800–1400"
    assert write_band(None, 1400) == write_band(800, None) == ""
    assert [write_percentile(each) for each in (0.2, 62.3, 99.7)] == [
        "1 %",
        "62 %",
        "99 %",
    ]
    assert [write_percentile(each) for each in (27.5, 28.5)] == ["28 %", "29 %"]
    share = next(figure for figure in FIGURES if figure.kind == "share")
    assert [write_value(share, each) for each in (0.125, 0.625)] == ["13 %", "63 %"]
    assert [write_points(each) for each in (0.0, 0.5, 2.0, 2.5)] == [
        "0",
        "½",
        "2",
        "2½",
    ]


def test_the_sentence_says_what_is_usual_and_the_place_in_it() -> None:
    assert write_sentence(POINT, 2251) == (
        "playing like 2340 · usual for 2251: "
        "1950–2550 · better than 62 % of games by players of "
        "2251"
    )
    assert "usual for 2251 against 1655: " in write_sentence(POINT, 2251, 1655)
    assert write_sentence(PLAYER, 2251).endswith(
        "better than 58 % of such events by players of 2251"
    )


def test_early_figures_and_those_of_unrated_players_stand_alone() -> None:
    unrated = msgspec.structs.replace(
        POINT, usual_low=None, usual_high=None, percentile=None
    )
    assert write_sentence(unrated, None) == "playing like 2340"
    early = msgspec.structs.replace(unrated, counted=7)
    assert write_sentence(early, 2251) == "playing like 2340 · early: 7 moves"
    assert write_sentence(msgspec.structs.replace(POINT, perceived=None), 2251) == ""


def test_the_page_gets_every_row_of_live_screens() -> None:
    rows = json.loads(encode_catalogue())["figures"]
    assert [row["id"] for row in rows] == [figure.id for figure in LIVE_FIGURES]
    module = (
        generate_module(CATALOGUE).removeprefix(b"export default ").removesuffix(b";\n")
    )
    assert json.loads(module)["figures"] == rows


def test_players_are_ordered_by_what_is_unusual_and_equal_numbers_tie() -> None:
    percentiles: dict[str, float | None] = {
        "A": 41.8,
        "B": 90.0,
        "C": 42.2,
        "E": 3.0,
        "F": 42.0,
    }
    percentiles |= dict.fromkeys("DGH")
    ratings: dict[str, int | None] = {
        "A": 2300,
        "B": 1655,
        "C": 1700,
        "E": 2750,
        "F": 2000,
    }
    ratings |= {"D": 1900, "G": 2900, "H": None}
    views = [
        PlayerView(
            name,
            name,
            None,
            1,
            20,
            -5.0,
            perceived=ratings[name],
            percentile=percentile,
        )
        for name, percentile in reversed(percentiles.items())
    ]
    found = [(each.view.name, each.place_text) for each in rank_players(views)]
    ties = [("A", "2="), ("C", "2="), ("F", "2=")]
    # Players without a percentile follow, by their rating, without a place.
    others = [("G", ""), ("D", ""), ("H", "")]
    assert found == [("B", "1"), *ties, ("E", "5"), *others]


def test_a_missing_percentile_has_its_own_reason() -> None:
    view = PlayerView("A", "A", None, games=1, moves=20, perceived=2300)
    assert explain_no_percentile(replace(view, counted=12)) == "no Elo"
    assert explain_no_percentile(replace(view, counted=9)) == "early"
    assert explain_no_percentile(replace(view, reason="no-model")) == ""
    assert explain_no_percentile(replace(view, percentile=50.0)) == ""
