"""live.watch.story_desk: which moments stand, and that messages say the same."""

from random import Random

import msgspec
import pytest

from live.messages.alerts import Alert
from live.messages.figures import Curves, GameDetail, view_of
from live.messages.from_sources import Player
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    MomentMessage,
    MoveMessage,
    ScoreMessage,
)
from live.messages.values import GameId
from live.watch.story_desk import MOST, GameStory, StoryDesk
from tests.watch.games import late as game
from tests.watch.games import ply, point


class Event:
    """Games, their desk, and what a subscriber holds of it."""

    def __init__(self) -> None:
        self.doubted: set[GameId] = set()
        self.desk = StoryDesk(self.doubted.__contains__)
        self.games: dict[GameId, GameDetail] = {}
        self.held: dict[str, Moment] = {}

    def send(self, changes: list[Change], now_s: float = 0.0) -> None:
        self.desk.follow(changes, now_s)
        for change in changes:
            if isinstance(change, MoveMessage):
                self._drop(change.game, change.ply)
            elif isinstance(change, GoneMessage):
                self._drop(change.game, 0)

    def _drop(self, id: GameId, ply: int) -> None:
        self.held = {
            key: each
            for key, each in self.held.items()
            if each.game != id or each.ply < ply
        }

    def show(self, shown: GameDetail, now_s: float = 0.0) -> None:
        """The game is like this now: sent as far as it differs."""
        before = self.games.get(shown.id)
        old = before.plies if before else ()
        same = 0
        while (
            same < min(len(old), len(shown.plies))
            and old[same].uci == shown.plies[same].uci
        ):
            same += 1
        changes: list[Change] = [GameMessage(view_of(shown))]
        if same < len(old):
            changes.append(MoveMessage(shown.id, same + 1, None))
        changes += [
            MoveMessage(shown.id, each.ply, each) for each in shown.plies[same:]
        ]
        changes += [ScoreMessage(shown.id, each) for each in shown.plies]
        self.games[shown.id] = shown
        self.send(changes, now_s)

    def remove_game(self, id: GameId) -> None:
        self.games.pop(id, None)
        self.send([GoneMessage(id)])

    def look(self) -> list[MomentMessage]:
        messages = []
        while self.desk.has_work:
            messages += self.desk.examine_next(self.games.get)
        for message in messages:
            if message.holds:
                self.held[message.moment.id] = message.moment
            else:
                del self.held[message.moment.id]
        assert [self.held[id] for id in sorted(self.held)] == self.desk.moments()
        return messages

    def kinds(self) -> list[str]:
        return [each.kind for each in self.desk.moments()]


@pytest.fixture
def event() -> Event:
    return Event()


TURNED = [0.5, 0.5, 0.1, 0.1]


def test_a_moment_is_told_at_once_and_confirmed_with_the_time_its_move_was_seen(
    event: Event,
) -> None:
    event.show(game(TURNED[:2]), 10.0)
    event.show(game(TURNED[:3]), 20.0)
    (card,) = event.look()
    assert [each.name for each in card.moment.figures] == ["before", "after", "open"]
    event.show(game(TURNED), 30.0)
    (message,) = event.look()
    assert (message.moment.kind, message.moment.at_s, message.moment.ply) == (
        "turn",
        20.0,
        3,
    )
    assert [each.name for each in message.moment.figures] == ["before", "after"]
    assert message.moment.id == card.moment.id
    event.show(game(TURNED), 40.0)
    assert event.look() == []


def test_a_reply_that_gives_it_back_completes_the_card(event: Event) -> None:
    event.show(game(TURNED[:2]), 10.0)
    event.show(game(TURNED[:3]), 20.0)
    (card,) = event.look()
    event.show(game([*TURNED[:3], 0.5]), 30.0)
    messages = [(each.moment.kind, each.holds) for each in event.look()]
    assert (card.moment.kind, messages) == ("turn", [("turn", False), ("missed", True)])


