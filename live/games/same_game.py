"""Whether games of two sources are one game, and where they contradict each other. Pure.

Two sources of one event report its games under names, rounds and boards of their own. Two games are
taken for one only where nothing else can be true, and rather shown twice than merged wrongly:

* They begin from the same position, their moves are the same line (but for the last two, which may
  be in correction), and no round, FIDE id or date (by more than a month) says otherwise.
* Event, round and both players are the same, neither source has a second such game, and both games
  are over or neither is: then they are one, before the first move already.
* Else they need :data:`PROOF_PLIES` plies played alike by clocks that do not contradict each other,
  and besides the same players and event (or no event in one of them), or clocks that agree on as
  many plies; with clocks that agree, one player of the same name is enough. A wrong move in one of
  the sources is allowed where event, round and both players are the same.

Games without moves of which only one is over, and fast draws between the same players in two events
without clocks, stay two.
"""

from __future__ import annotations

import re

from live.events import Headers
from live.games.game import Game
from live.games.game_matching import CORRECTED_PLIES, agreeing
from live.games.player_identity import fide_id, header_words, same_person
from live.games.round_number import main_round

#: Plies played alike, up to the end of the shorter game, that prove what names leave open.
PROOF_PLIES = 20
#: Clocks agree where they are so near, seconds (sources round), on this share of the plies.
CLOCK_S = 2.0
CLOCK_SHARE = 0.9
#: Clocks contradict where they are so far apart, seconds, on half of this many plies or more.
FAR_CLOCK_S = 60.0
FAR_CLOCK_PLIES = 10
#: What is shown goes on with another source's line where that is so many plies longer.
LEAD_PLIES = 6

_MONTH = re.compile(r"(\d{4})\D(\d{2})")


def is_one_game(one: Game, other: Game, *, alone: bool) -> bool:
    """Whether two sources report the same game.

    Args:
        one: as one source has it.
        other: as the other has it.
        alone: neither source has another game of these players that may be of this round.
    """
    if not may_be_one_game(one, other):
        return False
    shorter = min(len(one.moves), len(other.moves))
    alike = agreeing(one.moves, other.moves)
    events = (header_words(one.headers.event), header_words(other.headers.event))
    rounds = (header_words(one.headers.round), header_words(other.headers.round))
    seated = same_seats(one.headers, other.headers)
    named = seated == 2 and alone and events[0] == events[1] != "" and _one_place(*rounds)
    settled = max(0, shorter - CORRECTED_PLIES)
    same_line = agreeing(one.moves[:settled], other.moves[:settled]) == settled
    if named and same_line and (one.result == "*") == (other.result == "*"):
        return True
    if alike < PROOF_PLIES or _clocks_contradict(one, other):
        return False
    if not same_line:
        # One of the two sources has a wrong move, on which they contradict each other.
        return named and not is_another_line(one, other)
    if seated == 2 and (events[0] == events[1] or "" in events):
        return True
    return seated >= 1 and _clocks_agree(one, other)


def may_be_one_game(one: Game, other: Game) -> bool:
    """Whether what stands beside the moves allows it."""
    old, new = one.headers, other.headers
    return (
        one.start_fen == other.start_fen
        and old.variant == new.variant
        and same_seats(old, new) > 0
        and _one_round(header_words(old.round), header_words(new.round))
        and not _other_numbers(old, new)
        and not _other_month(old.date, new.date)
    )


def is_another_line(one: Game, other: Game) -> bool:
    """Whether the moves show two games after all: they differ early on, and for most of the way."""
    shorter = min(len(one.moves), len(other.moves))
    return shorter >= 8 and 2 * agreeing(one.moves, other.moves) < shorter


def same_seats(one: Headers, other: Headers) -> int:
    """How many players are the same in the same seats."""
    return same_person(one.white, other.white) + same_person(one.black, other.black)


def difference(shown: Game, other: Game) -> str:
    """Where the sources of two reports of one game contradict each other, for people; empty where
    they do not.

    A source that is behind contradicts nobody, nor do the last moves of a game that goes on.
    """
    shorter = min(len(shown.moves), len(other.moves))
    over = "*" not in (shown.result, other.result)
    behind = abs(len(shown.moves) - len(other.moves)) >= LEAD_PLIES
    settled = shorter if over or behind else shorter - CORRECTED_PLIES
    for ply, (a, b) in enumerate(zip(shown.moves, other.moves, strict=False), 1):
        if a.uci != b.uci:
            if ply > settled:
                break
            number = f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
            return f"{number} {a.san} in {shown.feed}, but {b.san} in {other.feed}"
    if over and shown.result != other.result:
        return f"{shown.result} in {shown.feed}, but {other.result} in {other.feed}"
    for ended, going in ((shown, other), (other, shown)):
        late = len(going.moves) - len(ended.moves)
        if ended.result != "*" and going.result == "*" and late >= LEAD_PLIES:
            return (
                f"{ended.result} after {len(ended.moves)} plies in {ended.feed},"
                f" but {len(going.moves)} plies in {going.feed}"
            )
    return ""


def _one_place(one: str, other: str) -> bool:
    """Whether the rounds are known, and one: ``1.3`` may be board 3 or game 3 of round 1."""
    return one != "" != other and (one == other or not ("." in one and "." in other))


def _one_round(one: str, other: str) -> bool:
    return not one or not other or main_round(one) == main_round(other)


def _other_numbers(one: Headers, other: Headers) -> bool:
    sides = ((one.white, other.white), (one.black, other.black))
    numbers = [(fide_id(a), fide_id(b)) for a, b in sides]
    return any(a is not None and b is not None and a != b for a, b in numbers)


def _other_month(one: str, other: str) -> bool:
    """More than a month apart. (A broadcast's date is the day on which it was set up.)"""
    found = [_MONTH.match(text) for text in (one, other)]
    months = [12 * int(each[1]) + int(each[2]) for each in found if each is not None]
    return len(months) == 2 and abs(months[0] - months[1]) > 1


def _clock_gaps_s(one: Game, other: Game) -> list[float]:
    return [
        abs(a.clock_s - b.clock_s)
        for a, b in zip(one.moves, other.moves, strict=False)
        if a.clock_s is not None and b.clock_s is not None
    ]


def _clocks_agree(one: Game, other: Game) -> bool:
    gaps_s = _clock_gaps_s(one, other)
    near = sum(gap_s <= CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= PROOF_PLIES and near >= CLOCK_SHARE * len(gaps_s)


def _clocks_contradict(one: Game, other: Game) -> bool:
    gaps_s = _clock_gaps_s(one, other)
    far = sum(gap_s > FAR_CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= FAR_CLOCK_PLIES and 2 * far >= len(gaps_s)
