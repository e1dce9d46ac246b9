"""Detection of games that two sources both report. No I/O.

Two sources of one event report its games with different names, rounds and boards. Two
games are merged only if no other explanation is possible, since showing a game twice is
better than merging two different games:

* Always required: they begin from the same position, their moves are the same line
  (except for the last two, which may be under correction), and no round, FIDE id or
  date (by more than a month) contradicts this.
* If event, round and both players are the same, neither source has a second such game,
  and both games have ended or neither has, then they are one game, even before the
  first move.
* Otherwise :data:`SAME_GAME_PLIES` equal plies are required, with clocks that do not
  contradict each other. In addition, players and event must be the same (or one source
  names no event), or the clocks must agree on that many plies; if the clocks agree, one
  player of the same name is enough. A wrong move in one of the sources is allowed if
  event, round and both players are the same.

Two games without moves stay separate if only one of them has ended. Quick draws without
clocks between the same players in two events stay separate, too.
"""

import re

from live.games.game import Game
from live.games.game_matching import (
    CORRECTED_PLIES,
    compare_fide_ids,
    count_equal_plies,
    count_same_players,
    may_be_one_round,
    shorter_length,
)
from live.games.player_identity import normalise_header

#: Number of equal plies, up to the end of the shorter game, that prove two games with
#: unclear names to be one.
SAME_GAME_PLIES = 20
#: Clocks agree if they differ by at most ``CLOCK_S`` seconds on the share
#: ``CLOCK_SHARE`` of the plies. (Sources round their clocks.)
CLOCK_S = 2.0
CLOCK_SHARE = 0.9
#: Clocks contradict each other if they differ by more than ``FAR_CLOCK_S`` seconds on
#: half of the compared plies, and at least ``FAR_CLOCK_PLIES`` plies can be compared.
FAR_CLOCK_S = 60.0
FAR_CLOCK_PLIES = 10
_MONTH = re.compile(r"(\d{4})\D(\d{2})")


def is_same_game_in_two_sources(first: Game, second: Game, *, alone: bool) -> bool:
    """Return whether two sources report the same game.

    Args:
        first: the game as one source reports it.
        second: the game as the other source reports it.
        alone: true if neither source has a second game of these players that could be
            in the same round.
    """
    if not may_be_one_game(first, second):
        return False
    shorter = shorter_length(first, second)
    alike = count_equal_plies(first.moves, second.moves)
    events = (
        normalise_header(first.headers.event),
        normalise_header(second.headers.event),
    )
    rounds = (
        normalise_header(first.headers.round),
        normalise_header(second.headers.round),
    )
    seated = count_same_players(first.headers, second.headers)
    is_same_pairing = (
        seated == 2
        and alone
        and events[0] == events[1] != ""
        and _is_same_place(*rounds)
    )
    settled = max(0, shorter - CORRECTED_PLIES)
    is_one_line = (
        count_equal_plies(first.moves[:settled], second.moves[:settled]) == settled
    )
    if (
        is_same_pairing
        and is_one_line
        and (first.result == "*") == (second.result == "*")
    ):
        return True
    if alike < SAME_GAME_PLIES:
        return False
    gaps_s = [
        abs(a.clock_s - b.clock_s)
        for a, b in zip(first.moves, second.moves, strict=False)
        if a.clock_s is not None and b.clock_s is not None
    ]
    far_count = sum(gap_s > FAR_CLOCK_S for gap_s in gaps_s)
    if len(gaps_s) >= FAR_CLOCK_PLIES and 2 * far_count >= len(gaps_s):
        return False  # the clocks contradict each other
    if not is_one_line:
        # One of the two sources has a wrong move, on which they contradict each other.
        return is_same_pairing and not is_another_line(first, second)
    if seated == 2 and (events[0] == events[1] or "" in events):
        return True
    near_count = sum(gap_s <= CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= SAME_GAME_PLIES and near_count >= CLOCK_SHARE * len(gaps_s)


def may_be_one_game(first: Game, second: Game) -> bool:
    """Return whether headers and start position allow that two games are one."""
    old, new = first.headers, second.headers
    return (
        first.start_fen == second.start_fen
        and old.variant == new.variant
        and count_same_players(old, new) > 0
        and may_be_one_round(old.round, new.round)
        and all(compare_fide_ids(old, new))
        and not _is_other_month(old.date, new.date)
    )


def is_another_line(first: Game, second: Game) -> bool:
    """Return whether most moves differ, which proves two different games."""
    shorter = shorter_length(first, second)
    return shorter >= 8 and 2 * count_equal_plies(first.moves, second.moves) < shorter


def _is_same_place(first: str, second: str) -> bool:
    """Return whether two rounds are known and equal; ``1.3`` can be board or game 3."""
    return first != "" != second and (
        first == second or not ("." in first and "." in second)
    )


def _is_other_month(first: str, second: str) -> bool:
    """Return whether two dates differ by more than a month (a broadcast can be set up
    weeks before the game).
    """
    matches = [_MONTH.match(text) for text in (first, second)]
    months = [
        12 * int(match[1]) + int(match[2]) for match in matches if match is not None
    ]
    return len(months) == 2 and abs(months[0] - months[1]) > 1
