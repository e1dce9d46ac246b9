"""One game that two sources carry: shown once, with both; when one falls silent, from
the other.
"""

import chess
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.games.game import (
    CarriersChanged,
    Game,
    GameGone,
    NewGame,
    Step,
    TailReplaced,
    TakenBack,
    apply_step,
)
from live.games.game_index import GameIndex
from live.games.same_game import (
    SAME_GAME_PLIES,
    is_another_line,
    is_same_game_in_two_sources,
)
from live.games.shared_games import SharedGames, Shown, describe_dispute
from live.messages.from_sources import NO_LONGER, GameReport, Headers, Player, Result
from tests.games.short_reports import line, make_game, report

SPANISH = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 c4 c6"
)
SLAV = (
    "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5 e3 e6 Bxc4 Bb4 O-O Nbd7 Qe2 Bg6 e4 O-O Bd3 Bh5"
)


class Sources:
    """What several sources report, and what is shown of it, kept by its steps alone.
    Each feed of ``first`` begins with this game.
    """

    def __init__(self, **first: GameReport) -> None:
        self.index = GameIndex()
        self.shared = SharedGames(self.index)
        self.shown: dict[str, Game] = {}
        self.steps: list[Step] = []
        for feed, game in first.items():
            self.report(feed, game)

    def report(self, feed: str, *games: GameReport, complete: bool = True) -> None:
        told = report(*games, feed=feed, complete=complete)
        for _, shown in self.shared.apply_report(told):
            self.take(*shown)

    def take(self, *shown: Shown) -> None:
        for step, game in shown:
            self.steps.append(step)
            if isinstance(step, GameGone):
                del self.shown[step.id]
                assert game is None
            elif isinstance(step, NewGame):
                assert step.id not in self.shown
                self.shown[step.id] = step.game
            else:
                self.shown[step.id] = apply_step(self.shown[step.id], step)
                assert self.shown[step.id] == game
        assert all(self.shared.get(id) == game for id, game in self.shown.items())

    @property
    def one(self) -> Game:
        (game,) = self.shown.values()
        return game

    @property
    def moves(self) -> str:
        return " ".join(move.san for move in self.one.moves)


def first(sans: str, plies: int) -> str:
    return " ".join(sans.split()[:plies])


def test_a_game_from_two_sources_is_one_with_both_of_them() -> None:
    sources = Sources(a=make_game(sans="e4"), b=make_game(sans="e4 e5"))
    assert sources.one.feed == "a" and sources.one.also == ("b",)
    assert sources.moves == "e4 e5", "the one that is ahead"
    assert not any(isinstance(step, GameGone) for step in sources.steps)


def test_when_one_source_dies_the_other_carries_on_whichever_it_is() -> None:
    for living in "ab":
        sources = Sources()
        for feed in "ab":
            sources.report(feed, make_game(sans="e4 e5"))
        sources.report(living, make_game(sans=SPANISH, result="1-0"))
        assert sources.moves == SPANISH and sources.one.result == "1-0"
        assert not sources.one.dispute


def test_a_source_that_has_lost_the_game_leaves_it_to_the_other() -> None:
    sources = Sources(a=make_game(sans="e4 e5"), b=make_game(sans="e4 e5"))
    sources.report("a", make_game("Cleo-Dora"))
    game = next(game for game in sources.shown.values() if game.also)
    assert game.problem is None and len(game.moves) == 2
    sources.report("b", make_game("Cleo-Dora"))
    game = next(game for game in sources.shown.values() if game.moves)
    assert game.problem is not None and game.problem.startswith(NO_LONGER)


def test_games_without_a_common_event_become_one_when_the_moves_prove_it() -> None:
    sources = Sources()
    for plies in (2, 12, 21):
        sources.report("a", make_game(sans=first(SPANISH, plies)))
        sources.report("b", make_game(sans=first(SPANISH, plies), event=""))
        assert len(sources.shown) == (1 if plies == 21 else 2)
    assert sources.one.also == ("b",)


def test_two_games_of_the_same_players_are_not_merged() -> None:
    sources = Sources()
    sources.report("a", make_game(sans=SPANISH, result="1-0"), make_game(sans="d4"))
    sources.report("b", make_game(sans="e4 e5"))
    assert len(sources.shown) == 3, "the third may be a game of its own"
    sources.report("b", make_game(sans=SPANISH, result="1-0"), make_game(sans="d4 d5"))
    held = sorted((len(game.moves), game.also) for game in sources.shown.values())
    assert (22, ("b",)) in held, "and is known by its moves"


