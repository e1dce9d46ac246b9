"""Finished games converted to the reports of a source: timelines, mistakes, and the
demo.
"""

from itertools import pairwise

import chess
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.commands.rehearse import Mistake as MistakeOption
from live.messages.from_sources import FeedReport, GameReport, Headers, Move, Player
from live.rehearse.rehearsal import plan_mistakes
from live.settings import FeedsConfig
from live.sources.demo_feed import INCIDENTS, JOINED_AT, DemoFeed, read_demo_games
from live.sources.game_timeline import (
    MISTAKES,
    MOVE_S,
    RESULT_S,
    Mistake,
    PlannedIncident,
    TimedReport,
    add_mistake,
    choose_wrong_move,
    infer_thinking_s,
    plan_timeline,
)
from live.sources.source_address import recognise_source
from tests.sources.fakes import GAMES, DrivenClock, Ledger, conditions, identify_game

PLY = 15


def clocked(*clocks: float | None, control: str = "90+30") -> GameReport:
    board = chess.Board()
    moves = []
    for clock_s in clocks:
        move = next(iter(board.legal_moves))
        moves.append(Move(move.uci(), board.san(move), clock_s))
        board.push(move)
    headers = Headers(Player("A"), Player("B"), time_control=control)
    return GameReport("", headers, chess.STARTING_FEN, tuple(moves), "1-0")


@pytest.mark.parametrize(
    ("clocks", "control", "spent"),
    [
        ((5400, 5400, 5370, 5310), "90+30", [0, 0, 60, 120]),
        # The increment is the last number.
        ((100, 100, 90), "40/7200:3600+30", [0, 0, 40]),
        ((100, 100, 90), "5400 + 30", [0, 0, 40]),
        ((100, 100, 90), "5700+30 (a)", [0, 0, 40]),
        ((60, 60, 1860), "90+30", [0, 0, 0]),  # the clock jumps up
        ((None, None, None), "90+30", [MOVE_S] * 3),
    ],
)
def test_time_taken_comes_from_the_movers_clocks_and_the_increment(
    clocks: tuple[float | None, ...], control: str, spent: list[float]
) -> None:
    game = clocked(*clocks, control=control)
    assert infer_thinking_s(game) == spent
    moves = tuple(msgspec.structs.replace(move, spent_s=7.0) for move in game.moves)
    assert infer_thinking_s(msgspec.structs.replace(game, moves=moves)) == [7] * len(
        moves
    )


@given(
    st.floats(0.1, 1000),
    st.integers(0, 3),
    st.integers(1, 90),
    st.sampled_from(["slip", "takeback"]),
)
def test_every_replay_starts_empty_ends_as_given_and_keeps_time(
    speed: float, board: int, ply: int, kind: str
) -> None:
    incident = PlannedIncident("slip" if kind == "slip" else "takeback", board, ply)
    moments = plan_timeline(GAMES, speed=speed, incidents=[incident])
    assert [m.at_s for m in moments] == sorted(m.at_s for m in moments)
    for index, game in enumerate(GAMES):
        own = [m.report for m in moments if m.game == index]
        assert own[0].moves == () and own[0].result == "*"
        assert own[-1] == game
        lengths = [len(report.moves) for report in own]
        assert set(lengths) == set(range(len(game.moves) + 1))
        if index != board:
            assert lengths == sorted(lengths)
    assert moments[-1].at_s == pytest.approx(
        (max(sum(infer_thinking_s(game)) for game in GAMES) + RESULT_S) / speed
    )


def test_a_takeback_is_told_and_mended_before_the_next_move() -> None:
    moments = plan_timeline(GAMES, incidents=[PlannedIncident("takeback", 0, 10)])
    lengths = [len(m.report.moves) for m in moments if m.game == 0]
    assert lengths[9:14] == [9, 10, 9, 10, 11]


def test_a_slip_tells_a_legal_wrong_move_and_then_the_right_one() -> None:
    moments = plan_timeline(GAMES, incidents=[PlannedIncident("slip", 0, 10)])
    ten = [m.report.moves for m in moments if m.game == 0 and len(m.report.moves) == 10]
    assert len(ten) == 2
    wrong, right = ten
    assert right == GAMES[0].moves[:10]
    assert wrong[:9] == right[:9] and wrong[9].uci != right[9].uci
    assert wrong[9].clock_s == right[9].clock_s
    board = chess.Board()
    for move in wrong:
        assert board.san(board.parse_uci(move.uci)) == move.san
        board.push_uci(move.uci)


def test_no_slip_where_there_is_no_other_move_and_no_speed_of_nothing() -> None:
    forced = "k7/8/1K6/8/8/8/8/7R b - - 0 1"
    game = GameReport(
        "", Headers(Player("A"), Player("B")), forced, (Move("a8b8", "Kb8"),)
    )
    assert choose_wrong_move(game, 1) is None
    moments = plan_timeline([game], incidents=[PlannedIncident("slip", 0, 1)])
    assert [len(m.report.moves) for m in moments] == [0, 1, 1]
    with pytest.raises(ValueError, match="above 0"):
        plan_timeline(GAMES, speed=0)


