"""Who sees what: the tables are right, and what is withheld cannot be told from the
rest.

Filters: what they say, what they take, and that equal ones are equal.
"""

from itertools import chain
from typing import get_type_hints

import msgspec
import pytest
from msgspec.structs import replace

from live.games.player_identity import fold_name
from live.messages import (
    alerts,
    figures,
    from_clients,
    from_sources,
    health,
    moments,
    to_clients,
)
from live.messages.figures import GameView, view_of
from live.messages.health import EngineHealth, EngineState, FeedHealth, HumanHealth
from live.messages.to_clients import GameMessage, HealthMessage
from live.server import visibility as tables
from live.server import wire
from live.server.filtered_reader import FilteredReader, snapshot
from live.server.pgn_writer import write_game
from live.server.stream_filter import (
    EVERYTHING,
    FilterError,
    StreamFilter,
    parse_filter,
)
from live.server.visibility import (
    Visibility,
    _plan_redaction,
    find_minimum_visibility,
    redact,
    redact_sources,
    should_send,
)
from tests.server.world import World

#: Everything that an engine said.
_SAID = (
    "score_cp mate depth final best played_cp gain_cp gain_same_search_cp "
    "gain_successive_cp start_score_cp head_to_head mean_gain_cp "
    "counted perceived low high "
    "usual_low usual_high percentile score difference difference_low "
    "difference_high rating "
    "methods model models note win draw played_share difficulty mark rating_moves "
    "plies_scored engines players searches queued"
)
SAID = set(_SAID.split())


_MODULES = (
    from_sources,
    from_clients,
    figures,
    alerts,
    moments,
    health,
    to_clients,
)
_VALUES = chain.from_iterable(vars(module).values() for module in _MODULES)
MESSAGES = [value for value in _VALUES if isinstance(value, type)]


def test_every_name_in_the_tables_exists() -> None:
    for table in (tables._VENUE, tables._ARBITER):
        for kind, names in table.items():
            assert set(names.split()) <= set(kind.__struct_fields__), kind


def test_nothing_an_engine_said_is_listed_for_venues() -> None:
    for kind, names in tables._VENUE.items():
        assert not SAID & set(names.split()), kind
    structs = [kind for kind in MESSAGES if issubclass(kind, msgspec.Struct)]
    known = set(chain.from_iterable(kind.__struct_fields__ for kind in structs))
    assert known >= SAID, "a name that has gone guards nothing"


@pytest.mark.parametrize("sight", Visibility)
def test_what_is_withheld_leaves_a_value_of_the_same_type(sight: Visibility) -> None:
    for kind in MESSAGES:
        if issubclass(kind, msgspec.Struct) and should_send(kind, sight):
            types = get_type_hints(kind)
            for name, empty in _plan_redaction(kind, sight)[0]:
                msgspec.convert(empty, types[name])


def test_the_arbiter_sees_the_very_value() -> None:
    world = World(1, "g1")
    whole = snapshot(world, StreamFilter(visibility=Visibility.ARBITER))
    assert redact(whole, Visibility.ARBITER) is whole
    assert whole.games == (world.held["g1"],)


def test_what_is_for_arbiters_never_reaches_others() -> None:
    health = EngineHealth((EngineState(0, "searching", 450.0, "g1 ply 12"),), queued=3)
    message = HealthMessage((), health)
    assert find_minimum_visibility(EngineState, "searching") is Visibility.ARBITER
    assert b"ply 12" in wire.encode(redact(message, Visibility.ARBITER))
    told = redact(message, Visibility.PUBLIC)
    assert b"ply 12" not in wire.encode(told)
    assert told.engines.engines == (EngineState(0, "searching", 450.0),)
    assert told.engines.queued == 3
    assert redact(message, Visibility.VENUE) == HealthMessage((), EngineHealth())


def test_of_parts_in_trouble_a_venue_hears_nothing() -> None:
    feeds = (
        FeedHealth("demo", "live"),
        FeedHealth("game g1", "failed", "gave up", part=True),
    )
    assert (
        redact(HealthMessage(feeds, EngineHealth()), Visibility.VENUE).feeds
        == feeds[:1]
    )
    told = redact(HealthMessage(feeds, EngineHealth()), Visibility.PUBLIC).feeds
    assert told == (feeds[0], FeedHealth("game g1", "failed", part=True))


SECRETS = (
    "/srv/club/secret/games.pgn",
    "C:\\club\\secret.pgn",
    "https://club.example/secret/games.pgn#token=secret",
    "file+secret.pgn",
    "wss://secret.example/api",
)


