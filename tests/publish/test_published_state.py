"""The order of games, as everybody is told them.

Each message's effect on what a client holds, one by one.
"""

from __future__ import annotations

import msgspec
import pytest

from live.events import (
    ClockMessage,
    CurvePoint,
    EngineMessage,
    GameDetail,
    GameMessage,
    GoneMessage,
    HeartbeatMessage,
    HelloMessage,
    MoveMessage,
    Player,
    PlyView,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.ledger.roster import main_event
from live.publish import wire
from live.publish.published_state import ClientState, OutOfStep, game_order, snapshot
from tests.publish.world import World
from tests.terminal.sample_boards import detail


def paired(
    id: str, round: str, board: int | None, white: str, black: str, result: str = "*"
) -> GameDetail:
    """A game of a lichess broadcast, whose event is named after its players."""
    event = f"Round {round.split('.')[0]}: {white} - {black}"
    return detail(id, board, white=white, black=black, event=event, round=round, result=result)


def test_boards_of_one_round_stand_in_their_order_whatever_their_events_are_called() -> None:
    games = [
        paired("a", "10.2", 2, "Abel", "Bo"),
        paired("b", "10.1", 1, "Cid", "Dee"),
        paired("c", "2.10", 10, "Eve", "Fay"),
        paired("d", "2.9", 9, "Gus", "Hal"),
    ]
    assert [game.id for game in sorted(games, key=game_order)] == ["d", "c", "b", "a"]


def test_an_event_that_is_no_pairing_keeps_its_name() -> None:
    assert main_event(detail(event="Open - A")) == "Open - A"
    nobody = detail(white="", black="", event="Open - A")
    assert nobody.white == Player("", elo=2459, title="GM") and main_event(nobody) == "Open - A"


def point(ply: int, difference: float | None = 1.5) -> CurvePoint:
    return CurvePoint(
        ply, ply, ply, 0, None, None, None, None, None, None, 0.5, difference, None, 0.1
    )


@pytest.fixture
def client_state() -> ClientState:
    world = World(1)
    world.appear("g1")
    for _ in range(4):
        world.move("g1")
    made = ClientState()
    made.apply(snapshot(world))
    for color in ("white", "black"):
        for ply in (1, 3):
            made.apply(PointMessage("g1", color, point(ply)))
    return made


def plies(client_state: ClientState) -> list[int]:
    return [ply.ply for ply in client_state.snapshot().games[0].plies]


def points(client_state: ClientState) -> tuple[list[int], list[int]]:
    curves = client_state.snapshot().games[0].curves
    return [each.ply for each in curves.white], [each.ply for each in curves.black]


def test_a_move_drops_what_stood_there_and_after(client_state: ClientState) -> None:
    client_state.apply(MoveMessage("g1", 3, PlyView(3, "d4", "d2d4")))
    assert plies(client_state) == [1, 2, 3]
    assert client_state.snapshot().games[0].plies[2].san == "d4"
    assert points(client_state) == ([1], [1])


def test_a_takeback_appends_nothing(client_state: ClientState) -> None:
    client_state.apply(MoveMessage("g1", 2, None))
    assert plies(client_state) == [1]
    assert points(client_state) == ([1], [1])


def test_a_clock_changes_nothing_else(client_state: ClientState) -> None:
    before = client_state.snapshot().games[0].plies[1]
    client_state.apply(ClockMessage("g1", 2, 9.5, None))
    after = client_state.snapshot().games[0].plies[1]
    assert (after.clock_s, after.spent_s) == (9.5, None)
    assert msgspec.structs.replace(after, clock_s=before.clock_s, spent_s=before.spent_s) == before


def test_a_score_replaces_one_ply(client_state: ClientState) -> None:
    scored = PlyView(2, "e5", "e7e5", score_cp=30, final=True)
    client_state.apply(ScoreMessage("g1", scored))
    assert client_state.snapshot().games[0].plies[1] == scored
    assert plies(client_state) == [1, 2, 3, 4]
    assert points(client_state) == ([1, 3], [1, 3])


def test_a_point_drops_later_points_of_its_colour_only(client_state: ClientState) -> None:
    client_state.apply(PointMessage("g1", "white", point(2)))
    assert points(client_state) == ([1, 2], [1, 3])


def test_a_game_message_keeps_plies_and_curves(client_state: ClientState) -> None:
    world = World(2)
    (message,) = world.appear("g1")
    assert isinstance(message, GameMessage)
    client_state.apply(message)
    assert client_state.snapshot().games[0].event == message.game.event
    assert plies(client_state) == [1, 2, 3, 4]
    assert points(client_state) == ([1, 3], [1, 3])


def test_a_new_engine_rating_moves_nothing_but_the_engine(client_state: ClientState) -> None:
    before = client_state.snapshot()
    engine = msgspec.structs.replace(before.engine, rating=1999)
    client_state.apply(EngineMessage(engine))
    held = client_state.snapshot()
    assert held.engine == engine
    assert held.games == before.games and held.players == before.players


def test_a_game_that_is_gone_is_forgotten_once_and_for_all(client_state: ClientState) -> None:
    client_state.apply(GoneMessage("g1"))
    client_state.apply(GoneMessage("g1"))
    assert client_state.snapshot().games == ()


def test_a_standing_without_games_forgets_the_player(client_state: ClientState) -> None:
    (standing,) = World(3).standing()
    assert isinstance(standing, StandingMessage)
    client_state.apply(standing)
    assert len(client_state.snapshot().players) == 1
    empty = msgspec.structs.replace(standing.player, games=0, moves=0)
    client_state.apply(StandingMessage(empty))
    assert client_state.snapshot().players == ()


def test_what_cannot_follow_is_refused(client_state: ClientState) -> None:
    with pytest.raises(OutOfStep):
        client_state.apply(MoveMessage("g1", 6, PlyView(6, "d4", "d2d4")))
    with pytest.raises(OutOfStep):
        client_state.apply(MoveMessage("g2", 1, None))
    with pytest.raises(OutOfStep):
        ClientState().snapshot()


def test_numbers_must_follow_each_other() -> None:
    world = World(1)
    client_state = ClientState()

    def receive(message: HelloMessage | HeartbeatMessage | GoneMessage, seq: int) -> None:
        client_state.receive(wire.number(wire.encode(message), seq))

    hello = HelloMessage(1, "e", world.info, "same-search", "0")
    receive(hello, 4)
    with pytest.raises(OutOfStep):
        receive(GoneMessage("x"), 5)  # no snapshot yet
    client_state.receive(wire.number(wire.encode(snapshot(world)), 5))
    receive(GoneMessage("x"), 6)
    receive(HeartbeatMessage(), 6)
    for seq in (6, 8):
        with pytest.raises(OutOfStep):
            receive(GoneMessage("x"), seq)
    for seq in (5, 7):
        with pytest.raises(OutOfStep):
            receive(HeartbeatMessage(), seq)
    receive(msgspec.structs.replace(hello, resumed=True), 6)
    with pytest.raises(OutOfStep):
        receive(msgspec.structs.replace(hello, resumed=True), 5)