def test_a_doubted_result_makes_no_moment_and_takes_back_those_it_made() -> None:
    about = {
        "id": "result:g",
        "kind": "result",
        "severity": "look",
        "text": "",
        "advice": "",
    }
    alert = msgspec.convert({**about, "game": "g", "first_seen_s": 0.0}, Alert)
    event, both = Event(), {"upset", "comeback"}
    weaker, lost = Player("Adams, Ann", elo=2200), [0.5, 0.5, *[0.05] * 8]
    event.show(game(lost, result="1-0", white=weaker))
    event.look()
    assert both <= set(event.kinds())
    # The doubt comes later: the engine had not looked at the last position.
    event.doubted.add("g")
    event.send([AlertMessage(alert)])
    assert {
        message.moment.kind for message in event.look() if not message.holds
    } >= both
    assert not both & set(event.kinds())
    # And goes: a flag had fallen.
    event.doubted.clear()
    event.send([AlertMessage(msgspec.structs.replace(alert, cleared_s=9.0))])
    event.look()
    assert both <= set(event.kinds())


def test_a_moment_has_its_time_where_its_move_was_seen() -> None:
    """Also in a game that was taken up in its middle; of what came at once none is
    known.
    """
    past = [0.5] * 4
    for shown, at_s in (
        ([(past, 10.0), ([*past, 0.1], 20.0), ([*past, 0.1, 0.1], 30.0)], 20.0),
        ([(TURNED, 10.0)], None),
    ):
        event = Event()
        for wins, now_s in shown:
            event.show(game(wins), now_s)
        assert [each.moment.at_s for each in event.look()] == [at_s]


def test_a_takeback_takes_it_back_and_so_does_another_score(event: Event) -> None:
    event.show(game(TURNED))
    event.look()
    event.show(game(TURNED[:2]))
    assert event.kinds() == []
    assert event.look() == []
    event.show(game(TURNED))
    assert event.look()[0].holds
    event.show(game([0.5, 0.5, 0.4, 0.4]))
    (withdrawn,) = event.look()
    assert (withdrawn.holds, withdrawn.moment.kind) == (False, "turn")
    event.remove_game("g")
    assert event.kinds() == []


def test_another_name_words_it_anew(event: Event) -> None:
    event.show(game(TURNED))
    event.look()
    renamed = msgspec.structs.replace(game().white, name="Adler, Ada")
    event.show(game(TURNED, white=renamed))
    (message,) = event.look()
    assert message.moment.text.en.startswith("Adler falls from 50\u00a0%")


def test_whoever_shares_a_family_name_is_told_apart_while_both_play(
    event: Event,
) -> None:
    def first() -> str:
        event.look()
        (moment,) = event.desk.moments()
        return moment.text.en.split(" falls ")[0]

    event.show(game(TURNED))
    assert first() == "Adams"
    for namesake, named in (("Adams, Abe", "Adams, Ann"), ("Adams, Ann", "Adams, A.")):
        event.show(game(id="other", white=Player(namesake), black=Player("Adams, Cy")))
        event.show(game(TURNED))
        assert first() == named
    event.remove_game("other")
    event.show(game(TURNED))
    assert first() == "Adams"


def whole(id: str, level: float, wins: list[float], round: str = "1") -> GameDetail:
    plies = [ply(n, win) for n, win in enumerate(wins, 1)]
    curves = Curves(
        white=(point(len(wins) - 1, 30, level),),
        black=(point(len(wins), 30, level - 1),),
    )
    return game(id=id, plies=plies, curves=curves, result="1/2-1/2", round=round)


QUIET = [0.5] * 60
WILD = [0.5, 0.65] * 30


