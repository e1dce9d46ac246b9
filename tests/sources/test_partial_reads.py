"""Which part of a text that is read again is accepted, and which is not trusted yet."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.messages.from_sources import GameReport, Headers, Move, Player
from live.rehearse.rehearsal import write_pgn
from live.settings import FeedsConfig
from live.sources.feed_session import FeedSession, Poll
from live.sources.partial_reads import (
    FIRST_COPY_S,
    PartialReadFilter,
    TextReading,
    create_partial_read_filter,
)
from live.sources.pgn_text import PgnText
from tests.sources.fakes import DrivenClock, Ledger, conditions

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MOVES = (Move("e2e4", "e4"), Move("e7e5", "e5"), Move("g1f3", "Nf3"))
#: Long enough to prove that a game under another name is the same one.
LONG = tuple(Move(uci, uci) for uci in ("g1f3", "g8f6", "f3g1", "f6g8") * 6)
KEPT = "kept: its source now shows less of this game"


def game(white: str, moves: Sequence[Move] = MOVES) -> GameReport:
    return GameReport("", Headers(Player(white), Player("B")), START, tuple(moves))


A, B, C = game("A"), game("B"), game("C")
OVER = msgspec.structs.replace(A, result="1-0")
B1 = game("B", MOVES[:1])


class Text:
    """A text that is read repeatedly; its first games are accepted at once."""

    def __init__(self, *games: GameReport, whole: bool = True, **how: Any) -> None:
        self._filter = PartialReadFilter(60, **how)
        if games:
            self.read(*games, whole=whole)

    def read(
        self,
        *games: GameReport,
        whole: bool = True,
        now_s: float = 0,
        closed: bool = False,
    ) -> Poll:
        return self._filter.confirm_games([TextReading(games, whole, closed)], now_s)


def describe_games(belief: Poll) -> str:
    """Return the names and plies of the accepted games."""
    return " ".join(f"{one.headers.white.name}{len(one.moves)}" for one in belief.games)


@pytest.mark.parametrize(
    ("first", "then", "whole", "believed"),
    [
        # More moves, a correction, or a takeback on one board are accepted at once.
        ([game("A", MOVES[:1])], [A, B], False, "A3 B3"),
        ([A], [game("A", (MOVES[0], Move("c7c5", "c5")))], True, "A2"),
        ([A], [game("A", MOVES[:2])], True, "A2"),
        # The result tag of a game can arrive before its last moves.
        (
            [B, A],
            [B, msgspec.structs.replace(A, moves=MOVES[:2], result="1-0")],
            False,
            "B3 A3",
        ),
        # The same number of games under other names is no loss.
        ([A, B], [game("Ann"), B], True, "Ann3 B3"),
        # Two takebacks at once, an emptied board, or a text cut between two games are
        # not trusted.
        ([A, B], [game("A", MOVES[:2]), game("B", MOVES[:2])], True, "A3 B3"),
        ([A, B], [game("A", ()), B], True, "A3 B3"),
        ([A, B, C], [A], True, "A3 B3 C3"),
        ([A, B], [A, B1], False, "A3 B3"),
        # A corrected name in an incomplete text makes no second board.
        ([game("A", LONG), B], [game("Ann", LONG), B], False, "Ann24 B3"),
        ([game("A", LONG[:5]), B, C], [game("Á", LONG[:5]), B], False, "Á5 B3 C3"),
        ([A, C], [game("Á", MOVES[:1])], False, "A3 C3"),
        # An old copy, from before a name was corrected.
        ([game("A", LONG), B], [game("Ann", LONG[:20]), B], True, "B3 A24"),
        # A new game without moves may have incomplete headers.
        ([A], [A, game("Bo", ())], False, "A3"),
    ],
)
def test_what_is_believed_at_once(
    first: list[GameReport], then: list[GameReport], whole: bool, believed: str
) -> None:
    assert describe_games(Text(*first).read(*then, whole=whole)) == believed


def test_old_copies_from_before_a_name_was_put_right_double_no_board() -> None:
    """Copies with the old and the new name alternate."""
    text = Text(game("A", LONG[:23]), B, copies_s=60)
    for now, believed in (("Ann", "B3 Ann24"), ("A", "B3 Ann24"), ("Ann", "Ann24 B3")):
        belief = text.read(game(now, LONG[: 22 if now == "A" else 24]), B)
        assert sorted(describe_games(belief).split()) == sorted(believed.split())


def test_a_half_written_file_takes_no_move_back_and_loses_no_game() -> None:
    """An upload of several seconds is read while it is incomplete."""
    text = Text(A, B, C)
    belief = text.read(A, B1, whole=False, now_s=10)
    assert describe_games(belief) == "A3 B3 C3"
    assert [one.problem for one in belief.games] == [None, KEPT, KEPT]
    assert belief.complete and belief.again_in_s == 60
    belief = text.read(A, B1, whole=False, closed=True, now_s=13)  # upload pauses
    assert describe_games(belief) == "A3 B3 C3"
    belief = text.read(A, B, C, now_s=15)
    assert belief.games == (A, B, C) and belief.again_in_s is None


def test_a_loss_is_believed_after_a_minute_and_three_readings_of_it() -> None:
    text = Text(A, B)
    for now_s in (5, 30, 64.9):
        assert describe_games(text.read(whole=False, now_s=now_s)) == "A3 B3"
    assert text.read(whole=False, now_s=65).games == ()
    text.read(A, B, now_s=70)
    text.read(A, now_s=71)
    assert describe_games(text.read(A, now_s=140)) == "A3 B3"  # read twice only
    assert text.read(A, now_s=140).games == (A,)


def test_other_boards_go_on_while_a_board_is_doubted() -> None:
    text = Text(game("A", MOVES[:1]), B)
    text.read(game("A", MOVES[:2]), now_s=10)
    belief = text.read(A, now_s=40)
    assert belief.games[0] == A and [game.problem for game in belief.games[1:]] == [
        KEPT
    ]
    assert text.read(A, now_s=70).games == (A,)


def test_old_copies_and_half_headers_are_told_by_what_else_is_known() -> None:
    assert (
        describe_games(Text(A, B, copies_s=60).read(game("A", MOVES[:2]), B)) == "A3 B3"
    )
    begun = game("Bo", ())
    assert Text(A).read(A, begun, whole=False, closed=True).games == (A, begun)
    text = Text(A, C)
    belief = text.read(game("Á", MOVES[:1]), whole=False, closed=True, now_s=10)
    assert describe_games(belief) == "A3 C3" and not belief.complete
    belief = text.read(game("Á"), C, now_s=15)
    assert belief.games == (game("Á"), C) and belief.complete


UNREAD = msgspec.structs.replace(
    game("A", ()), problem="unreadable move 1.xx", unread=("moves",)
)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_line_that_cannot_be_read_takes_no_move_away_nor_does_the_cut_text_behind_it(
    restarted: bool,
) -> None:
    text = Text(before=[A, B]) if restarted else Text(A, B)
    belief = text.read(UNREAD, B, now_s=10)
    assert describe_games(belief) == "A3 B3" and belief.again_in_s is None
    assert (
        belief.games[0].problem == "unreadable move 1.xx; the last known state is shown"
    )
    # The text is half written, and the bad line is corrected.
    belief = text.read(game("A", MOVES[:1]), whole=False, now_s=11)
    assert describe_games(belief) == "A3 B3" and belief.again_in_s == 60
    assert text.read(A, B, now_s=12).games == (A, B)


def test_a_text_that_breaks_off_takes_no_move_away_however_long_it_lasts() -> None:
    text = Text(B, OVER)
    for now_s in (10, 40, 70, 100, 130, 4000):
        belief = text.read(
            B, game("A", MOVES[:1]), whole=False, closed=True, now_s=now_s
        )
        assert describe_games(belief) == "B3 A3" and belief.games[1].result == "1-0"
    assert (
        belief.games[1].problem == "its text breaks off; the last known state is shown"
    )
    assert text.read(B, game("A", MOVES[:1]), now_s=4001).games == (
        B,
        game("A", MOVES[:1]),
    )


def test_a_writer_that_gives_its_text_no_end_takes_moves_back_after_a_minute() -> None:
    text = Text(B, A, whole=False)
    for now_s in (10, 40, 70):
        belief = text.read(
            B, game("A", MOVES[:1]), whole=False, closed=True, now_s=now_s
        )
    assert belief.games == (B, game("A", MOVES[:1]))


@given(st.lists(st.sampled_from([A, B, C, OVER]), max_size=5))
def test_law_whatever_stands_still_is_believed(games: list[GameReport]) -> None:
    text = Text(A, B, C)
    for now_s in (10, 40, 70):
        belief = text.read(*games, whole=False, now_s=now_s)
    assert belief.games == tuple(games) and belief.complete


def test_after_a_restart_a_lost_game_is_doubted_and_a_finished_one_hides_none() -> None:
    gone = msgspec.structs.replace(
        A, problem="no longer in its source; the last known state is shown"
    )
    text = Text(before=[gone, C])
    assert text.read(C).games == (C,)
    belief = text.read(C, game("A", MOVES[:1]), whole=False, now_s=1)
    assert describe_games(belief) == "C3 A3" and belief.games[1].problem == KEPT
    assert describe_games(Text(before=[OVER, B, C]).read(OVER, B)) == "A3 B3 C3"


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("after_s", "believed"), [(599, "C3 A3"), (600, "C3 A1")])
def test_what_was_gone_is_doubted_for_ten_minutes_and_new_after(
    restarted: bool, after_s: float, believed: str
) -> None:
    text = Text(before=[OVER, C]) if restarted else Text(A, C)
    lost_s = 10 if restarted else 70
    for now_s in (10, 40, 70, lost_s + after_s):
        belief = text.read(C, now_s=now_s)
    assert describe_games(belief) == "C3"
    back = text.read(C, game("A", MOVES[:1]), whole=False, now_s=lost_s + 600)
    assert describe_games(back) == believed


def test_a_result_cut_off_is_not_withdrawn_and_one_taken_out_is() -> None:
    text = Text(B, OVER)
    assert text.read(B, A, whole=False).games == (B, OVER)
    assert text.read(B, A).games == (B, A)


def test_a_result_withdrawn_for_good_is_no_old_copy() -> None:
    text = Text(OVER, copies_s=10)
    for begun_s in (0, 100):
        for now_s in (0, 5, 10):
            belief = text.read(A, now_s=begun_s + now_s)
        assert belief.games == (A,)
        text.read(OVER, now_s=begun_s + 50)


class Page:
    """A text that is polled, with a clock."""

    def __init__(self, *, cached: bool = True) -> None:
        self.clock = DrivenClock()
        under = conditions(FeedsConfig(), self.clock)
        self._text = PgnText("x", under, cached=cached)
        self._ledger = Ledger()
        self._session = FeedSession("x", self._ledger, under)
        self._filter = create_partial_read_filter(self._session, under, cached=cached)

    async def read(self, text: str, *, takes_s: float = 0.0) -> list[tuple[int, str]]:
        """Read the text; return moves and result of the accepted games. The request and
        the reading take ``takes_s`` seconds.
        """
        asked_s = self.clock.now()
        await self._text.take_unless_outdated(text.encode())
        self.clock.time_s += takes_s
        reading = await self._text.build_reading(asked_s)
        await self._session.report_poll(
            self._filter.confirm_games([reading], self.clock.now())
        )
        return [(len(one.moves), one.result) for one in self._ledger.reports[-1].games]


def page(*games: GameReport) -> str:
    return "\n".join(map(write_pgn, games))


async def test_a_text_read_once_has_not_stood_still_however_long_it_took() -> None:
    text, begun = Page(cached=False), page(A)
    await text.read(begun)
    tag = begun.replace('Result "*"', 'Result "1-0"').removesuffix("*\n")
    assert await text.read(tag, takes_s=30) == [(3, "*")]
    assert await text.read(tag, takes_s=30) == [(3, "1-0")]


async def test_an_old_copy_that_was_not_read_when_new_takes_no_move_back() -> None:
    text = Page()
    new, old = page(game("A", LONG), B), page(game("A", LONG[:20]), B)
    assert await text.read(new) == [(24, "*"), (3, "*")]
    for _ in range(4):
        assert await text.read(old, takes_s=2) == [(24, "*"), (3, "*")]
    assert await text.read(new) == [(24, "*"), (3, "*")]
    for before in (
        new,
        old,
    ):  # a takeback is accepted even if the same text came before
        text = Page()
        await text.read(before)
        await text.read(new)
        for _ in range(7):
            last = await text.read(old, takes_s=2)
        assert last == [(20, "*"), (3, "*")]


async def test_an_old_copy_undoes_no_correction_and_counts_if_nothing_newer() -> None:
    text, old = Page(), page(game("A", MOVES), B)
    new = page(game("A", (*MOVES[:2], Move("b1c3", "Nc3"), Move("g8f6", "Nf6"))), B)
    await text.read(old)
    for _ in range(3):
        assert await text.read(new, takes_s=2) == [(4, "*"), (3, "*")]
        assert await text.read(old, takes_s=2) == [(4, "*"), (3, "*")]
    for _ in range(31):  # caches alternated before, so this takes a minute
        last = await text.read(old, takes_s=2)
    assert last == [(3, "*"), (3, "*")]


STATES = [
    page(
        game("A", LONG[:a]), msgspec.structs.replace(game("B", LONG[:b]), result=result)
    )
    for a, b, result in [
        (1, 1, "*"),
        (4, 1, "*"),
        (4, 7, "*"),
        (9, 24, "*"),
        (9, 24, "1-0"),
        (20, 24, "1-0"),
        (24, 24, "1-0"),
    ]
]


class Counted(str):
    """Text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_page_of_many_old_copies_costs_no_more_than_its_games() -> None:
    def games(name: str, plies: int) -> list[GameReport]:
        all_alike = game("A", LONG[:plies])
        keys = (Counted(f"{name}{number}") for number in range(300))
        return [msgspec.structs.replace(all_alike, key=key) for key in keys]

    text = Text(*games("now", 24))
    Counted.compared = 0
    belief = text.read(*games("before", 20))
    assert sum(each.problem == KEPT for each in belief.games) == 300
    assert Counted.compared < 30 * 300


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["new", "old", "cut"]),
            st.integers(0, 6),
            st.floats(0, 1),
            st.floats(0, 3),
        ),
        max_size=30,
    )
)
async def test_law_a_page_that_is_now_and_then_old_or_cut_takes_nothing_back(
    readings: list[tuple[str, int, float, float]],
) -> None:
    """Intervals between readings and durations of readings are arbitrary."""
    text, at, faulty_s = Page(), 0, 0.0
    before = await text.read(STATES[0])
    for kind, place, part, takes_s in readings:
        faulty_s = 0.0 if kind == "new" else faulty_s + takes_s
        if kind == "new" or faulty_s >= FIRST_COPY_S:
            at, faulty_s = max(at, place), 0.0
            shown = STATES[at]
        else:
            shown = STATES[min(at, place)]
            if kind == "cut":
                shown = shown[: int(part * len(shown))]
        now = await text.read(shown, takes_s=takes_s)
        assert len(now) == 2
        for (plies, result), (plies_now, result_now) in zip(before, now, strict=True):
            assert plies_now >= plies and (result == "*" or result_now == result)
        before = now
