"""Choices among several lines, live: figures where a table fits, reasons where none does."""

from __future__ import annotations

import msgspec
import pytest

from live.engine.search import SearchOptions
from live.events import Player
from live.games.game import HeadersChanged, NewGame, TakenBack
from live.ledger.event_ledger import EventLedger
from live.ledger.measure import Measure
from live.ledger.rate_game import NO_TURN, UNRATED
from live.ratings.intrinsic_rating import load_table
from tests.ledger.arithmetic import answer, game, line

TABLE = load_table("ten-lines")
MEASURE = Measure("same-search", search_options=SearchOptions(lines=10), table=TABLE, table_note="")
MOVES = line(*(7 * n + 3 for n in range(60)))


def ledger(measure: Measure = MEASURE) -> EventLedger:
    return EventLedger(
        measure=measure,
        engine_name=TABLE.engine,
        limit=TABLE.limit,
        fixed_rating=2200,
        stored_rating=2200,
    )


def follow(held: EventLedger, *steps: object) -> None:
    for step in steps:
        requests = list(held.apply(step).requests)  # type: ignore[arg-type]
        while requests:
            request = requests.pop()
            requests += held.searched(request.id, answer(request.search)).requests


@pytest.mark.slow
def test_each_side_and_each_player_has_the_figures_with_their_interval() -> None:
    held = ledger()
    follow(held, NewGame(game(moves=MOVES)))
    detail = held.game("g1")
    assert detail is not None
    for side, view in zip(
        (detail.methods.white, detail.methods.black), held.players(), strict=True
    ):
        found = side.intrinsic
        assert found is not None
        assert found.turns > 5
        assert found.table == "ten-lines"
        assert 0 <= found.move_match <= 1
        assert found.average_difference >= 0
        assert found.match_z is not None and found.difference_z is not None
        assert found.projected_match is not None
        assert "accuses nobody" in found.note
        # Players who pick at random are weaker than any in the table, or below its end.
        assert found.rating is None or found.low is None or found.low < found.rating
        assert ("intrinsic_rating" in side.missing) == (found.rating is None)
        # One game: the player's figures are those of the game.
        assert view.methods.intrinsic == found


def test_an_unrated_player_has_no_z_and_the_reason_stands_there() -> None:
    held = ledger()
    follow(held, NewGame(game(moves=MOVES, white=Player("Nobody"))))
    detail = held.game("g1")
    assert detail is not None
    white = detail.methods.white
    assert white.intrinsic is not None
    assert (white.intrinsic.match_z, white.missing["intrinsic_z"]) == (None, UNRATED)
    rated = game(moves=MOVES, white=Player("Nobody", elo=1500)).headers
    follow(held, HeadersChanged("g1", rated))
    detail = held.game("g1")
    assert detail is not None
    assert detail.methods.white.intrinsic is not None
    assert detail.methods.white.intrinsic.match_z is not None


def test_what_is_missing_is_null_with_its_reason() -> None:
    off = ledger(Measure("same-search"))
    follow(off, NewGame(game(moves=MOVES)))
    methods = off.players()[0].methods
    assert (methods.intrinsic, methods.missing["intrinsic"]) == (
        None,
        "Multi-PV is off ([engine] multipv)",
    )
    held = ledger()
    follow(held, NewGame(game(moves=MOVES[:10])))
    methods = held.players()[0].methods
    assert (methods.intrinsic, methods.missing["intrinsic"]) == (None, NO_TURN)


@pytest.mark.slow
def test_a_move_taken_back_leaves_no_trace() -> None:
    held, calm = ledger(), ledger()
    follow(held, NewGame(game(moves=MOVES)), TakenBack("g1", 40))
    follow(calm, NewGame(game(moves=MOVES[:40])))
    one, other = held.game("g1"), calm.game("g1")
    assert one is not None and other is not None
    assert one.methods == other.methods
    assert [msgspec.json.encode(view) for view in held.players()] == [
        msgspec.json.encode(view) for view in calm.players()
    ]