def test_the_best_and_the_wildest_game_are_told_when_the_round_is_over(
    event: Event,
) -> None:
    for n, level in enumerate((82.0, 90.0, 85.0)):
        event.show(whole(f"g{n}", level, QUIET, f"1.{n}"))
    event.show(game([0.5] * 60, id="g3", round="1.4"))
    assert chosen(event) == {}
    event.show(whole("g3", 81.0, WILD, "1.4"))
    assert chosen(event) == {"best-played": "g1", "wildest": "g3"}
    # A game that turns up later is not over: nothing is the best any more.
    event.show(game([0.5] * 4, id="g4", round="1.5"))
    assert chosen(event) == {}
    event.show(whole("g4", 95.0, QUIET, "1.5"))
    assert chosen(event) == {"best-played": "g4", "wildest": "g3"}
    # Whatever the other moves were, a game that a slip decided was not the best.
    event.show(whole("g4", 95.0, [*[0.5] * 40, *[0.1] * 20], "1.5"))
    assert "best-played" not in chosen(event)


def chosen(event: Event) -> dict[str, str]:
    """Of the games of a round, the best-played and the wildest."""
    event.look()
    kinds = ("best-played", "wildest")
    return {each.kind: each.game for each in event.desk.moments() if each.kind in kinds}


def extremes(event: Event) -> dict[str, tuple[str, int, str | None]]:
    event.look()
    return {
        each.kind: (each.game, each.ply, each.color)
        for each in event.desk.moments()
        if each.kind in ("highest", "lowest")
    }


def test_who_was_furthest_from_the_usual_is_told_when_the_round_is_over(
    event: Event,
) -> None:
    for n, level in enumerate((60.0, 80.0, 30.0)):
        event.show(whole(f"g{n}", level, QUIET))
    event.show(game([0.5] * 60, id="g3"))
    assert extremes(event) == {}
    # Who made few moves is not compared, nor who has no rating.
    few = Curves(white=(point(59, 14, 97.0),), black=(point(60, 30),))
    event.show(game(QUIET, id="g3", curves=few, result="1/2-1/2"))
    assert extremes(event) == {
        "highest": ("g1", 59, "white"),
        "lowest": ("g2", 60, "black"),
    }
    event.show(whole("g3", 10.0, QUIET))
    assert extremes(event) == {
        "highest": ("g1", 59, "white"),
        "lowest": ("g3", 60, "black"),
    }
    # A game goes on after all.
    event.show(game(QUIET, id="g0"))
    assert extremes(event) == {}


def test_the_highest_is_above_what_is_usual_and_the_lowest_below(event: Event) -> None:
    for n in range(4):
        event.show(whole(f"g{n}", 40.0 + n, QUIET))
    assert set(extremes(event)) == {"lowest"}
    for n in range(4):
        event.show(whole(f"g{n}", 60.0 + n, QUIET))
    assert set(extremes(event)) == {"highest"}


def test_the_best_of_the_round_is_told_once(event: Event) -> None:
    event.show(whole("g3", 97.0, QUIET))
    event.look()
    assert ("above", "white") in {
        (each.kind, each.color) for each in event.desk.moments()
    }
    for n in range(3):
        event.show(whole(f"g{n}", 60.0 + n, QUIET))
    event.look()
    kinds = {(each.kind, each.color) for each in event.desk.moments()}
    assert ("highest", "white") in kinds and ("above", "white") not in kinds


def test_the_wildest_game_leads_to_the_move_that_moved_it_most(event: Event) -> None:
    for n in range(3):
        event.show(whole(f"g{n}", 60.0, QUIET))
    event.show(whole("g3", 60.0, [*WILD[:40], 0.32, *WILD[41:]]))
    event.look()
    (wildest,) = (each for each in event.desk.moments() if each.kind == "wildest")
    assert (wildest.game, wildest.ply) == ("g3", 41)


