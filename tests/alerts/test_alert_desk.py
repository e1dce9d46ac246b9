"""The desk: the list follows from the messages, and an arbiter's word counts until it is new."""

from typing import Any, Literal

import msgspec
import pytest

from live.alerts.alert_desk import NOTE_CHARS
from live.alerts.incident_log import news
from live.events import (
    IN_DOUBT,
    STANDS,
    Alert,
    ChoiceEvidence,
    EngineHealth,
    EngineState,
    FeedHealth,
    FeedReport,
    GameReport,
    GoneMessage,
    PlayerView,
    Result,
    Score,
    StandingMessage,
)
from live.feeds.demo_feed import games as demo_games
from live.feeds.game_timeline import MISTAKES, Mistake, PlannedIncident
from live.games.game import GameGone
from live.games.player_identity import person_key
from tests.alerts.replayed_event import START_S, Rehearsal, four_boards, played
from tests.games.told import headed

LINE = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"


@pytest.fixture
def service() -> Rehearsal:
    return Rehearsal()


def illegal(service: Rehearsal) -> Alert:
    """A board with an illegal move."""
    service.play([played(LINE)], [PlannedIncident("illegal-move", 0, 5)])
    (alert,) = service.desk.open()
    return alert


def test_messages_make_the_list(service: Rehearsal) -> None:
    wrong = [
        PlannedIncident("slip", 1, 12),
        PlannedIncident("clock-still", 0, 11),
        PlannedIncident("flag", 2, 20),
    ]
    service.play(four_boards(), wrong)
    service.state.feed_health(FeedHealth("hall", "failed", "gone"))
    held: dict[str, Alert] = {}
    for message in service.messages:
        if message.alert.cleared_s is None:
            held[message.alert.id] = message.alert
        else:
            del held[message.alert.id]
    assert held and held == {alert.id: alert for alert in service.desk.open()}
    service.state.feed_health(FeedHealth("hall", "live"))
    assert service.messages[-1].alert.ended == "live"


def test_what_lasts_stays_when_it_is_acknowledged_and_goes_with_its_cause() -> None:
    service = Rehearsal()
    alert = illegal(service)
    service._take(service.desk.note(alert.id, "phoned the operator"))
    (message,) = service.desk.acknowledge(alert.id, service.now_s, "Deputy")
    assert message.alert.acknowledged_s == service.now_s
    assert ("acknowledged", "Deputy") in news(alert, message.alert)
    service._take([message])
    service.wait(60)
    assert service.desk.acknowledge(alert.id, service.now_s) == [], "that is no news"
    (still,) = service.desk.open()
    assert (still.note, still.first_seen_s) == ("phoned the operator", alert.first_seen_s)
    service.report(FeedReport("hall", (played(LINE),)))
    assert not service.desk.open()
    over = service.raised[alert.id]
    assert over.note == "phoned the operator" and over.cleared_s == service.now_s
    assert over.ended == "5...Be7 stands"


def test_a_mute_hides_and_nothing_more(service: Rehearsal) -> None:
    alert = illegal(service)
    for muted in ({"alert": alert.id}, {"kind": alert.kind}, {"game": alert.game}):
        (message,) = service.desk.mute(**muted)
        assert message.alert.muted and service.desk.open() == [message.alert]
        (message,) = service.desk.mute(False, **muted)
        assert service.desk.open() == [alert]


def test_a_note_is_kept_short_and_can_be_taken_away(service: Rehearsal) -> None:
    alert = illegal(service)
    (message,) = service.desk.note(alert.id, "x" * 10_000)
    assert len(message.alert.note) == NOTE_CHARS
    assert service.desk.note(alert.id, "")[0].alert == alert
    # One that is over is left alone.
    assert service.desk.acknowledge("no such alert", service.now_s) == []
    assert service.desk.note("no such alert", "x") == []


def test_a_game_that_is_gone_takes_its_alerts_with_it(service: Rehearsal) -> None:
    alert = illegal(service)
    assert alert.game is not None
    service.state.apply(GameGone(alert.game))
    assert not service.desk.open()
    assert service.messages[-1].alert.cleared_s == service.now_s
    assert service.messages[-1].alert.ended == "the board is gone"
    assert service.desk.changes([GoneMessage("unknown")], service.now_s) == []