def test_games_whose_moves_turn_out_others_are_shown_apart_again() -> None:
    sources = Sources(a=make_game(), b=make_game())
    assert sources.one.also == ("b",)
    sources.report("a", make_game(sans=SPANISH))
    sources.report("b", make_game(sans=SLAV))
    assert {game.moves[0].san for game in sources.shown.values()} == {"e4", "d4"}
    assert not any(game.also or game.dispute for game in sources.shown.values())


def test_a_contradiction_is_shown_and_goes_when_it_is_mended() -> None:
    sources = Sources(
        a=make_game(sans=first(SPANISH, 12)), b=make_game(sans=first(SPANISH, 4))
    )
    wrong = first(SPANISH, 7).removesuffix("Ba4") + "Bxc6 " + "dxc6 O-O f6 d4"
    sources.report("b", make_game(sans=wrong))
    assert sources.one.dispute == "4. Ba4 in a, but Bxc6 in b"
    assert sources.moves == first(SPANISH, 12), "the first source's"
    sources.report("b", make_game(sans=first(SPANISH, 12)))
    assert sources.one.dispute == ""


def test_of_lines_that_contradict_each_other_the_longer_one_is_shown() -> None:
    other = first(SPANISH, 13) + " O-O a4 Bb7 d3 d6 Nbd2 Na5 Ba2 c5"
    sources = Sources()

    def find_shown_source(of_a: int, of_b: int) -> str:
        sources.report("a", make_game(sans=first(other, of_a)))
        sources.report("b", make_game(sans=first(SPANISH, of_b)))
        return "a" if sources.one.moves[13].san == "O-O" else "b"

    assert [
        find_shown_source(14, 13),
        find_shown_source(14, 14),
        find_shown_source(14, 15),
    ] == ["a", "a", "b"]
    assert sources.one.dispute == "7... d6 in b, but O-O in a"
    # Of lines that are equally long that of the first source.
    assert [
        find_shown_source(15, 15),
        find_shown_source(15, 16),
        find_shown_source(17, 16),
    ] == ["a", "b", "a"]
    assert sources.one.dispute == "7... O-O in a, but d6 in b"


def test_sources_that_are_ahead_in_turn_take_no_move_back() -> None:
    other = first(SPANISH, 13) + " O-O a4 Bb7 d3 d6 Nbd2 Na5 Ba2 c5"
    sources = Sources(
        a=make_game(sans=first(other, 13)), b=make_game(sans=first(SPANISH, 13))
    )
    del sources.steps[:]
    for plies in range(14, 22):
        ahead = ("a", other), ("b", SPANISH)
        for feed, sans in ahead if plies % 2 else reversed(ahead):
            sources.report(feed, make_game(sans=first(sans, plies)))
            assert len(sources.one.moves) == plies
    assert not any(isinstance(step, TakenBack) for step in sources.steps)
    # While they contradict each other that is said before the line changes.
    said, replaced = "", 0
    for step in sources.steps:
        if isinstance(step, CarriersChanged):
            said = step.dispute
        elif isinstance(step, TailReplaced):
            replaced += 1
            assert said
    assert replaced > 5


def test_what_a_source_corrects_is_corrected_before_the_other_contradicts_it() -> None:
    sources = Sources(
        a=make_game(sans="e4 e5 Nf3 Nc6 Bc4"), b=make_game(sans="e4 e5 Nf3 Nc6 Bc4")
    )
    del sources.steps[:]
    sources.report("a", make_game(sans="e4 e5 Nf3 Nc6 Bb5"))
    assert [type(step) for step in sources.steps] == [TailReplaced, CarriersChanged]
    assert sources.one.dispute == "3. Bb5 in a, but Bc4 in b"
    sources.report("b", make_game(sans="e4 e5 Nf3 Nc6 Bb5"))
    assert sources.one.dispute == ""


def test_the_first_source_may_go_another_way_while_the_other_is_silent() -> None:
    sources = Sources(
        a=make_game(sans="e4 e5 Nf3 Nc6 Bc4"), b=make_game(sans="e4 e5 Nf3 Nc6 Bc4")
    )
    for sans in ("e4 e5 Nf3 Nc6", "e4 e5 Nf3 Nc6 Bb5", "e4 e5 Nf3 Nc6 Bb5 a6"):
        sources.report("a", make_game(sans=sans))
    assert sources.moves == "e4 e5 Nf3 Nc6 Bb5 a6"


