"""Each thing that happens is a line, told once."""

from collections.abc import Sequence

from msgspec.structs import replace

from live.messages.alerts import Alert
from live.messages.figures import GameView, PlyView, view_of
from live.messages.health import EngineHealth, FeedHealth, MeasuringProgress
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
)
from live.screens.event_lines import EventLineWriter
from tests.screens.terminal.sample_boards import detail, full_point, point

VIEW: GameView = view_of(detail())
LABEL = "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: "
E4 = PlyView(1, "e4", "e2e4")
SCORED = replace(E4, score_cp=30, final=True, gain_cp=-12)
SCORED_D4 = replace(SCORED, san="d4", uci="d2d4")
OVER = replace(VIEW, result="1-0", problem="illegal move 2.Qh9")
FIGURE = PointMessage("g1", "white", point(1, 2210.0))


def plies(*sans: str) -> list[Change]:
    return [
        MoveMessage("g1", ply, PlyView(ply, san, "0000"))
        for ply, san in enumerate(sans, start=1)
    ]


def print_changes(*batches: Sequence[Change]) -> list[str]:
    """What is printed of the last batch, without the name of the board."""
    writer = EventLineWriter()
    lines = [writer.write_lines(batch) for batch in batches][-1]
    return [line.removeprefix(LABEL) for line in lines]


NEW: list[Change] = [GameMessage(VIEW)]


def test_moves_and_figures_are_lines() -> None:
    played = MoveMessage("g1", 1, replace(E4, clock_s=59.0))
    assert print_changes([*NEW, played]) == ["board appears", "played 1.e4, clock 0:59"]
    assert print_changes([*NEW, *plies("e4", "c5", "Nf3")])[1:] == [
        "played 3 moves to 2.Nf3"
    ]
    whole: list[Change] = [
        ScoreMessage("g1", SCORED),
        PointMessage("g1", "white", full_point(1)),
    ]
    assert print_changes([*NEW, played], whole) == [
        "1.e4 +0.30, gain -0.12. Petriashvili, Nikoloz: "
        "playing like 2441 · usual for 2459 "
        "against 1807: 2180–2750 · better than 74 % of games by players of 2459"
    ]
    again: list[Change] = [*plies("d4"), FIGURE, ScoreMessage("g1", SCORED_D4)]
    corrected = print_changes([*NEW, *plies("e4"), FIGURE], again)
    assert corrected == [
        "corrected to 1.d4, was e4",
        "1.d4 +0.30, gain -0.12. No rating yet: it needs 5 counted moves of the player",
    ]


def test_a_move_has_one_line_with_its_score_and_figures() -> None:
    """A gain can be known before the score: the engine's own choice has gain 0."""
    writer = EventLineWriter()
    score = ScoreMessage("g1", SCORED)
    assert writer.write_lines([*NEW, *plies("e4"), FIGURE])[2:] == []
    [line] = writer.write_lines([score])
    assert line.startswith(f"{LABEL}1.e4 +0.30, gain -0.12")
    # Figures and scores that are sent again give no second line.
    assert writer.write_lines([FIGURE, score]) == []


def test_figures_whose_score_stays_unknown_come_with_the_next_ones() -> None:
    later = PointMessage("g1", "white", full_point(3))
    lines = print_changes([*NEW, *plies("e4", "c5", "Nf3"), FIGURE], [later])
    assert [line.partition(".")[0] for line in lines] == ["1"]
    assert lines[0].startswith("1.e4, gain -0.12")
    # A takeback of the ply takes its waiting figures away.
    gone: list[Change] = [MoveMessage("g1", 1, None), ScoreMessage("g1", SCORED)]
    assert print_changes([*NEW, *plies("e4"), FIGURE], gone) == [
        "taken back to the start"
    ]


def test_figures_whose_score_stays_unknown_come_at_the_latest_with_the_end() -> None:
    figures = "1.e4, gain -0.12. No rating yet: it needs 5 counted moves of the player"
    waiting = [*NEW, *plies("e4"), FIGURE]
    over = GameMessage(replace(VIEW, result="1-0"))
    assert print_changes(waiting, [over]) == [figures, "1-0"]
    gone = GoneMessage("g1")
    assert print_changes(waiting, [gone]) == [figures, "gone from its source"]
    writer = EventLineWriter()
    writer.write_lines(waiting)
    assert writer.write_last_lines() == [f"{LABEL}{figures}"]
    assert writer.write_last_lines() == []