@pytest.mark.parametrize("restarted", [False, True])
def test_time_in_which_nothing_ran_is_held_against_nobody(restarted: bool) -> None:
    """The machine slept, or the service was down."""
    service = Rehearsal()
    line = played(LINE, clocks=(5400.0,) * 8 + (1200.0, 1200.0))
    service.report(FeedReport("hall", (line,)))
    service.wait(600)
    service.now_s += 7200
    if restarted:
        service.restart(service.now_s - 7200)
    service.wait(600)
    assert not service.raised  # 20 minutes were waited through, of White's 20
    service.wait(200)
    assert service.kinds() == ["flag"]


#: Plies at which a mistake is made with board 1, which has 30 or more.
PLY = 21


def test_clean_boards_raise_nothing(service: Rehearsal) -> None:
    service.play([*four_boards(), played("f3 e5 g4 Qh4#", result="0-1")])
    assert all(view.result != "*" for view in service.state.games())
    assert not service.raised


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each != "stale"])
def test_a_mistake_raises_its_alert_and_no_other(mistake: Mistake) -> None:
    games = four_boards()
    if mistake == "result":
        games.append(played("f3 e5 g4 Qh4#", result="0-1"))
        incident = PlannedIncident(mistake, 4, 1)
    else:
        incident = PlannedIncident(mistake, 0, PLY)
    service = Rehearsal()
    service.play(games, [incident])
    assert service.kinds() == [mistake]
    (alert,) = service.raised.values()
    assert alert.game is not None
    view = service.state.game(alert.game)
    assert view is not None and view.board == incident.game + (1 if mistake != "result" else 5)
    assert alert.text.startswith(f"Board {view.board}: ")
    assert alert.text.endswith(".") and alert.advice.endswith(".")


def test_a_board_that_stands_still_while_others_move(service: Rehearsal) -> None:
    """It is told by its pace long before the clock, too, says that something is wrong."""
    service.play(four_boards(), [PlannedIncident("stale", 0, PLY)])
    service.wait(3 * 3600)
    assert [alert.kind for alert in service.raised.values()] == ["stale", "flag"]


@pytest.mark.parametrize("speed", [1.0, 30.0, 100.0])
def test_a_long_think_in_the_opening_is_no_standstill_at_any_pace(speed: float) -> None:
    service = Rehearsal()
    service.tick_s = max(1.0, 30.0 / speed)
    service.play(demo_games(), speed=speed)
    assert "stale" not in service.kinds()


def test_a_board_that_stands_still_is_told_in_fast_playback_as_soon_by_its_clock() -> None:
    seen = []
    for speed in (1.0, 60.0):
        service = Rehearsal()
        service.tick_s = 30.0 / speed
        service.play(four_boards(), [PlannedIncident("stale", 0, PLY)], speed=speed)
        (alert,) = (each for each in service.raised.values() if each.kind == "stale")
        seen.append((alert.first_seen_s - START_S) * speed)
    assert seen[1] == pytest.approx(seen[0], rel=0.02)


@pytest.mark.parametrize("kind, alert", [("slip", "correction"), ("takeback", "takeback")])
def test_a_slip_and_a_takeback_raise_theirs(kind: str, alert: str) -> None:
    incident = PlannedIncident("slip" if kind == "slip" else "takeback", 1, 12)
    service = Rehearsal()
    service.play(four_boards(), [incident])
    assert service.kinds() == [alert]
    (told,) = service.raised.values()
    assert told.severity == "look" and told.ply == 12
    # Six plies stand upon it by now: nothing is left to look at.
    assert told.cleared_s is not None and not service.desk.open()


def standing(
    number: int, matches: int, log_e_value: float, elo: int | None = 2000
) -> StandingMessage:
    view = PlayerView(
        f"p{number}",
        f"Player {number}",
        elo,
        3,
        60,
        None,
        agreement=ChoiceEvidence(60, matches, 28.8, log_e_value),
    )
    return StandingMessage(view)


def test_agreement_far_outside_a_players_range(service: Rehearsal) -> None:
    service._published([standing(number, 29, -0.5) for number in range(112)])
    assert not service.raised
    service._published([standing(3, 37, 6.0)])
    assert not service.raised  # among 112 players somebody gets so far
    service._published([standing(3, 48, 7.9)])
    (alert,) = service.desk.open()
    assert (alert.kind, alert.severity, alert.player) == ("agreement", "look", "Player 3")
    told = alert.agreement
    assert told is not None and (told.moves, told.boards) == (60, 56)
    assert told.z > 3.4 and told.false_alarms == 0.05
    assert "48 of 60 choices (80%)" in alert.text
    assert "accuses nobody" in alert.advice and "56 boards" in alert.advice
    service._published([standing(3, 30, -0.1)])
    assert not service.desk.open()