def test_what_one_source_lacks_comes_from_the_other() -> None:
    bare, anna = make_game(sans="e4 e5"), Player("Anna Adams", elo=2400, title="IM")
    full = game("e4 e5", clocks=5400, white=anna, time_control="5400+30")
    more = msgspec.structs.replace(bare, headers=full.headers, moves=full.moves)
    sources = Sources(a=bare, b=more)
    assert sources.one.headers.white == anna
    assert sources.one.headers.time_control == "5400+30"
    assert [move.clock_s for move in sources.one.moves] == [5400.0, 5360.0]


def test_of_another_person_in_the_same_seat_nothing_is_taken_over() -> None:
    def with_black(player: Player) -> GameReport:
        theirs = game(SPANISH, clocks=5400, black=player)
        return msgspec.structs.replace(
            make_game(), headers=theirs.headers, moves=theirs.moves
        )

    jones = Player("Jones, Tom", title="GM", elo=2500, fide_id=123)
    for theirs, shown in (("Smith, Bob", Player("Smith, Bob")), ("?", jones)):
        sources = Sources()
        sources.report("a", with_black(Player(theirs)))
        sources.report("b", with_black(jones))
        assert sources.one.also == ("b",) and sources.one.headers.black == shown


def test_a_game_that_goes_leaves_the_other_source_s_under_its_own_id() -> None:
    sources = Sources(a=make_game(), b=make_game())
    sources.report("a")
    assert sources.one.feed == "b" and sources.one.also == ()


def test_games_held_from_before_a_restart_are_brought_together() -> None:
    sources = Sources()
    for feed in ("a", "b"):
        game = Game(feed, feed, "", make_game().headers, make_game().start_fen)
        sources.index.apply(NewGame(game))
        sources.shown[feed] = game
    sources.take(*sources.shared.merge_restored(["a", "b"]))
    assert sources.one.also == ("b",) and sources.one.dispute == ""


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.lists(
                st.tuples(
                    st.sampled_from(["Anna-Boris", "Cleo-Dora"]),
                    st.sampled_from([SPANISH, SLAV]),
                    st.integers(0, 22),
                    st.sampled_from(["*", "1-0"]),
                    st.sampled_from(["Open", "", "Cup"]),
                ),
                max_size=3,
            ),
        ),
        max_size=12,
    )
)
def test_the_steps_shown_always_fit_and_no_source_has_two_games_in_one(
    reports: list[tuple[str, list[tuple[str, str, int, str, str]]]],
) -> None:
    sources = Sources()
    for feed, games in reports:
        made = [
            make_game(pair, first(sans, plies), result=result, event=event)  # type: ignore[arg-type]
            for pair, sans, plies, result, event in games
        ]
        sources.report(feed, *made)
        for game in sources.shown.values():
            feeds = (game.feed, *game.also)
            assert len(set(feeds)) == len(feeds)
        shown = sum(1 + len(game.also) for game in sources.shown.values())
        assert shown == len(sources.index)


@pytest.mark.parametrize("plies", [5, 22])
def test_reported_whole_or_move_by_move_it_ends_the_same(plies: int) -> None:
    live, whole = Sources(), Sources()
    for ply in range(plies + 1):
        live.report("a", make_game(sans=first(SPANISH, ply)))
        live.report("b", make_game(sans=first(SPANISH, max(0, ply - 3))))
    for sources in (live, whole):
        for feed in "ab":
            sources.report(
                feed, make_game(sans=first(SPANISH, plies), result="1/2-1/2")
            )
    assert live.shown == whole.shown


#: Twenty-four plies of a Berlin draw, which grandmasters have played more than once.
BERLIN = (
    "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 Re1 Nd6 Nxe5 Be7 Bf1 Nxe5 Rxe5 O-O "
    "d4 Bf6 Re1 Re8 c3 Rxe1"
    " Qxe1 Ne8"
)


def game(
    sans: str = BERLIN,
    *,
    feed: str = "a",
    result: Result = "*",
    clocks: float | None = None,
    white: str | Player = "Anna Adams",
    black: str | Player = "Boris Berg",
    **headers: object,
) -> Game:
    """``clocks``: what the first move's clock shows; each later one 40 s less."""
    moves = tuple(
        msgspec.structs.replace(
            move, clock_s=None if clocks is None else clocks - 40.0 * at
        )
        for at, move in enumerate(line(sans))
    )
    players = [
        Player(each) if isinstance(each, str) else each for each in (white, black)
    ]
    told = {"event": "Open", "round": "1", **headers}
    return Game(
        id=feed,
        feed=feed,
        key="",
        headers=Headers(*players, **told),  # type: ignore[arg-type]
        start_fen=chess.STARTING_FEN,
        moves=moves,
        result=result,
    )


ONE = game(clocks=5400)