def plan_with_mistake(mistake: Mistake) -> tuple[list[TimedReport], list[TimedReport]]:
    """Return the reports of the first game without and with the mistake."""
    whole = [(moment.at_s, moment.report) for moment in plan_timeline(GAMES[:1])]
    return whole, add_mistake(whole, mistake, PLY)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_nothing_is_wrong_before_its_ply_and_something_is_after(
    mistake: Mistake,
) -> None:
    whole, wrong = plan_with_mistake(mistake)
    assert wrong != whole
    early = [each for each in whole if len(each[1].moves) < PLY - 2]
    assert wrong[: len(early)] == early
    assert [at_s for at_s, _ in wrong] == sorted(at_s for at_s, _ in wrong)


def test_mistakes_are_made_with_the_first_games_one_each() -> None:
    made = plan_mistakes(["flag", "stale"], GAMES)
    assert made == [
        PlannedIncident("flag", 0, len(GAMES[0].moves) // 2),
        PlannedIncident("stale", 1, len(GAMES[1].moves) // 2),
    ]
    ends = {m.game: m.report for m in plan_timeline(GAMES, speed=60, incidents=made)}
    assert ends[1].result == "*" and [ends[2], ends[3]] == GAMES[2:]
    assert tuple(option.value for option in MistakeOption) == MISTAKES


class Ratings(Ledger):
    """A consumer whose figures take ``rating_s`` seconds per report, by the clock of
    the feed.
    """

    def __init__(self, clock: DrivenClock, rating_s: float) -> None:
        super().__init__()
        self._clock, self._rating_s = clock, rating_s
        self.unrated = 0
        self.came_s: list[float] = []

    async def report(self, report: FeedReport) -> None:
        assert not self.unrated, "it runs ahead of its figures"
        self.unrated += 1
        self.came_s.append(self._clock.now())
        await super().report(report)

    async def wait_until_rated(self) -> None:
        if self.unrated and self._rating_s:
            await self._clock.sleep(self._rating_s)
        self.unrated = 0


async def demo(rating_s: float = 0.0) -> tuple[Ratings, float]:
    """Run the demo; return its consumer and its duration in seconds."""
    clock = DrivenClock()
    ledger = Ratings(clock, rating_s)
    await DemoFeed(recognise_source("demo"), conditions(FeedsConfig(), clock)).run(
        ledger
    )
    # Expected last reports of the games, including the planned incidents.
    ends = {
        moment.game: moment.report
        for moment in plan_timeline(read_demo_games(), incidents=INCIDENTS)
    }
    assert ledger.games == {identify_game(game): game for game in ends.values()}
    return ledger, clock.now() - 1000


async def test_the_demo_plays_games_to_the_end_and_never_outruns_its_figures() -> None:
    for rating_s in (0.0, 0.001):  # faster figures do not shorten the demo
        ledger, took_s = await demo(rating_s)
        assert 90 <= took_s <= 150
    assert ledger.states[0] == "connecting" and ledger.states[-1] == "finished"
    shown = [
        health.detail
        for health in ledger.healths
        if health.state in ("live", "finished")
    ]
    assert shown and all(
        detail.endswith("live-rate --feed URL or FILE") for detail in shown
    )
    slow, _ = await demo(3.0)
    # After a delay, the demo does not speed up: the time between reports is never
    # shorter.
    assert min(b - a for a, b in pairwise(slow.came_s)) >= 3.0
    # All boards move within three reports, and no board stands still while another
    # moves.
    plies = {board: [0] for board in slow.games}
    for report in slow.reports[:12]:
        for board in plies:
            held = [
                len(game.moves) for game in report.games if identify_game(game) == board
            ]
            plies[board].append(max(plies[board][-1], *held, 0))
    assert all(shown[3] > shown[1] for shown in plies.values())
    assert min(shown[-1] for shown in plies.values()) >= 8
    # One game is already running at the beginning.
    first = [len(game.moves) for game in slow.reports[0].games]
    assert first == [2, 2, 2, 2, 2, JOINED_AT[5]]


def test_its_players_are_rated_of_different_strength_and_nobody() -> None:
    """The demo contains invented incidents, so no name, number or link may lead to a
    real person.
    """
    people: list[Player] = []
    for game in read_demo_games():
        people += [game.headers.white, game.headers.black]
    known = [player.elo for player in people if player.elo is not None]
    assert len(known) == 12 and max(known) - min(known) > 800
    assert not any(each.fide_id or each.name.split(",")[0] in REAL for each in people)
    for game in read_demo_games():
        assert game.result in ("1-0", "0-1")
        assert all(move.clock_s is not None for move in game.moves)
        assert not game.headers.url and "://" not in game.headers.site


#: Family names of the real players of the games.
REAL = {
    "Larino Nieto",
    "Fiorito",
    "Sanz Wawer",
    "Kovchan",
    "Rivero Tacoronte",
    "Torres Rebolledo",
    "Reinoso Andre",
    "Leandro Tejera",
}