def test_agreement_is_found_again_after_the_board_is_gone(service: Rehearsal) -> None:
    service.report(FeedReport("hall", (played(LINE),)))
    (view,) = service.state.games()
    player = msgspec.structs.replace(standing(3, 60, 99.0).player, id=person_key(view.white))
    service._published([StandingMessage(player)])
    (alert,) = service.desk.open()
    assert alert.game == view.id
    service.state.apply(GameGone(view.id))
    assert not service.desk.open()
    service._published([StandingMessage(player)])
    (alert,) = service.desk.open()
    assert alert.kind == "agreement" and alert.game is None


def test_a_smaller_field_needs_less_and_without_rating_or_forecast_nothing_is_claimed() -> None:
    service = Rehearsal()
    service._published([standing(number, 29, -0.5) for number in range(8)])
    bare = msgspec.structs.replace(standing(2, 60, 99.0).player, agreement=None)
    service._published([standing(1, 60, 99.0, elo=None), StandingMessage(bare)])
    assert not service.raised
    service._published([standing(3, 44, 5.2)])
    assert len(service.desk.open()) == 1


def report(*games: GameReport) -> FeedReport:
    return FeedReport("hall", games, complete=True)


_ROUND = [played("Nf3 Nf6 Ng1 Ng8 Nc3 Nc6 Nb1 Nb8 " * 9, board=board) for board in range(1, 7)]


def _boards(plies: int, *, standing: int | None = None) -> FeedReport:
    """A round of six boards that have made so many plies each, but for one that stands still."""
    games = []
    for game in _ROUND:
        made = min(plies, 26) if game.headers.board == standing else plies
        games.append(msgspec.structs.replace(game, moves=game.moves[:made]))
    return FeedReport("hall", tuple(games))


def _followed(service: Rehearsal, plies: range, step_s: float, **how: int) -> None:
    for count in plies:
        service.wait(step_s)
        service.report(_boards(count, **how))


@pytest.mark.parametrize("pause_s", [60.0, 600.0])
def test_a_pause_of_the_source_blames_no_board(service: Rehearsal, pause_s: float) -> None:
    """All boards come at once after it, one after the other: while the first ones move, the others
    still stand where they stood.
    """
    service.tick_s = 2.0
    _followed(service, range(1, 31), 2.0)
    service.wait(pause_s)
    caught_up = _boards(40)
    for game in caught_up.games:
        service.now_s += 0.001
        service.report(FeedReport("hall", (game,)))
        service.tick()
    service.wait(60)
    assert "stale" not in service.kinds()


def test_a_board_that_stands_still_is_found_after_a_pause_too(service: Rehearsal) -> None:
    service.tick_s = 2.0
    _followed(service, range(1, 31), 2.0, standing=5)
    service.wait(300)
    _followed(service, range(31, 70), 2.0, standing=5)
    (alert,) = (each for each in service.raised.values() if each.kind == "stale")
    assert alert.text.startswith("Board 5: no move by White for")


Event = GameReport | tuple[GameReport, ...] | FeedReport | FeedHealth | EngineHealth | float | str


def happens(service: Rehearsal, what: Event) -> None:
    """A source reports its games, a feed or the engines say how they are, time passes, the arbiter
    takes note of all alerts, or the service starts anew; ``forgetful``: its journal has the games
    alone.
    """
    match what:
        case FeedHealth():
            service.state.feed_health(what)
        case EngineHealth():
            service.state.engine_health(what)
        case GameReport():
            service.report(report(what))
        case tuple():
            service.report(report(*what))
        case FeedReport():
            service.report(what)
        case "acknowledge":
            for alert in service.desk.open():
                (message,) = service.desk.acknowledge(alert.id, service.now_s)
                assert message.alert.acknowledged_s == service.now_s
        case str():
            service.restart(remembered=what != "forgetful")
        case _:
            service.wait(what)


def engines(*states: Literal["searching", "idle", "failed", "restarting"]) -> EngineHealth:
    return EngineHealth(tuple(EngineState(index, state) for index, state in enumerate(states)))