def test_event_round_and_players_make_one_game_before_the_first_move() -> None:
    assert is_same_game_in_two_sources(game(""), game("", feed="b"), alone=True)
    assert is_same_game_in_two_sources(
        game(""), game("", feed="b", round="Round 01.3"), alone=True
    )
    assert is_same_game_in_two_sources(
        game("e4 e5"), game("", feed="b", round="1.7"), alone=True
    )
    assert is_same_game_in_two_sources(
        game("e4 e5 Nf3 Nc6"), game("e4 e5 Nf3 Nf6", feed="b"), alone=True
    )
    assert not is_same_game_in_two_sources(game(""), game("", feed="b"), alone=False), (
        "there is another"
    )


def numbered(fide_id: int) -> Game:
    return game(white=Player("Anna Adams", fide_id=fide_id))


@pytest.mark.parametrize(
    ("one", "other"),
    {
        "no round": (game("", round=""), game("", round="")),
        "no event": (game("", event=""), game("", event="")),
        "another event": (game(""), game("", event="Cup")),
        "another round": (game(""), game("", round="2")),
        "games 1 and 2 of a match": (game("", round="1.1"), game("", round="1.2")),
        "another player": (game(""), game("", black="Cleo")),
        "other colours": (game("", white="Boris Berg", black="Anna Adams"), game("")),
        "one is over": (game("e4 e5"), game("e4 e5", result="1-0")),
        "other moves": (game("e4 e5 Nf3 Nc6"), game(SLAV)),
        "namesakes": (numbered(1), numbered(2)),
        "the same draw a year later": (
            game(date="2024.01.20", result="1/2-1/2"),
            game(date="2025.01.20", result="1/2-1/2"),
        ),
        "another event, no clocks": (game(event="Cup", clocks=None), ONE),
        "another event and clocks": (game(event="Cup", clocks=600), ONE),
        "no round, other clocks": (game(clocks=600, round=""), ONE),
    }.values(),
)
def test_two_games_are_not_taken_for_one(one: Game, other: Game) -> None:
    other = msgspec.structs.replace(other, feed="b")
    assert not is_same_game_in_two_sources(one, other, alone=True)
    assert not is_same_game_in_two_sources(other, one, alone=True)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(game(event=""), id="no event"),
        pytest.param(
            game(event="Open 2026 | Masters", clocks=5401), id="other event name"
        ),
        pytest.param(
            game(round="", result="1/2-1/2", clocks=5400), id="no round, over"
        ),
        pytest.param(
            game(white="A. Adams", clocks=5400, event="Cup"), id="one name abbreviated"
        ),
    ],
)
def test_many_moves_prove_what_names_leave_open(other: Game) -> None:
    other = msgspec.structs.replace(other, feed="b")
    assert is_same_game_in_two_sources(ONE, other, alone=False)
    short = msgspec.structs.replace(other, moves=other.moves[: SAME_GAME_PLIES - 1])
    assert not is_same_game_in_two_sources(ONE, short, alone=False)


def test_a_wrong_move_of_one_source_makes_no_second_game_after_20_plies() -> None:

    one, other = (
        game(BERLIN + " d5 d6"),
        game(BERLIN.replace("c3", "b3") + " d5 d6", feed="b"),
    )
    assert is_same_game_in_two_sources(one, other, alone=True)
    assert not is_same_game_in_two_sources(one, other, alone=False), (
        "it may be the other game of these names"
    )


def test_lines_that_part_early_are_two_games_after_all() -> None:
    assert is_another_line(
        game(BERLIN), game("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 b4 Bb6 a4 a5")
    )
    assert not is_another_line(game(BERLIN), game(BERLIN + " d5"))
    assert not is_another_line(game("e4 e5"), game("d4 d5")), "it may be a slip"


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (game(BERLIN), game("e4 e5"), ""),
        (game("e4 e5 Nf3"), game("e4 e5 Nc3"), "2. Nf3 in a, but Nc3 in b"),
        (game("e4 e5 Nf3 Nc6 Bb5"), game("e4 e5 Nc3 Nc6"), "2. Nf3 in a, but Nc3 in b"),
        (game(result="1-0"), game(result="0-1"), "1-0 in a, but 0-1 in b"),
        (game(result="1-0"), game(), ""),  # a result that the other has not yet
        (
            game("e4 e5", result="1-0"),
            game(),
            "1-0 after 2 plies in a, but 24 plies in b",
        ),
    ],
)
def test_where_two_sources_contradict_each_other(
    one: Game, other: Game, text: str
) -> None:
    assert describe_dispute(one, msgspec.structs.replace(other, feed="b")) == text