def test_why_there_is_no_rating_is_said_once_for_each_reason() -> None:
    early = replace(FIGURE.point, reason="early")
    unread = replace(FIGURE.point, reason="no-model")
    scores = [
        ScoreMessage("g1", PlyView(ply, "e4", "e2e4", score_cp=30, final=True))
        for ply in (1, 2, 3)
    ]
    points = [
        PointMessage("g1", "white", early),
        PointMessage("g1", "black", replace(early, ply=2)),
        PointMessage("g1", "white", replace(unread, ply=3)),
    ]
    view = replace(VIEW, note="no model for Crafty, depth 5")
    new: list[Change] = [GameMessage(view)]
    lines = print_changes([*new, *plies("e4", "c5", "Nf3"), *scores], points)
    assert [line.partition("gain -0.12")[2] for line in lines] == [
        ". No rating yet: it needs 5 counted moves of the player",
        "",
        ". No rating yet: no model for Crafty, depth 5",
    ]


def test_takebacks_corrections_results_and_ends_are_told_once() -> None:
    over: list[Change] = [
        GameMessage(OVER),
        GameMessage(OVER),
        MoveMessage("g1", 2, None),
    ]
    assert print_changes([*NEW, *plies("e4", "c5")], over) == [
        "1-0",
        OVER.problem,
        "taken back to 1.e4",
    ]
    assert print_changes(NEW, [MoveMessage("g1", 1, None)]) == [
        "taken back to the start"
    ]
    assert print_changes(NEW, [GoneMessage("g1")]) == ["gone from its source"]
    instead = [MoveMessage("g1", 2, PlyView(2, "e5", "e7e5"))]
    taken_back = [*NEW, *plies("e4", "c5"), MoveMessage("g1", 2, None)]
    assert print_changes(taken_back, instead) == ["played 1...e5"]
    # In a game met in its middle, too, it says what was there.
    assert print_changes([GameMessage(detail())], instead) == [
        "corrected to 1...e5, was c5"
    ]


def test_the_last_figure_of_a_finished_game_is_in_the_past() -> None:
    over = replace(VIEW, result="1-0", plies_played=3)
    for view, ply, verb in (
        (over, 3, "played like"),
        (over, 1, "playing like"),
        (replace(over, result="*"), 3, "playing like"),
    ):
        figure = PointMessage("g1", "white", full_point(ply))
        score = ScoreMessage("g1", replace(SCORED, ply=ply))
        moves = plies("e4", "c5", "Nf3")
        [line] = print_changes([GameMessage(view), *moves], [figure, score])
        assert f": {verb} 2441 · " in line


def test_no_figure_is_called_final_while_the_engine_is_still_to_be_measured() -> None:
    over = replace(VIEW, result="1-0", plies_played=1)
    measuring = EngineHealth(measuring=MeasuringProgress(0, 294))
    begun = [HealthMessage((), measuring), GameMessage(over), *plies("e4")]
    figure = PointMessage("g1", "white", full_point(1))
    [line] = print_changes(begun, [figure, ScoreMessage("g1", SCORED)])
    assert ": playing like 2441 · " in line


def test_a_feed_is_told_of_when_it_changes() -> None:
    live = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())
    retrying = HealthMessage(
        (FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth()
    )
    assert print_changes([live, live, retrying]) == [
        "demo live",
        "demo retrying: again in 4 s",
    ]


def test_alerts_are_lines_where_they_are_sent_at_all() -> None:
    text = "Board 3: 0:00\x1b[2J"
    flag = Alert(
        id="f", kind="flag", severity="alarm", text=text, advice="", first_seen_s=1.0
    )
    over = replace(flag, cleared_s=5.0)
    lines = print_changes([AlertMessage(flag), AlertMessage(flag), AlertMessage(over)])
    assert lines == [
        "alert raised !! Board 3: 0:00[2J",
        "alert over !! Board 3: 0:00[2J",
    ]


def test_public_lines_leave_alerts_and_parts_to_the_log() -> None:
    writer = EventLineWriter(is_public=True)
    flag = Alert(
        id="f", kind="flag", severity="alarm", text="0:00", advice="", first_seen_s=1.0
    )
    feeds = (
        FeedHealth("demo", "live"),
        FeedHealth("journal", "failed", "in use", part=True),
    )
    health = HealthMessage(feeds, EngineHealth())
    assert writer.write_lines([AlertMessage(flag), health]) == ["demo live"]


def test_the_measurement_of_the_engine_is_told_when_it_begins_and_ends() -> None:
    writer = EventLineWriter()
    told = []
    for done in (0, 20, None):
        progress = None if done is None else MeasuringProgress(done, 294)
        told += writer.write_lines(
            [HealthMessage((), EngineHealth(measuring=progress))]
        )
    begun, ended = told
    assert begun.startswith("figures can still change")
    # It also ends if it fails.
    assert ended == "measuring the engine has ended"