@pytest.mark.parametrize("sight", [Visibility.VENUE, Visibility.PUBLIC])
@pytest.mark.parametrize("address", SECRETS)
def test_where_games_come_from_arbiters_alone_are_told(
    address: str, sight: Visibility
) -> None:
    """In no message, no answer and no download."""
    world = World(1, "g1")
    other = f"{address}/other"
    held = replace(
        world.held["g1"],
        feed=address,
        also=(other,),
        url=f"https://secret.example/{address}",
        site="https://lichess.example/broadcast/secret",
        problem=f"{address} cannot be read",
        dispute=f"{other} has 12. Nf3",
    )
    world.held["g1"] = held
    feeds = (
        FeedHealth(address, "retrying", f"{address}: no such file"),
        FeedHealth(
            "broker secret.example:1883",
            "retrying",
            "secret.example refused",
            part=True,
        ),
    )
    engines = EngineHealth(
        problem=f"{address} is missing", human=HumanHealth(problem=address)
    )
    selected = StreamFilter(visibility=sight)
    limited = FilteredReader(world, selected)
    detail = limited.game("g1")
    assert detail is not None
    told = [
        *(
            redact(each, sight)
            for each in (held, view_of(held), GameMessage(view_of(held)))
        ),
        redact(HealthMessage(feeds, engines), sight),
        snapshot(world, selected),
        *limited.games(),
        detail,
        *redact_sources(feeds, sight),
    ]
    said = [*map(wire.encode, told), write_game(detail).encode()]
    assert not [each for each in said if b"secret" in each]
    arbiter = redact(held, Visibility.ARBITER)
    assert (arbiter.feed, arbiter.url) == (address, held.url)


@pytest.mark.parametrize("name", ["director", "notifications"])
def test_of_a_producers_part_in_trouble_arbiters_alone_hear(name: str) -> None:
    part = FeedHealth(name, "retrying", "OBS cannot be reached", part=True)
    feeds = (FeedHealth("demo", "live"), part)
    health = HealthMessage(feeds, EngineHealth())
    assert redact(health, Visibility.PUBLIC).feeds == feeds[:1]
    assert redact(health, Visibility.ARBITER).feeds == feeds
    # A source is one whatever its name is.
    source = FeedHealth(name, "retrying", "gone")
    assert redact(
        HealthMessage((source,), EngineHealth()), Visibility.PUBLIC
    ).feeds == (FeedHealth("source", "retrying"),)


@pytest.mark.parametrize("sight", Visibility)
def test_a_seen_state_says_what_its_snapshot_says(sight: Visibility) -> None:
    world = World(8, steps=200)
    selected = StreamFilter(events=frozenset({"open a"}), visibility=sight)
    assert snapshot(FilteredReader(world, selected)) == redact(
        snapshot(world, selected), min(sight, Visibility.PUBLIC)
    )


def view(game: str = "g1") -> GameView:
    (message,) = World(1).appear(game)
    assert isinstance(message, GameMessage)
    return message.game


def test_order_repetition_and_case_make_no_other_filter() -> None:
    names = [
        ("game", "a"),
        ("game", "b"),
        ("player", "Ding,  LIREN"),
        ("detail", "brief"),
    ]
    one = parse_filter(names)
    other = parse_filter(
        [*reversed(names), ("game", "a"), ("player", "ding, liren"), ("since", "4")]
    )
    assert one == other
    assert hash(one) == hash(other)
    assert parse_filter([]) == EVERYTHING


def test_kinds_must_all_hold_and_within_a_kind_any() -> None:
    game = view()
    name = fold_name(game.white.name)
    assert EVERYTHING.has_game(game)
    assert StreamFilter(games=frozenset({"g1", "x"})).has_game(game)
    assert StreamFilter(
        players=frozenset({name, "x"}), events=frozenset({fold_name(game.event)})
    ).has_game(game)
    assert not StreamFilter(
        players=frozenset({name}), events=frozenset({"x"})
    ).has_game(game)
    assert not StreamFilter(games=frozenset({"x"})).has_game(game)


def test_a_board_is_selected_by_its_number() -> None:
    wanted = parse_filter([("board", "3"), ("board", " 12 ")])
    assert wanted.is_narrow
    assert wanted.has_game(replace(view(), board=12))
    assert not wanted.has_game(replace(view(), board=1))
    assert not wanted.has_game(replace(view(), board=None))


@pytest.mark.parametrize(
    "query",
    [
        [("game", "")],
        [("player", "  ")],
        [("detail", "move")],
        [("event", "x" * 201)],
        [("game", str(number)) for number in range(65)],
    ],
)
def test_a_senseless_filter_is_refused_in_one_line(
    query: list[tuple[str, str]],
) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(query)
    assert "\n" not in str(refused.value)