def test_none_is_the_best_while_the_level_of_one_is_not_known(event: Event) -> None:
    for n in range(3):
        event.show(whole(f"g{n}", 85.0 + n, QUIET))
    few = [ply(n) for n in range(1, 11)]
    short = Curves(white=(point(9, 5, 99.0),), black=(point(10, 5, 99.0),))
    event.show(game(id="short", plies=few, curves=short, result="1/2-1/2"))
    assert chosen(event) == {}
    # A forfeit has no level, and nobody asks for it; but it makes no round of four
    # games.
    event.remove_game("short")
    event.show(game(id="forfeit", result="1-0"))
    assert chosen(event) == {}
    event.show(whole("g3", 82.0, QUIET))
    assert chosen(event) == {"best-played": "g2"}
    # A short one is not compared with them, and one without ratings keeps them from it.
    event.show(game(id="short", plies=few, curves=short, result="1/2-1/2"))
    assert chosen(event) == {"best-played": "g2"}
    unrated = Curves(white=(point(59, 30),), black=(point(60, 30),))
    event.show(game(QUIET, id="unrated", curves=unrated, result="1/2-1/2"))
    assert chosen(event) == {}


def test_the_best_is_chosen_anew_when_a_game_goes_or_was_of_another_round(
    event: Event,
) -> None:
    for n in range(5):
        event.show(whole(f"g{n}", 85.0 + n, QUIET))
    event.show(game([0.5] * 4, id="running"))
    event.show(game([0.5] * 4, id="other"))
    assert chosen(event) == {}
    event.remove_game("running")
    event.show(game([0.5] * 4, id="other", round="2"))
    assert chosen(event) == {"best-played": "g4"}
    event.remove_game("g4")
    assert chosen(event) == {"best-played": "g3"}
    event.remove_game("g3")
    assert chosen(event) == {}
    # Where all were played badly, none is the best.
    for n in range(5):
        event.show(whole(f"bad{n}", 70.0 + n, QUIET, "3"))
    assert chosen(event) == {}


def test_the_oldest_make_room_and_do_not_come_back(event: Event) -> None:
    for n in range(MOST + 5):
        event.show(game(TURNED, id=f"g{n:03}", round=str(n)))
    event.look()
    assert len(event.kinds()) == MOST
    event.show(game([*TURNED, 0.1], id="g000", round="0"))
    event.look()
    assert "g000:turn:3" not in {each.id for each in event.desk.moments()}


def test_what_was_past_makes_room_first_and_then_by_its_time(event: Event) -> None:
    seen = [100.0 + n for n in range(MOST - 1)]
    # Newest first: the order in which they come says nothing of their age.
    for at_s in reversed(seen):
        id = f"at{at_s:.0f}"
        event.show(game(TURNED[:2], id=id, round=id), at_s)
        event.show(game(TURNED, id=id, round=id), at_s)
    event.look()
    for n, wins in enumerate((TURNED, [0.5, 0.5, *TURNED])):
        event.show(game(wins, id=f"past{n}", round=f"past{n}"))
    event.look()
    assert len(event.held) == MOST
    assert {id for id in event.held if id.startswith("past")} == {"past1:turn:5"}
    for id in ("new", "newer"):
        event.show(game(TURNED[:2], id=id, round=id), 900.0)
        event.show(game(TURNED, id=id, round=id), 900.0)
    event.look()
    assert {"new:turn:3", "newer:turn:3", "at101:turn:3"} <= event.held.keys()
    assert not {"past1:turn:5", "at100:turn:3"} & event.held.keys()


def test_what_explains_figures_beside_a_result_makes_room_last(event: Event) -> None:
    curves = Curves(
        white=(msgspec.structs.replace(point(3, 20, 50.0), perceived=1900),),
        black=(msgspec.structs.replace(point(4, 20, 50.0), perceived=2100),),
    )
    event.show(game([0.5] * 4, id="odd", result="1-0", curves=curves, round="odd"))
    for n in range(MOST + 5):
        event.show(game(TURNED, id=f"g{n:03}", round=str(n)))
    event.look()
    assert len(event.held) == MOST
    assert "odd:despite:white" in event.held


def test_of_equal_moments_the_same_makes_room_after_a_restart(event: Event) -> None:
    for n in range(MOST):
        event.show(game(TURNED, id=f"g{n:03}", round=str(n)))
    event.look()
    event.games = dict(reversed(event.games.items()))
    restart(event)
    event.show(game(TURNED, id="new", round="new"))
    event.look()
    assert "g000:turn:3" not in event.held