def swapped(game: GameReport) -> GameReport:
    return headed(game, white=game.headers.black, black=game.headers.white)


def in_source(feed: str, line: str) -> FeedReport:
    return FeedReport(feed, (played(f"e4 e5 Nf3 Nc6 Bb5 a6 {line}"),), complete=True)


def problem(line: str, text: str) -> GameReport:
    return msgspec.structs.replace(played(line), problem=text)


def scored(line: str, result: Result) -> GameReport:
    """A game whose last move White stands better after by 4 pawns, with time on both clocks."""
    game = played(line, clocks=(3000.0,) * len(line.split()), result=result)
    last = msgspec.structs.replace(game.moves[-1], eval=Score(420))
    return msgspec.structs.replace(game, moves=(*game.moves[:-1], last))


FIFTY = "8/8/8/4k3/8/8/4K3/R7 w - - 97 80"
STALEMATE = "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1"
DEAD = "8/8/8/8/8/3k4/1p6/K7 w - - 0 1"
SHUFFLE = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1"
MATE = "f3 e5 g4 Qh4#"
SPANISH = "e4 e5 Nf3 Nc6 Bb5 a6"
HOUR = (3700.0, 3700.0, 3650.0, 3650.0, 3600.0, 3600.0)
QUEENS = "d4 d5 c4 e6 Nc3 Nf6"
EXCHANGED = "players-swapped warning Board 7 and Board 8 seem exchanged"

