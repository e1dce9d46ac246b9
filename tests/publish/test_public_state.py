"""What the public is shown is what was true one delay ago; what a client holds of it."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from live.catalogue import main_event
from live.config import FeedsConfig
from live.errors import ConfigError
from live.events import (
    Change,
    FeedReport,
    GoneMessage,
    HeartbeatMessage,
    HelloMessage,
    MoveMessage,
    Player,
    PlyView,
    PublicDelay,
    Result,
    SnapshotMessage,
)
from live.publish import wire
from live.publish.pseudonyms import Pseudonyms
from live.publish.public_state import DelayedGames, PublicState
from live.publish.published_state import ClientState, OutOfStep, game_order, snapshot
from live.publish.visibility import Visibility, shown
from live.service.public_delay import settings_delay, trouble
from live.store.journal import Journal
from tests.alerts.replayed_event import Rehearsal, played
from tests.games.told import headed
from tests.publish.world import World
from tests.terminal.sample_boards import detail

DELAY_S = 900.0
NAMES = Pseudonyms(b"a secret")


def redacted(whole: SnapshotMessage) -> SnapshotMessage:
    """A snapshot as the late public is told it, where its other names are ``NAMES``."""
    games = sorted(map(NAMES.redact, whole.games), key=game_order)
    moments = sorted(map(NAMES.redact, whole.moments), key=lambda each: each.id)
    return msgspec.structs.replace(
        whole,
        games=tuple(games),
        moments=tuple(moments),
        players=tuple(map(NAMES.redact, whole.players)),
        feeds=tuple(map(NAMES.redact, whole.feeds)),
    )


def follower(public: PublicState) -> ClientState:
    """A client that takes in all that the public is sent."""
    client = ClientState()
    client.apply(snapshot(public))

    def listener(changes: list[Change]) -> None:
        for change in changes:
            client.apply(change)

    public.listen(listener)
    return client


@pytest.mark.parametrize("seed", range(4))
def test_the_public_and_its_clients_hold_what_the_live_state_held_a_delay_ago(seed: int) -> None:
    world = World(seed)
    now = [0.0]
    public = PublicState(world, delay_s=DELAY_S, pseudonyms=NAMES, clock=lambda: now[0])
    client = follower(public)
    steps = (
        world.move,
        world.appear,
        world.point,
        world.point,
        world.standing,
        world.rerate,
        world.clock,
        world.take_back,
        world.vanish,
        world.moment,
        world.moment,
        world.withdraw,
    )
    held = []
    for _ in range(60):
        # Several steps at once: they are due together.
        for _ in range(world.random.randint(1, 6)):
            public.publish(world.random.choice(steps)())
        held.append((now[0], snapshot(world)))
        now[0] += 30.0
        public.pass_due()
        past = [then for at_s, then in held if at_s <= now[0] - DELAY_S]
        if past:
            seen = shown(client.snapshot(), Visibility.PUBLIC)
            assert snapshot(public) == redacted(past[-1]) == seen
    assert past


class PublishedEvent(Rehearsal):
    """Games played into the real keeper, with a public that hears of them."""

    public: PublicState

    def _published(self, changes: Iterable[Change]) -> None:
        told = list(changes)
        super()._published(told)
        # The state publishes first when it is made, before anybody listens.
        if hasattr(self, "public"):
            self.public.publish(told)


class DelayedEvent(PublishedEvent):
    """With a public that is late."""

    def __init__(self, delayed: DelayedGames) -> None:
        super().__init__()
        self.public = PublicState(
            self.state, delay_s=DELAY_S, delayed=delayed, clock=lambda: self.now_s
        )
        self.client = follower(self.public)

    def shown(self) -> dict[str, tuple[str, int]]:
        """Result and number of moves of each game, as the public has it."""
        views = [self.public.game(view.id) for view in self.public.games()]
        assert snapshot(self.public) == shown(self.client.snapshot(), Visibility.PUBLIC)
        return {view.round: (view.result, len(view.plies)) for view in views if view is not None}


def reported(
    service: DelayedEvent, round: str, plies: int, result: Result = "*", board: int | None = None
) -> None:
    """A game of that round; its board is that of its round unless it is given."""
    line = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"][:plies]
    headers: Any = {"board": board or int(round.replace(".", "")), "round": round}
    game = played(" ".join(line), result=result, white=Player(f"White {board or round}"), **headers)
    service.report(FeedReport("hall", (game,)))


def test_the_delay_ends_with_the_game_where_that_is_wished() -> None:
    usual = DelayedEvent(DelayedGames())
    reported(usual, "1.1", 4, "1-0")
    assert usual.shown() == {}
    service = DelayedEvent(DelayedGames(finished=False))
    reported(service, "1.1", 4)
    reported(service, "1.2", 3)
    assert service.shown() == {}
    reported(service, "1.1", 5, "1-0")
    assert service.shown() == {"1.1": ("1-0", 5)}
    assert service.public.held().held_boards == 1 and service.public.held().held_moves == 3
    # A result that is withdrawn is shown no sooner than a move.
    reported(service, "1.1", 6)
    assert service.shown() == {"1.1": ("1-0", 5)}
    service.now_s += DELAY_S
    service.public.pass_due()
    assert service.shown() == {"1.1": ("*", 6), "1.2": ("*", 3)}
    assert service.public.held().held_boards == service.public.held().held_moves == 0


def test_rounds_without_a_delay_are_shown_at_once() -> None:
    service = DelayedEvent(DelayedGames(rounds=("2",)))
    reported(service, "1.1", 4)
    reported(service, "2.1", 4)
    assert service.shown() == {"1.1": ("*", 4)}
    reported(service, "2.1", 6, "1-0")
    assert service.shown() == {"1.1": ("*", 4)}
    assert not list(service.public.players()), "what rests on delayed games waits for them"
    service.now_s += DELAY_S
    service.public.pass_due()
    assert service.shown() == {"1.1": ("*", 4), "2.1": ("1-0", 6)}


@pytest.mark.parametrize("said", ["8", "08", "Round 8", "08.5", "8.2"])
@pytest.mark.parametrize("of_game", ["8", "Round 8", "08.5", "8.12"])
def test_a_round_is_one_however_setting_and_source_write_it(said: str, of_game: str) -> None:
    service = DelayedEvent(DelayedGames(rounds=(said,)))
    reported(service, "7.1", 4)
    reported(service, of_game, 4, board=40)
    assert service.shown() == {"7.1": ("*", 4)}
    held = service.public.held()
    assert (held.late_boards, held.running_boards, held.unmatched) == (1, 2, "")


@pytest.mark.parametrize("of_game", ["?", "-", "", "Final", "2-4"])
def test_a_game_without_a_clear_round_is_held_back(of_game: str) -> None:
    service = DelayedEvent(DelayedGames(rounds=("8",)))
    reported(service, "8.1", 4)
    reported(service, of_game, 4, board=40)
    assert service.shown() == {}


def test_rounds_that_nobody_plays_hold_everything_back_and_that_is_said() -> None:
    service = DelayedEvent(DelayedGames(rounds=("9", "10")))
    assert service.public.held().unmatched == "", "there is no board that it could be wrong about"
    reported(service, "8.1", 4)
    reported(service, "7.1", 3)
    assert service.shown() == {}
    held = service.public.held()
    assert (held.late_boards, held.running_boards, held.unmatched) == (2, 2, "9, 10")
    assert "9, 10" in trouble(held) and "every board is held back" in trouble(held)
    # The round that was meant begins: boards of other rounds are held back no longer.
    reported(service, "9.1", 1)
    assert service.shown() == {"8.1": ("*", 4), "7.1": ("*", 3)}
    assert service.public.held().unmatched == ""
    reported(service, "8.1", 5)
    assert service.shown()["8.1"] == ("*", 5)


def test_who_waits_is_counted_for_the_public_as_the_public_knows_the_boards() -> None:
    service = DelayedEvent(DelayedGames(rounds=("2",)))
    reported(service, "1.1", 4)
    reported(service, "2.1", 4)
    seen = service.public.held(Visibility.PUBLIC)
    assert (seen.late_boards, seen.running_boards) == (0, 1)
    service.now_s += DELAY_S
    service.public.pass_due()
    seen = service.public.held(Visibility.PUBLIC)
    assert (seen.late_boards, seen.running_boards, seen.held_moves) == (1, 2, 0)


def test_rounds_changed_while_it_runs_hold_from_the_next_move_on() -> None:
    feeds = FeedsConfig(delay_s=DELAY_S, delay_rounds=("2",))
    service = DelayedEvent(DelayedGames.of(feeds))
    reported(service, "1.1", 4)
    reported(service, "2.1", 4)
    assert service.shown() == {"1.1": ("*", 4)}
    for rounds in ((), ("1", "2")):
        other = msgspec.structs.replace(feeds, delay_rounds=rounds)
        settings_delay(service.public, Journal(), feeds, other)
        reported(service, "1.1", 5 + len(rounds))
        assert service.shown() == {"1.1": ("*", 4)}, "nothing is taken back, nothing is added"
    # And the other way round what waits is shown.
    one = msgspec.structs.replace(feeds, delay_rounds=("1",))
    settings_delay(service.public, Journal(), feeds, one)
    assert service.shown() == {"1.1": ("*", 4), "2.1": ("*", 4)}
    over = msgspec.structs.replace(feeds, delay_rounds=("1", "2"), delay_finished=False)
    settings_delay(service.public, Journal(), feeds, over)
    reported(service, "2.1", 5, "1-0")
    assert service.shown() == {"1.1": ("*", 4), "2.1": ("1-0", 5)}


def test_an_entry_that_is_no_round_is_refused_with_the_remedy() -> None:
    with pytest.raises(ConfigError, match=r"'Final' is no round.*\[\"7\", \"8\"\]"):
        DelayedGames.of(FeedsConfig(delay_rounds=("8", "Final")))


def test_games_without_a_delay_tell_nothing_of_the_engine_rating_that_waits() -> None:
    world = World(2, "g1", plies=4)
    now = [0.0]
    world.held["g1"] = msgspec.structs.replace(world.held["g1"], result="1-0")
    delayed = DelayedGames(finished=False)
    public = PublicState(
        world, delay_s=DELAY_S, delayed=delayed, pseudonyms=NAMES, clock=lambda: now[0]
    )
    client = follower(public)
    public_rating = public.engine().rating
    while world.engine().rating == public_rating:
        public.publish(world.rerate())
    for _ in range(8):
        public.publish(world.point())
    for held in (snapshot(public), client.snapshot()):
        assert held.engine.rating == public_rating
        (game,) = held.games
        assert game.curves == world.held["g1"].curves
    now[0] += DELAY_S
    public.pass_due()
    assert snapshot(public) == client.snapshot() == redacted(snapshot(world))


def test_a_game_waits_whose_figures_rest_on_ratings_that_wait() -> None:
    """Of two players without a rating the level is that of all rated players."""
    service = DelayedEvent(DelayedGames(rounds=("7",)))
    reported(service, "7.1", 4)
    guests: Any = {"white": Player("Guest"), "black": Player("Visitor")}
    game = played("e4 e5", board=2, round="6.1", **guests)
    service.report(FeedReport("hall", (game,)))
    assert service.shown() == {}
    rated = headed(game, white=Player("Guest", elo=1900))
    service.report(FeedReport("hall", (rated,)))
    assert service.shown() == {"6.1": ("*", 2)}


def test_boards_of_one_round_stand_in_their_order_whatever_their_events_are_called() -> None:
    # Games of a lichess broadcast, whose events are named after their players.
    games = [
        detail(id, board, white=white, black="B", event=f"Round {round}: {white} - B", round=round)
        for id, round, board, white in (
            *(("a", "10.2", 2, "Abel"), ("b", "10.1", 1, "Cid")),
            *(("c", "2.10", 10, "Eve"), ("d", "2.9", 9, "Gus")),
        )
    ]
    assert [game.id for game in sorted(games, key=game_order)] == ["d", "c", "b", "a"]
    # An event that is no pairing keeps its name.
    assert main_event(detail(event="Open - A")) == "Open - A"
    nobody = detail(white="", black="", event="Open - A")
    assert nobody.white == Player("", elo=2459, title="GM") and main_event(nobody) == "Open - A"


def test_what_cannot_follow_is_refused() -> None:
    held = ClientState()
    with pytest.raises(OutOfStep):
        held.snapshot()
    world = World(1, "g1")
    held.apply(snapshot(world))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g1", 2, PlyView(2, "d4", "d2d4")))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g2", 1, None))
    # Who is gone is gone, however often that is said.
    for _ in range(2):
        held.apply(GoneMessage("g1"))
    assert held.snapshot().games == ()


def test_numbers_must_follow_each_other() -> None:
    world = World(1)
    client_state = ClientState()

    def receive(message: HelloMessage | HeartbeatMessage | GoneMessage, seq: int) -> None:
        client_state.receive(wire.number(wire.encode(message), seq))

    late = PublicDelay(30.0)
    hello = HelloMessage(1, "e", world.info, "same-search", "0", public_delay=late)
    receive(hello, 4)
    assert client_state.public_delay == late
    with pytest.raises(OutOfStep):
        receive(GoneMessage("x"), 5)  # no snapshot yet
    client_state.receive(wire.number(wire.encode(snapshot(world)), 5))
    receive(GoneMessage("x"), 6)
    receive(HeartbeatMessage(PublicDelay(60.0)), 6)
    receive(HeartbeatMessage(), 6)  # a broker's
    assert client_state.public_delay == PublicDelay(60.0)
    for seq in (6, 8):
        with pytest.raises(OutOfStep):
            receive(GoneMessage("x"), seq)
    for seq in (5, 7):
        with pytest.raises(OutOfStep):
            receive(HeartbeatMessage(), seq)
    receive(msgspec.structs.replace(hello, resumed=True), 6)
    with pytest.raises(OutOfStep):
        receive(msgspec.structs.replace(hello, resumed=True), 5)