def restart(event: Event, changed: set[GameId] | None = None) -> None:
    """Another desk knows what was remembered by the one before."""
    stories = {
        id: msgspec.msgpack.decode(msgspec.msgpack.encode(story), type=GameStory)
        for id, story in event.desk.unremembered().items()
    }
    event.desk = StoryDesk(event.doubted.__contains__)
    event.desk.restore(map(view_of, event.games.values()), stories, changed or set())


def test_after_a_restart_the_same_stand_and_nothing_is_looked_at(event: Event) -> None:
    for n in range(200):
        for plies in (2, 3, 4):
            event.show(
                game(TURNED[:plies], id=f"g{n:03}", round=str(n // 10)), 100.0 + n
            )
        event.look()
    for n in range(4):
        event.show(whole(f"w{n}", 60.0 + n, QUIET, "best"), 400.0)
    event.look()
    before = event.desk.moments()
    restart(event)
    assert event.desk.moments() == before and not event.desk.has_work
    # What made room does not come back, and the best game of a round is known.
    event.show(game([*TURNED, 0.1], id="g000", round="0"), 500.0)
    event.show(whole("w0", 60.0, QUIET, "best"), 500.0)
    assert event.look() == []


@pytest.mark.parametrize("changed", [set(), {"g"}], ids=["waited", "made anew"])
def test_what_had_changed_before_a_restart_is_looked_at_after_it(
    event: Event, changed: set[GameId]
) -> None:
    for plies in (2, 3, 4):
        event.show(game(TURNED[:plies]), 20.0)
    if not changed:
        event.desk.remember_waiting()
    restart(event, changed)
    (message,) = event.look()
    assert message.moment.at_s == 20.0


def test_a_game_that_was_gone_begins_anew(event: Event) -> None:
    for n in range(MOST + 1):
        event.show(game(TURNED, id=f"g{n:03}", round=str(n)))
    event.look()
    for id in ("g000", "g001"):
        event.remove_game(id)
    event.show(game(TURNED, id="g000", round="0"))
    event.look()
    assert "g000:turn:3" in event.held


def test_whatever_happens_messages_say_what_the_desk_holds(event: Event) -> None:
    random = Random(19)
    for step in range(400):
        id = f"g{random.randrange(5)}"
        if random.random() < 0.05:
            event.remove_game(id)
            continue
        wins = [
            random.choice((0.05, 0.5, 0.5, 0.5, 0.95))
            for _ in range(random.randrange(12))
        ]
        held = event.games.get(id)
        if held is not None and random.random() < 0.6:
            wins = [*(each.win or 0.5 for each in held.plies), random.random()]
        result = random.choice(("*", "*", "1-0", "1/2-1/2"))
        event.show(
            game(wins, id=id, result=result, round=random.choice("12")), float(step)
        )
        if random.random() < 0.5:
            event.look()
    event.look()


@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_which_moves_and_scores_come_does_not_matter(seed: int) -> None:
    random = Random(seed)
    ends = [
        whole(f"g{n}", 40.0 + 12 * n, [*[0.5] * 40, *[level] * 20])
        for n, level in enumerate((0.5, 0.1, 0.9, 0.55))
    ]
    fresh = Event()
    for end in ends:
        fresh.show(end)
    fresh.look()
    event, waiting = Event(), list(ends)
    while waiting:
        end = random.choice(waiting)
        held = event.games.get(end.id)
        played = len(held.plies) if held is not None else 0
        if played == len(end.plies):
            waiting.remove(end)
            event.show(end)
        else:
            plies = end.plies[: played + random.randrange(1, 9)]
            # Some scores are still to come.
            known = [
                each if random.random() < 0.8 else ply(each.ply, None) for each in plies
            ]
            event.show(game(plies=known, id=end.id), 1.0)
        if random.random() < 0.7:
            event.look()
    event.look()
    told = [msgspec.structs.replace(each, at_s=None) for each in event.desk.moments()]
    assert told == fresh.desk.moments()
    assert {"highest", "lowest", "turn"} <= set(fresh.kinds())
