import msgspec

from live.events import GameReport, Headers, Move, Player
from live.feeds.feed import REPEATED_PLIES, GameRoster, distinct_games, identities

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
E4 = Move("e2e4", "e4")


def game(white: str = "A", key: str = "") -> GameReport:
    return GameReport(key, Headers(Player(white), Player("B")), START)


def over(report: GameReport) -> GameReport:
    return msgspec.structs.replace(report, result="1-0")


def test_games_with_the_same_names_are_told_apart_by_order() -> None:
    assert len(set(identities([game(), game(), game("C")]))) == 3


def test_the_sources_own_key_tells_a_game_whatever_its_headers() -> None:
    assert identities([game("A", "k")]) == identities([game("Renamed", "k")])


def test_nothing_is_over_before_there_is_a_game() -> None:
    assert not GameRoster(0).over


def test_over_when_every_game_has_a_result() -> None:
    roster = GameRoster(0)
    roster.see([game("A"), over(game("C"))], 1)
    assert (roster.over, roster.unfinished, len(roster)) == (False, 1, 2)
    roster.see([over(game("A"))], 2)
    assert (roster.over, roster.unfinished, len(roster)) == (True, 0, 2)


def test_news_moves_the_time_of_the_last_change_and_repetition_does_not() -> None:
    roster = GameRoster(0)
    assert roster.see([game()], 1)
    assert not roster.see([game()], 2)
    assert roster.changed_s == 1
    assert roster.see([msgspec.structs.replace(game(), moves=(E4,))], 3)
    assert roster.changed_s == 3


def test_a_complete_report_forgets_what_is_gone() -> None:
    roster = GameRoster(0)
    roster.see([game("A"), over(game("C"))], 1)
    assert roster.see([over(game("C"))], 2, complete=True)
    assert roster.over and len(roster) == 1 and roster.changed_s == 2


def test_games_that_share_an_address_have_no_key_of_their_own() -> None:
    """Five games became one (audit, row 4)."""
    shared = distinct_games([game("A", "Round001"), game("C", "Round001"), game("D", "Game0001")])
    assert [each.key for each in shared] == ["", "", "Game0001"]


def test_a_game_that_stands_twice_is_the_longer_one() -> None:
    """It counted twice (audit, row 13)."""
    moves = tuple(Move(f"a{rank}a{rank + 1}", "a") for rank in range(1, 8)) * 2
    longer = over(msgspec.structs.replace(game("A"), moves=moves))
    shorter = msgspec.structs.replace(game("A"), moves=moves[:REPEATED_PLIES])
    assert distinct_games([shorter, game("C"), longer]) == (longer, game("C"))
    other = msgspec.structs.replace(longer, headers=Headers(Player("A"), Player("B"), round="2"))
    assert distinct_games([longer, other]) == (longer, other)
    few = msgspec.structs.replace(shorter, moves=moves[:4])
    assert distinct_games([longer, few]) == (longer, few), "it may be the next game"