#: What happens, and which one alert then stands: its kind, severity and some of its words; none.
COURSES: dict[str, list[tuple[Event, str]]] = {
    "a position that can come the third time": [
        (played(SHUFFLE), "repetition look Ng8 would bring the position for the third time"),
        (played(f"{SHUFFLE} Ng8"), "repetition look stands for the third time"),
        (played(f"{SHUFFLE} Ng8 e4"), ""),
    ],
    "fifty moves": [
        (played("Ra2", start_fen=FIFTY), ""),
        (played("Ra2 Kd5", start_fen=FIFTY), "fifty-moves look next move can be the fiftieth"),
        (played("Ra2 Kd5 Rb2", start_fen=FIFTY), "fifty-moves look 50 moves without a capture"),
    ],
    "stalemate, and no draw": [
        (played("Qc7", start_fen=STALEMATE), ""),
        (90, "result warning it is stalemate, and no result"),
        (played("Qc7", start_fen=STALEMATE, result="1-0"), "result warning it is stalemate, but"),
        (
            played("Qc7", start_fen=STALEMATE, result="1/2-1/2"),
            "result-corrected warning 1-0 is now 1/2-1/2",
        ),
    ],
    "a dead position, and no draw": [
        (played("Kxb2", start_fen=DEAD), ""),
        (90, "result warning neither side can mate, and no result"),
        (played("Kxb2", start_fen=DEAD, result="1-0"), "result look neither side can mate, but"),
    ],
    "a flag that falls, and the result that it explains": [
        (played(SPANISH, clocks=(*(3000.0,) * 5, 0.0)), "flag alarm shows 0:00"),
        (played(SPANISH, clocks=(*(3000.0,) * 5, 0.0), result="1-0"), ""),
        (90, ""),
    ],
    "a loss that the source puts down to time, and one that it does not": [
        (played(SPANISH), ""),
        (headed(played(SPANISH, result="1-0"), termination="Time forfeit"), ""),
        (90, ""),
        (played(SPANISH, result="1-0"), "last-move look may be missing"),
    ],
    "a game that its source calls a forfeit, and one that nobody played": [
        (played(""), ""),
        (headed(played("", result="1-0"), termination="forfeit"), ""),
        (90, ""),
        (played("", result="1-0"), "last-move look without any move"),
    ],
    "an adjourned game, whose clock stands until it goes on": [
        (played(SPANISH, clocks=HOUR), ""),
        (headed(played(SPANISH, clocks=HOUR), termination="Adjourned"), ""),
        (7200, ""),
        (played(SPANISH, clocks=HOUR), ""),
        (3610, ""),
        (10, "flag look the time must be up"),
        (80, "flag warning the time must be up"),
        (headed(played(SPANISH, clocks=HOUR), termination="adjourned"), ""),
    ],
    "a result against the evaluation": [
        (scored(SPANISH, "*"), ""),
        (20, ""),
        (scored(SPANISH, "0-1"), "result look the loser stood better by 4 pawns"),
    ],
    # Automatic results are wrong at times (lila issue 20926).
    "a result corrected, and one withdrawn": [
        (played("e4 e5"), ""),
        (played("e4 e5", result="1-0"), ""),
        (30, ""),
        (played("e4 e5", result="1/2-1/2"), "result-corrected warning 1-0 is now 1/2-1/2"),
        (played("e4 e5"), ""),
        (10, "result-corrected warning the result 1/2-1/2 was withdrawn"),
    ],
    "a mate without a result has none that could be corrected": [
        (played("f3 e5 g4"), ""),
        (played(MATE), ""),
        (played("f3 e5 g4 d5"), "correction look Qh4# was reported first and is now d5"),
        (60, "correction look"),
    ],
    "a wrong result after a mate, and its correction": [
        (played("f3 e5 g4"), ""),
        (played(MATE), ""),
        (played(MATE, result="0-1"), ""),
        (played(MATE, result="1-0"), "result alarm mate is on the board, which is 0-1"),
        (played(MATE, result="0-1"), "result-corrected warning 1-0 is now 0-1"),
    ],
    "a slip that happens again after somebody took note of it": [
        (played(LINE), ""),
        (played(LINE.replace("Be7", "Bc5")), "correction look Be7 was reported first"),
        ("acknowledge", ""),
        (10, ""),
        (played(LINE.replace("Be7", "b5")), "correction look Bc5 was reported first"),
    ],
    "a slip of which a restart knows nothing else": [
        (played(LINE), ""),
        (played(LINE.replace("Be7", "Bc5")), "correction look Be7 was reported first"),
        ("forgetful", "correction look Be7 was reported first"),
        (60, "correction look Be7 was reported first"),
        ("acknowledge", ""),
    ],
    "a deep correction, until somebody takes note": [
        (played(LINE), ""),
        (60, ""),
        (played("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 O-O O-O"), ""),
        (3, "correction warning Bb5 was reported first and is now Bc4; what followed is gone"),
        ("acknowledge", ""),
        (60, ""),
    ],
    "sources that contradict each other for a minute, as one may be late with a correction": [
        (in_source("hall", ""), ""),
        (in_source("cloud", ""), ""),
        (in_source("hall", "Ba4 Nf6 O-O Be7"), ""),
        (in_source("cloud", "Bxc6 dxc6 O-O f6"), ""),
        (30, ""),
        (60, "sources-differ warning 4. Ba4 in hall, but Bxc6 in cloud"),
        (in_source("cloud", "Ba4 Nf6 O-O Be7"), ""),
    ],
    "sources that go different ways, each of them ahead in turn": [
        (in_source("hall", ""), ""),
        (in_source("cloud", ""), ""),
        (in_source("hall", "Ba4"), ""),
        (in_source("cloud", "Bxc6 dxc6"), ""),
        (5, ""),
        (in_source("hall", "Ba4 Nf6"), ""),
        (5, ""),
        (in_source("cloud", "Bxc6 dxc6 O-O"), ""),
        (5, ""),
        (in_source("hall", "Ba4 Nf6 O-O Be7"), ""),
        (5, ""),
        (in_source("cloud", "Bxc6 dxc6 O-O f6 d4"), ""),
        (61, "sources-differ warning 4. Bxc6 in cloud, but Ba4 in hall"),
        (in_source("hall", "Bxc6 dxc6 O-O f6 d4"), ""),
        (10, ""),
    ],
    "what one of two sources corrects, before the other has it": [
        (in_source("hall", "Ba4"), ""),
        (in_source("cloud", "Ba4"), ""),
        (in_source("hall", "Bxc6"), "correction look 4. Ba4 was reported first and is now Bxc6"),
        (5, "correction look 4. Ba4 was reported first and is now Bxc6"),
        (in_source("cloud", "Bxc6"), "correction look 4. Ba4 was reported first and is now Bxc6"),
    ],
    "players who change seats": [
        (played("e4 e5 Nf3 Nc6"), ""),
        (swapped(played("e4 e5 Nf3 Nc6")), "players-swapped warning it was the other way round"),
    ],
    "two boards that have each other's moves, until they have their own": [
        ((played(LINE, board=7), played(QUEENS, board=8)), ""),
        (20, ""),
        ((played(QUEENS, board=7), played(QUEENS, board=8)), ""),
        ((played(QUEENS, board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{QUEENS} Bg5", board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{LINE} Re1", board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{LINE} Re1", board=7), played(f"{QUEENS} Bg5", board=8)), ""),
        (20, ""),
        ((played(QUEENS, board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
    ],
    "a board that its source loses, until it is back": [
        ((played("e4 e5 Nf3"), four_boards()[0]), ""),
        ((four_boards()[0],), "vanished warning its last move 2. Nf3"),
        (600, "vanished warning its last move 2. Nf3"),
        ((played("e4 e5 Nf3"), four_boards()[0]), ""),
    ],
    "a board kept while its file is uploaded": [
        (played("e4 e5 Nf3"), ""),
        (problem("e4 e5 Nf3", f"{IN_DOUBT} less of it"), ""),
    ],
    "an illegal move that stands is no lost game": [
        (
            problem("e4 e5 Nf3", f"illegal move 2...Qh6 {STANDS}"),
            "illegal-stands warning the game went on",
        )
    ],
    "a feed that stumbles, one that is silent, and one that fails": [
        (FeedHealth("hall", "retrying", "again in 4 s"), ""),
        (10, ""),
        (FeedHealth("hall", "live"), ""),
        (60, ""),
        (FeedHealth("hall", "stale", "nothing for 2 min"), ""),
        (20, "feed warning Feed hall reports nothing new"),
        (FeedHealth("hall", "failed", "no such round"), "feed alarm no such round"),
        (FeedHealth("hall", "live"), ""),
    ],
    "a feed that failed in the run before, until it is live": [
        (FeedHealth("hall", "failed", "gone"), "feed alarm gone"),
        ("restart", "feed alarm gone"),
        (FeedHealth("hall", "connecting"), "feed alarm gone"),
        (FeedHealth("hall", "retrying"), "feed alarm gone"),
        (1, "feed alarm gone"),
        (FeedHealth("hall", "live"), ""),
    ],
    "an engine that failed in the run before": [
        (EngineHealth(problem="the engine died"), "engine warning the engine died"),
        ("restart", "engine warning the engine died"),
        (1, ""),
    ],
    "a source that has not begun is mentioned after ten minutes": [
        (FeedHealth("hall", "waiting", "nothing there yet (404)"), ""),
        (500, ""),
        (200, "feed look is not there yet"),
    ],
    "a part of the service that names itself": [
        (
            FeedHealth("journal", "failed", "journal x: is no file", part=True),
            "feed alarm Journal x: is",
        ),
        (FeedHealth("journal", "live", part=True), ""),
    ],
    "a part of the service that does not": [
        (FeedHealth("broker b:1883", "failed", "refuses", part=True), "feed alarm Broker b:1883: ")
    ],
    "a part of the service without a word": [
        (FeedHealth("alerts", "failed", part=True), "feed alarm Alerts: has failed.")
    ],
    "engines that fail": [
        (engines("searching", "failed"), "engine warning Engine 2 of 2"),
        (engines("failed", "failed"), "engine alarm Engine 1, 2 of 2 does not run."),
        (engines("idle", "restarting"), ""),
        (30, "engine warning Engine 2 of 2"),
    ],
}


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        (COURSES["a board that its source loses, until it is back"], "back in its source"),
        (
            [
                (played(SPANISH, clocks=(*(3000.0,) * 5, 0.0)), ""),
                (played(SPANISH, clocks=(*(3000.0,) * 5, 900.0)), ""),
            ],
            "it shows 15:00",
        ),
    ],
)
def test_how_it_ended_is_said_of_what_it_was_about(steps: list[Any], ended: str) -> None:
    service = Rehearsal()
    for what, _ in steps:
        happens(service, what)
    assert service.messages[-1].alert.ended == ended


@pytest.mark.parametrize("course", COURSES)
def test_what_stands_after_each_thing_that_happens(service: Rehearsal, course: str) -> None:
    for what, stands in COURSES[course]:
        happens(service, what)
        found = [(each.kind, each.severity, each.text) for each in service.desk.open()]
        kind, _, rest = stands.partition(" ")
        severity, _, words = rest.partition(" ")
        assert [each[:2] for each in found] == ([(kind, severity)] if stands else []), what
        assert all(words in text for *_, text in found), found
